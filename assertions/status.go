package assertions

import (
	"fmt"
	"strconv"
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

func defineStatus() element.Definition {
	return element.DefineAssertion[status]("status", element.Doc{
		Summary: "holds when the status is one of those given",
		Text: "A status is a number, or a class such as `2xx`. " +
			"Where a `status` assertion is in scope, the implied rule that a status from 400 on fails the sample is lifted.",
		Examples: []element.Example{{YAML: "status: 200"}, {YAML: "status: [200, 304]"}, {YAML: "status: 2xx"}, {YAML: `status: ["2xx", 404, "${expected_status}"]`}},
	})
}

type status struct {
	Is statuses `plan:"is,required,short" doc:"the status, or a list of them; 2xx stands for 200 to 299"`
}

// Assert holds when the sample's status is one of those given.
func (a *status) Assert(t *element.Thread, s *element.Sample) error {
	for _, r := range a.Is.fixed {
		if s.Status >= r.low && s.Status <= r.high {
			return nil
		}
	}
	expected := a.Is.words
	for i := range a.Is.Dynamic {
		text, err := a.Is.Dynamic[i].Eval(t)
		if err != nil {
			return err
		}
		r, err := parseStatus(text)
		if err != nil {
			return fmt.Errorf("status: %w", err)
		}
		if s.Status >= r.low && s.Status <= r.high {
			return nil
		}
		expected = append(expected[:len(expected):len(expected)], text)
	}
	actual := strconv.Itoa(s.Status)
	switch {
	case s.Status == 0:
		actual = "none"
	case s.Message != "":
		actual += " " + cut(cutSource(s.Message))
	}
	return fail(t, "the status is not "+or(a.Is.written), or(expected), actual)
}

// statuses is one status or a list of them.
type statuses struct {
	Dynamic []expr.String // with ${…}
	fixed   []statusRange
	words   []string // of fixed
	written []string // of all
}

type statusRange struct{ low, high int }

// DecodeNode reads a status or a list of them.
func (s *statuses) DecodeNode(n *source.Node, ds *source.Diagnostics) {
	items := n.Items
	switch n.Kind {
	case source.Scalar:
		items = []*source.Node{n}
	case source.Map: // none of its keys is one of the assertion's
		for _, f := range n.Fields {
			spec.UnknownKey(f.Key, "status", []string{"is"}, nil, ds)
		}
		return
	}
	if len(items) == 0 {
		ds.Add(n.Range, "empty-list", "the list has no status", "write at least one, as [200, 304]")
	}
	for _, item := range items {
		s.add(item, ds)
	}
}

func (s *statuses) add(n *source.Node, ds *source.Diagnostics) {
	var v expr.String
	before := len(*ds)
	v.Decode(n, ds)
	if len(*ds) > before {
		return
	}
	s.written = append(s.written, cutSource(n.Text))
	text, literal := v.Literal()
	if !literal {
		s.Dynamic = append(s.Dynamic, v)
		return
	}
	r, err := parseStatus(text)
	if err != nil {
		remedy := "write a number such as 200, or a class such as 2xx"
		if strings.Contains(text, ",") {
			remedy = "write a list in brackets: [" + text + "]"
		}
		ds.Add(n.Range, "bad-status", err.Error(), remedy)
		return
	}
	s.fixed, s.words = append(s.fixed, r), append(s.words, text)
}

// BindNode binds what holds ${…}.
func (s *statuses) BindNode(env *expr.Env, ds *source.Diagnostics) {
	for i := range s.Dynamic {
		s.Dynamic[i].Bind(env, ds)
	}
}

// Uses returns the names that are read.
func (s *statuses) Uses() (uses []expr.Use) {
	for i := range s.Dynamic {
		uses = append(uses, s.Dynamic[i].Uses()...)
	}
	return uses
}

// DescribeNode says that there are a single form and a list.
func (*statuses) DescribeNode() []spec.Field {
	return []spec.Field{{Go: "int", Min: "0", Max: "999", Template: true}, {Go: "text", Template: true}, {Go: "list", Item: &spec.Field{Go: "any"}}}
}

func parseStatus(text string) (statusRange, error) {
	if len(text) == 3 && (text[1:] == "xx" || text[1:] == "XX") && text[0] >= '1' && text[0] <= '9' {
		low := int(text[0]-'0') * 100
		return statusRange{low, low + 99}, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 999 {
		return statusRange{}, fmt.Errorf("%q is not a status", text)
	}
	return statusRange{n, n}, nil
}

// or joins words as in "200, 201 or 2xx".
func or(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// Needs says that the status alone is looked at.
func (*status) Needs() element.Needs { return 0 }
