package auth

import (
	"crypto/md5" //nolint:gosec // RFC 7616 asks for it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"

	"runner/samplers/http/h1"
)

// maxNonces bounds the servers whose nonce is remembered.
const maxNonces = 32

// Digest answers digest challenges: MD5, SHA-256 and SHA-512-256, with and
// without -sess, qop auth or none. A nonce is used again with a rising count, so
// that only the first request to a server costs a round trip.
type Digest struct {
	Username, Password string
	Nonce              func() string // makes client nonces

	known map[string]*digestState // by server
	sent  bool                    // the attempt under way carries credentials
}

type digestState struct {
	realm, nonce, opaque, algorithm, qop string
	count                                uint32
}

// Authorize adds credentials if the server has asked for them before.
func (d *Digest) Authorize(head []byte, a *h1.Attempt) ([]byte, bool, error) {
	s := d.known[a.Addr]
	d.sent = s != nil
	if s == nil {
		return head, false, nil
	}
	s.count++
	cnonce := d.Nonce()
	nc := strconv.FormatUint(uint64(s.count)|1<<32, 16)[1:]
	uri := string(a.Target)
	head = append(head, "Authorization: Digest username="...)
	head = append(appendQuoted(head, d.Username), ", realm="...)
	head = append(appendQuoted(head, s.realm), ", nonce="...)
	head = append(appendQuoted(head, s.nonce), ", uri="...)
	head = append(appendQuoted(head, uri), ", response="...)
	head = appendQuoted(head, s.response(d.Username, d.Password, a.Method, uri, nc, cnonce))
	if s.algorithm != "" {
		head = append(append(head, ", algorithm="...), s.algorithm...)
	}
	if s.opaque != "" {
		head = appendQuoted(append(head, ", opaque="...), s.opaque)
	}
	if s.qop != "" {
		head = append(append(append(head, ", qop=auth, nc="...), nc...), ", cnonce="...)
		head = appendQuoted(head, cnonce)
	}
	return append(head, "\r\n"...), false, nil
}

// Challenged takes the strongest challenge that it knows. Credentials that were
// refused are not sent again unless only their nonce was stale.
func (d *Digest) Challenged(a *h1.Attempt, res *h1.Response) bool {
	best, found := challenge{}, 0
	for _, c := range challenges(res) {
		if rank := rankOf(c); rank > found {
			best, found = c, rank
		}
	}
	if found == 0 {
		return false
	}
	stale := strings.EqualFold(best.params["stale"], "true")
	if d.sent && a.Round > 0 && !stale {
		delete(d.known, a.Addr)
		return false
	}
	if d.known == nil || len(d.known) >= maxNonces {
		d.known = map[string]*digestState{}
	}
	p := best.params
	s := &digestState{realm: p["realm"], nonce: p["nonce"], opaque: p["opaque"], algorithm: p["algorithm"]}
	if p["qop"] != "" {
		s.qop = "auth"
	}
	d.known[a.Addr] = s
	return true
}

// rankOf is 0 for a challenge that cannot be met.
func rankOf(c challenge) int {
	if c.scheme != "digest" || c.params["nonce"] == "" || hasBreak(c.params) {
		return 0
	}
	if qop := c.params["qop"]; qop != "" && !listHolds(qop, "auth") {
		return 0
	}
	switch h, _ := hashOf(c.params["algorithm"]); {
	case h == nil:
		return 0
	case h().Size() > md5.Size:
		return 2
	}
	return 1
}

func hasBreak(params map[string]string) bool {
	for _, v := range params {
		if strings.ContainsAny(v, "\r\n\x00") {
			return true
		}
	}
	return false
}

func listHolds(list, word string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.TrimSpace(item), word) {
			return true
		}
	}
	return false
}

// hashOf returns the hash of an algorithm, nil for one that is unknown.
func hashOf(algorithm string) (fn func() hash.Hash, sess bool) {
	name := strings.ToUpper(algorithm)
	name, sess = strings.CutSuffix(name, "-SESS")
	switch name {
	case "", "MD5":
		return md5.New, sess
	case "SHA-256":
		return sha256.New, sess
	case "SHA-512-256":
		return sha512.New512_256, sess
	}
	return nil, false
}

func (s *digestState) response(user, password, method, uri, nc, cnonce string) string {
	fn, sess := hashOf(s.algorithm)
	sum := func(parts ...string) string {
		h := fn()
		h.Write([]byte(strings.Join(parts, ":")))
		return hex.EncodeToString(h.Sum(nil))
	}
	secret := sum(user, s.realm, password)
	if sess {
		secret = sum(secret, s.nonce, cnonce)
	}
	if s.qop == "" {
		return sum(secret, s.nonce, sum(method, uri))
	}
	return sum(secret, s.nonce, nc, cnonce, s.qop, sum(method, uri))
}

func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for i := range len(text) {
		switch c := text[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\r', '\n', 0:
			dst = append(dst, ' ')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
