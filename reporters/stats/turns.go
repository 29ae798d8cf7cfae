package stats

import (
	"errors"
	"slices"
	"time"
)

// turn is some parts that ran at the same time: which, and how much later than the
// first of them each began.
type turn struct {
	parts   []int
	offsets []time.Duration
}

// maxLength bounds the length of a merged run, so that no sum of times overflows.
const maxLength = 100 * 365 * 24 * time.Hour

// touching is the share of the shorter part by which two runs may seem to overlap
// although they did not: a wall clock is adjusted while runs follow each other.
const touching = 0.01

// turnsOf puts parts that overlap in time into one turn, and the turns in the order
// in which they ran.
func turnsOf(parts []Part) ([]turn, error) {
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return parts[a].started().Compare(parts[b].started()) })
	var out []turn
	var end time.Time
	var length time.Duration // of the turn at hand
	total := time.Duration(0)
	for _, i := range order {
		p := &parts[i]
		if p.state.at > maxLength {
			return nil, errors.New(p.name + " is longer than can be")
		}
		slack := time.Duration(touching * float64(min(length, p.state.at)))
		if len(out) == 0 || !p.started().Before(end.Add(-slack)) {
			total, length = total+length, 0
			out, end = append(out, turn{}), p.started()
		}
		t := &out[len(out)-1]
		t.parts = append(t.parts, i)
		if last := p.started().Add(p.state.at); last.After(end) {
			end = last
		}
		if length = end.Sub(parts[t.parts[0]].started()); length > maxLength || total+length > maxLength {
			return nil, errors.New("together they are longer than can be")
		}
	}
	for k := range out {
		first := parts[out[k].parts[0]].started()
		slices.Sort(out[k].parts)
		for _, i := range out[k].parts {
			out[k].offsets = append(out[k].offsets, parts[i].started().Sub(first))
		}
	}
	return out, nil
}

// mostThreads returns the most threads that a group had at once, as planned.
func mostThreads(parts []Part, turns []turn, group int) int {
	most := 0
	for _, t := range turns {
		sum := 0
		for _, i := range t.parts {
			sum += parts[i].state.out.Groups[group].MaxThreads
		}
		most = max(most, sum)
	}
	return most
}

// ran is one of several runs of a merged result that took turns.
type ran struct {
	state *state
	cells []*cell // by rows of the merged result
}

// beside adds the parts of one turn.
func (s *state) beside(parts []Part, t turn) {
	for k, i := range t.parts {
		s.absorb(parts[i].state, t.offsets[k], false)
	}
}

// follow adds a run that began when all before it had ended.
func (s *state) follow(next *state) {
	s.turns = append(s.turns, ran{next, s.absorb(next, s.at, true)})
}

// paceInTurn returns the samples per second of some rows over runs that took turns:
// the samples of all over the sum of the spans, n mean gaps each, of those runs
// that have a throughput.
func (s *state) paceInTurn(rows []int) (float64, bool) {
	count, span := int64(0), 0.0
	for i := range s.turns {
		m := &measure{}
		for _, row := range rows {
			if c := s.turns[i].cells[row]; c != nil {
				m.add(c, &figure{}, nil)
			}
		}
		if v, ok := throughput(m.timed(), m.first, m.last); ok {
			count, span = count+m.timed(), span+float64(m.timed())/v
		}
	}
	return float64(count) / span, count > 0
}

// rowsWhere lists the rows that have a property, the shared one included.
func (s *state) rowsWhere(ok func(row int) bool) []int {
	var out []int
	for i := range s.width() {
		if ok(i) {
			out = append(out, i)
		}
	}
	return out
}

// judgedRows returns the rows of a threshold, each once.
func (s *state) judgedRows(j *judge) []int {
	var out []int
	for _, i := range j.t.Series {
		if i < 0 || i >= len(s.out.Series) {
			i = len(s.out.Series)
		}
		out = append(out, i)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// loaded is the time since the first group began, of all runs that took turns.
func (s *state) loaded() (time.Duration, bool) {
	if len(s.turns) == 0 {
		begun, ok := s.begunOf(-1)
		return s.at - begun, ok
	}
	sum, some := time.Duration(0), false
	for i := range s.turns {
		if d, ok := s.turns[i].state.loaded(); ok {
			sum, some = sum+d, true
		}
	}
	return sum, some
}
