package stats

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Distinct returns an error if one run is among the parts twice, under whatever
// names.
func Distinct(parts []Part) error {
	seen := map[string]string{}
	for i := range parts {
		id := parts[i].state.out.Info.RunID
		if other, twice := seen[id]; twice && id != "" {
			return fmt.Errorf("%s and %s hold the same run (id %s); it would count twice", other, parts[i].name, cut(id, maxText))
		}
		seen[id] = parts[i].name
	}
	return nil
}

// SameLoad returns an error that names what differs if parts of one plan ran with
// different loads. Segments must have the same seed too. Call it only for parts
// that Merge takes.
func SameLoad(parts []Part) error {
	for i := 1; i < len(parts); i++ {
		if differ := parts[i].differs(&parts[0]); len(differ) > 0 {
			return fmt.Errorf("%s ran another load than %s: %s", parts[i].name, parts[0].name, strings.Join(differ, "; "))
		}
	}
	return nil
}

// differs lists what makes the load of two parts different.
func (p *Part) differs(other *Part) []string {
	var out []string
	a, b := p.state.out, other.state.out
	for g := range min(len(a.Groups), len(b.Groups)) {
		x, y := &a.Groups[g], &b.Groups[g]
		switch {
		case x.Load != y.Load:
			out = append(out, fmt.Sprintf("the group %s has %s instead of %s", x.Name, x.loadText(), y.loadText()))
		case x.Duration != y.Duration:
			out = append(out, fmt.Sprintf("the group %s is planned for %s instead of %s", x.Name, formatTime(float64(x.Duration), 3), formatTime(float64(y.Duration), 3)))
		case x.ScheduledRate != y.ScheduledRate:
			out = append(out, fmt.Sprintf("the group %s has the rate %s instead of %s", x.Name, x.ScheduledRate, y.ScheduledRate))
		case x.MaxThreads != y.MaxThreads && a.Info.Segment == "" && b.Info.Segment == "":
			out = append(out, fmt.Sprintf("the group %s has at most %s instead of %d", x.Name, counted(int64(x.MaxThreads), "thread", "threads"), y.MaxThreads))
		}
	}
	if a.Info.Segment != "" && b.Info.Segment != "" && a.Info.Seed != b.Info.Seed {
		out = append(out, fmt.Sprintf("it has the seed %d instead of %d, and segments must draw the same", a.Info.Seed, b.Info.Seed))
	}
	return shortened(out)
}

func (g *groupOutline) loadText() string {
	if g.Load == "" {
		return "no load"
	}
	return "“" + g.Load + "”"
}

// shortened keeps the first of many.
func shortened(list []string) []string {
	if n := len(list) - maxNamed; n > 0 {
		return append(slices.Clone(list[:maxNamed]), num(int64(n))+" more")
	}
	return list
}

// segment returns which segment of how many the part is; false for a whole.
func (p *Part) segment() (k, n int, ok bool) {
	first, second, ok := strings.Cut(p.state.out.Info.Segment, "/")
	k, err := strconv.Atoi(first)
	n, err2 := strconv.Atoi(second)
	return k, n, ok && err == nil && err2 == nil && 1 <= k && k <= n
}

// Whole returns an error if the parts are segments and not every segment is there
// exactly once.
func Whole(parts []Part) error {
	have := map[int][]string{}
	var others []string
	count, named := 0, ""
	for i := range parts {
		k, n, ok := parts[i].segment()
		switch {
		case !ok:
			others = append(others, parts[i].name)
			continue
		case count != 0 && n != count:
			return fmt.Errorf("the runs are segments of %d (%s) and of %d (%s)", count, named, n, parts[i].name)
		}
		count, named = n, parts[i].name
		have[k] = append(have[k], parts[i].name)
	}
	if count == 0 {
		return nil
	}
	var missing, twice []string
	gone := 0
	for k := 1; k <= count && gone <= maxListed; k++ {
		switch names := have[k]; {
		case len(names) == 0:
			if gone++; gone <= maxMissing {
				missing = append(missing, strconv.Itoa(k))
			}
		case len(names) > 1:
			twice = append(twice, fmt.Sprintf("segment %d of %d is there %s: in %s", k, count, times(len(names)), strings.Join(shortened(names), " and ")))
		}
	}
	if gone > maxMissing {
		missing = append(missing, "and more")
	}
	switch {
	case len(others) > 0:
		return errors.New("some of the runs are segments of a plan and others are not: no segment is in " + strings.Join(shortened(others), ", "))
	case len(twice) > 0 && gone > 0:
		return fmt.Errorf("%s; and these are missing: %s", strings.Join(shortened(twice), "; "), strings.Join(missing, ", "))
	case len(twice) > 0:
		return errors.New(strings.Join(shortened(twice), "; "))
	case gone > 0:
		return fmt.Errorf("of the %d segments these are missing: %s", count, strings.Join(missing, ", "))
	}
	return nil
}

// maxMissing bounds the missing segments that are named.
const maxMissing = 20

func times(n int) string {
	if n == 2 {
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}
