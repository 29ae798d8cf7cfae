package http

import (
	"fmt"
	"regexp"
	"strings"

	"runner/samplers/http/h1"
)

var (
	// computedMethod matches a request whose method is an expression, as "${call.method} /path".
	computedMethod = regexp.MustCompile(`^\$\{[^}]*\} +\S`)

	// bareName matches a variable as shells and other tools write it.
	bareName = regexp.MustCompile(`^(?:\$(\w+)|\{\{\s*(\w+)\s*\}\}|\{(\w+)\})(.*)$`)

	// hostLike matches what begins with a host rather than with a path.
	hostLike = regexp.MustCompile(`^(localhost|[\w-]+(\.[\w-]+)+|[\w.-]+:\d+|\[[0-9a-fA-F:]+\](:\d+)?)([/?#]|$)`)

	oneSlash = regexp.MustCompile(`(?i)^https?:/?[^/]`)
)

// methods are those of HTTP, which are written in capitals.
var methods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "DELETE": true, "PATCH": true, "OPTIONS": true, "TRACE": true, "CONNECT": true}

// Check reports what spans several fields, and URLs that cannot be right as far
// as they are known.
func (r *request) Check(report func(field, code, summary, detail string)) {
	text, literal := r.Request.Literal()
	if !literal {
		text = r.Request.Source()
	}
	method, target := splitRequest(text)
	if r.misfit() {
		report("headers", "content-type", "`multipart` cannot have this Content-Type", "leave the header out, or write Content-Type: multipart/form-data here")
	}
	if base := r.BaseURL.Source(); r.BaseURL.IsSet() && base != "" {
		if p := wrongURL(base); p != nil {
			report("base_url", "bad-url", "base_url: "+p.summary, p.remedy("base_url: "))
		}
	}
	spaced := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\t' || r == '\n' || r == '\r' || r == ' ' }), " ")
	switch {
	case method == "" && !literal && computedMethod.MatchString(target):
	case strings.ContainsAny(text, "\t\r\n") && literal && spaced != text:
		report("request", "request-form", "a request is written as method, one space and URL", "write "+spaced)
	case method == "" && target != "":
		report("request", "request-without-method", "the request has no method", "write GET "+target)
	case target == "":
		report("request", "request-without-url", "the request has no URL", "write "+method+" /path")
	case methods[strings.ToUpper(method)] && !methods[method]:
		report("request", "method-case", fmt.Sprintf("the method %q is not in capitals", method), "write "+strings.ToUpper(method)+" "+target)
	case target[0] == '/' && !r.BaseURL.IsSet():
		report("request", "no-base-url", "a path needs a base_url to be joined to",
			"set defaults: {http: {base_url: \"https://shop.example.com\"}} on the plan, or write the whole URL here")
	case target[0] != '/':
		if p := wrongURL(target); p != nil {
			if p.noScheme && r.BaseURL.IsSet() && !hostLike.MatchString(target) {
				p.summary, p.instead = "a path that is joined to base_url begins with /", "/"+target
			}
			report("request", "bad-url", p.summary, p.remedy(method+" "))
		}
	}
}

// urlProblem is what is wrong with a URL and what to write instead.
type urlProblem struct {
	summary, instead string
	noScheme         bool
	example          bool // instead is only like what was meant
}

func (p *urlProblem) remedy(before string) string {
	if p.example {
		return "correct it, as in " + before + p.instead
	}
	return "write " + before + p.instead
}

// wrongURL tells what is wrong with a URL as far as it is known before the first
// ${…} in it, or nil.
func wrongURL(text string) *urlProblem {
	known, more := text, false
	if i := strings.Index(text, "${"); i >= 0 {
		known, more = text[:i], true
	}
	if more && known == "" {
		return nil
	}
	scheme, rest, found := strings.Cut(known, "://")
	if !found {
		lower := strings.ToLower(known)
		if more && (strings.HasPrefix("http://", lower) || strings.HasPrefix("https://", lower)) {
			return nil
		}
		return withoutScheme(text)
	}
	if s := strings.ToLower(scheme); s != "http" && s != "https" {
		_, after, _ := strings.Cut(text, "://")
		return &urlProblem{summary: fmt.Sprintf("the scheme %q is not spoken here, http and https are", scheme), instead: "http://" + after}
	}
	end := strings.IndexAny(rest, "/?#\\")
	switch {
	case end < 0 && more: // the host goes on in an expression
		return nil
	case end < 0:
		end = len(rest)
	}
	if _, err := h1.ParseURL(scheme + "://" + rest[:end]); err != nil {
		return &urlProblem{summary: "the URL is wrong: " + err.Error(), instead: scheme + "://shop.example.com:8080/path", example: true}
	}
	return nil
}

// withoutScheme is the problem of a URL that begins with something else.
func withoutScheme(text string) *urlProblem {
	if m := bareName.FindStringSubmatch(text); m != nil {
		return &urlProblem{summary: "the URL begins with neither http:// nor a variable", instead: "${" + m[1] + m[2] + m[3] + "}" + m[4]}
	}
	if oneSlash.MatchString(text) {
		scheme, after, _ := strings.Cut(text, ":")
		return &urlProblem{summary: "two slashes follow the scheme of a URL", instead: scheme + "://" + strings.TrimLeft(after, "/")}
	}
	return &urlProblem{summary: "the URL has no scheme", instead: "http://" + strings.TrimPrefix(text, "//"), noScheme: true}
}
