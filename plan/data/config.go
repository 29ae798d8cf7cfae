package data

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"
)

// complete fills in the defaults and checks the rules across settings.
func (c Config) complete() (Config, error) {
	unique := c.Pick == "unique"
	or(&c.Pick, "next")
	or(&c.Share, "plan")
	if unique {
		or(&c.Per, "thread")
		or(&c.OnEnd, "fail")
	}
	or(&c.Per, "iteration")
	or(&c.OnEnd, "recycle")
	for _, check := range []struct{ key, value, legal string }{
		{"pick", c.Pick, "next random shuffled unique"},
		{"per", c.Per, "iteration thread"},
		{"share", c.Share, "plan group thread"},
		{"on_end", c.OnEnd, "recycle stop_thread fail"},
	} {
		if legal := strings.Fields(check.legal); !slices.Contains(legal, check.value) {
			return c, fmt.Errorf("data %q: %s: %q is none of %s", c.Name, check.key, check.value, strings.Join(legal, ", "))
		}
	}
	if unique && c.OnEnd == "recycle" {
		return c, fmt.Errorf("data %q: pick: unique hands out each row at most once and cannot recycle; use on_end: stop_thread or fail", c.Name)
	}
	if unique && c.Share != "plan" {
		return c, fmt.Errorf("data %q: pick: unique hands out each row at most once in the run and needs share: plan", c.Name)
	}
	if c.SkipLines < 0 {
		return c, fmt.Errorf("data %q: skip_lines: %d is negative", c.Name, c.SkipLines)
	}
	_, err := c.comma()
	return c, err
}

func or(s *string, otherwise string) {
	if *s == "" {
		*s = otherwise
	}
}

// comma returns the delimiter as a rune.
func (c Config) comma() (rune, error) {
	switch c.Delimiter {
	case "":
		return ',', nil
	case "tab", `\t`, "\t":
		return '\t', nil
	}
	r, n := utf8.DecodeRuneInString(c.Delimiter)
	if n != len(c.Delimiter) || r == '"' || r == '\r' || r == '\n' || r == utf8.RuneError {
		return 0, fmt.Errorf("data %q: delimiter: %q is not one character; write one like \";\" or tab", c.Name, c.Delimiter)
	}
	return r, nil
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}
