package http

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"runner/plan/spec"
)

type tlsOptions struct {
	Insecure   bool      `plan:"insecure" default:"false" doc:"accept any certificate; every report says so"`
	CA         spec.Path `plan:"ca" doc:"file with PEM certificates to trust besides the system's"`
	Cert       spec.Path `plan:"cert" doc:"file with the client's PEM certificate, its chain behind it"`
	Key        spec.Path `plan:"key" doc:"file with the client's PEM key, not encrypted; cert's file if absent"`
	ServerName string    `plan:"server_name" doc:"name for SNI and verification, if it is not the URL's host"`
	MinVersion string    `plan:"min_version" enum:"1.0|1.1|1.2|1.3" default:"1.2" doc:"lowest version of TLS"`
	MaxVersion string    `plan:"max_version" enum:"1.0|1.1|1.2|1.3" default:"1.3" doc:"highest version of TLS"`
}

func tlsVersion(name string) uint16 {
	switch name {
	case "1.0":
		return tls.VersionTLS10
	case "1.1":
		return tls.VersionTLS11
	case "1.3":
		return tls.VersionTLS13
	}
	return tls.VersionTLS12
}

// Check reports what spans several fields.
func (o *tlsOptions) Check(report func(field, code, summary, detail string)) {
	if o.Key.IsSet() && !o.Cert.IsSet() {
		report("key", "key-without-cert", "a key needs its certificate", "write `cert:` beside it")
	}
	if o.MinVersion > o.MaxVersion {
		report("max_version", "version-order", "`max_version` is lower than `min_version`", "exchange the two")
	}
}

// config reads the files.
func (o *tlsOptions) config() (*tls.Config, error) {
	highest := tlsVersion(o.MaxVersion)
	if o.MaxVersion == "" {
		highest = tls.VersionTLS13
	}
	cfg := &tls.Config{MinVersion: tlsVersion(o.MinVersion), MaxVersion: highest, InsecureSkipVerify: o.Insecure} //nolint:gosec // the plan says so
	if o.CA.IsSet() {
		pem, err := os.ReadFile(o.CA.Full)
		if err != nil {
			return nil, fmt.Errorf("read tls.ca: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.ca %s holds no PEM certificate", o.CA.Written)
		}
		cfg.RootCAs = pool
	}
	if o.Cert.IsSet() {
		key := o.Key
		if !key.IsSet() {
			key = o.Cert
		}
		pair, err := tls.LoadX509KeyPair(o.Cert.Full, key.Full)
		if err != nil {
			return nil, fmt.Errorf("tls.cert %s: %w", o.Cert.Written, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
