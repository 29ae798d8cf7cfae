package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func file(text string) OpenFunc {
	return func(string) (io.ReadSeekCloser, error) { return memory{bytes.NewReader([]byte(text))}, nil }
}

func thread(id int, group string) *element.Thread {
	t := element.NewThread(id, group, nil, nil)
	t.Rand = rand.New(rand.NewPCG(1, uint64(id)))
	return t
}

func open(t *testing.T, cfg Config, text string) *Feeder {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = "d.csv"
	}
	f, err := Open(cfg, file(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// take renders what n calls of Next return: the column a, or the error.
func take(f *Feeder, th *element.Thread, n int) []string {
	var got []string
	for range n {
		r, err := f.Next(th)
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, fmt.Sprint(r["a"]))
	}
	return got
}

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		text string
		want []map[string]any
	}{
		"plain":          {Config{}, "a,b\n1,x\n", []map[string]any{{"a": "1", "b": "x"}}},
		"mark":           {Config{}, "\xef\xbb\xbfa,b\n1,x\n", []map[string]any{{"a": "1", "b": "x"}}},
		"crlf":           {Config{}, "a,b\r\n1,x\r\n2,y", []map[string]any{{"a": "1", "b": "x"}, {"a": "2", "b": "y"}}},
		"quoted newline": {Config{}, "a,b\n1,\"x\ny, \"\"z\"\"\"\n", []map[string]any{{"a": "1", "b": "x\ny, \"z\""}}},
		"delimiter":      {Config{Delimiter: ";"}, "a;b\n1;x,y\n", []map[string]any{{"a": "1", "b": "x,y"}}},
		"tab":            {Config{Delimiter: "tab"}, "a\tb\n1\tx\n", []map[string]any{{"a": "1", "b": "x"}}},
		"columns":        {Config{Columns: []string{"a", "b"}}, "1,x\n", []map[string]any{{"a": "1", "b": "x"}}},
		"skip lines":     {Config{SkipLines: 2}, "\xef\xbb\xbf# by \"hand\nother\na,b\n1,x\n", []map[string]any{{"a": "1", "b": "x"}}},
		"empty lines":    {Config{}, "a,b\n\n1,x\n\n\n2,y\n", []map[string]any{{"a": "1", "b": "x"}, {"a": "2", "b": "y"}}},
		"types": {Config{Types: map[string]string{"a": "int", "b": "float", "c": "bool", "d": "json"}},
			"a,b,c,d,e\n9007199254740993,1.50,true,\"{\"\"n\"\":[1,2.5]}\",007\n",
			[]map[string]any{{"a": int64(9007199254740993), "b": 1.5, "c": true, "d": map[string]any{"n": []any{int64(1), 2.5}}, "e": "007"}}},
		"spaces": {Config{}, "a , b\n 1,x \n", []map[string]any{{"a": " 1", "b": "x "}}},
	} {
		for _, way := range []string{"next", "shuffled", "streamed", "by place"} {
			t.Run(name+" "+way, func(t *testing.T) {
				c.cfg.Pick, c.cfg.OnEnd = "next", "stop_thread"
				if way == "shuffled" {
					c.cfg.Pick = way
				}
				f, th := open(t, c.cfg, c.text), thread(1, "g")
				switch way {
				case "streamed":
					f.size = smallFile + 1
				case "by place":
					f.index.kept = nil
				}
				var got []map[string]any
				for range c.want {
					r, err := f.Next(th)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, r)
				}
				sort.Slice(got, func(i, j int) bool { return fmt.Sprint(got[i]["a"]) < fmt.Sprint(got[j]["a"]) })
				if d := cmp.Diff(c.want, got); d != "" {
					t.Error(d)
				}
				if _, err := f.Next(th); !errors.Is(err, ErrEnd) {
					t.Errorf("after the last row: %v", err)
				}
			})
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for name, c := range map[string]struct {
		cfg        Config
		text, want string
	}{
		"empty":             {Config{}, "", "d.csv: the file is empty; it needs a header line and rows"},
		"mark only":         {Config{}, "\xef\xbb\xbf", "d.csv: the file is empty; it needs a header line and rows"},
		"header only":       {Config{}, "a,b\n", "d.csv: there are no rows below the header"},
		"columns, no rows":  {Config{Columns: []string{"a"}}, "", "d.csv: there are no rows below the header"},
		"utf-16":            {Config{}, "\xff\xfea\x00", "d.csv: the file is UTF-16; save it as UTF-8"},
		"twice":             {Config{}, "a,b,a\n1,2,3\n", `d.csv:1: the header names the column "a" twice`},
		"nameless":          {Config{}, "a,,b\n1,2,3\n", "d.csv:1: column 2 of the header has no name"},
		"first row":         {Config{SkipLines: 1}, "x\na,b\n1\n", "d.csv:3: the row has 1 columns, expected 2"},
		"type":              {Config{Types: map[string]string{"a": "int"}}, "a\nx\n", `d.csv:2: column "a": "x" is not an int`},
		"empty int":         {Config{Types: map[string]string{"a": "int"}}, "a,b\n,x\n", `d.csv:2: column "a": "" is not an int`},
		"unknown column":    {Config{Types: map[string]string{"c": "int"}}, "a,b\n1,x\n", `data "d": types: d.csv has no column "c"; it has a, b`},
		"unknown type":      {Config{Types: map[string]string{"a": "date"}}, "a\n1\n", `data "d": types: "date" is none of int, float, bool, json, text`},
		"not utf-8":         {Config{}, "a\n\xff\xff\n", "d.csv:2: column 1 is not UTF-8"},
		"bad delimiter":     {Config{Delimiter: "::"}, "a\n1\n", `data "d": delimiter: "::" is not one character; write one like ";" or tab`},
		"unique recycled":   {Config{Pick: "unique", OnEnd: "recycle"}, "a\n1\n", `data "d": pick: unique hands out each row at most once and cannot recycle; use on_end: stop_thread or fail`},
		"unique by group":   {Config{Pick: "unique", Share: "group"}, "a\n1\n", `data "d": pick: unique hands out each row at most once in the run and needs share: plan`},
		"unknown pick":      {Config{Pick: "first"}, "a\n1\n", `data "d": pick: "first" is none of next, random, shuffled, unique`},
		"later, small file": {Config{}, "a,b\n1,2\n\n1\n", "d.csv:4: the row has 1 columns, expected 2"},
		"later, by index":   {Config{Pick: "random"}, "a,b\n1,2\n\n1\n", "d.csv:4: the row has 1 columns, expected 2"},
		"type, by index":    {Config{Pick: "shuffled", Types: map[string]string{"a": "bool"}}, "a\ntrue\nyes\n", `d.csv:3: column "a": "yes" is not true or false`},
		"unclosed quote":    {Config{}, "a\n\"x\n", `d.csv:2: extraneous or missing " in quoted-field`},
		"endless row":       {Config{}, "a\nx\n", ""},
		"endless first row": {Config{}, "a\n\"" + strings.Repeat("x", 2<<20) + "\"\n", "d.csv: a row after line 1 is longer than 1 MiB; is a quote left open?"},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Name, c.cfg.Path = "d", "d.csv"
			f, err := Open(c.cfg, file(c.text))
			got := ""
			if err != nil {
				got = err.Error()
			} else if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOpenFileError(t *testing.T) {
	_, err := Open(Config{Name: "d", Path: "d.csv"}, func(string) (io.ReadSeekCloser, error) { return nil, io.ErrUnexpectedEOF })
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

func TestHeader(t *testing.T) {
	got, err := Header(strings.NewReader("\xef\xbb\xbfskipped\r\nemail; password\r\n"), Config{SkipLines: 1, Delimiter: ";"})
	if d := cmp.Diff([]string{"email", "password"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestPicks(t *testing.T) {
	rows := "a\n1\n2\n3\n"
	end := `data "d" has no rows left in d.csv`
	for name, c := range map[string]struct {
		cfg  Config
		want []string // 5 rows of thread 1, then 2 of thread 2 in the same group, then 2 of thread 3 in another
	}{
		"defaults":        {Config{}, []string{"1", "2", "3", "1", "2", "3", "1", "2", "3"}},
		"by group":        {Config{Share: "group"}, []string{"1", "2", "3", "1", "2", "3", "1", "1", "2"}},
		"by thread":       {Config{Share: "thread"}, []string{"1", "2", "3", "1", "2", "1", "2", "1", "2"}},
		"per thread":      {Config{Per: "thread"}, []string{"1", "1", "1", "1", "1", "2", "2", "3", "3"}},
		"stop":            {Config{OnEnd: "stop_thread"}, []string{"1", "2", "3", end, end, end, end, end, end}},
		"stop by thread":  {Config{OnEnd: "stop_thread", Share: "thread"}, []string{"1", "2", "3", end, end, "1", "2", "1", "2"}},
		"unique":          {Config{Pick: "unique"}, []string{"1", "1", "1", "1", "1", "2", "2", "3", "3"}},
		"unique, each":    {Config{Pick: "unique", Per: "iteration"}, []string{"1", "2", "3", end, end, end, end, end, end}},
		"thread's thread": {Config{Share: "thread", Per: "thread"}, []string{"1", "1", "1", "1", "1", "1", "1", "1", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Name = "d"
			streamed := open(t, c.cfg, rows)
			streamed.size = smallFile + 1
			got := append(take(streamed, thread(1, "g"), 5), take(streamed, thread(2, "g"), 2)...)
			got = append(got, take(streamed, thread(3, "h"), 2)...)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error("streamed", d)
			}
			f := open(t, c.cfg, rows)
			got = append(take(f, thread(1, "g"), 5), take(f, thread(2, "g"), 2)...)
			got = append(got, take(f, thread(3, "h"), 2)...)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEndPolicy(t *testing.T) {
	for pick, want := range map[string]string{"unique": "fail", "next": "stop_thread"} {
		f, th := open(t, Config{Name: "d", Pick: pick, Per: "iteration", OnEnd: want}, "a\n1\n"), thread(1, "g")
		take(f, th, 1)
		_, err := f.Next(th)
		var end *EndError
		if !errors.As(err, &end) || end.Policy != want {
			t.Errorf("%s: got %v", pick, err)
		}
	}
}

func TestShuffledTakesEveryRowOncePerPass(t *testing.T) {
	f, th := open(t, Config{Pick: "shuffled", Seed: 7}, numbers(100)), thread(1, "g")
	first, second := take(f, th, 100), take(f, th, 100)
	if cmp.Equal(first, second) {
		t.Error("both passes have the same order")
	}
	for _, pass := range [][]string{first, second} {
		if sort.StringsAreSorted(pass) {
			t.Error("the pass is in file order")
		}
		sort.Strings(pass)
		if d := cmp.Diff(sorted(100), pass); d != "" {
			t.Error(d)
		}
	}
	again := open(t, Config{Pick: "shuffled", Seed: 7}, numbers(100))
	if got := take(again, thread(9, "g"), 100); !cmp.Equal(got[0], take(open(t, Config{Pick: "shuffled", Seed: 7}, numbers(100)), th, 1)[0]) {
		t.Error("the seed does not give the order")
	}
}

func TestRandomComesFromTheThread(t *testing.T) {
	f := open(t, Config{Pick: "random"}, numbers(50))
	a, b, c := take(f, thread(1, "g"), 200), take(f, thread(1, "g"), 200), take(f, thread(2, "g"), 200)
	if !cmp.Equal(a, b) || cmp.Equal(a, c) {
		t.Error("the draw does not depend on the thread's random source alone")
	}
	seen := map[string]bool{}
	for _, v := range a {
		seen[v] = true
	}
	if len(seen) < 40 {
		t.Errorf("%d of 50 rows in 200 draws", len(seen))
	}
}

func TestPermute(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 5, 64, 1000} {
		seen := map[int64]bool{}
		for i := range n {
			p := permute(i, n, 42)
			if p < 0 || p >= n || seen[p] {
				t.Fatalf("n=%d: %d → %d", n, i, p)
			}
			seen[p] = true
		}
	}
}

func TestUniqueUnderEightThreads(t *testing.T) {
	const rows = 5000
	for i, cfg := range []Config{
		{Pick: "unique", Per: "iteration"},
		{Pick: "unique", Per: "iteration"},
		{Pick: "shuffled", OnEnd: "stop_thread"},
	} {
		f := open(t, cfg, numbers(rows))
		if i == 0 {
			f.size = smallFile + 1 // streamed
		}
		var mu sync.Mutex
		var got []string
		var wg sync.WaitGroup
		for id := range 8 {
			wg.Go(func() {
				th := thread(id, "g")
				var mine []string
				for {
					r, err := f.Next(th)
					if err != nil {
						if !errors.Is(err, ErrEnd) {
							t.Error(err)
						}
						break
					}
					mine = append(mine, r["a"].(string))
				}
				mu.Lock()
				got = append(got, mine...)
				mu.Unlock()
			})
		}
		wg.Wait()
		sort.Strings(got)
		if d := cmp.Diff(sorted(rows), got); d != "" {
			t.Error(cfg.Pick, d)
		}
	}
}

func TestBadRowsBetween(t *testing.T) {
	text := "a,b\n1,x\n2\n3,\"y\n z\"\nfour,x\n5,x\"\n6,x\n"
	f := open(t, Config{OnEnd: "stop_thread", Types: map[string]string{"a": "int"}}, text+strings.Repeat("7,x\n", smallFile/4))
	want := []string{"1", "d.csv:3: the row has 1 columns, expected 2", "3",
		`d.csv:6: column "a": "four" is not an int`, `d.csv:7: bare " in non-quoted-field`, "6"}
	if d := cmp.Diff(want, take(f, thread(1, "g"), 6)); d != "" {
		t.Error(d)
	}
}

func TestClosedWhileReading(t *testing.T) {
	f, err := Open(Config{Path: "d.csv"}, file(numbers(200_000)))
	if err != nil {
		t.Fatal(err)
	}
	th := thread(1, "g")
	take(f, th, 1)
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Next(th); err == nil {
		t.Error("a closed feeder hands out rows")
	}
	if _, err := f.Next(thread(2, "g")); err == nil {
		t.Error("a closed feeder hands out rows to a new thread")
	}
}

func TestSparseIndex(t *testing.T) {
	x := &index{stride: 1}
	const rows = 3*maxPlaces + 17
	for i := range int64(rows) {
		x.add(place{offset: i})
	}
	if x.rows != rows || x.stride != 4 || len(x.places) > maxPlaces {
		t.Fatalf("rows %d, stride %d, %d places", x.rows, x.stride, len(x.places))
	}
	for i, p := range x.places {
		if p.offset != int64(i)*x.stride {
			t.Fatalf("place %d is row %d", i, p.offset)
		}
	}
}

func TestIndexReadsLargeAndSparse(t *testing.T) {
	text := numbers(200_000) // larger than what is kept in memory
	f := open(t, Config{Pick: "shuffled", OnEnd: "stop_thread"}, text)
	if f.index.small != nil {
		t.Fatal("the file is kept in memory")
	}
	for pass := range 2 {
		for _, i := range []int64{0, 1, 77, 100_000, 199_999} {
			r, err := f.index.row(i)
			if want := number(int(i)); err != nil || r["a"] != want {
				t.Fatalf("row %d: %v %v", i, r, err)
			}
		}
		if pass > 0 {
			break
		}
		var places []place // the second time every 8th place only
		for i := 0; i < 200_000; i += 8 {
			places = append(places, f.index.places[i])
		}
		f.index.places, f.index.stride = places, 8
	}
}

func FuzzRecords(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\xef\xbb\xbfa\r\n\"x\ny\"\r\n", "a\n\"", "\"a\nb\",c\n1,2"} {
		f.Add(s, 0)
	}
	f.Fuzz(func(t *testing.T, text string, skip int) {
		cfg := Config{Path: "d.csv", OnEnd: "stop_thread", SkipLines: skip & 3}
		fd, err := Open(cfg, file(text))
		if err != nil {
			return
		}
		defer fd.Close()
		switch skip >> 2 & 3 { // in turn from memory, streamed, by place
		case 1:
			fd.size = smallFile + 1
		case 2:
			fd.index.kept = nil
		}
		th := thread(1, "g")
		for range 1000 {
			if _, err := fd.Next(th); errors.Is(err, ErrEnd) {
				return
			}
		}
	})
}

func BenchmarkNext(b *testing.B) {
	for name, rows := range map[string]int{"next": 1000, "random": 1000, "next large": 200_000, "random large": 200_000} {
		b.Run(name, func(b *testing.B) {
			fd, err := Open(Config{Path: "d.csv", Pick: strings.TrimSuffix(name, " large")}, file(numbers(rows)))
			if err != nil {
				b.Fatal(err)
			}
			defer fd.Close()
			th := thread(1, "g")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fd.Next(th); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func number(i int) string { return fmt.Sprintf("%08d", i) }

func numbers(n int) string {
	var b strings.Builder
	b.WriteString("a,b\n")
	for i := range n {
		b.WriteString(number(i) + ",x\n")
	}
	return b.String()
}

func sorted(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = number(i)
	}
	return list
}
