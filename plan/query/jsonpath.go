package query

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"runner/plan/element"
)

// JSONPath is a compiled RFC 9535 path. Immutable.
type JSONPath struct {
	text  string
	path  *jsonpath.Path
	steps []step // of a path that names one place by keys and indexes
	fast  bool
}

// ParseJSONPath compiles a path such as $.items[0].id. The error says what to
// write instead.
func ParseJSONPath(text string) (*JSONPath, error) {
	if err := checkLength("path", text); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(text, "$") {
		if strings.HasPrefix(text, "json.") || strings.HasPrefix(text, "json[") {
			return nil, fmt.Errorf("%q is an expression, not a JSONPath; write %s", text, asPath(text))
		}
		return nil, fmt.Errorf("%q is not a JSONPath; write %s", text, asPath(text))
	}
	path, err := jsonpath.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a JSONPath (%s)", text, strings.TrimPrefix(err.Error(), "jsonpath: "))
	}
	p := &JSONPath{text: text, path: path}
	p.steps, p.fast = steps(path)
	return p, nil
}

// CheckJSONPath returns the parts of a diagnostic for a path that cannot be
// compiled; the code of one that can is "".
func CheckJSONPath(text string) (code, summary, detail string) {
	_, err := ParseJSONPath(text)
	if err == nil {
		return "", "", ""
	}
	code = "bad-jsonpath"
	if !strings.HasPrefix(text, "$") {
		code = "not-a-jsonpath"
	}
	summary, detail, ok := strings.Cut(err.Error(), "; ")
	if !ok {
		detail = "write one like $.items[0].id"
	}
	return code, summary, detail
}

// asPath guesses the JSONPath that a text without $ was meant to be.
func asPath(text string) string {
	rest := strings.TrimPrefix(text, "json")
	if rest == "" || rest == text && !strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, "[") {
		rest = "." + rest
	}
	if _, err := jsonpath.Parse("$" + rest); err != nil {
		return "one like $.items[0].id"
	}
	return "$" + rest
}

func steps(path *jsonpath.Path) ([]step, bool) {
	segments := path.Query().Segments()
	list := make([]step, 0, len(segments))
	for _, s := range segments {
		if s.IsDescendant() || len(s.Selectors()) != 1 {
			return nil, false
		}
		switch sel := s.Selectors()[0].(type) {
		case spec.Name:
			list = append(list, step{key: string(sel), isKey: true})
		case spec.Index:
			if sel < 0 {
				return nil, false
			}
			list = append(list, step{index: int(sel)})
		default:
			return nil, false
		}
	}
	return list, true
}

// String returns the path as it was written.
func (p *JSONPath) String() string { return p.text }

// Singular reports whether the path can name at most one value.
func (p *JSONPath) Singular() bool { return p.path.Query().Singular() != nil }

// Raw returns the text of the value that the path names in body, without
// allocating. supported is false where the path needs the decoded tree; found is
// false where nothing is there. The whole body must be valid JSON. The result
// points into body.
func (p *JSONPath) Raw(body []byte) (raw []byte, found, supported bool, err error) {
	if !p.fast {
		return nil, false, false, nil
	}
	raw, err = find(body, p.steps)
	return raw, raw != nil, true, err
}

// Select returns the values of the sample's body that the path names, in the
// number types of the language. An ErrNotJSON says that the body is no JSON.
func (p *JSONPath) Select(s *element.Sample) ([]any, error) {
	if raw, found, supported, err := p.Raw(s.Body); supported {
		if err != nil || !found {
			return nil, err
		}
		v, err := decode(raw)
		return []any{v}, err
	}
	tree, err := s.JSON()
	if err != nil {
		return nil, &notJSON{strings.TrimPrefix(err.Error(), "the body is not JSON: ")}
	}
	return p.SelectTree(tree)
}

// decode is element.DecodeJSON with a shorter way for the simple values that most
// paths name; raw is known to be JSON.
func decode(raw []byte) (any, error) {
	switch raw[0] {
	case '"':
		if inner, ok := PlainString(raw); ok {
			return string(inner), nil
		}
	case 't':
		return true, nil
	case 'f':
		return false, nil
	case 'n':
		return nil, nil
	case '{', '[':
	default:
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return n, nil
		}
	}
	return element.DecodeJSON(raw)
}

// SelectBytes is Select for a JSON text that is not a sample's body.
func (p *JSONPath) SelectBytes(text []byte) ([]any, error) {
	return p.Select(&element.Sample{Body: text})
}

// SelectTree returns the values of a decoded tree that the path names.
func (p *JSONPath) SelectTree(tree any) ([]any, error) {
	if !shallow(tree, MaxDepth) {
		return nil, fmt.Errorf("the JSON is nested deeper than %d levels", MaxDepth)
	}
	nodes := p.path.Select(tree)
	if len(nodes) > MaxMatches {
		nodes = nodes[:MaxMatches:MaxMatches]
	}
	return nodes, nil
}

func shallow(v any, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			if !shallow(m, depth-1) {
				return false
			}
		}
	case []any:
		for _, m := range v {
			if !shallow(m, depth-1) {
				return false
			}
		}
	}
	return true
}
