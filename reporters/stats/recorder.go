package stats

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"runner/plan/element"
)

// Recorder implements element.Recorder. What threads record goes into shards,
// each under its own mutex; Tick, called each second, swaps the shards' batches,
// merges them outside the locks into one delta, writes that to the journal and
// adds it to the state of the run. The same deltas read back from the journal
// give the same state. All methods are safe for concurrent use.
type Recorder struct {
	layout  *element.Layout
	now     func() time.Duration
	process func() Process
	shards  []*shard
	handles [][]*handle // by group + 1, then shard
	groups  []*groupClock

	mu      sync.Mutex // guards what follows; taken before a shard's
	state   *state
	delta   delta
	last    time.Duration
	before  Process
	watch   watch
	journal *journalWriter
	closed  *Summary

	notesMu sync.Mutex // guards what follows
	notes   []string
	names   []rowName
}

// groupClock knows when a group began and how many of its threads are active: of an
// open group, whose idle threads wait in a pool, those that serve an iteration.
type groupClock struct {
	started atomic.Int64 // ns + 1; 0 = not yet
	active  atomic.Int64
	peak    atomic.Int64 // since the last tick
	lead    time.Duration
	open    bool
}

var (
	_ element.Recorder     = (*Recorder)(nil)
	_ element.GroupStarter = (*Recorder)(nil)
)

// New returns a recorder for a plan's layout. It starts no goroutine: the caller
// calls Tick each second or lets Run do it.
func New(layout element.Layout, o Options) *Recorder {
	begun := time.Now()
	if o.Started.IsZero() {
		o.Started = begun
	}
	if o.Now == nil {
		o.Now = func() time.Duration { return time.Since(begun) }
	}
	if o.Process == nil {
		o.Process = ThisProcess
	}
	r := &Recorder{layout: &layout, now: o.Now, process: o.Process}
	out := outlineOf(&layout, &o)
	r.state = newState(out)
	r.delta.batch, r.delta.began = *out.batch(), make([]time.Duration, len(out.Groups))
	r.addShards(o.Shards)
	for i := range layout.Groups {
		r.groups = append(r.groups, &groupClock{lead: leadOf(&layout.Groups[i]), open: layout.Groups[i].Open})
	}
	r.before = r.process()
	r.last = max(0, o.Now())
	r.watch = newWatch(o.Info.Seed, r.last)
	r.journal = newJournal(o.Journal, out)
	return r
}

func (r *Recorder) addShards(n int) {
	if n <= 0 {
		n = 2 * runtime.GOMAXPROCS(0)
		most := 1
		for i := range r.layout.Groups {
			most += max(1, r.layout.Groups[i].MaxThreads)
		}
		n = min(n, most)
	}
	for range n {
		r.shards = append(r.shards, newShard(r.state.out, r.layout.Masker))
	}
	r.handles = make([][]*handle, len(r.layout.Groups)+1)
	for g := range r.handles {
		for _, s := range r.shards {
			r.handles[g] = append(r.handles[g], &handle{shard: s, recorder: r, group: g})
		}
	}
}

// Shard returns the shard of a thread; group −1 is setup and teardown.
func (r *Recorder) Shard(group, thread int) element.Shard {
	if group < -1 || group >= len(r.layout.Groups) {
		group = -1
	}
	return r.handles[group+1][uint(thread)%uint(len(r.shards))]
}

// maxNotes bounds what the reports must say.
const maxNotes = 200

// Note keeps something that the reports must say; the same text once only.
func (r *Recorder) Note(text string) {
	text = cut(r.layout.Masker.Mask(text), 2*maxText)
	r.notesMu.Lock()
	defer r.notesMu.Unlock()
	if len(r.notes) < maxNotes {
		r.notes = append(r.notes, text)
	}
}

// GroupStarted says when a group's clock began, for the planned load in the
// timeline. Without it the recorder takes the start of the group's first thread.
func (r *Recorder) GroupStarted(group int, at time.Duration) {
	if group >= 0 && group < len(r.groups) {
		r.groups[group].started.Store(int64(max(0, at)) + 1)
	}
}

// Tick closes the current interval: it goes into the state, the journal and the
// timeline, and live thresholds are judged.
func (r *Recorder) Tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tick()
}

func (r *Recorder) tick() {
	now := r.now()
	if r.closed != nil || now < r.last {
		return
	}
	d := &r.delta
	d.from, d.to = r.last, now
	for _, s := range r.shards {
		b, most := s.swap()
		d.merge(b)
		d.flight.most += most
	}
	for g := range r.handles {
		for _, h := range r.handles[g] {
			h.collect(&d.groups[g])
		}
	}
	r.levels(d)
	for i, g := range r.groups {
		d.began[i] = time.Duration(g.started.Load() - 1)
	}
	reading := r.process()
	d.process = reading.since(r.before)
	d.notes, d.names = r.takeNotes()
	r.journal.delta(d)
	r.state.apply(d)
	d.release()
	d.flight = flight{}
	r.journal.compact(r.state)
	r.last, r.before = now, reading
}

