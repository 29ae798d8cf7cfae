// Package certs makes the TLS configuration of samplers from the files that a
// plan names.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"runner/plan/spec"
)

// Files are the parts of a `tls:` that every sampler has.
type Files struct {
	Insecure bool      `plan:"insecure" default:"false" doc:"accept any certificate; every report says so"`
	CA       spec.Path `plan:"ca" doc:"file with PEM certificates to trust besides the system's"`
	Cert     spec.Path `plan:"cert" doc:"file with the client's PEM certificate, its chain behind it"`
	Key      spec.Path `plan:"key" doc:"file with the client's PEM key, not encrypted; cert's file if absent"`
}

// Check reports what spans several keys.
func (f *Files) Check(report func(field, code, summary, detail string)) {
	if f.Key.IsSet() && !f.Cert.IsSet() {
		report("key", "key-without-cert", "a key needs its certificate", "write `cert:` beside it")
	}
}

// Config reads the files. The caller may change what it returns.
func (f *Files) Config() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: f.Insecure} //nolint:gosec // the plan says so
	if f.CA.IsSet() {
		pem, err := os.ReadFile(f.CA.Full)
		if err != nil {
			return nil, fmt.Errorf("read tls.ca: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.ca %s holds no PEM certificate", f.CA.Written)
		}
		cfg.RootCAs = pool
	}
	if f.Cert.IsSet() {
		key := f.Key
		if !key.IsSet() {
			key = f.Cert
		}
		pair, err := tls.LoadX509KeyPair(f.Cert.Full, key.Full)
		if err != nil {
			return nil, fmt.Errorf("tls.cert %s: %w", f.Cert.Written, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
