package query

import (
	"fmt"
	"strings"
	"sync"

	"github.com/jmespath/go-jmespath"

	"runner/plan/element"
)

// JMESPath is a compiled JMESPath expression. Safe for concurrent use.
type JMESPath struct {
	text string
	path *jmespath.JMESPath
	sort *sync.Mutex // of expressions that sort: the library sorts literals of the expression in place
}

// ParseJMESPath compiles an expression such as items[?price > `10`].name.
func ParseJMESPath(text string) (*JMESPath, error) {
	if err := checkLength("JMESPath", text); err != nil {
		return nil, err
	}
	path, err := compileJMESPath(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a JMESPath (%s)", text, strings.TrimPrefix(err.Error(), "SyntaxError: "))
	}
	p := &JMESPath{text: text, path: path}
	if strings.Contains(text, "sort_by") {
		p.sort = new(sync.Mutex)
	}
	return p, nil
}

func compileJMESPath(text string) (path *jmespath.JMESPath, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return jmespath.Compile(text)
}

// CheckJMESPath returns the parts of a diagnostic for an expression that cannot
// be compiled; the code of one that can is "".
func CheckJMESPath(text string) (code, summary, detail string) {
	if strings.HasPrefix(text, "$") {
		return "not-a-jmespath", fmt.Sprintf("%q is a JSONPath, not a JMESPath", text), "write it without the $, or use json in place of jmespath"
	}
	if _, err := ParseJMESPath(text); err != nil {
		return "bad-jmespath", err.Error(), "write one like items[0].id"
	}
	return "", "", ""
}

// String returns the expression as it was written.
func (p *JMESPath) String() string { return p.text }

// Select returns the value that the expression gives for the sample's body, nil
// where it gives none. An ErrNotJSON says that the body is no JSON.
func (p *JMESPath) Select(s *element.Sample) (any, error) {
	tree, err := s.JSON()
	if err != nil {
		return nil, &notJSON{strings.TrimPrefix(err.Error(), "the body is not JSON: ")}
	}
	return p.SelectTree(tree)
}

// SelectBytes is Select for a JSON text that is not a sample's body.
func (p *JMESPath) SelectBytes(text []byte) (any, error) {
	return p.Select(&element.Sample{Body: text})
}

// SelectTree returns the value that the expression gives for a decoded tree,
// which is not changed.
func (p *JMESPath) SelectTree(tree any) (value any, err error) {
	if !shallow(tree, MaxDepth) {
		return nil, fmt.Errorf("the JSON is nested deeper than %d levels", MaxDepth)
	}
	defer func() {
		if v := recover(); v != nil {
			value, err = nil, fmt.Errorf("%s: %v", p.text, v)
		}
	}()
	if p.sort != nil {
		p.sort.Lock()
		defer p.sort.Unlock()
	}
	value, err = p.path.Search(floats(tree))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.text, err)
	}
	left := MaxNodes
	value = ints(value, &left)
	if left < 0 {
		return nil, fmt.Errorf("%s gives more than %d values", p.text, MaxNodes)
	}
	return value, nil
}

// floats copies a tree with the numbers that JMESPath knows. Whole numbers that a
// float64 cannot hold are left as they are: they can be selected, but not
// computed with.
func floats(v any) any {
	switch v := v.(type) {
	case int64:
		if v > -(1<<53) && v < 1<<53 {
			return float64(v)
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = floats(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, m := range v {
			out[k] = floats(m)
		}
		return out
	}
	return v
}

// ints copies a tree with the number types of the language. It stops where left,
// the number of values that it may still make, is used up: an expression can give
// the same part any number of times.
func ints(v any, left *int) any {
	if *left--; *left < 0 {
		return nil
	}
	switch v := v.(type) {
	case float64:
		if n := int64(v); float64(n) == v && v > -(1<<53) && v < 1<<53 {
			return n
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i := 0; i < len(v) && *left >= 0; i++ {
			out[i] = ints(v[i], left)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, m := range v {
			out[k] = ints(m, left)
		}
		return out
	}
	return v
}
