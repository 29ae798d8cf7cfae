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
	Multipart      []part                `plan:"multipart" group:"body" doc:"body as multipart/form-data, parts in this order"`
	Body           *body                 `plan:"body" group:"body" doc:"body as text, or {file: path}"`
	Auth           *auth                 `plan:"auth" doc:"{basic: {username, password}} or {bearer: token}"`
	Redirects      redirects             `plan:"redirects" doc:"follow redirects: true, false, or {follow, max}"`
	KeepAlive      string                `plan:"keep_alive" enum:"thread|iteration|none" default:"thread" doc:"how long a connection is kept"`
	Timeout        expr.Duration         `plan:"timeout" default:"30s" min:"1ms" doc:"limit for the whole exchange, redirects included"`
	ConnectTimeout expr.Duration         `plan:"connect_timeout" min:"1ms" doc:"limit for name resolution, connect and TLS handshake together"`
	MaxBody        expr.SizeValue        `plan:"max_body" default:"32MiB" doc:"largest body that is accepted, after decoding"`
	TLS            tlsOptions            `plan:"tls" doc:"certificates and names of https"`

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
	Text expr.String `plan:"text,required,short" group:"body" doc:"the body as text"`
	File spec.Path   `plan:"file" group:"body" doc:"file that holds the body"`
}

type auth struct {
	Basic  *basic    `plan:"basic,required" group:"scheme" doc:"user name and password"`
	Bearer expr.Text `plan:"bearer" group:"scheme" doc:"token sent as Authorization: Bearer"`
}

type basic struct {
	Username expr.Text `plan:"username,required" doc:"user name"`
	Password expr.Text `plan:"password,required" doc:"password"`
}

type redirects struct {
	Follow expr.Bool `plan:"follow,short" default:"true" doc:"follow redirects"`
	Max    expr.Int  `plan:"max" default:"10" min:"1" max:"100" doc:"how many in a row before the sample fails"`
}

type tlsOptions struct {
	Insecure   bool      `plan:"insecure" default:"false" doc:"accept any certificate"`
	CA         spec.Path `plan:"ca" doc:"file with PEM certificates to trust besides the system's"`
	ServerName string    `plan:"server_name" doc:"name for SNI and verification, if it is not the URL's host"`
}

// Check reports what spans several fields.
func (r *request) Check(report func(field, code, summary, detail string)) {
	text, literal := r.Request.Literal()
	if !literal {
		text = r.Request.Source()
	}
	method, target := splitRequest(text)
	switch {
	case method == "" && target != "":
		report("request", "request-without-method", "the request has no method", "write GET "+target)
	case target == "":
		report("request", "request-without-url", "the request has no URL", "write "+method+" /path")
	case literal && target[0] == '/' && !r.BaseURL.IsSet():
		report("request", "no-base-url", "a path needs a base_url to be joined to",
			"set defaults: {http: {base_url: \"https://shop.example.com\"}} on the plan, or write the whole URL here")
	}
}
