package plan

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// data reads the headers of data sets and declares their columns.
func (c *checker) data() {
	for _, d := range c.plan.Data {
		c.free(d.Name, d.Range, "a data set")
		if first, ok := c.fixed[d.Name]; ok {
			c.ds = append(c.ds, source.Diagnostic{Code: "redefined", Range: d.Range, Summary: fmt.Sprintf("%q is both a variable and a data set", d.Name),
				Detail: "rename one of them", Related: []source.Related{{Message: "the variable is defined here", Range: first}}})
		}
		c.fixed[d.Name] = d.Range
		c.columns(d)
		if len(d.Columns) == 0 {
			c.names[d.Name] = expr.MapType
			continue
		}
		for _, column := range d.Columns {
			c.names[d.Name+"."+column] = columnType(d.Types[column])
		}
		for column := range d.Types {
			if _, ok := c.names[d.Name+"."+column]; !ok {
				c.ds.Add(d.Range, "unknown-column", fmt.Sprintf("the data set %q has no column %q to give a type", d.Name, column), suggest(column, d.Columns, "columns"))
			}
		}
	}
}

func columnType(word string) expr.Type {
	switch word {
	case "int":
		return expr.IntType
	case "float":
		return expr.FloatType
	case "bool":
		return expr.BoolType
	case "json":
		return expr.AnyType
	}
	return expr.TextType
}

// columns opens the file and reads its header, if it has one.
func (c *checker) columns(d *Data) {
	if c.opts.Open == nil || d.Path == "" {
		return
	}
	f, err := c.opts.Open(join(d.Range.File, d.Path))
	if err != nil {
		c.unreadable(d.Range, d.Path, err)
		return
	}
	defer f.Close()
	if !d.HasHeader {
		return
	}
	header, err := readHeader(f, d)
	if err != nil {
		if errors.As(err, new(*fs.PathError)) {
			c.unreadable(d.Range, d.Path, err)
			return
		}
		c.ds.Add(d.Range, "bad-data", fmt.Sprintf("the header of %s cannot be read: %v", d.Path, err), "write the columns' names into the first line, or under `columns:`")
		return
	}
	d.Columns = header
	c.delimited(d)
}

// delimited reports a file whose columns something else separates.
func (c *checker) delimited(d *Data) {
	for _, other := range []string{";", "\t", "|"} {
		if len(d.Columns) == 1 && other != d.Delimiter && strings.Contains(d.Columns[0], other) {
			c.ds.Add(d.Range, "bad-delimiter", fmt.Sprintf("%s has one column, %q: its columns are not separated by %q", d.Path, short(d.Columns[0]), d.Delimiter),
				fmt.Sprintf("write %s: {file: %s, delimiter: %q}", d.Name, d.Path, other))
			d.Columns = strings.Split(d.Columns[0], other)
		}
	}
}

func readHeader(f io.Reader, d *Data) ([]string, error) {
	r := bufio.NewReader(io.LimitReader(f, maxBytes))
	if head, _ := r.Peek(3); bytes.Equal(head, []byte("\ufeff")) {
		_, _ = r.Discard(3) // it was peeked
	}
	for range d.SkipLines {
		if _, err := r.ReadString('\n'); err != nil {
			return nil, errors.New("the file has fewer lines than skip_lines")
		}
	}
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.LazyQuotes = -1, true
	in.Comma = []rune(d.Delimiter)[0]
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	}
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	return header, err
}

// row is what steps share: the samplers, or the transactions, of one name in one
// group.
type row struct {
	group       *Group
	phase       element.Phase
	name        string
	transaction bool
}

