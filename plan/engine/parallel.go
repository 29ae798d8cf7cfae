package engine

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"runner/plan/expr"
)

// parallel runs its steps at once, each on a branch of the thread, and waits for
// all of them. What they set is merged in the order of the steps. To a transaction
// around it, it takes as long as the longest of them.
type parallel struct {
	slot  int
	steps sequence
}

func (n *parallel) run(ctx context.Context, th *thread) signal {
	th.begin()
	th.letGo()
	kids := th.branches(n.slot, len(n.steps))
	signals, panics := make([]signal, len(kids)), make([]any, len(kids))
	var wg sync.WaitGroup
	for i, b := range kids {
		th.fork(b, i == 0)
		wg.Go(func() {
			defer func() { panics[i] = recover() }()
			signals[i] = n.steps[i].run(ctx, b)
			b.letGo()
		})
	}
	th.due = dueTime{}
	wg.Wait()
	sig := proceed
	for i := range kids {
		if panics[i] != nil {
			panic(panics[i])
		}
		sig = max(sig, signals[i])
	}
	th.join(kids)
	return sig
}

// branches returns the branches of a block, made at its first pass.
func (th *thread) branches(slot, count int) []*thread {
	if kids := th.kids[slot]; kids != nil {
		return kids
	}
	kids := make([]*thread, count)
	for i := range kids {
		seed := th.Seed ^ uint64(slot*1000+i+1)*0xbf58476d1ce4e5b9
		b := &thread{run: th.run, group: th.group, index: th.index, abandoned: th.abandoned, slots: th.slots,
			shard: th.shard, setup: th.setup}
		b.Thread = th.Thread.Branch(expr.NewMachine(th.run.functions, seed), rand.New(rand.NewPCG(seed, uint64(th.ID))))
		b.Seed = seed
		kids[i] = b
	}
	if th.kids == nil {
		th.kids = map[int][]*thread{}
	}
	th.kids[slot] = kids
	return kids
}

// fork readies a branch for one pass. The due time of an arrival is the first
// one's.
func (th *thread) fork(b *thread, first bool) {
	th.Thread.Fork(b.Thread)
	b.soft, b.begun, b.idle, b.loop, b.attempt = th.soft, true, true, th.loop, th.attempt
	b.worked, b.failure, b.due = 0, nil, dueTime{}
	b.ends = append(b.ends[:0], th.ends...)
	b.frames = append(b.frames[:0], frame{})
	if first {
		b.due = th.due
	}
}

// join takes over what the branches did.
func (th *thread) join(kids []*thread) {
	var all frame
	longest := time.Duration(0)
	for _, b := range kids {
		th.Thread.Join(b.Thread)
		f := b.frames[0]
		longest = max(longest, f.sum)
		if f.samples > 0 && all.samples > 0 {
			f.first = min(f.first, all.first)
			all.first = f.first
		}
		all.include(f)
		th.worked += b.worked
		th.idle = th.idle && b.idle
		if th.failure == nil {
			th.failure = b.failure
		}
	}
	all.sum = longest
	if n := len(th.frames); n > 0 && all.samples > 0 {
		th.frames[n-1].include(all)
	}
}
