package element

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type shared struct{ _ int }

func (s *shared) Branch() any { return s }

type own struct{ closed bool }

func (o *own) Close() error { o.closed = true; return nil }

func TestBranchesMergeWhatTheySet(t *testing.T) {
	th := NewThread(1, "g", nil, nil)
	th.Set("a", 1)
	th.Set("b", 1)
	th.Set("c", 1)
	x, y := th.Branch(nil, nil), th.Branch(nil, nil)
	for pass := range 2 {
		th.Fork(x)
		th.Fork(y)
		x.Set("a", 2)
		x.Unset("b")
		x.Set("both", "x")
		y.Set("d", 3+pass)
		y.Set("both", "y")
		th.Join(x)
		th.Join(y)
		want := map[string]any{"a": 2, "c": 1, "d": 3 + pass, "both": "y"}
		if diff := cmp.Diff(want, th.vars); diff != "" {
			t.Errorf("pass %d (-want +got):\n%s", pass, diff)
		}
	}
}

func TestLocalsOfBranches(t *testing.T) {
	th := NewThread(1, "g", nil, nil)
	kept := th.Local("kept", func() any { return &own{} }).(*own)
	x, y := th.Branch(nil, nil), th.Branch(nil, nil)
	inner := x.Branch(nil, nil)
	var wg sync.WaitGroup
	for _, b := range []*Thread{y, inner} {
		wg.Go(func() {
			b.Local("outer", func() any { // one value may ask for another
				b.Local("shared", func() any { return &shared{} })
				return &own{}
			})
		})
	}
	wg.Wait()
	a, b, c := y.Local("shared", nil), inner.Local("shared", nil), th.Local("shared", nil)
	if a != b || a != c {
		t.Error("branches do not share a value that branches")
	}
	if y.Local("outer", nil) == inner.Local("outer", nil) || y.Local("kept", func() any { return &own{} }) == any(kept) {
		t.Error("branches share a value that does not branch")
	}
	th.Close()
	if !kept.closed || len(y.locals)+len(inner.locals) != 0 {
		t.Error("not everything was closed")
	}
}
