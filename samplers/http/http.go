// Package http is the `http:` sampler: one HTTP/1.1 request on the project's own
// transport (samplers/http/h1), with redirects, cookies, bodies and auth.
//
// request.go holds what a plan may say, prepare.go what can be computed once
// before the run, sample.go one execution, thread.go what a thread keeps between
// executions.
package http

import (
	"runner/plan/element"
)

// All returns the package's definitions.
func All() []element.Definition {
	return []element.Definition{element.DefineSampler[request]("http", element.Doc{
		Summary: "sends an HTTP request and reads the answer",
		Text: "The short form is the method and the URL: `http: GET /products`. A path that begins with `/` is " +
			"joined to `base_url`. A sample fails when the status is 400 or more, unless a `status:` assertion is in scope. " +
			"Only Host, User-Agent, Accept-Encoding and the headers that describe the body are added to what you write.",
		Examples: []element.Example{
			{YAML: "http: GET https://shop.example.com/health"},
			{YAML: "http:\n  request: POST https://shop.example.com/orders\n  json: {sku: LT-1, qty: 2}\n  headers: {X-Trace: demo}\n  timeout: 5s"},
			{YAML: "http:\n  request: POST https://shop.example.com/login\n  form: {email: ann@example.com, password: secret}\n  redirects: false"},
			{YAML: "http:\n  request: POST https://shop.example.com/upload\n  multipart:\n    - {name: note, value: hello}\n    - {name: list, value: \"a,b\", filename: list.csv, content_type: text/csv}", Note: "a form with a file part"},
		},
	})}
}
