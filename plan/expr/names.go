package expr

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// declared finds what a chain of members names: the declared name, its type and
// how many members belong to it. It reports a name that is not legal here.
func (b *binder) declared(root *ast.IdentifierNode, steps []ast.Node) (full string, typ Type, used int, ok bool) {
	if root.Value == "env" {
		return b.environment(root, steps)
	}
	full = root.Value
	best, bestType := -1, AnyType
	if t, ok := b.env.Lookup(full); ok {
		best, bestType = 0, t
	}
	for i, s := range steps {
		key, isText := s.(*ast.StringNode)
		if !isText {
			break
		}
		full += "." + key.Value
		if t, ok := b.env.Lookup(full); ok {
			best, bestType = i+1, t
		}
	}
	if best < 0 || best == 0 && len(steps) > 0 && b.env.closed(root.Value) {
		b.undefined(root, steps)
		return "", AnyType, 0, false
	}
	full = root.Value
	for _, s := range steps[:best] {
		full += "." + s.(*ast.StringNode).Value
	}
	return full, bestType, best, true
}

// headerCase reports headers["X-Name"]: the names in headers are in lower case.
func (b *binder) headerCase(full string, steps []ast.Node) {
	if full != "headers" || len(steps) == 0 || !b.env.response {
		return
	}
	key, ok := stepOf(steps[0])
	if text, isText := key.(string); ok && isText && text != strings.ToLower(text) {
		l := steps[0].Location()
		b.fail(l.From, l.To, "header-case", "the names in headers are in lower case", "write header("+strconv.Quote(text)+")")
	}
}

// environment handles env.NAME.
func (b *binder) environment(root *ast.IdentifierNode, steps []ast.Node) (string, Type, int, bool) {
	l := root.Location()
	to := l.To
	var key *ast.StringNode
	if len(steps) > 0 {
		key, _ = steps[0].(*ast.StringNode)
		to = max(to, steps[0].Location().To)
	}
	switch {
	case !b.env.environment:
		what := "env.NAME"
		if key != nil {
			what = "env." + key.Value
		}
		b.fail(l.From, to, "env-outside-vars", what+" can be read only in vars",
			"set a variable under vars, as in `base: ${"+what+"}`, and use that variable here")
	case key == nil:
		b.fail(l.From, to, "undefined-variable", "env needs the name of an environment variable", "write env.NAME")
	default:
		return "env." + key.Value, TextType, 1, true
	}
	return "", AnyType, 0, false
}

// undefined reports a name that is not declared here.
func (b *binder) undefined(root *ast.IdentifierNode, steps []ast.Node) {
	l := root.Location()
	word := root.Value
	if b.env.closed(word) {
		b.undefinedMember(root, steps)
		return
	}
	if _, known := b.env.elsewhere[word]; known && !b.env.response {
		b.fail(l.From, l.To, "undefined-variable", quote(word)+" belongs to a response and is not known here",
			takeFirst(word, steps))
		return
	}
	summary, detail := quote(word)+" is not defined", ""
	switch word {
	case "null", "None", "undefined", "NULL":
		detail = "write nil"
	case "True", "TRUE", "False", "FALSE":
		detail = "write " + strings.ToLower(word)
	case "AND", "OR", "NOT", "And", "Or", "Not":
		detail = "write " + strings.ToLower(word)
	case "vars", "var", "variables":
		detail = "a variable is written by its name alone"
		if len(steps) > 0 {
			if s, _ := stepOf(steps[0]); s != nil {
				detail += fmt.Sprintf(": %v", s)
			}
		}
	case "secrets":
		detail = "define the secret under secrets, as in `secrets: {key: {env: KEY}}`"
	case "loop":
		detail = "loop.index is known inside loop, while and foreach only"
	case "attempt":
		detail = "attempt is known inside until only"
	case "response", "res", "resp":
		detail = "the parts of a response have names of their own: status, json, body, headers, duration"
	default:
		detail = b.suggest(word)
	}
	b.fail(l.From, l.To, "undefined-variable", summary, detail)
}

// takeFirst says how a value of a response is kept for later steps.
func takeFirst(word string, steps []ast.Node) string {
	path, name := word, word
	for _, s := range steps {
		key, ok := s.(*ast.StringNode)
		if !ok || !plainWord.MatchString(key.Value) {
			break
		}
		path, name = path+"."+key.Value, key.Value
	}
	return fmt.Sprintf("take it on the sampler, as in `extract: {last_%s: %s}`, and use last_%s here", name, path, name)
}

var plainWord = regexp.MustCompile(`^[A-Za-z_]\w*$`)

func (b *binder) suggest(word string) string {
	if _, ok := plainFigures[word]; ok || slices.Contains(times, word) {
		return "it is a figure of a run and may be used in thresholds only"
	}
	if b.env.fns.Lookup(word) != nil || b.env.fns.config.Builtins[word] != nil {
		return "it is a function; write " + b.env.fns.signature(word)
	}
	if near := DidYouMean(word, b.env.roots()); near != "" {
		return "did you mean " + near + "?"
	}
	if b.env.prefix != "" {
		return "a fragment knows its params and what its own steps set: add it to `params:`, and to `with:` of the call"
	}
	if b.x.off > 0 { // within ${ }
		detail := fmt.Sprintf("declare it, as in `vars: {%s: value}`", word)
		if _, step := b.env.Lookup("thread.id"); step {
			detail += ", or take it by extract, set or data before this step"
		}
		return detail
	}
	if len(b.x.text) > 0 && strings.TrimSpace(b.x.text) == word {
		return "define it under vars, or, if the text itself is meant, write \"" + word + "\" in quotes"
	}
	return "define it under vars, or by extract, set or data before this step"
}

