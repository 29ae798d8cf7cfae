package query

import (
	"errors"
	"fmt"
	"strconv"

	"runner/plan/element"
	"runner/plan/expr"
)

// Functions returns the functions of expressions that read the response of the
// thread's current sample. What finds nothing returns nil, so that `??` gives
// another value. The functions of one call of Functions share their compiled
// selectors.
func Functions() []expr.Function {
	var (
		regexes Cache[*Regex]
		csses   Cache[*CSS]
		paths   Cache[*JSONPath]
		xpaths  Cache[*XPath]
		jmes    Cache[*JMESPath]
	)
	return []expr.Function{
		{Name: "header", Signature: "header(name)", Doc: "the value of the response's header, whatever its case",
			Min: 1, Max: 1, Response: true, Result: expr.AnyType, Call: header},
		{Name: "cookie", Signature: "cookie(name)", Doc: "the value of a cookie after the response: as it was set by it, else as the thread has it",
			Min: 1, Max: 1, Response: true, Result: expr.AnyType, Call: cookieValue},
		{Name: "regex", Signature: "regex(pattern, group?)", Doc: "the group (by default the first, or the whole match) of the pattern's first match in the body",
			Min: 1, Max: 2, Response: true, Result: expr.AnyType,
			Call: func(s expr.Scope, args ...any) (any, error) { return regexValue(&regexes, s, args) }},
		{Name: "css", Signature: "css(selector, attribute?)", Doc: "the text, or an attribute, of the first element of the body that matches",
			Min: 1, Max: 2, Response: true, Result: expr.AnyType,
			Call: func(s expr.Scope, args ...any) (any, error) { return cssValue(&csses, s, args) }},
		{Name: "jsonpath", Signature: "jsonpath(path)", Doc: "the value that a JSONPath names in the body; a list where the path can name several",
			Min: 1, Max: 1, Response: true, Result: expr.AnyType,
			Call: func(s expr.Scope, args ...any) (any, error) { return pathValue(&paths, s, args) }},
		{Name: "xpath", Signature: "xpath(path)", Doc: "what an XPath gives for the body as XML or HTML: the text of its first node, or its number, text or bool",
			Min: 1, Max: 1, Response: true, Result: expr.AnyType,
			Call: func(s expr.Scope, args ...any) (any, error) { return xpathValue(&xpaths, s, args) }},
		{Name: "jmespath", Signature: "jmespath(path)", Doc: "the value that a JMESPath gives for the body",
			Min: 1, Max: 1, Response: true, Result: expr.AnyType,
			Call: func(s expr.Scope, args ...any) (any, error) { return jmesValue(&jmes, s, args) }},
	}
}

func header(s expr.Scope, args ...any) (any, error) {
	sample, texts, err := response("header", s, args)
	if err != nil {
		return nil, err
	}
	if v, ok := sample.Header(texts[0]); ok {
		return v, nil
	}
	return nil, nil
}

func cookieValue(s expr.Scope, args ...any) (any, error) {
	sample, texts, err := response("cookie", s, args)
	if err != nil {
		return nil, err
	}
	if v, ok := Cookie(sample, texts[0]); ok {
		return v, nil
	}
	return nil, nil
}

func regexValue(cache *Cache[*Regex], s expr.Scope, args []any) (any, error) {
	sample, texts, err := response("regex", s, args)
	if err != nil {
		return nil, err
	}
	re, err := cache.Get(texts[0], ParseRegex)
	if err != nil {
		return nil, fmt.Errorf("regex(): %w", err)
	}
	name := ""
	if len(texts) > 1 {
		name = texts[1]
	}
	group, err := re.Group(name)
	if err != nil {
		return nil, fmt.Errorf("regex(): %w", err)
	}
	return first(re.Groups(sample.Body, group, 1)), nil
}

func cssValue(cache *Cache[*CSS], s expr.Scope, args []any) (any, error) {
	sample, texts, err := response("css", s, args)
	if err != nil {
		return nil, err
	}
	sel, err := cache.Get(texts[0], ParseCSS)
	if err != nil {
		return nil, fmt.Errorf("css(): %w", err)
	}
	attribute := ""
	if len(texts) > 1 {
		attribute = texts[1]
	}
	found, err := sel.Select(sample.Body, attribute, 1)
	if err != nil {
		return nil, fmt.Errorf("css(): %w", err)
	}
	return first(found), nil
}

func pathValue(cache *Cache[*JSONPath], s expr.Scope, args []any) (any, error) {
	sample, texts, err := response("jsonpath", s, args)
	if err != nil {
		return nil, err
	}
	path, err := cache.Get(texts[0], ParseJSONPath)
	if err != nil {
		return nil, fmt.Errorf("jsonpath(): %w", err)
	}
	found, err := path.Select(sample)
	if err != nil {
		return nil, fmt.Errorf("jsonpath(): %w", err)
	}
	switch {
	case !path.Singular():
		return found, nil
	case len(found) == 0:
		return nil, nil
	}
	return found[0], nil
}

func xpathValue(cache *Cache[*XPath], s expr.Scope, args []any) (any, error) {
	sample, texts, err := response("xpath", s, args)
	if err != nil {
		return nil, err
	}
	path, err := cache.Get(texts[0], ParseXPath)
	if err != nil {
		return nil, fmt.Errorf("xpath(): %w", err)
	}
	found, err := path.Select(sample.Body, IsHTML(sample, sample.Body), 1)
	if err != nil {
		return nil, fmt.Errorf("xpath(): %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return found[0], nil
}

func jmesValue(cache *Cache[*JMESPath], s expr.Scope, args []any) (any, error) {
	sample, texts, err := response("jmespath", s, args)
	if err != nil {
		return nil, err
	}
	path, err := cache.Get(texts[0], ParseJMESPath)
	if err != nil {
		return nil, fmt.Errorf("jmespath(): %w", err)
	}
	v, err := path.Select(sample)
	if err != nil {
		return nil, fmt.Errorf("jmespath(): %w", err)
	}
	return v, nil
}

func first(found []string) any {
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// response returns the current sample of the scope's thread and the arguments as
// texts.
func response(name string, s expr.Scope, args []any) (*element.Sample, []string, error) {
	t := thread(s)
	if t == nil || t.Sample == nil {
		return nil, nil, fmt.Errorf("%s() needs a response, and there is none here", name)
	}
	if len(args) == 0 {
		return nil, nil, errors.New(name + "() needs an argument")
	}
	texts := make([]string, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case string:
			texts[i] = a
		case expr.Secret:
			texts[i] = a.Reveal()
		case int:
			texts[i] = strconv.Itoa(a)
		case int64:
			texts[i] = strconv.FormatInt(a, 10)
		default:
			return nil, nil, fmt.Errorf("argument %d of %s() must be text, not %s", i+1, name, expr.TypeOf(a))
		}
	}
	return t.Sample, texts, nil
}

// thread returns the thread of a scope; a scope around a thread's has a method
// that gives it.
func thread(s expr.Scope) *element.Thread {
	switch s := s.(type) {
	case *element.Thread:
		return s
	case interface{ Thread() *element.Thread }:
		return s.Thread()
	}
	return nil
}
