package demo

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// Names of the two cookies: visit ties the sign-in form to a browser, sid is a
// signed-in session.
const (
	visitCookie = "visit"
	sidCookie   = "sid"
)

// signer makes and checks tokens. Nothing about a session is stored: its token
// says who it is and carries a signature.
type signer [sha256.Size]byte

func newSigner(seed uint64) signer {
	return sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("demo shop "), seed))
}

func (k signer) mac(purpose, text string) string {
	m := hmac.New(sha256.New, k[:])
	m.Write([]byte(purpose))
	m.Write([]byte{0})
	m.Write([]byte(text))
	var sum [sha256.Size]byte
	return hex.EncodeToString(m.Sum(sum[:0])[:16])
}

func (k signer) sign(purpose, text string) string { return text + "." + k.mac(purpose, text) }

// open returns the text of a token, and false if the signature is not ours.
func (k signer) open(purpose, token string) (string, bool) {
	i := strings.LastIndexByte(token, '.')
	if i < 0 || len(token) > 100 {
		return "", false
	}
	return token[:i], same(token[i+1:], k.mac(purpose, token[:i]))
}

func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

// shopper is who a request comes from.
type shopper struct {
	id  int    // of the account; 0 = not signed in
	key string // of the cart
}

// accountID checks an e-mail and a password by the shop's rule: shopperN@example.com
// signs in with pass-N, where N is the same digits in both. It returns 0 if wrong.
func accountID(email, password string) int {
	digits, ok := strings.CutPrefix(email, "shopper")
	if !ok {
		return 0
	}
	digits, ok = strings.CutSuffix(digits, "@example.com")
	if !ok || len(digits) > 9 || password != "pass-"+digits {
		return 0
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// emailOf names an account as data/accounts.csv does.
func emailOf(id int) string {
	digits := strconv.Itoa(id)
	return "shopper" + strings.Repeat("0", max(0, 4-len(digits))) + digits + "@example.com"
}

// newSession returns the token of a fresh session of an account.
func (s *shop) newSession(id int) string {
	return s.signer.sign("session", strconv.Itoa(id)+"-"+strconv.FormatUint(s.serial.Add(1), 36))
}

// signedIn finds the account by bearer token, basic credentials or sid cookie,
// in this order; the first that is present decides.
func (s *shop) signedIn(r *http.Request) (shopper, bool) {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.byToken(token)
	}
	if email, password, ok := r.BasicAuth(); ok {
		id := accountID(email, password)
		return shopper{id, "basic-" + strconv.Itoa(id)}, id > 0
	}
	c, err := r.Cookie(sidCookie)
	if err != nil {
		return shopper{}, false
	}
	return s.byToken(c.Value)
}

func (s *shop) byToken(token string) (shopper, bool) {
	text, ok := s.signer.open("session", token)
	if !ok {
		return shopper{}, false
	}
	number, _, _ := strings.Cut(text, "-")
	id, err := strconv.Atoi(number)
	return shopper{id, text}, err == nil && id > 0
}

// shopperOf returns who owns the cart of this request. A request that is
// neither signed in nor known gets a visit cookie.
func (s *shop) shopperOf(w http.ResponseWriter, r *http.Request) shopper {
	if who, ok := s.signedIn(r); ok {
		return who
	}
	_, text := s.visit(w, r)
	return shopper{0, text}
}

// visit returns the visit token of a request and its text, and sets the cookie
// if there was no valid one.
func (s *shop) visit(w http.ResponseWriter, r *http.Request) (token, text string) {
	if c, err := r.Cookie(visitCookie); err == nil {
		if text, ok := s.signer.open("visit", c.Value); ok {
			return c.Value, text
		}
	}
	text = "v" + strconv.FormatUint(s.serial.Add(1), 36)
	token = s.signer.sign("visit", text)
	setCookie(w, visitCookie, token)
	return token, text
}

func setCookie(w http.ResponseWriter, name, value string) {
	w.Header().Add("Set-Cookie", name+"="+value+"; Path=/; HttpOnly; SameSite=Lax")
}
