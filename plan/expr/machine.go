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
	vm    vm.VM
	names map[string]any
	rand  *rand.Rand
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
	return newMachine(fns, rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)))
}

func newMachine(fns *Functions, r *rand.Rand) *Machine {
	return &Machine{vm: vm.VM{MemoryBudget: memoryBudget}, names: map[string]any{}, rand: r, fns: fns}
}

// Rand returns the machine's random source.
func (m *Machine) Rand() *rand.Rand { return m.rand }

// enter returns the machine to run on: m itself, or one more where m is already
// running. leave must be called on what it returned.
func (m *Machine) enter(s Scope) *Machine {
	for m.busy {
		if m.inner == nil {
			m.inner = newMachine(m.fns, m.rand)
		}
		m = m.inner
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
