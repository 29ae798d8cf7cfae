package plan

import (
	"fmt"
	"strings"
	"time"

	"runner/plan/source"
)

const phaseTimeout = 60 * time.Second // of setup and teardown, unless said otherwise

func (p *parser) plan(n *source.Node) *Plan {
	out := &Plan{Range: n.Range, File: p.file, Files: []*source.File{p.file}, SetupTimeout: phaseTimeout, TeardownTimeout: phaseTimeout}
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "a plan must be a map, not "+kindOf(n), "begin with `plan:` and a title")
		return out
	}
	p.open(n)
	defer p.close()
	p.metrics = metricTypes(n.Get("metrics"))
	keys := []key{
		on("plan", func(v *source.Node) { out.Name = p.text(v, "`plan`") }),
		on("description", func(v *source.Node) { out.Description = p.text(v, "`description`") }),
		on("tags", func(v *source.Node) { out.Tags = p.words(v, "`tags`") }),
		on("vars", func(v *source.Node) { out.Vars = p.vars(v, "`vars`") }),
		on("secrets", func(v *source.Node) { out.Secrets = p.secrets(v) }),
		on("environments", func(v *source.Node) { out.Environments = p.environments(v) }),
		on("data", func(v *source.Node) { out.Data = p.data(v) }),
		on("counters", func(v *source.Node) { out.Counters = p.counters(v) }),
		on("metrics", func(v *source.Node) { out.Metrics = p.metricsOf(v) }),
		on("include", func(v *source.Node) { out.Includes = p.includes(v) }),
		on("fragments", func(v *source.Node) { out.Fragments = p.fragments(v) }),
		on("setup", func(v *source.Node) { out.Setup = p.steps(v, "`setup`") }),
		on("setup_timeout", func(v *source.Node) { out.SetupTimeout = p.duration(v, "`setup_timeout`") }),
		on("thread_groups", func(v *source.Node) { out.Groups = p.groups(v) }),
		on("teardown", func(v *source.Node) { out.Teardown = p.steps(v, "`teardown`") }),
		on("teardown_timeout", func(v *source.Node) { out.TeardownTimeout = p.duration(v, "`teardown_timeout`") }),
		on("reports", func(v *source.Node) { out.Reports = p.reports(v) }),
		on("keep_failures", func(v *source.Node) { out.KeepFailures = p.kept(v) }),
	}
	keys = append(keys, p.scope(n, &out.Scope)...)
	p.object(n, "the plan", keys, func(word string) string {
		switch {
		case word == "library":
			return "this is a library file; a plan includes it, it cannot be run itself"
		case groupKeys[word]:
			return "it belongs to a thread group, under `thread_groups:`"
		case p.isSampler(word) || stepKeys[word]:
			return "it belongs to a step, under `steps:` of a thread group"
		case loadKeys[word]:
			return "it belongs inside `load: {…}` of a thread group"
		}
		return ""
	})
	out.calls = p.calls
	if n.Get("plan") == nil {
		p.lacks(n, first(n), "missing-key", "the plan has no title", "write `plan: A title` as the first line")
	} else if strings.TrimSpace(out.Name) == "" && n.Get("plan").Kind == source.Scalar {
		p.add(n.Field("plan").Key.Range, "empty-value", "the plan's title is empty", "write `plan: A title`")
	}
	if n.Get("thread_groups") == nil {
		p.lacks(n, first(n), "missing-key", "the plan has no thread groups", "write `thread_groups:` with at least one group that has `load:` and `steps:`")
	}
	return out
}

// first returns the place of a map's first key: where what it lacks is reported.
func first(n *source.Node) source.Range {
	if len(n.Fields) > 0 {
		return n.Fields[0].Key.Range
	}
	return n.Range
}

