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
		Text:    text,
		Examples: []element.Example{
			{YAML: "http: GET https://shop.example.com/health"},
			{YAML: "http:\n  request: POST https://shop.example.com/orders\n  json: {sku: LT-1, qty: 2}\n  headers: {X-Trace: demo}\n  timeout: 5s"},
			{YAML: "http:\n  request: POST https://shop.example.com/login\n  form: {email: ann@example.com, password: secret}\n  redirects: false"},
			{YAML: "http:\n  request: POST https://shop.example.com/upload\n  multipart:\n    - {name: note, value: hello}\n    - {name: list, value: \"a,b\", filename: list.csv, content_type: text/csv}", Note: "a form with a file part"},
			{YAML: "http:\n  request: GET https://shop.example.com/account\n  auth:\n    digest: {username: ann, password: secret}", Note: "the nonce is used again, so only the first request costs a second one"},
			{YAML: "http:\n  request: GET https://shop.example.com/intranet\n  auth:\n    ntlm: {username: 'SHOP\\ann', password: secret}", Note: "a handshake on each new connection"},
			{YAML: "http:\n  request: GET https://api.example.com/orders\n  auth:\n    oauth2:\n      token_url: https://login.example.com/token\n      client_id: shop\n      client_secret: secret\n      scopes: [orders.read]", Note: "one token for all threads, renewed before it expires"},
			{YAML: "http:\n  request: GET https://abc123.execute-api.eu-central-1.amazonaws.com/orders\n  auth:\n    aws_sigv4: {region: eu-central-1, service: execute-api, access_key: AKIDEXAMPLE, secret_key: secret}"},
			{YAML: "http:\n  request: GET https://shop.example.com/\n  resources: {parallel: 6, exclude: \"analytics|ads\"}\n  cache: true", Note: "as a browser opens the page"},
			{YAML: "http:\n  request: GET https://shop.example.com/\n  proxy: {url: \"http://proxy.example.com:3128\", username: ann, password: secret, no_proxy: [intranet.example.com, 10.0.0.0/8]}"},
			{YAML: "http:\n  request: GET https://shop.example.com/\n  dns:\n    hosts: {shop.example.com: \"10.0.0.7:8443\"}\n  tls: {server_name: shop.example.com, min_version: \"1.2\"}", Note: "one server behind a balancer, under the name of all"},
			{YAML: "http:\n  request: PUT https://shop.example.com/upload\n  body: a large text\n  expect_continue: true"},
		},
	})}
}

const text = `The short form is the method and the URL: ` + "`http: GET /products`" + `. A path that begins with ` + "`/`" + ` is joined to ` + "`base_url`" + `. A sample fails when the status is 400 or more, unless a ` + "`status:`" + ` assertion is in scope. Only Host, User-Agent, Accept-Encoding and the headers that describe the body are added to what you write.

**What counts as a request.** Each attempt that a server sees: redirect hops, the 401 before a digest, the handshake of NTLM and embedded resources. A proxy's CONNECT and the requests for OAuth 2 tokens are not counted; a report says so of the tokens. Fetching a token is no part of a response time: the sample begins when the token is there.

**Credentials** go to the request's own origin only, also after redirects. They are tried once: wrong ones end with the status 401.

**resources** fetches what an HTML answer with a status of 200 to 299 embeds: images, scripts, style sheets, icons, frames, embedded objects and backgrounds, each URL once, over connections that the thread keeps. What style sheets, scripts and frames load in turn is not fetched. The response time includes them. One that fails, or answers with 400 or more, fails the sample with its class, and the message names its URL; the page's own values are extracted all the same.

**cache** keeps up to 1,000 URLs for each thread, until a new user begins: ETag, Last-Modified and how long an answer is fresh, not the body. Within max-age or Expires no request is sent, and the sample has the status 200, no requests and no body; later a conditional request is sent, whose 304 passes (write ` + "`status: [200, 304]`" + ` where you assert the status). Use it for what no extractor looks into. Answers with no-store, or that vary with more than Accept-Encoding, are not kept.

**proxy** applies where it is written: the variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read with ` + "`proxy: env`" + ` only, and then local addresses are no exception. Failures of the proxy itself begin with "proxy:". It is evaluated at each thread's first request, as are the hosts of ` + "`dns`" + `.

**dns** resolves each name once in the run; with ` + "`policy: each`" + ` a target that moves is followed.

**Bodies** from files of more than 1 MiB are streamed from the disk in constant memory. An answer that comes before the body is through is read at once; if it refuses the request, or the server reads no further, the rest of the body is given up and the connection closed.`
