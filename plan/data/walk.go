package data

import (
	"sync/atomic"

	"runner/plan/element"
)

// walk hands out rows by the index: in order, drawn, or in a random order that
// takes every row once before any comes again. Lock-free.
type walk struct {
	feeder *Feeder
	seed   uint64
	taken  atomic.Int64
}

func (w *walk) next(t *element.Thread) (row, error) {
	x := w.feeder.index
	if w.feeder.cfg.Pick == "random" {
		return x.row(t.Rand.Int64N(x.rows))
	}
	k := w.taken.Add(1) - 1
	rows, segment := w.feeder.rows(), w.feeder.segment()
	pass := k / rows
	if pass > 0 && w.feeder.cfg.OnEnd != "recycle" {
		w.taken.Store(rows) // so that it cannot run over
		return nil, w.feeder.end()
	}
	k %= rows
	if w.feeder.cfg.Pick == "shuffled" {
		k = permute(k, rows, w.seed+uint64(pass)*0x9e3779b97f4a7c15)
	}
	return x.row(segment.Nth(k))
}

// permute maps 0…n−1 onto itself in an order given by key, in constant memory: a
// four-round Feistel network over the next even number of bits, walked until the
// result falls below n (Black and Rogaway, cycle walking).
func permute(i, n int64, key uint64) int64 {
	half := uint(1)
	for int64(1)<<(2*half) < n {
		half++
	}
	mask := uint64(1)<<half - 1
	for {
		left, right := uint64(i)>>half, uint64(i)&mask
		for round := range uint64(4) {
			left, right = right, left^mix(right+key+round*0xbf58476d1ce4e5b9)&mask
		}
		if i = int64(left<<half | right); i < n {
			return i
		}
	}
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
