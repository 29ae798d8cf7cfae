// Package stats turns what threads record into the one Summary that every report
// is rendered from.
//
// A Recorder hands out shards. Threads record into a shard's current batch; once
// a second Tick swaps the batches and merges them into a delta: counts,
// histograms, errors and ledger of that second, by series and group. The delta is
// written to the journal and applied to the state of the run, which holds the
// totals, the timeline and the thresholds' live judgement. Summary freezes the
// state. ReadJournal applies the same deltas to an empty state, so that a run that
// was killed gives the reports it would have given, up to its last second.
//
// Merge adds the states of several runs or machines up into one. The generator is
// judged by what it measured of itself each second, with the causes that held in
// the seconds that went wrong.
//
// Nothing is held per sample: memory grows with series, buckets and timeline
// points only.
package stats
