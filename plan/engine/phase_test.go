package engine

import (
	"context"
	"testing"
	"time"
)

func TestPhaseIsTold(t *testing.T) {
	var got []string
	play(t, `
plan: t
setup: [{fake: {say: S, take: 2s}}]
teardown: [{fake: {say: T, take: 2s}}]
thread_groups:
  a: {load: {threads: 1, iterations: 1}, steps: [{fake: {say: A, take: 2s}}]}
`, func(r *Runner, _ context.CancelFunc) {
		for range 3 {
			time.Sleep(time.Second)
			got = append(got, r.Phase())
			time.Sleep(time.Second)
		}
	})
	if len(got) != 3 || got[0] != "setup" || got[1] != "" || got[2] != "teardown" {
		t.Errorf("phases %q", got)
	}
}
