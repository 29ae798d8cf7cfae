package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	partnerID     = "partner"
	partnerSecret = "partner-secret"
	tokenTTL      = time.Minute
)

// token is the OAuth 2 endpoint for client credentials, in the form or as basic
// credentials. A token lasts a minute, or ttl_ms milliseconds if the query says so.
func (s *shop) token(w http.ResponseWriter, r *http.Request) {
	id, secret, ok := r.BasicAuth()
	if r.ParseForm() != nil || r.PostForm.Get("grant_type") != "client_credentials" {
		sendError(w, http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	if !ok {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	if id != partnerID || !same(secret, partnerSecret) {
		sendError(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	ttl := time.Duration(number(r, "ttl_ms", int(tokenTTL/time.Millisecond), 1, 3_600_000)) * time.Millisecond
	expiry := strconv.FormatInt(s.opts.Now().Add(ttl).UnixMilli(), 10)
	w.Header().Set("Cache-Control", "no-store")
	sendJSON(w, http.StatusOK, struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Seconds int    `json:"expires_in"`
	}{s.signer.sign("partner", expiry), "Bearer", int(max(1, ttl/time.Second))})
}

// partnerStock tells partners how many there are of a product: for a bearer
// token of /token that has not expired, else 401.
func (s *shop) partnerStock(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	text, ok := s.signer.open("partner", token)
	expiry, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || s.opts.Now().UnixMilli() >= expiry {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		sendError(w, http.StatusUnauthorized, "the token is not valid, or not any more")
		return
	}
	p := s.stock.bySKU[r.PathValue("sku")]
	if p == nil {
		sendError(w, http.StatusNotFound, "no such product")
		return
	}
	sendJSON(w, http.StatusOK, map[string]any{"sku": p.SKU, "stock": p.Stock})
}

// staff is a page for digest credentials (RFC 7616, SHA-256) of any account.
func (s *shop) staff(w http.ResponseWriter, r *http.Request) {
	id := s.digestID(r)
	if id == 0 {
		nonce := s.signer.sign("nonce", strconv.FormatUint(s.serial.Add(1), 36))
		w.Header().Set("WWW-Authenticate", `Digest realm="demo shop staff", qop="auth", algorithm=SHA-256, nonce="`+nonce+`"`)
		sendError(w, http.StatusUnauthorized, "digest credentials are required")
		return
	}
	sendJSON(w, http.StatusOK, map[string]any{"user": person{id, emailOf(id)}, "orders": s.orderNo.Load()})
}

// digestID returns the account that the request proves to know the password of, or 0.
func (s *shop) digestID(r *http.Request) int {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Digest ")
	if !ok {
		return 0
	}
	p := digestParams(text)
	digits := strings.TrimSuffix(strings.TrimPrefix(p["username"], "shopper"), "@example.com")
	id := accountID(p["username"], "pass-"+digits)
	if _, ok := s.signer.open("nonce", p["nonce"]); !ok || id == 0 || p["uri"] != r.RequestURI {
		return 0
	}
	ha1 := sum(p["username"], "demo shop staff", "pass-"+digits)
	if want := sum(ha1, p["nonce"], p["nc"], p["cnonce"], "auth", sum(r.Method, p["uri"])); !same(p["response"], want) {
		return 0
	}
	return id
}

func sum(parts ...string) string {
	b := sha256.Sum256([]byte(strings.Join(parts, ":")))
	return hex.EncodeToString(b[:])
}

// digestParams reads name=value and name="value"; none of the values that count
// here may hold a comma.
func digestParams(text string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		out[name] = strings.Trim(value, `"`)
	}
	return out
}

// gate lets so many requests through in each second of a key.
type gate struct {
	mu   sync.Mutex
	keys map[int]*window
}

type window struct {
	second int64
	passed int
}

func (g *gate) pass(limit int, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keys == nil {
		g.keys = map[int]*window{}
	}
	w := g.keys[limit]
	if w == nil {
		w = new(window)
		g.keys[limit] = w
	}
	if second := now.Unix(); w.second != second {
		*w = window{second: second}
	}
	w.passed++
	return w.passed <= limit
}

// limited lets per_second requests through in a second, whoever they come from;
// the others get 429 with Retry-After.
func (s *shop) limited(w http.ResponseWriter, r *http.Request) {
	if s.gate.pass(number(r, "per_second", 10, 1, maxQuotas), s.opts.Now()) {
		sendJSON(w, http.StatusOK, map[string]bool{"ok": true})
		return
	}
	w.Header().Set("Retry-After", "1")
	sendError(w, http.StatusTooManyRequests, "too many requests")
}
