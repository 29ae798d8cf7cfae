package engine

import (
	"fmt"
	"sync"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// maxSplit is how many values of split_by have a row of their own.
const maxSplit = 50

// split gives a sampler a row for each value of an expression. The rows are there
// before the run, the names come with the values.
type split struct {
	by   *expr.Expression
	name string // of the step
	rows []int  // the first one is that of all further values
	slot int    // in the run's splits
}

// splitRows are the values that have a row.
type splitRows struct {
	mu   sync.Mutex
	rows map[string]int
}

// row returns the row of the expression's value.
func (n *split) row(th *thread, other int) (int, error) {
	v, err := n.by.Eval(th)
	if err != nil {
		return other, err
	}
	text, err := expr.FormatText(v)
	if err != nil {
		return other, err
	}
	text = th.Masker.Mask(text)
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:59]) + "…"
	}
	s := &th.run.splits[n.slot]
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.rows[text]; ok {
		return id, nil
	}
	if len(s.rows) == len(n.rows)-1 {
		return other, nil
	}
	if s.rows == nil {
		s.rows = map[string]int{}
	}
	id := n.rows[len(s.rows)+1]
	s.rows[text] = id
	if namer, ok := th.run.recorder.(element.RowNamer); ok {
		namer.NameRow(id, n.name+": "+text)
	}
	return id, nil
}

// splitRows makes the rows of a sampler, that of all further values first.
func (c *compiler) splitRows(name, kind string, where source.Range) []int {
	ids := []int{c.row(name+": (other)", kind, where, false)}
	for i := range maxSplit {
		ids = append(ids, c.row(fmt.Sprintf("%s: value %d", name, i+1), kind, where, false))
	}
	for _, id := range ids {
		c.program.layout.Series[id].Reserved = true
	}
	return ids
}
