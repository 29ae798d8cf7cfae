package demo

import (
	"strings"
	"testing"
)

// TestGuideNamesEveryRoute compares the guide with the routes by the first part of
// their paths.
func TestGuideNamesEveryRoute(t *testing.T) {
	s := newShop(Options{})
	for pattern := range s.stats.routes {
		path := pattern[strings.IndexByte(pattern, '/'):]
		first, _, _ := strings.Cut(path[1:], "/")
		if first != "{$}" && !strings.Contains(Guide(), " /"+first) {
			t.Errorf("the guide does not name %s", pattern)
		}
	}
	for _, id := range []string{"1", "2"} {
		email, word := "shopper"+id+"@example.com", "pass-"+id
		if accountID(email, word) == 0 || !strings.Contains(Guide(), email) || !strings.Contains(Guide(), word) {
			t.Errorf("the guide's account %s cannot sign in", email)
		}
	}
}
