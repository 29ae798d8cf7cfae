package demo

import (
	"math"
	"strconv"
	"sync"
)

// million is the scale of a share: parts per million, so that quotas are exact.
const million = 1_000_000

// quota counts passes and says which of them are chosen.
type quota struct{ passes uint64 }

// take reports whether the next pass is among the share: pass k is when
// floor((k+1)·p) > floor(k·p), so n passes hold floor(n·p) of them.
func (q *quota) take(ppm uint64) bool {
	k := q.passes
	q.passes++
	return (k+1)*ppm/million > k*ppm/million
}

// quotas are the quotas of many keys; safe for concurrent use.
type quotas struct {
	mu   sync.Mutex
	keys map[string]*quota
}

// maxQuotas bounds the keys; the rest share one.
const maxQuotas = 256

func (q *quotas) take(key string, ppm uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.keys == nil {
		q.keys = map[string]*quota{}
	}
	if q.keys[key] == nil && len(q.keys) >= maxQuotas {
		key = ""
	}
	if q.keys[key] == nil {
		q.keys[key] = new(quota)
	}
	return q.keys[key].take(ppm)
}

func (q *quotas) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.keys = nil
}

// partsPerMillion converts a share, clamped to [0, 1].
func partsPerMillion(share float64) uint64 {
	if !(share > 0) {
		return 0
	}
	return uint64(math.Round(min(share, 1) * million))
}

func parseShare(text string, fallback float64) uint64 {
	share, err := strconv.ParseFloat(text, 64)
	if err != nil {
		share = fallback
	}
	return partsPerMillion(share)
}
