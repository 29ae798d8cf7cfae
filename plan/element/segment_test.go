package element

import "testing"

func TestSegmentsPartTheNumbers(t *testing.T) {
	for n := 1; n < 7; n++ {
		for total := int64(0); total < 30; total++ {
			sum := int64(0)
			for i := range n {
				s := Segment{Index: i, Count: n}
				of := s.Of(total)
				sum += of
				for k := range of {
					if x := s.Nth(k); !s.Has(x) || x >= total || s.Of(x) != k {
						t.Fatalf("%v: number %d of %d is %d", s, k, total, x)
					}
				}
			}
			if sum != total {
				t.Fatalf("%d in %d parts: %d", total, n, sum)
			}
		}
	}
	if w := (Segment{}); !w.IsWhole() || w.Of(7) != 7 || w.Nth(3) != 3 || !w.Has(5) || w.String() != "1/1" {
		t.Error("the zero segment is not the whole")
	}
}
