package grpc_test

import (
	"strings"
	"testing"

	"runner/plan/element/elementtest"
	"runner/samplers/grpc"
)

var config = elementtest.Config{Plan: "testdata/plan.yaml", Vars: map[string]string{"target": `"127.0.0.1:1"`, "sku": `"7"`, "n": "3"}}

func TestElement(t *testing.T) {
	elementtest.Run(t, grpc.All()[0], config)
}

func TestMistakes(t *testing.T) {
	const rest = "target: localhost:1, proto: proto/cart.proto, call: shop.v1.Cart/"
	for text, want := range map[string]string{
		"grpc: {" + rest + "Ad}": "the service shop.v1.Cart has no method Ad in the .proto files",
		"grpc: {target: localhost:1, proto: proto/cart.proto, call: shop.Cart/Add}": "there is no service shop.Cart in the .proto files",
		"grpc: {" + rest + "Add, message: {user: a, qtty: 1}}":                      "the message shop.v1.AddRequest has no field qtty",
		"grpc: {" + rest + "Add, message: {more: [{sku: a, q: '${n}'}]}}":           "the message shop.v1.Item has no field more[0].q",
		"grpc: {" + rest + "Add, message: {qty: many}}":                             "message: invalid value for int32 field qty",
		"grpc: {" + rest + "Add, messages: [{}, {}]}":                               "shop.v1.Cart/Add takes one message",
		"grpc: {" + rest + "Add, codes: [OK, NOTFOUND]}":                            `"NOTFOUND" is no status code of gRPC`,
		"grpc: {" + rest + "Add, metadata: {grpc-x: a}}":                            `"grpc-x" cannot be the name of metadata`,
		"grpc: {" + rest + "Add, tls: {key: plan.yaml}}":                            "a key needs its certificate",
		"grpc: {target: localhost:1, proto: proto/bad.proto, call: a.B/C}":          "proto/bad.proto:4:1: syntax error: expecting ';'",
		"grpc: {target: localhost:1, call: a.B/C}":                                  "nothing describes the method",
		"grpc: {target: 'https://a:1', reflection: true, call: a.B/C}":              "a target is host and port, without a scheme",
		"grpc: {target: localhost, reflection: true, call: a.B/C}":                  `"localhost" is not host and port`,
		"grpc: {target: localhost:1, reflection: true, call: Add}":                  `"Add" is no method`,
	} {
		got := elementtest.Problems(t, grpc.All()[0], text, config)
		if len(got) != 1 || !strings.HasSuffix(got[0], ": "+want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}
