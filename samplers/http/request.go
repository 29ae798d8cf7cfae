package http

import (
	"runner/plan/expr"
	"runner/plan/spec"
)

// request is the plan's side of the sampler and, after Open, its prepared parts.
type request struct {
	Request        expr.String           `plan:"request,required,short,nonempty" doc:"method and URL, as in GET /products; a path beginning with / is joined to base_url"`
	BaseURL        expr.String           `plan:"base_url" doc:"scheme, host and optional path that requests beginning with / are joined to"`
	Query          spec.Map[expr.Text]   `plan:"query" doc:"query parameters, encoded and added to the URL; a list repeats the name"`
	Headers        spec.Map[expr.Text]   `plan:"headers,fold" doc:"header fields, sent byte for byte as written; null leaves out an inherited one"`
	Cookies        spec.Map[expr.String] `plan:"cookies" doc:"cookies sent with this request, beside those that the server has set"`
	CookieJar      expr.Bool             `plan:"cookie_jar" doc:"keep the server's cookies and send them back" default:"true"`
	JSON           expr.Tree             `plan:"json" group:"body" doc:"body as JSON; numbers are sent as written"`
	Form           spec.Map[expr.Text]   `plan:"form" group:"body" doc:"body as an HTML form; a list repeats the name"`
	Multipart      []part                `plan:"multipart" group:"body" doc:"body as multipart/form-data, parts in this order; large files are streamed from the disk"`
	Body           *body                 `plan:"body" group:"body" doc:"body as text, or {file: path}"`
	Auth           *authOptions          `plan:"auth" doc:"how the thread proves who it is: basic, bearer, digest, ntlm, oauth2 or aws_sigv4; credentials go to the request's own origin only"`
	Redirects      redirects             `plan:"redirects" doc:"follow redirects: true, false, or {follow, max}"`
	Resources      *resources            `plan:"resources" doc:"fetch what an HTML answer embeds: true, or {parallel, include, exclude}"`
	Cache          expr.Bool             `plan:"cache" default:"false" doc:"send conditional requests, and none while an answer is fresh, as a browser does"`
	ExpectContinue expr.Bool             `plan:"expect_continue" default:"false" doc:"ask with Expect: 100-continue before a body is sent; after a second of silence it is sent anyway"`
	KeepAlive      string                `plan:"keep_alive" enum:"thread|iteration|none" default:"thread" doc:"how long a connection is kept"`
	Version        string                `plan:"version" enum:"1.1" default:"1.1" doc:"version of HTTP"`
	Timeout        expr.Duration         `plan:"timeout" default:"30s" min:"1ms" doc:"limit for the whole exchange, redirects and resources included"`
	ConnectTimeout expr.Duration         `plan:"connect_timeout" min:"1ms" doc:"limit for name resolution, connect, proxy and TLS handshake together"`
	MaxBody        expr.SizeValue        `plan:"max_body" default:"32MiB" doc:"largest body that is accepted, after decoding"`
	TLS            tlsOptions            `plan:"tls" doc:"certificates, names and versions of https"`
	Proxy          *proxyOptions         `plan:"proxy" doc:"HTTP proxy: a URL, env, none, or {url, username, password, no_proxy}"`
	DNS            dnsOptions            `plan:"dns" doc:"how names become addresses, and which address requests come from"`

	prepared prepared
}

type part struct {
	Name        expr.String `plan:"name,required" doc:"name of the form field"`
	Value       expr.Text   `plan:"value" group:"content" doc:"the part's text"`
	File        spec.Path   `plan:"file,required" group:"content" doc:"file whose content is sent"`
	Filename    expr.String `plan:"filename" doc:"file name told to the server; the file's own name if absent"`
	ContentType expr.String `plan:"content_type" doc:"media type of the part"`
}

type body struct {
	Text     expr.String `plan:"text,required,short" group:"body" doc:"the body as text"`
	File     spec.Path   `plan:"file" group:"body" doc:"file that holds the body; a large one is streamed from the disk"`
	Template templated   `plan:"template" doc:"true: ${…} in the file is replaced, as in text"`
}

type redirects struct {
	Follow expr.Bool `plan:"follow,short" default:"true" doc:"follow redirects"`
	Max    expr.Int  `plan:"max" default:"10" min:"1" max:"100" doc:"how many in a row before the sample fails"`
}

// Notes returns what every report must say of this request.
func (r *request) Notes() []string {
	var notes []string
	if r.TLS.Insecure {
		notes = append(notes, "certificates of servers are not verified (tls.insecure)")
	}
	if r.Auth != nil && r.Auth.OAuth2 != nil {
		notes = append(notes, "requests for OAuth 2 tokens are not counted and not part of any response time")
	}
	if on, literal := r.Cache.Literal(); on || !literal && r.Cache.IsSet() {
		notes = append(notes, "caching is on: samples that the cache could answer sent no request")
	}
	return notes
}
