package data

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

func TestSegmentsTakeDifferentRows(t *testing.T) {
	const rows = 1003 // several batches, and not a multiple of the segments
	for _, cfg := range []Config{
		{Pick: "next", OnEnd: "stop_thread"}, {Pick: "unique", Per: "iteration", OnEnd: "stop_thread"}, {Pick: "shuffled", OnEnd: "stop_thread"},
	} {
		for _, streamed := range []bool{false, cfg.Pick != "shuffled"} {
			var got []string
			for i := range 5 {
				cfg.Segment = element.Segment{Index: i, Count: 5}
				f := open(t, cfg, numbers(rows))
				if streamed {
					f.size = smallFile + 1
				}
				mine := take(f, thread(1, "g"), int(cfg.Segment.Of(rows)))
				if more := take(f, thread(2, "g"), 1)[0]; !strings.Contains(more, "no rows left") {
					t.Errorf("%s: segment %d has one more: %s", cfg.Pick, i, more)
				}
				got = append(got, mine...)
			}
			sort.Strings(got)
			if d := cmp.Diff(sorted(rows), got); d != "" {
				t.Errorf("%s, streamed %v: %s", cfg.Pick, streamed, d)
			}
		}
	}
}

func TestSegmentRecyclesItsOwnRows(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		f := open(t, Config{Segment: element.Segment{Index: 1, Count: 3}}, "a\n0\n1\n2\n3\n4\n")
		if streamed {
			f.size = smallFile + 1
		}
		if d := cmp.Diff([]string{"1", "4", "1", "4", "1"}, take(f, thread(1, "g"), 5)); d != "" {
			t.Errorf("streamed %v: %s", streamed, d)
		}
	}
}

func TestRowsThatNoSegmentTakesAway(t *testing.T) {
	f := open(t, Config{Share: "thread", Segment: element.Segment{Index: 1, Count: 3}}, "a\n0\n1\n2\n")
	if d := cmp.Diff([]string{"0", "1", "2"}, take(f, thread(1, "g"), 3)); d != "" {
		t.Error(d)
	}
}

func TestSegmentWithoutRows(t *testing.T) {
	_, err := Open(Config{Name: "users", Path: "d.csv", Segment: element.Segment{Index: 4, Count: 5}}, file("a\n0\n1\n"))
	if want := `data "users": segment 5/5 has none of the 2 rows of d.csv`; fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}
