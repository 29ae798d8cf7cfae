package expr

import (
	"math/rand/v2"

	"github.com/expr-lang/expr/vm"
)

// memoryBudget bounds the list and map elements that one evaluation may make.
const memoryBudget = 1_000_000

// Machine is what one thread needs to evaluate: the VM with its stack, the map of
// names, the seeded random source. It is not safe for concurrent use; evaluations
// may nest (a function that evaluates another expression).
type Machine struct {
	vm    *vm.VM // nil, as names, before the first evaluation: a thread may need none
	names map[string]any
	rand  *rand.Rand // nil until it is asked for
	seed  uint64
	fns   *Functions
	scope Scope
	buf   []byte
	inner *Machine
	busy  bool
	ticks int
}

// NewMachine returns a Machine whose random functions follow from seed alone.
func NewMachine(fns *Functions, seed uint64) *Machine {
	if fns == nil {
		fns = NewFunctions()
	}
	return &Machine{seed: seed, fns: fns}
}

// Rand returns the machine's random source.
func (m *Machine) Rand() *rand.Rand {
	if m.rand == nil {
		m.rand = rand.New(rand.NewPCG(m.seed, 0x9e3779b97f4a7c15))
	}
	return m.rand
}

// enter returns the machine to run on: m itself, or one more where m is already
// running. leave must be called on what it returned.
func (m *Machine) enter(s Scope) *Machine {
	for m.busy {
		if m.inner == nil {
			m.inner = &Machine{rand: m.Rand(), fns: m.fns}
		}
		m = m.inner
	}
	if m.vm == nil {
		m.vm, m.names = &vm.VM{MemoryBudget: memoryBudget}, map[string]any{}
	}
	m.busy, m.scope, m.ticks = true, s, 0
	return m
}

// leave drops what the evaluation held, so that a thread does not keep a
// response alive.
func (m *Machine) leave() {
	clear(m.names)
	m.busy, m.scope = false, nil
}