func (b *binder) undefinedMember(root *ast.IdentifierNode, steps []ast.Node) {
	known := b.env.members(root.Value)
	list := strings.Join(known[:min(len(known), 12)], ", ")
	if len(steps) == 0 {
		l := root.Location()
		b.fail(l.From, l.To, "undefined-variable", quote(root.Value)+" stands for several values",
			"write one of them: "+root.Value+"."+strings.Join(known[:min(len(known), 12)], ", "+root.Value+"."))
		return
	}
	l := steps[0].Location()
	s, _ := stepOf(steps[0])
	detail := quote(root.Value) + " has " + list
	if near := DidYouMean(fmt.Sprint(s), known); near != "" {
		detail = "did you mean " + root.Value + "." + near + "?"
	}
	b.fail(l.From, l.To, "undefined-variable", fmt.Sprintf("`%s` has no member `%v`", root.Value, s), detail)
}

// signature returns how a function is called.
func (f *Functions) signature(name string) string {
	if fn := f.own[name]; fn != nil {
		return fn.Signature
	}
	return name + "(...)"
}

// function finds the function of a call and reports an unknown one.
func (b *binder) function(n *ast.CallNode) (*Function, bool) {
	word, from, to := b.calleeName(n)
	if word == "" {
		b.failAt(n, "unknown-function", "only functions can be called", "write function(value)")
		return nil, false
	}
	fn := b.env.fns.Lookup(word)
	if fn == nil {
		b.fail(from, to, "unknown-function", quote(word)+" is not a function", b.suggestFunction(word))
		return nil, false
	}
	if fn.Response && !b.env.response {
		b.fail(from, to, "response-function", quote(word)+" reads a response and cannot be used here",
			"take the value with `extract:` on the sampler, and use that variable here")
		return nil, false
	}
	if got := len(n.Arguments); got < fn.Min || fn.Max >= 0 && got > fn.Max {
		b.failAt(n, "wrong-arguments", fmt.Sprintf("%s is called with %s", quote(word), plural(got, "argument")), "write "+fn.Signature)
		return nil, false
	}
	return fn, true
}

// calleeName returns the name of what is called, "fake.name" included.
func (b *binder) calleeName(n *ast.CallNode) (word string, from, to int) {
	switch c := n.Callee.(type) {
	case *ast.IdentifierNode:
		return c.Value, c.Location().From, c.Location().To
	case *ast.MemberNode:
		prop, ok := c.Property.(*ast.StringNode)
		if !ok {
			return "", 0, 0
		}
		root, ok := c.Node.(*ast.IdentifierNode)
		if !ok || b.local(root.Value) != nil {
			return prop.Value, prop.Location().From, prop.Location().To
		}
		return root.Value + "." + prop.Value, root.Location().From, prop.Location().To
	}
	return "", 0, 0
}

// otherNames maps what functions are called elsewhere to their names here.
var otherNames = map[string]string{
	"length": "len", "size": "len", "count": "len", "str": "string", "toString": "string", "text": "string", "parseInt": "int",
	"parseFloat": "float", "number": "float", "random": "random_int", "rand": "random_int", "randint": "random_int",
	"randomInt": "random_int", "randomString": "random_string", "choice": "pick", "sample": "pick", "UUID": "uuid",
	"guid": "uuid", "uuidv4": "uuid", "time": "timestamp", "toUpperCase": "upper", "toLowerCase": "lower", "uppercase": "upper",
	"lowercase": "lower", "urlencode": "url_encode", "urlEncode": "url_encode", "encodeURIComponent": "url_encode",
	"base64_encode": "base64", "sha1": "sha256", "strip": "trim", "substring": "value[from:to]", "includes": "contains",
}

func (b *binder) suggestFunction(word string) string {
	if strings.Contains(word, ".") {
		root, method, _ := strings.Cut(word, ".")
		if root == "fake" {
			if near := DidYouMean(word, b.env.fns.Names()); near != "" {
				return "did you mean " + b.env.fns.signature(near) + "?"
			}
			return "the functions are " + strings.Join(b.env.fns.withPrefix("fake."), ", ")
		}
		word = method
		if b.env.fns.Lookup(method) != nil || b.env.fns.config.Builtins[method] != nil {
			return "values have no methods; write " + method + "(" + root + ")"
		}
	}
	if other, ok := otherNames[word]; ok {
		if strings.Contains(other, "[") || other == "contains" {
			return "write " + other
		}
		return "write " + b.env.fns.signature(other)
	}
	if near := DidYouMean(word, b.env.fns.Names()); near != "" {
		return "did you mean " + b.env.fns.signature(near) + "?"
	}
	return "the reference lists all functions"
}

func (f *Functions) withPrefix(prefix string) []string {
	var out []string
	for _, name := range f.Names() {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	return out
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
