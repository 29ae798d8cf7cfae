package query

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Regex is a compiled regular expression in RE2 syntax; matching takes time
// linear in the text. Immutable.
type Regex struct {
	re *regexp.Regexp
}

// ParseRegex compiles a pattern.
func ParseRegex(text string) (*Regex, error) {
	if err := checkLength("pattern", text); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a regular expression (%s)", text, regexReason(err))
	}
	return &Regex{re}, nil
}

func regexReason(err error) string {
	reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if strings.Contains(reason, "(?<") || strings.Contains(reason, "(?=") || strings.Contains(reason, "(?!") {
		reason += "; look-around is not supported, use a group instead"
	}
	return reason
}

// String returns the pattern as it was written.
func (r *Regex) String() string { return r.re.String() }

// Match reports whether the pattern matches anywhere in text.
func (r *Regex) Match(text []byte) bool { return r.re.Match(text) }

// MatchString reports whether the pattern matches anywhere in text.
func (r *Regex) MatchString(text string) bool { return r.re.MatchString(text) }

// Group returns the number of a group given by number or name; "" is the first
// group, or the whole match where there are no groups.
func (r *Regex) Group(name string) (int, error) {
	if name == "" {
		return min(1, r.re.NumSubexp()), nil
	}
	if i := r.re.SubexpIndex(name); i >= 0 {
		return i, nil
	}
	n, err := strconv.Atoi(name)
	switch {
	case err != nil:
		return 0, fmt.Errorf("the pattern has no group named %q", name)
	case n < 0 || n > r.re.NumSubexp():
		return 0, fmt.Errorf("the pattern has no group %d; it has %d", n, r.re.NumSubexp())
	}
	return n, nil
}

// Groups returns a group of each match, at most limit of them. Groups that took
// no part in a match are left out.
func (r *Regex) Groups(text []byte, group, limit int) []string {
	var found []string
	for _, at := range r.re.FindAllSubmatchIndex(text, min(limit, MaxMatches)) {
		if from := at[2*group]; from >= 0 {
			found = append(found, string(text[from:at[2*group+1]]))
		}
	}
	return found
}

// Template is text with $1$ for groups by number and $name$ by name.
type Template struct {
	texts  []string // one more than groups
	groups []int
}

// ParseTemplate checks a template against the pattern's groups.
func (r *Regex) ParseTemplate(text string) (*Template, error) {
	parts := strings.Split(text, "$")
	if len(parts)%2 == 0 {
		return nil, errors.New("a $ of the template is not closed; write groups as $1$")
	}
	t := &Template{texts: []string{parts[0]}}
	for i := 1; i < len(parts); i += 2 {
		group, err := r.Group(parts[i])
		if err != nil || parts[i] == "" {
			return nil, fmt.Errorf("$%s$ in the template names no group of the pattern", parts[i])
		}
		t.groups = append(t.groups, group)
		t.texts = append(t.texts, parts[i+1])
	}
	return t, nil
}

// Expand returns the template filled from each match, at most limit of them.
func (r *Regex) Expand(text []byte, t *Template, limit int) []string {
	var found []string
	for _, at := range r.re.FindAllSubmatchIndex(text, min(limit, MaxMatches)) {
		var b strings.Builder
		b.WriteString(t.texts[0])
		for i, g := range t.groups {
			if at[2*g] >= 0 {
				b.Write(text[at[2*g]:at[2*g+1]])
			}
			b.WriteString(t.texts[i+1])
		}
		found = append(found, b.String())
	}
	return found
}
