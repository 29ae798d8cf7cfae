package spec

import (
	"fmt"
	"slices"
	"strings"

	"runner/plan/expr"
	"runner/plan/source"
)

// foreign maps other tools' words to ours.
var foreign = map[string][]string{
	"users": {"threads"}, "vus": {"threads"}, "concurrency": {"threads"}, "virtual_users": {"threads"}, "num_threads": {"threads"},
	"arrivalRate": {"rate"}, "arrival_rate": {"rate"}, "arrivals_per_sec": {"rate"}, "rps": {"rate"},
	"hold-for": {"duration"}, "hold_for": {"duration"}, "ramp-up": {"ramp_up"}, "rampUp": {"ramp_up"}, "rampTo": {"ramp_up"},
	"expect": {"assertions"}, "check": {"assertions"}, "checks": {"assertions"}, "assert": {"assertions"}, "asserts": {"assertions"},
	"capture": {"extract"}, "bind": {"extract"}, "extractors": {"extract"}, "save": {"extract"},
	"think": {"pause", "timers"}, "think_time": {"pause", "timers"}, "think-time": {"pause", "timers"}, "sleep": {"pause", "timers"}, "wait": {"pause", "timers"},
	"flow": {"steps"}, "requests": {"steps"}, "actions": {"steps"}, "url": {"request"}, "method": {"request"}, "path": {"request"},
	"scenarios": {"thread_groups"}, "groups": {"thread_groups"}, "threadgroups": {"thread_groups"}, "execution": {"thread_groups"}, "stages": {"threads", "rate"},
	"title": {"plan", "name"}, "label": {"name"}, "variables": {"vars"}, "files": {"data"}, "csv": {"data"}, "repeat": {"loop"}, "times": {"loop"},
	"loops": {"iterations", "loop"}, "loop_count": {"iterations", "loop"}, "ramp": {"ramp_up"}, "depends_on": {"after"}, "interval": {"every"}, "retry": {"until"}, "retries": {"until"}, "think_times": {"timers"},
	"boundary": {"between"}, "boundaries": {"between"}, "jsonpath": {"json"}, "json_path": {"json"}, "json_extract": {"json"}, "regexp": {"regex"}, "regular_expression": {"regex"}, "pattern": {"regex"}, "selector": {"css"}, "css_selector": {"css"},
	"response_code": {"status"}, "status_code": {"status"}, "code": {"status"}, "http_status": {"status"}, "response_time": {"duration"}, "max_duration": {"duration"}, "response_body": {"body"}, "expression": {"that"}, "attr": {"attribute"}, "match_number": {"match"}, "match_no": {"match"}, "default_value": {"default"},
	"follow_redirects": {"redirects"}, "followRedirects": {"redirects"}, "allow_redirects": {"redirects"}, "max_redirects": {"redirects"}, "basic_auth": {"auth"}, "authentication": {"auth"}, "bearer": {"auth"}, "token": {"auth"}, "authorization": {"auth"},
	"payload": {"json", "body"}, "data": {"json", "form", "body"}, "upload": {"multipart"}, "verify": {"tls"}, "insecure": {"tls"}, "skip_verify": {"tls"}, "ssl": {"tls"},
	"for_each": {"foreach"}, "forEach": {"foreach"}, "when": {"if"}, "condition": {"if", "that"}, "params": {"query"}, "header": {"headers"},
}

// nested are other tools' words for what has a form of its own here, by the key
// that must be legal for it.
var nested = map[string]struct{ key, form string }{
	"contains": {"body", "{contains: text}"}, "not_contains": {"body", "{contains_none: [text]}"}, "equals": {"body", "{equals: text}"}, "matches": {"body", "{matches: 'pattern'}"},
	"basic_auth": {"auth", "{basic: {username: name, password: word}}"}, "bearer": {"auth", "{bearer: token}"}, "token": {"auth", "{bearer: token}"},
	"follow_redirects": {"redirects", "false"}, "followRedirects": {"redirects", "false"}, "allow_redirects": {"redirects", "false"}, "max_redirects": {"redirects", "{max: 5}"},
	"verify": {"tls", "{insecure: true}"}, "insecure": {"tls", "{insecure: true}"}, "skip_verify": {"tls", "{insecure: true}"},
}

// UnknownKey reports a key that is not legal where it stands. what names the
// place ("http", "the step"); elsewhere, which may be nil, returns a remedy for a
// key that is legal one level up or down.
func UnknownKey(key *source.Node, what string, legal []string, elsewhere func(string) string, ds *source.Diagnostics) {
	summary := fmt.Sprintf("unknown key %q", key.Text)
	if what != "" {
		summary += " in " + what
	}
	detail := ""
	if word, ok := strings.CutPrefix(key.Text, "-"); ok && slices.Contains(legal, word) {
		detail = fmt.Sprintf("write a space after the dash: `- %s:`", word)
	} else if word, _, ok := strings.Cut(key.Text, ":"); ok && slices.Contains(legal, word) {
		detail = fmt.Sprintf("write a space after the colon: `%s: %s`", word, key.Text[len(word)+1:])
	} else if elsewhere != nil {
		detail = elsewhere(key.Text)
	}
	if detail == "" {
		detail = foreignHint(key.Text, legal, nil)
	}
	if detail == "" {
		if word := expr.DidYouMean(key.Text, legal); word != "" {
			detail = fmt.Sprintf("did you mean `%s`?", word)
		}
	}
	if detail == "" {
		detail = foreignHint(key.Text, legal, elsewhere)
	}
	if detail == "" {
		detail = "the keys here are " + strings.Join(legal, ", ")
	}
	ds.Add(key.Range, "unknown-key", summary, detail)
}

func foreignHint(word string, legal []string, elsewhere func(string) string) string {
	if n, ok := nested[word]; ok && slices.Contains(legal, n.key) {
		return fmt.Sprintf("write %s: %s", n.key, n.form)
	}
	var ours []string
	for _, w := range foreign[word] {
		for _, l := range legal {
			if l == w {
				ours = append(ours, "`"+w+":`")
			}
		}
	}
	if len(ours) > 0 {
		return fmt.Sprintf("`%s` is called %s here", word, strings.Join(ours, " or "))
	}
	for _, w := range foreign[word] {
		if elsewhere == nil {
			break
		}
		if hint := elsewhere(w); hint != "" {
			return fmt.Sprintf("`%s` is called `%s:` in a plan; %s", word, w, hint)
		}
	}
	return ""
}

// describe names what stands in the plan: "a list", `the text "abc"`.
func describe(n *source.Node) string {
	switch {
	case n.Null:
		return "empty"
	case n.Kind != source.Scalar:
		return n.Kind.String()
	case len(n.Text) > 40:
		return fmt.Sprintf("the value %q…", n.Text[:40])
	}
	return fmt.Sprintf("the value %q", n.Text)
}

func article(word string) string {
	switch word {
	case "int":
		return "a whole number"
	case "float":
		return "a number"
	case "bool":
		return "true or false"
	case "text":
		return "text"
	}
	return "a " + word
}

func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "`" + w + "`"
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " and " + quoted[len(quoted)-1]
}

// sample returns how a map of the layout may look.
func sample(l *layout) string {
	var keys []string
	for _, f := range l.fields {
		if f.required || len(keys) < 2 {
			keys = append(keys, f.key+": …")
		}
		if len(keys) == 3 {
			break
		}
	}
	return "{" + strings.Join(keys, ", ") + "}"
}