// Keys of other levels, to say where a misplaced key belongs.
var (
	groupKeys = set("load steps pacing new_user_each_iteration")
	loadKeys  = set("threads ramp_up duration iterations shared_iterations rate max_threads arrivals delay after warm_up grace ramp_down_grace")
	stepKeys  = set("pause set log stop next_row call with loop while foreach until every within on_max once percent runtime critical_section parallel choose random interleave shuffle switch try finally if else name include_timers record split_by")
	scopeKeys = set("timers extract assertions thresholds defaults no_inherit")
)

// vars reads a map of variables in file order.
func (p *parser) vars(n *source.Node, what string) []*Var {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", what+" must be a map, not "+kindOf(n), "write name: value, one a line")
		return nil
	}
	var out []*Var
	for _, f := range n.Fields {
		v := &Var{Name: p.prefix + f.Key.Text, Range: f.Key.Range}
		p.name(f.Key, "a variable")
		v.Value.Decode(f.Value, &p.ds)
		out = append(out, v)
	}
	return out
}

// name checks that a name can stand in an expression.
func (p *parser) name(n *source.Node, what string) bool {
	for i, r := range n.Text {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9' {
			continue
		}
		fix := strings.Map(func(r rune) rune {
			if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '_'
		}, n.Text)
		if fix[0] >= '0' && fix[0] <= '9' {
			fix = "_" + fix
		}
		p.add(n.Range, "bad-name", fmt.Sprintf("%q cannot be the name of %s", short(n.Text), what), "use letters, digits and _, not a digit first: "+fix)
		return false
	}
	if n.Text == "" {
		p.add(n.Range, "bad-name", "the name of "+what+" is empty", "write a name")
	}
	return n.Text != ""
}

func (p *parser) secrets(n *source.Node) []*Secret {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`secrets` must be a map, not "+kindOf(n), "write name: {env: NAME}, one a line")
		return nil
	}
	var out []*Secret
	for _, f := range n.Fields {
		s := &Secret{Name: f.Key.Text, Range: f.Key.Range}
		p.name(f.Key, "a secret")
		out = append(out, s)
		v := f.Value
		if v.Kind == source.Scalar {
			p.add(v.Range, "bare-secret", "a secret is not written into the plan", fmt.Sprintf("name where it comes from: %s: {env: %s}", s.Name, strings.ToUpper(s.Name)))
			continue
		}
		ok := p.object(v, "a secret", []key{
			on("env", func(v *source.Node) { s.Env = p.text(v, "`env`") }),
			on("file", func(v *source.Node) { s.Path = p.text(v, "`file`") }),
		}, nil)
		if ok && p.exclusive(v, "keep one source", "env", "file") && v.Get("env") == nil && v.Get("file") == nil {
			p.lacks(v, f.Key.Range, "missing-key", "a secret needs `env` or `file`", fmt.Sprintf("write %s: {env: NAME}", s.Name))
		}
	}
	return out
}

func (p *parser) environments(n *source.Node) []*Environment {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`environments` must be a map, not "+kindOf(n), "write name: {vars: {…}}, one a line")
		return nil
	}
	var out []*Environment
	for _, f := range n.Fields {
		e := &Environment{Name: f.Key.Text, Range: f.Key.Range}
		out = append(out, e)
		p.object(f.Value, "an environment", []key{
			on("vars", func(v *source.Node) { e.Vars = p.vars(v, "`vars`") }),
			on("secrets", func(v *source.Node) { e.Secrets = p.secrets(v) }),
		}, func(string) string {
			return "an environment overrides vars and secrets, nothing else; set a variable and use it"
		})
	}
	return out
}

func (p *parser) data(n *source.Node) []*Data {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`data` must be a map, not "+kindOf(n), "write name: path.csv, one a line")
		return nil
	}
	var out []*Data
	for _, f := range n.Fields {
		p.name(f.Key, "a data set")
		d := &Data{Name: f.Key.Text, Range: f.Key.Range, Pick: "next", Per: "iteration", Share: "plan", OnEnd: "recycle", Delimiter: ",", HasHeader: true}
		out = append(out, d)
		if f.Value.Kind == source.Scalar {
			d.Path = p.text(f.Value, "the path")
			continue
		}
		p.feeder(f, d)
	}
	return out
}

