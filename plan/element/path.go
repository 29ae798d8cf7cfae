package element

import (
	"strconv"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"runner/plan/expr"
)

// LookupPath reads one member of the response's JSON without decoding the rest.
// A path that leads nowhere is (nil, true).
func (t *Thread) LookupPath(p *expr.Path) (any, bool) {
	if _, own := t.vars[p.Root]; own || p.Root != "json" || t.Sample == nil {
		return t.walk(p)
	}
	return t.Sample.jsonAt(p.Steps)
}

// walk follows the path through a value that is there as a whole.
func (t *Thread) walk(p *expr.Path) (any, bool) {
	v, ok := t.Lookup(p.Root)
	if !ok {
		return nil, false
	}
	return descend(v, p.Steps), true
}

func descend(v any, steps []any) any {
	for _, step := range steps {
		switch at := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[at]
		case int:
			list, _ := v.([]any)
			if at < 0 {
				at += len(list)
			}
			if at < 0 || at >= len(list) {
				return nil
			}
			v = list[at]
		}
	}
	return v
}

func (s *Sample) jsonAt(steps []any) (any, bool) {
	if s.jsonParsed {
		return descend(s.json, steps), s.jsonErr == nil
	}
	if !s.jsonValid {
		if !gjson.ValidBytes(s.Body) {
			v, err := s.JSON() // decodes for its error, once
			return descend(v, steps), err == nil
		}
		s.jsonValid = true
	}
	// The body does not change while the sample lives, and no result keeps a part of it.
	at := gjson.Result{Type: gjson.JSON, Raw: strings.TrimSpace(unsafe.String(unsafe.SliceData(s.Body), len(s.Body)))}
	for _, step := range steps {
		next, ok := member(at, step)
		if !ok {
			v, err := s.JSON()
			return descend(v, steps), err == nil
		}
		if at = next; !at.Exists() {
			return nil, true
		}
	}
	return plain(at), true
}

// member returns one member; not ok where the fast way does not know how.
func member(at gjson.Result, step any) (gjson.Result, bool) {
	switch step := step.(type) {
	case string:
		if !at.IsObject() {
			return gjson.Result{}, true
		}
		if strings.ContainsAny(step, `.*?|#@!{}[]\"`) || step == "" {
			return gjson.Result{}, false
		}
		return at.Get(step), true
	case int:
		if !at.IsArray() {
			return gjson.Result{}, true
		}
		if step < 0 {
			return gjson.Result{}, false
		}
		return at.Get(strconv.Itoa(step)), true
	}
	return gjson.Result{}, false
}

// plain returns a value of the language that shares no memory with the body.
func plain(r gjson.Result) any {
	switch r.Type {
	case gjson.String:
		return strings.Clone(r.Str)
	case gjson.True, gjson.False:
		return r.Type == gjson.True
	case gjson.Number:
		if n, err := strconv.ParseInt(r.Raw, 10, 64); err == nil {
			return n
		}
		return r.Num
	case gjson.JSON:
		v, err := DecodeJSON([]byte(r.Raw))
		if err != nil {
			return nil
		}
		return v
	}
	return nil
}
