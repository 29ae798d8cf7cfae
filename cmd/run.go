package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/engine"
	"runner/reporters"
	"runner/reporters/stats"
)

// session is one run from the compiled program to the written reports.
type session struct {
	env     Env
	loaded  *loaded
	program *engine.Program
	reports wantedReports
	console *reporters.Console
	folder  string
	journal *os.File // nil with --report none; locked while it is open
	seed    uint64
	runID   string
	place   repeated
	share   element.Segment
	quiet   bool
	summary *stats.Summary // once finished

	closeData func()
}

// places refuses a results folder that is a file and a copy that is a folder.
func (s *session) places(out string) error {
	if !s.reports.none {
		if err := s.env.mayBeFolder(out); err != nil {
			return err
		}
	}
	for _, c := range s.copies() {
		if info, err := os.Stat(s.env.path(c.path)); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder; name a file for the report", c.path)
		}
		if err := s.env.mayBeFolder(filepath.Dir(c.path)); err != nil {
			return err
		}
	}
	return nil
}

// mayBeFolder reports a file where path or a folder above it would have to be.
func (e Env) mayBeFolder(path string) error {
	for ; ; path = filepath.Dir(path) {
		info, err := os.Stat(e.path(path))
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s is a file; name a folder", path)
		case err == nil || path == filepath.Dir(path):
			return nil
		}
	}
}

// runAndClose is run, after which the folder is given free.
func (s *session) runAndClose(ctx context.Context) error {
	defer s.closeJournal()
	return s.run(ctx)
}

// closeJournal gives the results folder free for another run.
func (s *session) closeJournal() {
	if s.journal != nil {
		_ = s.journal.Close() // written and judged by then: the recorder tells of errors
	}
}

// run runs the program, reports and closes the plan's data; its error carries the
// exit code.
func (s *session) run(ctx context.Context) error {
	defer s.closeData()
	layout := s.program.Layout()
	layout.Notes = append(slices.Clone(layout.Notes), s.resourceNotes()...)
	floor, notes := s.floor(ctx)
	layout.Notes = append(layout.Notes, notes...)
	clock, release := engine.NewClock()
	defer release()
	options := stats.Options{Now: clock.Now, Started: s.env.Now(), Info: s.info()}
	options.Info.Floor = floor
	if s.journal != nil {
		options.Journal = s.journal
	}
	recorder := stats.New(layout, options)
	runner := &engine.Runner{Program: s.program, Recorder: recorder, Clock: clock, Log: newLog(s.console, s.loaded.values.Masker), Seed: s.seed, Keep: s.keep()}
	end := s.drive(ctx, runner, recorder)
	return s.finish(recorder, end)
}

// drive runs the engine beside its observers: signals, the recorder's clock
// tick and the progress. All of them have ended when it returns.
func (s *session) drive(ctx context.Context, runner *engine.Runner, recorder *stats.Recorder) stats.EndInfo {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, stopSignals := s.env.Notify()
	defer stopSignals()
	beside, stopBeside := context.WithCancel(context.Background())
	var observers sync.WaitGroup
	var caught signalState
	observers.Go(func() { caught.watch(beside, signals, runner.Drain, cancel, s.console.Note) })
	observers.Go(func() {
		recorder.Run(beside, func(_ *element.Threshold, reason string) { runner.Stop("", reason) })
	})
	observers.Go(func() { s.showProgress(beside, runner, recorder) })
	err := runner.Run(ctx)
	stopBeside()
	observers.Wait()
	return s.endInfo(err, runner, &caught)
}

func (s *session) endInfo(err error, runner *engine.Runner, caught *signalState) stats.EndInfo {
	end := stats.EndInfo{Signal: caught.first, Aborted: caught.second, SkippedGroups: runner.SkippedGroups()}
	var setup *engine.SetupError
	switch {
	case err == nil || errors.Is(err, context.Canceled):
	case errors.As(err, &setup):
		end.SetupError = setup.Error()
	default:
		end.Errors = append(end.Errors, err.Error())
	}
	if caught.first == 0 {
		end.Stopped = runner.Reason()
	}
	return end
}

// signalState is what signals have asked for; read after watch has returned.
type signalState struct {
	first  int // number of the first signal, 0 for none
	second bool
}

// echo is how soon after the first signal another one is the same: a terminal and
// a supervisor both pass on one Ctrl-C.
const echo = 100 * time.Millisecond

// watch drains on the first signal and cancels on the second, until ctx ends.
func (c *signalState) watch(ctx context.Context, signals <-chan os.Signal, drain, cancel func(), say func(string)) {
	var heard time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case received := <-signals:
			number, ok := received.(syscall.Signal)
			if !ok {
				continue
			}
			if number == syscall.SIGHUP { // the terminal is gone: end as if told to
				number = syscall.SIGTERM
			}
			if c.first == 0 {
				c.first, heard = int(number), time.Now()
				drain()
				say("stopping: what runs may finish, then come teardown and reports; press Ctrl-C again to stop at once")
				continue
			}
			if time.Since(heard) < echo {
				continue
			}
			c.second = true
			cancel()
			signal.Reset(number) // a third one ends the program the hard way
		}
	}
}

func (s *session) showProgress(ctx context.Context, runner *engine.Runner, recorder *stats.Recorder) {
	every := time.Second
	if s.env.Terminal {
		every = 250 * time.Millisecond
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.console.Progress(progressOf(s.loaded.plan, runner.Phase(), runner.Status(), recorder.Progress()))
		}
	}
}

// waitingFor says what a group that has not begun waits for.
func waitingFor(p *plan.Plan, name string) string {
	for _, g := range p.Groups {
		switch {
		case g.Name != name:
		case g.Load.After != "":
			return "for " + g.Load.After
		case g.Load.Delay.IsSet():
			return "for its delay"
		}
	}
	return "to begin"
}

// progressOf joins what the engine and the recorder know of the groups.
func progressOf(plan *plan.Plan, phase string, groups []engine.GroupStatus, p stats.Progress) reporters.Progress {
	out := reporters.Progress{Elapsed: p.At, Phase: phase}
	for i, g := range p.Groups {
		row := reporters.GroupProgress{
			Name: g.Name, Active: g.Active, Rate: g.Rate, Samples: g.Samples, Errors: g.Errors, Dropped: g.Dropped,
			Planned: g.Max, Open: g.Open, Due: g.PlannedPS, Started: g.StartedPS, Done: -1, Left: -1,
		}
		if g.Planned != nil && !g.Open {
			row.Planned = int(*g.Planned)
		}
		if g.P95 != nil {
			ns := g.P95.Nanoseconds()
			row.P95 = &ns
		}
		if i < len(groups) {
			row.Done, row.Left = groups[i].Done, groups[i].Left
			row.Finishing = groups[i].State == "finishing"
			if groups[i].State == "waiting" {
				row.Waiting = waitingFor(plan, g.Name)
			}
		}
		out.Groups = append(out.Groups, row)
	}
	return out
}
