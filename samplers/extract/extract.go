// Package extract has the extractors of the language, one file each. An extractor
// takes a value out of a filled sample; which of several matches, and where it
// looks, is the same for all and comes with the Pick.
package extract

import (
	"fmt"

	"runner/plan/element"
	"runner/plan/query"
)

// All returns the definitions of all extractors.
func All() []element.Definition {
	return []element.Definition{
		defineExpression(), defineJSON(), defineJMESPath(), defineRegex(), defineCSS(), defineXPath(),
		defineHeader(), defineCookie(), defineBetween(),
	}
}

// text returns what the pick says to look at.
func text(t *element.Thread, s *element.Sample, pick element.Pick) ([]byte, error) {
	if pick.Text != nil {
		v, err := pick.Text.Eval(t)
		return []byte(v), err
	}
	switch pick.Of {
	case "", "body":
		return s.Body, nil
	case "headers":
		return query.HeaderText(s), nil
	case "url":
		return []byte(s.FinalURL()), nil
	case "message":
		return []byte(s.Message), nil
	}
	return nil, fmt.Errorf("%q is no part of a response", pick.Of)
}

// limit returns how many matches are needed for a pick.
func limit(pick element.Pick) int {
	if pick.Match > 0 {
		return int(min(pick.Match, query.MaxMatches))
	}
	return query.MaxMatches
}

// choose returns the match, or the matches, that the pick asks for.
func choose[T any](t *element.Thread, pick element.Pick, found []T) (any, error) {
	n := len(found)
	switch {
	case n == 0 || pick.Match > element.Match(n):
		return nil, element.ErrNotFound
	case pick.Match == element.MatchAll:
		all := make([]any, n)
		for i, v := range found {
			all[i] = v
		}
		return all, nil
	case pick.Match == element.MatchRandom:
		return something(found[t.Rand.IntN(n)])
	}
	return something(found[max(0, pick.Match-1)])
}

// something returns v; null is nothing.
func something(v any) (any, error) {
	if v == nil {
		return nil, element.ErrNotFound
	}
	return v, nil
}

// nothing is an ErrNotFound with its reason, the same for every sample.
type nothing struct{ reason string }

func (n *nothing) Error() string      { return element.ErrNotFound.Error() + ": " + n.reason }
func (*nothing) Is(target error) bool { return target == element.ErrNotFound }
