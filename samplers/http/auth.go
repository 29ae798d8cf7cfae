package http

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/samplers/http/auth"
	"runner/samplers/http/h1"
)

type authOptions struct {
	Basic  *login      `plan:"basic,required" group:"scheme" doc:"user name and password, sent with each request"`
	Bearer expr.Text   `plan:"bearer" group:"scheme" secret:"true" doc:"token sent as Authorization: Bearer"`
	Digest *login      `plan:"digest" group:"scheme" doc:"user name and password for MD5, SHA-256 or SHA-512-256 digests; the 401 that asks for them counts as a request, the nonce is used again"`
	NTLM   *ntlmLogin  `plan:"ntlm" group:"scheme" doc:"user name and password for NTLM version 2; each connection begins with a handshake, whose requests count"`
	OAuth2 *oauth2     `plan:"oauth2" group:"scheme" doc:"OAuth 2 client credentials; one token for all threads, fetched outside of the measured time"`
	AWS    *awsAccount `plan:"aws_sigv4" group:"scheme" doc:"signature of AWS, version 4"`
}

type login struct {
	Username expr.Text `plan:"username,required" doc:"user name"`
	Password expr.Text `plan:"password,required" secret:"true" doc:"password"`
}

type ntlmLogin struct {
	Username    expr.Text `plan:"username,required" doc:"user name, as ann or DOMAIN\\ann"`
	Password    expr.Text `plan:"password,required" secret:"true" doc:"password"`
	Domain      expr.Text `plan:"domain" doc:"domain, if it is not in the user name"`
	Workstation expr.Text `plan:"workstation" doc:"name of this machine that is told to the server"`
}

type awsAccount struct {
	Region       expr.Text `plan:"region,required" doc:"region, as eu-central-1"`
	Service      expr.Text `plan:"service,required" doc:"service, as execute-api or s3"`
	AccessKey    expr.Text `plan:"access_key,required" doc:"access key ID"`
	SecretKey    expr.Text `plan:"secret_key,required" secret:"true" doc:"secret access key"`
	SessionToken expr.Text `plan:"session_token" secret:"true" doc:"token of temporary credentials"`
}

// isStatic reports whether all header lines are known before the run; those of
// an Authorizer are not among them.
func (a *authOptions) isStatic() bool {
	switch {
	case a.OAuth2 != nil:
		return false
	case a.Basic != nil:
		return a.Basic.Username.IsLiteral() && a.Basic.Password.IsLiteral()
	}
	return a.Bearer.IsLiteral()
}

// value returns the Authorization header's value, "" where an Authorizer writes it.
func (a *authOptions) value(x *exchange, s expr.Scope) (string, error) {
	switch {
	case a.Basic != nil:
		var name, password string
		if err := evalAll(s, into{&a.Basic.Username, &name}, into{&a.Basic.Password, &password}); err != nil {
			return "", err
		}
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password)), nil
	case a.Bearer.IsSet():
		token, err := textOf(&a.Bearer, s)
		return "Bearer " + token, err
	case a.OAuth2 != nil:
		return "Bearer " + x.token, nil
	}
	return "", nil
}

// into is a text and the place of its value.
type into struct {
	from *expr.Text
	to   *string
}

// evalAll evaluates texts; those that are not set stay empty.
func evalAll(s expr.Scope, all ...into) (err error) {
	for _, v := range all {
		if *v.to, err = optionalText(v.from, s); err != nil {
			return err
		}
	}
	return nil
}

// authorizers are what one client keeps of schemes with a memory.
type authorizers struct {
	random *rand.Rand
	digest *auth.Digest
	ntlm   *auth.NTLM
	aws    *auth.AWS
}

// authorizer returns an Authorizer with the credentials of now, nil where a
// header line does, and whether connections must be closed since what they have
// proven is another user's.
func (a *authOptions) authorizer(k *authorizers, t *element.Thread) (_ h1.Authorizer, stale bool, err error) {
	if k.random == nil {
		seed := uint64(t.ID)
		if t.Rand != nil {
			seed = t.Rand.Uint64()
		}
		k.random = rand.New(rand.NewPCG(seed, uint64(t.ID))) //nolint:gosec // nonces of a client need not be secret
	}
	switch {
	case a.Digest != nil:
		if k.digest == nil {
			k.digest = &auth.Digest{Nonce: func() string { return fmt.Sprintf("%016x", k.random.Uint64()) }}
		}
		return k.digest, false, evalAll(t, into{&a.Digest.Username, &k.digest.Username}, into{&a.Digest.Password, &k.digest.Password})
	case a.NTLM != nil:
		return a.NTLM.authorizer(k, t)
	case a.AWS != nil:
		if k.aws == nil {
			k.aws = &auth.AWS{Now: time.Now}
		}
		w := k.aws
		return w, false, evalAll(t, into{&a.AWS.Region, &w.Region}, into{&a.AWS.Service, &w.Service}, into{&a.AWS.AccessKey, &w.AccessKey},
			into{&a.AWS.SecretKey, &w.SecretKey}, into{&a.AWS.SessionToken, &w.SessionToken})
	}
	return nil, false, nil
}

func (l *ntlmLogin) authorizer(k *authorizers, t *element.Thread) (_ h1.Authorizer, stale bool, _ error) {
	n := &auth.NTLM{Now: time.Now, Nonce: func() (c [8]byte) {
		binary.BigEndian.PutUint64(c[:], k.random.Uint64())
		return c
	}}
	err := evalAll(t, into{&l.Username, &n.Username}, into{&l.Password, &n.Password}, into{&l.Domain, &n.Domain}, into{&l.Workstation, &n.Workstation})
	if err != nil {
		return nil, false, err
	}
	if o := k.ntlm; o == nil || o.Username != n.Username || o.Password != n.Password || o.Domain != n.Domain {
		k.ntlm, stale = n, o != nil
	}
	return k.ntlm, stale, nil
}