// NameRow names a reserved row, one of those for the values of a split; others
// keep theirs. It appears with its name from the next Tick on.
func (r *Recorder) NameRow(series int, name string) {
	if series < 0 || series >= min(len(r.layout.Series), maxSeries) {
		return
	}
	name = clean(name, r.layout.Masker)
	r.notesMu.Lock()
	defer r.notesMu.Unlock()
	if len(r.names) < maxSeries {
		r.names = append(r.names, rowName{series, name})
	}
}

func (r *Recorder) takeNotes() (notes []string, names []rowName) {
	r.notesMu.Lock()
	defer r.notesMu.Unlock()
	notes, names = r.notes, r.names
	r.notes, r.names = nil, nil
	return notes, names
}

// elapsed returns the time since the group's start.
func (g *groupClock) elapsed(now time.Duration) (time.Duration, bool) {
	at := g.started.Load()
	if at == 0 {
		return 0, false
	}
	since := now - time.Duration(at-1)
	return max(0, since), true
}

// leadOf returns how long after a group's start its first thread is planned.
func leadOf(g *element.Group) time.Duration {
	if g.Open || g.Planned == nil {
		return 0
	}
	step := max(10*time.Millisecond, g.Duration/5000)
	for at := time.Duration(0); at <= g.Duration; at += step {
		if g.Planned(at) >= 1 {
			return at
		}
	}
	return 0
}

// count follows the group's start and its active threads.
func (r *Recorder) count(group int, c element.Counter, n int64) {
	if group < 0 {
		return
	}
	g := r.groups[group]
	switch c {
	case element.ThreadsStarted, element.IterationsStarted:
		if n > 0 && g.started.Load() == 0 {
			g.started.CompareAndSwap(0, int64(max(0, r.now()-g.lead))+1)
		}
		if g.open != (c == element.IterationsStarted) {
			return
		}
		active := g.active.Add(n)
		for p := g.peak.Load(); active > p && !g.peak.CompareAndSwap(p, active); p = g.peak.Load() {
		}
	case element.ThreadsEnded:
		if !g.open {
			g.active.Add(-n)
		}
	case element.IterationsCompleted, element.IterationsInterrupted:
		if g.open {
			g.active.Add(-n)
		}
	}
}

// Judge returns the first threshold with `stop: true` that is broken as of the
// last Tick, with a sentence that says so; nil if none is. The moment is the last
// Tick's, whatever is given.
func (r *Recorder) Judge(_ time.Duration) (stop *element.Threshold, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, reason := r.state.stopping()
	if i < 0 || i >= len(r.layout.Thresholds) {
		return nil, ""
	}
	return &r.layout.Thresholds[i], reason
}

// tickEvery is how far apart two ticks are, on whole seconds of the run's clock.
const tickEvery = time.Second

// shortRest is an interval too short to stand alone, as a late tick leaves before
// the next whole second.
const shortRest = tickEvery / 5

// untilTick returns how long it is from a moment of the run to its next tick: on
// the next whole second, or on the one after if that is too near.
func untilTick(now time.Duration) time.Duration {
	left := tickEvery - now%tickEvery
	if left < shortRest {
		left += tickEvery
	}
	return left
}

// Run calls Tick and Judge on each whole second of the run's clock until ctx is
// done, and reads in between how many samples are in flight. stop, which may be
// nil, is called once, when a threshold with `stop: true` is broken.
func (r *Recorder) Run(ctx context.Context, stop func(t *element.Threshold, reason string)) {
	ticker := time.NewTimer(untilTick(r.now()))
	defer ticker.Stop()
	look := time.NewTimer(r.look())
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			look.Reset(r.look())
			continue
		case <-ticker.C:
		}
		look.Reset(r.look()) // one that is late belongs to the interval that ends
		r.Tick()
		ticker.Reset(untilTick(r.now()))
		if t, reason := r.Judge(r.now()); t != nil && stop != nil {
			stop(t, reason)
			stop = nil
		}
	}
}

// Summary closes the last interval, ends the journal and returns the frozen
// summary. Later calls return the same one; nothing is recorded after the first.
func (r *Recorder) Summary(end EndInfo) *Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed == nil {
		r.tick()
		end = r.masked(end)
		r.journal.end(&end)
		if r.journal.err != nil {
			r.state.note("the journal could not be written: " + clean(r.journal.err.Error(), r.layout.Masker))
		}
		r.closed = r.state.summary(&end)
	}
	return r.closed
}

// Snapshot returns a summary of the run so far, marked partial.
func (r *Recorder) Snapshot() *Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed != nil {
		return r.closed
	}
	return r.state.summary(nil)
}

func (r *Recorder) masked(e EndInfo) EndInfo {
	mask := func(list []string) []string {
		out := make([]string, 0, len(list))
		for _, s := range list {
			out = append(out, clean(s, r.layout.Masker))
		}
		return out
	}
	e.SetupError, e.Stopped = clean(e.SetupError, r.layout.Masker), clean(e.Stopped, r.layout.Masker)
	e.ReportErrors, e.Errors = mask(e.ReportErrors), mask(e.Errors)
	groups := make(map[int]string, len(e.SkippedGroups))
	for g, reason := range e.SkippedGroups {
		groups[g] = clean(reason, r.layout.Masker)
	}
	e.SkippedGroups = groups
	return e
}
