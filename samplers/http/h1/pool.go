package h1

import (
	"math/bits"
	"sync"
)

// Buffers are lent in sizes of 4 KiB · 4^n; larger ones than the last are
// allocated and left to the collector.
const (
	smallest = 4 << 10
	sizes    = 7 // up to 16 MiB
)

// Pool lends buffers and decoders to clients, and tells them when their contexts
// end. Safe for concurrent use.
type Pool struct {
	buffers  [sizes]sync.Pool
	decoders [codings]sync.Pool

	mu      sync.Mutex // taken when a client begins or ends to watch a context
	watches map[<-chan struct{}]*watch
}

// NewPool returns an empty Pool.
func NewPool() *Pool { return &Pool{} }

type buffer struct {
	b     []byte // full length is the capacity
	class int
	memo  memo
}

func sizeClass(n int) int {
	if n <= smallest {
		return 0
	}
	return (bits.Len(uint(n-1)) - bits.Len(uint(smallest-1)) + 1) / 2
}

// get lends a buffer of at least n bytes.
func (p *Pool) get(n int) *buffer {
	class := sizeClass(n)
	if class >= sizes {
		return &buffer{b: make([]byte, n), class: class}
	}
	if b, ok := p.buffers[class].Get().(*buffer); ok {
		return b
	}
	return &buffer{b: make([]byte, smallest<<(2*class)), class: class}
}

func (p *Pool) put(b *buffer) {
	if b != nil && b.class < sizes {
		p.buffers[b.class].Put(b)
	}
}

// grow exchanges b for a buffer of at least n bytes that begins with b's first keep ones.
func (p *Pool) grow(b *buffer, keep, n int) *buffer {
	larger := p.get(max(n, 2*len(b.b)))
	copy(larger.b, b.b[:keep])
	p.put(b)
	return larger
}
