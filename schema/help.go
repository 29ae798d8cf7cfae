package schema

import (
	"slices"
	"strings"
)

// Help returns what the reference says of a topic, in markdown: the sections about
// it, and the rows of tables that explain a key, figure, function or word of this
// name. Case does not count, nor a plural's s.
func Help(topic string) (markdown string, ok bool) {
	parts := splitReference()
	var found []string
	for i, p := range parts {
		below := children(parts, i)
		if !p.isAbout(topic) || slices.ContainsFunc(below, func(c part) bool { return c.isAbout(topic) }) {
			continue
		}
		text := p.text
		if len(below) > 0 {
			var names []string
			for _, c := range below {
				names = append(names, strings.ToLower(c.heading))
			}
			text += "\nMore: runner help " + strings.Join(slices.Compact(names), ", ") + "\n"
		}
		found = append(found, text)
	}
	for _, p := range parts {
		if rows := p.rows(topic); rows != "" && (!p.isAbout(topic) || len(found) == 0) {
			found = append(found, "In "+p.title()+":\n\n"+rows)
		}
	}
	return strings.Join(found, "\n"), len(found) > 0
}

// Topics returns what Help knows: headings, and the words that tables explain.
func Topics() []string {
	var all []string
	for _, p := range splitReference() {
		all = append(all, strings.ToLower(p.heading))
		for line := range strings.Lines(p.text) {
			all = append(all, wordsOfRow(line)...)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(w string) bool { return w == "" })
}

// part is one heading of the reference with the text up to the next one.
type part struct {
	level   int
	heading string
	line    string // the heading as written
	text    string // with the heading
}

func splitReference() []part {
	var parts []part
	var starts []int // of the parts
	fenced := false
	reference, at := Reference(), 0
	for line := range strings.Lines(reference) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if level, heading := headingOf(line); !fenced && level > 1 {
			parts = append(parts, part{level: level, heading: heading, line: strings.TrimSpace(strings.TrimLeft(line, "#"))})
			starts = append(starts, at)
		}
		at += len(line)
	}
	for i, end := range append(starts[min(1, len(starts)):], at) {
		parts[i].text = strings.TrimRight(reference[starts[i]:end], "\n") + "\n"
	}
	return parts
}

// children returns the parts under the one at i.
func children(parts []part, i int) []part {
	end := i + 1
	for end < len(parts) && parts[end].level > parts[i].level {
		end++
	}
	return parts[i+1 : end]
}

func (p part) title() string {
	if strings.Contains(p.line, "`") {
		return p.line
	}
	return "“" + p.line + "”"
}

// isAbout reports whether the part is about a topic by its heading, or by the
// first word of it, as in "Error classes".
func (p part) isAbout(topic string) bool {
	if same(p.heading, topic) {
		return true
	}
	first, _, several := strings.Cut(p.heading, " ")
	return several && p.heading == p.line && first != "The" && first != "How" && same(first, topic)
}

func same(a, b string) bool {
	a, b = plainTopic(a), plainTopic(b)
	return a == b || len(a) > 3 && (a+"s" == b || a == b+"s")
}

func plainTopic(s string) string {
	return strings.ToLower(strings.TrimSpace(strings.NewReplacer("_", " ", "-", " ").Replace(s)))
}

// rows returns the rows of the part's tables that explain a word, each table with
// its head.
func (p part) rows(topic string) string {
	var b strings.Builder
	var head [2]string
	shown := false
	for line := range strings.Lines(p.text) {
		switch {
		case !strings.HasPrefix(line, "|"):
			head, shown = [2]string{}, false
		case head[0] == "":
			head[0] = line
		case head[1] == "":
			head[1] = line
		case slices.ContainsFunc(wordsOfRow(line), func(w string) bool { return same(w, topic) }):
			if !shown {
				b.WriteString(head[0] + head[1])
				shown = true
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

// wordsOfRow returns the words in backquotes of a row's first cell; of a function
// its name.
func wordsOfRow(line string) []string {
	cell, ok := strings.CutPrefix(line, "| `")
	if !ok {
		return nil
	}
	cell, _, _ = strings.Cut("`"+cell, " | ")
	var words []string
	for i, w := range strings.Split(cell, "`") {
		if i%2 == 0 {
			continue
		}
		w, _, _ = strings.Cut(w, "(")
		words = append(words, strings.TrimSuffix(w, ":"))
	}
	return words
}
