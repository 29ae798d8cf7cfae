package grpc

import (
	"crypto/tls"

	"runner/plan/expr"
	"runner/plan/spec"
	"runner/samplers/certs"
)

// call is the plan's side of the sampler and, after Open, its prepared parts.
type call struct {
	Call        string              `plan:"call,required,short,nonempty" doc:"method to call, as in shop.v1.Cart/Add"`
	Target      expr.String         `plan:"target,required,nonempty" doc:"host and port of the server"`
	Message     expr.Tree           `plan:"message" group:"message" doc:"the message, by the field names of the .proto file; an empty one if absent"`
	Messages    []expr.Tree         `plan:"messages" group:"message" doc:"the messages of a client stream, in this order" max:"1000"`
	Proto       []spec.Path         `plan:"proto,single" doc:".proto files that describe the method, relative to this plan" max:"100"`
	ImportPaths []spec.Path         `plan:"import_paths,single" doc:"folders in which imports of the .proto files are looked for; by default this plan's and those of the files" max:"100"`
	Reflection  bool                `plan:"reflection" default:"false" doc:"ask the server to describe the method"`
	Metadata    spec.Map[expr.Text] `plan:"metadata" doc:"metadata sent with the call; a list repeats the name, names that end with -bin take bytes"`
	Authority   expr.String         `plan:"authority" doc:"value of :authority, if it is not the target"`
	TLS         *tlsOptions         `plan:"tls" doc:"true, or {ca, insecure, …}; without it the connection is not encrypted"`
	Timeout     expr.Duration       `plan:"timeout" default:"30s" min:"1ms" doc:"limit for the whole call, connecting included"`
	Connections string              `plan:"connections" enum:"thread|iteration|none" default:"thread" doc:"how long a connection is kept; each thread has its own"`
	Codes       []string            `plan:"codes,single" default:"OK" min:"1" doc:"status codes that pass, as in NOT_FOUND"`
	MaxMessages expr.Int            `plan:"max_messages" default:"1000" min:"1" max:"1000000" doc:"how many messages of a stream are read before the call is ended"`
	MaxBody     expr.SizeValue      `plan:"max_body" default:"4MiB" min:"1B" max:"1GiB" doc:"largest size of what is received in one call"`

	prepared prepared
}

// tlsOptions are the keys of tls.
type tlsOptions struct {
	Enabled     bool `plan:"enabled,short" default:"true" doc:"encrypt the connection"`
	certs.Files `plan:",inline"`
	ServerName  string `plan:"server_name" doc:"name for SNI and verification, if it is not the target's host"`
}

// config reads the files; nil stands for no TLS.
func (o *tlsOptions) config() (*tls.Config, error) {
	if o == nil || !o.Enabled {
		return nil, nil
	}
	cfg, err := o.Config()
	if err != nil {
		return nil, err
	}
	cfg.ServerName = o.ServerName
	return cfg, nil
}

// Notes returns what every report must say of this call.
func (c *call) Notes() []string {
	var notes []string
	if c.TLS != nil && c.TLS.Enabled && c.TLS.Insecure {
		notes = append(notes, "certificates of servers are not verified (tls.insecure)")
	}
	if c.Reflection {
		notes = append(notes, "gRPC reflection is not counted and not part of any response time")
	}
	return notes
}
