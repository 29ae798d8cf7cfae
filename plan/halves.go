package plan

import (
	"slices"
	"sync"

	"runner/plan/source"
)

// many is how many steps a list has at least to be worked on in two halves, side
// by side: with fewer, nothing is gained.
const many = 64

// inHalves calls first and second side by side and returns when both are done.
func inHalves(first, second func()) {
	var wait sync.WaitGroup
	wait.Go(second)
	first()
	wait.Wait()
}

// each reads the steps of a list, in order.
func (p *parser) each(items []*source.Node) []*Step {
	if len(items) < many {
		return p.part(items)
	}
	other := p.fork()
	var head, tail []*Step
	inHalves(func() { head = p.part(items[:len(items)/2]) }, func() { tail = other.part(items[len(items)/2:]) })
	p.join(other)
	return append(head, tail...)
}

func (p *parser) part(items []*source.Node) []*Step {
	out := make([]*Step, 0, len(items))
	for _, item := range items {
		if s := p.step(item); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// fork returns a parser that reads what p could read here, beside p.
func (p *parser) fork() *parser {
	return &parser{file: p.file, reg: p.reg, defaults: slices.Clone(p.defaults), metrics: p.metrics,
		prefix: p.prefix, within: p.within, library: p.library, extractKeys: p.extractKeys}
}

// join adds what a fork has found to what p has found before it.
func (p *parser) join(fork *parser) {
	p.ds = append(p.ds, fork.ds...)
	p.calls = append(p.calls, fork.calls...)
	for n := range fork.misspelt {
		p.unknown(n)
	}
}

// fork returns a phase that binds what p could bind here, beside p: of what the
// steps change, it has its own.
func (p *phase) fork() *phase {
	own := *p.checker
	own.ds = nil
	fork := *p
	fork.checker, fork.uses = &own, nil
	return &fork
}

// join adds what a fork has found to what p has found before it.
func (p *phase) join(fork *phase) {
	p.ds = append(p.ds, fork.ds...)
	p.uses = append(p.uses, fork.uses...)
}
