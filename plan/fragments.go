package plan

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"runner/plan/source"
)

// maxCalls bounds the calls of a plan, those within fragments included, so that
// fragments which call each other do not multiply without end.
const (
	maxCalls     = 2000
	maxCallDepth = 50
	maxInlined   = 2 << 20 // bytes of all fragments, as often as they are called
)

// library is a file with fragments: the plan itself, or one that it includes.
type library struct {
	file      *source.File
	includes  []*Include
	fragments []*Fragment
	libraries map[string]*library // by alias; nil values could not be read
}

// loader reads the library files of a plan, each once.
type loader struct {
	*checker
	files map[string]*library // by path
	open  []string            // the files that are being read, outermost first
}

// expand reads the library files and puts the steps of fragments where they are
// called.
func (c *checker) expand() {
	l := &loader{checker: c, files: map[string]*library{}, open: []string{filepath.Clean(c.plan.File.Name)}}
	c.plan.Files = c.plan.Files[:1:1]
	root := &library{file: c.plan.File, includes: c.plan.Includes, fragments: c.plan.Fragments}
	l.libraries(root)
	calls, done, size := c.plan.calls, 0, 0
	for done < len(calls) {
		call := calls[done]
		if done++; done > maxCalls || size > maxInlined {
			c.ds.Add(call.Range, "too-many-calls", fmt.Sprintf("the plan has more than %d calls, those within fragments included, or their steps are more than %d MiB of text", maxCalls, maxInlined>>20), "call a fragment in a loop, or call fewer fragments from fragments")
			break
		}
		if call.file == nil {
			call.file = root
		}
		if call.Fragment = c.callee(call); call.Fragment != nil {
			if f := call.Fragment; f.Steps != nil {
				size += f.Steps.Range.End.Offset - f.Steps.Range.Start.Offset
			}
			calls = append(calls, c.inline(call, done)...)
		}
	}
	c.calls = calls
	c.uncalled(root)
}

// libraries reads what a file includes.
func (l *loader) libraries(in *library) {
	in.libraries = map[string]*library{}
	for _, i := range in.includes {
		in.libraries[i.Alias] = nil
		if l.opts.Open == nil || i.Path == "" {
			continue
		}
		path := join(i.Range.File, i.Path)
		if at := slices.Index(l.open, filepath.Clean(path)); at >= 0 {
			l.ds.Add(i.Range, "include-circle", "files include each other: "+strings.Join(append(l.open[at:], path), " includes "), "remove one `include`")
			continue
		}
		in.libraries[i.Alias] = l.read(i, filepath.Clean(path))
	}
}

func (l *loader) read(i *Include, path string) *library {
	if known, ok := l.files[path]; ok {
		return known
	}
	l.files[path] = nil
	text, err := l.text(path)
	if err != nil {
		l.ds.Add(i.Range, "missing-file", whyNot(i.Path, err), relative)
		return nil
	}
	f := source.New(path, text)
	l.plan.Files = append(l.plan.Files, f)
	in := readYAML(f)
	out := &library{file: f}
	p := &parser{file: f, reg: l.reg}
	if in.root != nil {
		p.libraryFile(in.root, out)
	}
	l.ds = append(append(l.ds, in.ds...), sound(p.ds, in.poison)...)
	if in.root == nil {
		return nil
	}
	l.files[path] = out
	l.open = append(l.open, path)
	l.libraries(out)
	l.open = l.open[:len(l.open)-1]
	return out
}

func (l *loader) text(path string) ([]byte, error) {
	f, err := l.opts.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(text) > maxBytes {
		err = errors.New("it is larger than a plan may be")
	}
	return text, err
}

// callee finds the fragment of a call and reports one that does not exist, or
// that would call itself.
func (c *checker) callee(call *Call) *Fragment {
	if call.Name == "" {
		return nil
	}
	lib, name := call.file, call.Name
	if alias, rest, ok := strings.Cut(call.Name, "."); ok {
		l, known := lib.libraries[alias]
		switch {
		case !known:
			var aliases []string
			for _, i := range lib.includes {
				aliases = append(aliases, i.Alias)
			}
			c.ds.Add(call.Range, "unknown-library", fmt.Sprintf("there is no library %q here", alias), suggest(alias, aliases, "libraries")+"; `include: {"+alias+": path}` names one")
			return nil
		case l == nil:
			return nil // it could not be read, which has been said
		}
		lib, name = l, rest
	}
	f := lib.fragment(name)
	if f == nil {
		c.ds.Add(call.Range, "unknown-fragment", fmt.Sprintf("there is no fragment %q", call.Name), suggest(call.Name, call.file.fragmentNames(), "fragments"))
		return nil
	}
	chain := []string{f.Name}
	for at := call.within; at != nil; at = at.within {
		chain = append(chain, at.Fragment.Name)
		if at.Fragment == f {
			slices.Reverse(chain)
			c.ds.Add(call.Range, "call-circle", "fragments call each other: "+strings.Join(chain, " calls "), "remove one `call`, or repeat steps with a loop")
			return nil
		}
	}
	if len(chain) > maxCallDepth {
		c.ds.Add(call.Range, "too-deep", fmt.Sprintf("fragments call each other more than %d levels deep", maxCallDepth), "call fewer fragments from fragments")
		return nil
	}
	call.home = lib
	return f
}

// inline reads the fragment's steps with the defaults of the call, and returns the
// calls among them.
func (c *checker) inline(call *Call, number int) []*Call {
	f := call.Fragment
	call.own = fmt.Sprintf("%d/", number)
	if f.Steps == nil {
		return nil
	}
	p := &parser{file: call.home.file, reg: c.reg, defaults: call.defaults, prefix: call.own, within: call, library: call.home, metrics: map[string]string{}}
	for _, m := range c.plan.Metrics {
		p.metrics[m.Name] = m.Type
	}
	call.step.Steps = p.steps(f.Steps, "`steps`")
	c.ds = append(c.ds, p.ds...)
	return p.calls
}

// uncalled reports outputs that no call takes, and fragments that nobody calls;
// these are read as if the plan called them, without params.
func (c *checker) uncalled(root *library) {
	called, taken := map[*Fragment]bool{}, map[source.Range]bool{}
	for _, call := range c.calls {
		called[call.Fragment] = true
		if call.Fragment == nil {
			continue
		}
		for _, o := range call.Fragment.Outputs {
			taken[o.Range] = taken[o.Range] || slices.ContainsFunc(call.Outputs, func(w Word) bool { return w.Text == o.Text })
		}
	}
	for _, f := range root.fragments {
		if !called[f] {
			c.ds = append(c.ds, source.Diagnostic{Severity: source.Warning, Code: "unused-fragment", Range: f.Range,
				Summary: fmt.Sprintf("the fragment %q is never called", f.Name), Detail: "call it, as in `call: " + f.Name + "`, or remove it"})
			call := &Call{Name: f.Name, Range: f.Range, Fragment: f, file: root, home: root, step: &Step{Range: f.Range, Block: true}, defaults: []*source.Node{c.plan.Scope.Defaults}, trial: true}
			call.step.Call = call
			c.inline(call, len(c.calls)+1)
			c.trials = append(c.trials, call.step)
			continue
		}
		for _, o := range f.Outputs {
			if !taken[o.Range] {
				c.ds.Add(o.Range, "unused-output", fmt.Sprintf("no call takes the output %q", o.Text), "take it with `extract: ["+o.Text+"]`, or remove it")
			}
		}
	}
}
