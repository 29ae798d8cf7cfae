package http

import (
	"crypto/tls"

	"runner/samplers/certs"
)

type tlsOptions struct {
	certs.Files `plan:",inline"`
	ServerName  string `plan:"server_name" doc:"name for SNI and verification, if it is not the URL's host"`
	MinVersion  string `plan:"min_version" enum:"1.0|1.1|1.2|1.3" default:"1.2" doc:"lowest version of TLS"`
	MaxVersion  string `plan:"max_version" enum:"1.0|1.1|1.2|1.3" default:"1.3" doc:"highest version of TLS"`
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
	o.Files.Check(report)
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
	cfg, err := o.Config()
	if err != nil {
		return nil, err
	}
	cfg.MinVersion, cfg.MaxVersion = tlsVersion(o.MinVersion), highest
	return cfg, nil
}
