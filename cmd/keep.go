package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"runner/plan/element"
)

// maxKeptBody is how much of a failed response's body is saved.
const maxKeptBody = 1 << 20

// keeper saves the first failed responses of a run, one file each, for people to
// look at. Safe for concurrent use.
type keeper struct {
	dir    string // absolute; made when the first response is saved
	limit  int64
	series []element.Series
	masker *element.Masker
	count  atomic.Int64
	failed atomic.Bool // a file could not be written; nothing more is tried
	say    func(string)
}

// keep returns the keeper's hook, nil if the plan wants nothing kept.
func (s *session) keep() func(*element.Sample) {
	limit := s.loaded.plan.KeepFailures
	if limit == 0 || s.reports.none {
		return nil
	}
	k := &keeper{
		dir: filepath.Join(s.env.path(s.folder), "failures"), limit: int64(limit), series: s.program.Layout().Series,
		masker: s.loaded.values.Masker, say: s.console.Note,
	}
	return k.keep
}

func (k *keeper) keep(sample *element.Sample) {
	if k.failed.Load() || k.count.Load() >= k.limit {
		return
	}
	n := k.count.Add(1)
	if n > k.limit {
		return
	}
	if err := k.write(n, sample); err != nil && k.failed.CompareAndSwap(false, true) {
		k.say("a failed response could not be saved: " + err.Error())
	}
}

func (k *keeper) write(n int64, sample *element.Sample) error {
	if err := os.MkdirAll(k.dir, 0o755); err != nil {
		return err
	}
	name := "sample"
	if sample.Series >= 0 && sample.Series < len(k.series) {
		name = k.series[sample.Series].Name
	}
	return os.WriteFile(filepath.Join(k.dir, fmt.Sprintf("%03d-%s.txt", n, slug(name))), k.render(name, sample), 0o644)
}

// render is the sample as text: what was asked, why it failed, and the answer.
// Secrets are masked, cookies that the server set as well.
func (k *keeper) render(name string, s *element.Sample) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "sample:   %s\nrequest:  %s\nclass:    %s\n", name, s.Request, s.Class)
	for _, p := range s.Problems {
		fmt.Fprintf(&b, "failure:  %s\n", p.Message)
		if p.Expected != "" || p.Actual != "" {
			fmt.Fprintf(&b, "expected: %s\nactual:   %s\n", p.Expected, p.Actual)
		}
	}
	fmt.Fprintf(&b, "\n%d %s\n", s.Status, s.Message)
	for _, h := range s.Headers {
		value := string(h.Value)
		if strings.EqualFold(string(h.Name), "Set-Cookie") {
			value = "***"
		}
		fmt.Fprintf(&b, "%s: %s\n", h.Name, value)
	}
	b.WriteByte('\n')
	body := s.Body
	cut := len(body) > maxKeptBody
	if cut {
		body = body[:maxKeptBody]
	}
	b.Write(body)
	if cut {
		fmt.Fprintf(&b, "\n… cut: the body has %d bytes", len(s.Body))
	}
	return []byte(k.masker.Mask(b.String()))
}