// rows reports names that several steps share, and thresholds on them.
func (c *checker) rows() {
	steps := map[row][]*Step{}
	var order []row
	Walk(c.plan, Visitor{Step: func(s *Step, at Place) {
		a, sampler := s.Action.(*SamplerAction)
		if !sampler && (!s.Block || s.Name == "") {
			return
		}
		r := row{at.Group, at.Phase, s.Name, s.Block}
		if s.Name == "" {
			r.name = a.Title
		}
		if slices.ContainsFunc(steps[r], func(o *Step) bool { return o.Range == s.Range }) {
			return // the same step of a fragment, called again
		}
		if steps[r] == nil {
			order = append(order, r)
		}
		steps[r] = append(steps[r], s)
	}})
	for _, r := range order {
		if len(steps[r]) > 1 {
			c.sharedRow(r, steps[r])
		}
	}
}

func (c *checker) sharedRow(r row, steps []*Step) {
	other := func(s *Step) []source.Related {
		for _, o := range steps {
			if o != s {
				return []source.Related{{Message: "the other step is here", Range: o.place()}}
			}
		}
		return nil
	}
	judged := false
	for _, s := range steps {
		if len(s.Scope.Thresholds) > 0 {
			judged = true
			c.ds = append(c.ds, source.Diagnostic{Code: "shared-threshold", Range: s.Scope.Thresholds[0].Range, Related: other(s),
				Summary: fmt.Sprintf("the threshold would judge %d steps: they are all named %q", len(steps), ends(r.name)),
				Detail:  "give it a name of its own: name: " + quoted(ends(r.name)+" 2")})
		}
	}
	if !judged {
		c.ds = append(c.ds, source.Diagnostic{Severity: source.Notice, Code: "shared-row", Range: steps[1].place(), Related: other(steps[1]),
			Summary: fmt.Sprintf("%d steps are named %q and share one row in the reports", len(steps), ends(r.name)),
			Detail:  "give each a `name:` of its own, if they are to be told apart"})
	}
}

// ends shortens a name in its middle, since names of requests differ at their
// ends.
func ends(name string) string {
	if r := []rune(name); len(r) > 100 {
		return string(r[:60]) + "…" + string(r[len(r)-39:])
	}
	return name
}

// place returns where a step's name stands, or the key of its action.
func (s *Step) place() source.Range {
	if s.Name != "" {
		return s.NameRange
	}
	if a, ok := s.Action.(*SamplerAction); ok {
		return a.Range
	}
	return s.Range
}

// after checks that groups wait for others that exist, and not in a circle.
func (c *checker) after() {
	groups, all := map[string]*Group{}, []string{}
	for _, g := range c.plan.Groups {
		groups[g.Name] = g
		all = append(all, g.Name)
	}
	for _, g := range c.plan.Groups {
		name := g.Load.After
		if name == "" {
			continue
		}
		if groups[name] == nil {
			c.ds.Add(g.Load.AfterRange, "unknown-group", fmt.Sprintf("`after` names the thread group %q, which does not exist", name), suggest(name, all, "thread groups"))
			continue
		}
		chain := []string{g.Name}
		for at := groups[name]; at != nil && len(chain) <= len(all); at = groups[at.Load.After] {
			chain = append(chain, at.Name)
			if at == g {
				c.ds.Add(g.Load.AfterRange, "after-circle", "thread groups wait for each other: "+strings.Join(chain, " after "), "remove one `after`")
				break
			}
		}
	}
}

// mentionsOfStatus says that an expression about the status does not lift the
// implied rule.
func (c *checker) mentionsOfStatus() {
	Walk(c.plan, Visitor{Step: func(s *Step, at Place) {
		a, ok := s.Action.(*SamplerAction)
		if !ok || a.Definition.Name != "http" {
			return
		}
		assertions := at.Assertions()
		for _, x := range assertions {
			if x.Definition.Name == "status" {
				return
			}
		}
		for _, x := range assertions {
			if x.Definition.Name != "expression" {
				continue
			}
			for _, u := range spec.Uses(x.Element) {
				if u.Name == "status" {
					c.ds = append(c.ds, source.Diagnostic{Severity: source.Notice, Code: "status-implied", Range: u.Range,
						Summary: "the implied rule stays: a status of 400 and above fails the sample",
						Detail:  "write a `status:` assertion, as in status: 404, if other codes are right"})
				}
			}
		}
	}})
}
