package element

import "sync"

// Presence is the number of threads of a group that may still come to a step:
// those that run and those that will be started. The engine keeps it; it is 0
// when the group's load is over. Safe for concurrent use.
type Presence struct {
	mu       sync.Mutex
	threads  int
	watchers []func(threads int)
}

// Set tells the watchers the number, if it has changed.
func (p *Presence) Set(threads int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if threads == p.threads {
		return
	}
	p.threads = threads
	for _, tell := range p.watchers {
		tell(threads)
	}
}

// Watch calls tell with the number now, and with each other one until the run's
// end. tell must not block and must not call the Presence.
func (p *Presence) Watch(tell func(threads int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watchers = append(p.watchers, tell)
	tell(p.threads)
}
