// Package grpc is the `grpc:` sampler: one call of a gRPC method, with messages
// written in the plan and described by .proto files or by the server itself.
//
// call.go holds what a plan may say, check.go what is wrong with it, proto.go and
// reflect.go find the method, message.go turns the plan's values into messages and
// json.go messages into JSON, link.go is a thread's connection, watch.go its
// stamps and counts, sample.go one execution, failure.go the classes of failures.
package grpc

import (
	"runner/plan/element"
	"runner/plan/expr"
)

// All returns the package's definitions.
func All() []element.Definition {
	d := element.DefineSampler[call]("grpc", element.Doc{
		Summary: "calls a gRPC method and reads the answer",
		Text:    text,
		Examples: []element.Example{
			{YAML: "grpc:\n  target: localhost:9090\n  proto: proto/cart.proto\n  call: shop.v1.Cart/Add\n  message: {user: ann, sku: LT-1, qty: 1}"},
			{YAML: "grpc:\n  target: cart.example.com:443\n  tls: true\n  reflection: true\n  call: shop.v1.Cart/Add\n  message: {user: ann, sku: LT-1, qty: 1}\n  metadata: {authorization: Bearer abc, x-tag: [a, b]}", Note: "the server describes its methods itself"},
			{YAML: "grpc:\n  target: localhost:9090\n  proto: [proto/cart.proto]\n  call: shop.v1.Cart/Get\n  message: {user: nobody}\n  codes: NOT_FOUND", Note: "a call that must be refused"},
			{YAML: "grpc:\n  target: localhost:9090\n  proto: proto/cart.proto\n  call: shop.v1.Cart/Watch\n  message: {user: ann}\n  max_messages: 10", Note: "the first ten messages of a stream"},
			{YAML: "grpc:\n  target: localhost:9090\n  proto: proto/cart.proto\n  call: shop.v1.Cart/AddAll\n  messages:\n    - {user: ann, sku: LT-1, qty: 1}\n    - {user: ann, sku: LT-2, qty: 2}", Note: "a client stream"},
		},
	})
	d.Roots = map[string]expr.Type{"code": expr.TextType}
	return []element.Definition{d}
}

const text = `The short form is the method: ` + "`grpc: shop.v1.Cart/Add`" + `, where the rest stands in ` + "`defaults: {grpc: …}`" + `. Methods and messages are described by the ` + "`.proto`" + ` files of ` + "`proto`" + `, read before the run, or by the server (` + "`reflection: true`" + `), which is asked once, at the first sample.

**The answer.** ` + "`json`" + ` is the message with the field names of the .proto file, fields without a value included; 64-bit integers are numbers, enums are names, bytes are base64. Of a stream of answers ` + "`json`" + ` is a list. ` + "`code`" + ` is the status as a name (OK, NOT_FOUND), ` + "`status`" + ` its number, ` + "`message`" + ` the server's words, ` + "`headers`" + ` holds metadata and trailers. A sample fails with the class ` + "`status`" + ` when the code is none of ` + "`codes`" + `.

**What counts as a request.** Each attempt that goes out; a call is one. Nothing is retried, whatever the service's configuration says; where the transport itself sends a stream once more, because the server had not looked at it, both count. Reflection is not counted and no part of a response time.

**Connections.** Each thread has its own, so that load spreads over what stands behind a balancer. It is opened before the call and its time is in ` + "`connect`" + ` and in the response time. One that the server has closed is opened again.

**Streams.** All messages of ` + "`messages`" + ` are sent, then the sending side is closed; answers are read meanwhile, until the server ends the stream or ` + "`max_messages`" + ` have come, and then the call is ended. Sending in answer to what was received is not possible.`