func (p *parser) feeder(f source.Field, d *Data) {
	v := f.Value
	ok := p.object(v, "a data set", []key{
		on("file", func(v *source.Node) { d.Path = p.text(v, "`file`") }),
		on("pick", func(v *source.Node) { d.Pick = p.word(v, "`pick`", "next", "random", "shuffled", "unique") }),
		on("per", func(v *source.Node) { d.Per = p.word(v, "`per`", "iteration", "thread") }),
		on("share", func(v *source.Node) { d.Share = p.word(v, "`share`", "plan", "group", "thread") }),
		on("on_end", func(v *source.Node) { d.OnEnd = p.word(v, "`on_end`", "recycle", "stop_thread", "fail") }),
		on("types", func(v *source.Node) { d.Types = p.columnTypes(v) }),
		on("delimiter", func(v *source.Node) { d.Delimiter = p.delimiter(v) }),
		on("columns", func(v *source.Node) { d.Columns, d.HasHeader = p.words(v, "`columns`"), false }),
		on("skip_lines", func(v *source.Node) { d.SkipLines = p.integer(v, "`skip_lines`") }),
	}, nil)
	if !ok {
		return
	}
	if v.Get("file") == nil {
		p.lacks(v, f.Key.Range, "missing-key", "a data set needs `file`", "write file: path.csv")
	}
	if d.SkipLines < 0 {
		p.add(v.Get("skip_lines").Range, "out-of-range", "`skip_lines` cannot be negative", "write 0 or more")
		d.SkipLines = 0
	}
	if d.Pick != "unique" {
		return
	}
	if end := v.Get("on_end"); end == nil {
		d.OnEnd = "fail"
	} else if d.OnEnd == "recycle" {
		p.add(end.Range, "recycle-unique", "`pick: unique` uses each row once; `recycle` would use them again", "write on_end: stop_thread, or on_end: fail")
	}
	if v.Get("per") == nil {
		d.Per = "thread"
	}
}

func (p *parser) columnTypes(n *source.Node) map[string]string {
	out := map[string]string{}
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`types` must be a map, not "+kindOf(n), "write {column: int}")
		return out
	}
	for _, f := range n.Fields {
		out[f.Key.Text] = p.word(f.Value, "a column's type", "int", "float", "bool", "json", "text")
	}
	return out
}

func (p *parser) delimiter(n *source.Node) string {
	text := p.text(n, "`delimiter`")
	if text == `\t` || text == "tab" {
		text = "\t"
	}
	if r := []rune(text); len(r) != 1 || strings.ContainsAny(text, "\"\r\n") {
		p.add(n.Range, "bad-value", "`delimiter` must be one character", `write one like ";" or "\t"`)
		return ","
	}
	return text
}

func (p *parser) reports(n *source.Node) []Report {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`reports` must be a map, not "+kindOf(n), "write format: path, one a line")
		return nil
	}
	var out []Report
	var keys []key
	for _, format := range []string{"html", "junit", "xlsx", "json", "markdown"} {
		keys = append(keys, key{format, func(f source.Field) {
			out = append(out, Report{Format: format, Path: p.text(f.Value, "the path"), Range: f.Key.Range})
		}})
	}
	p.object(n, "`reports`", keys, nil)
	return out
}

// maxKeptFailures bounds keep_failures: the responses are for people to look at.
const maxKeptFailures = 1000

func (p *parser) kept(n *source.Node) int {
	v := p.integer(n, "`keep_failures`")
	if v < 0 || v > maxKeptFailures {
		p.add(n.Range, "out-of-range", fmt.Sprintf("`keep_failures` must be from 0 to %d", maxKeptFailures), "write keep_failures: 10")
		return 0
	}
	return v
}
