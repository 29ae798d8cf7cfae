package auth

import (
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // MS-NLMP asks for it
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"
	"unicode/utf16"

	//lint:ignore SA1019 MS-NLMP asks for MD4
	"golang.org/x/crypto/md4"

	"runner/samplers/http/h1"
)

// NTLM answers NTLM challenges (version 2). What is proven holds for one
// connection: its first request takes a handshake of two more, later ones none.
type NTLM struct {
	Username, Password, Domain string
	Workstation                string
	Nonce                      func() [8]byte // makes client challenges
	Now                        func() time.Time

	conns map[uint64]*ntlmState
	known map[string]string // the scheme's word, by servers that have asked
}

type ntlmStep uint8

const (
	ntlmNegotiate ntlmStep = iota // the first message is due
	ntlmAnswer                    // a challenge is to be answered
	ntlmProven
)

type ntlmState struct {
	step      ntlmStep
	challenge ntlmChallenge
	plain     bool // the attempt under way went without a message
}

// maxConns bounds the connections that are remembered.
const maxConns = 64

func (n *NTLM) state(conn uint64) *ntlmState {
	if s := n.conns[conn]; s != nil {
		return s
	}
	if n.conns == nil || len(n.conns) >= maxConns {
		n.conns = map[uint64]*ntlmState{}
	}
	s := &ntlmState{}
	n.conns[conn] = s
	return s
}

// Authorize adds the message that is due on this connection. The first message
// goes without the request's body where the server has refused this very request.
func (n *NTLM) Authorize(head []byte, a *h1.Attempt) ([]byte, bool, error) {
	s, scheme := n.state(a.Conn), n.known[a.Addr]
	s.plain = scheme == "" || s.step == ntlmProven
	if s.plain {
		return head, false, nil
	}
	message, bare := negotiateMessage(), a.Round > 0
	if s.step == ntlmAnswer {
		var err error
		if message, err = n.authenticateMessage(&s.challenge); err != nil {
			return head, false, err
		}
		s.step, bare = ntlmProven, false
	}
	head = append(append(append(head, "Authorization: "...), scheme...), ' ')
	head = base64.StdEncoding.AppendEncode(head, message)
	return append(head, "\r\n"...), bare, nil
}

// Challenged goes on with the handshake, or begins one.
func (n *NTLM) Challenged(a *h1.Attempt, res *h1.Response) bool {
	scheme, blob := "", ""
	for _, c := range challenges(res) {
		if c.scheme == "ntlm" || c.scheme == "negotiate" && scheme == "" {
			scheme, blob = c.scheme, c.token
		}
	}
	if scheme == "" {
		return false
	}
	if n.known == nil || len(n.known) >= maxNonces {
		n.known = map[string]string{}
	}
	n.known[a.Addr] = map[string]string{"ntlm": "NTLM", "negotiate": "Negotiate"}[scheme]
	s := n.state(a.Conn)
	switch {
	case s.plain:
		s.step = ntlmNegotiate
		return true
	case s.step == ntlmProven || a.Closes: // refused, or nothing to go on with
		delete(n.conns, a.Conn)
		return false
	}
	challenge, err := parseNTLM(blob)
	if err != nil {
		return false
	}
	s.challenge, s.step = challenge, ntlmAnswer
	return true
}

// Flags of MS-NLMP 2.2.2.5.
const (
	flagUnicode  = 1 << 0
	flagTarget   = 1 << 2
	flagNTLM     = 1 << 9
	flagSign     = 1 << 15
	flagExtended = 1 << 19
	flagInfo     = 1 << 23
	flag128      = 1 << 29
	flag56       = 1 << 31

	ntlmFlags = flagUnicode | flagTarget | flagNTLM | flagSign | flagExtended | flagInfo | flag128 | flag56
)

const ntlmSignature = "NTLMSSP\x00"

func negotiateMessage() []byte {
	m := make([]byte, 32)
	copy(m, ntlmSignature)
	binary.LittleEndian.PutUint32(m[8:], 1)
	binary.LittleEndian.PutUint32(m[12:], ntlmFlags)
	return m
}

type ntlmChallenge struct {
	nonce [8]byte
	info  []byte // attributes of the target
	stamp []byte // its time, if it is among them
}

var errNTLM = errors.New("the server's NTLM challenge is damaged")

func parseNTLM(blob string) (c ntlmChallenge, err error) {
	m, err := base64.StdEncoding.DecodeString(blob)
	if err != nil || len(m) < 32 || string(m[:8]) != ntlmSignature || binary.LittleEndian.Uint32(m[8:]) != 2 {
		return c, errNTLM
	}
	copy(c.nonce[:], m[24:32])
	if len(m) < 48 {
		return c, nil
	}
	length, at := int(binary.LittleEndian.Uint16(m[40:])), int(binary.LittleEndian.Uint32(m[44:]))
	if at > len(m) || length > len(m)-at {
		return c, errNTLM
	}
	c.info = m[at : at+length]
	for rest := c.info; len(rest) >= 4; {
		id, n := binary.LittleEndian.Uint16(rest), int(binary.LittleEndian.Uint16(rest[2:]))
		if n > len(rest)-4 {
			return c, errNTLM
		}
		if id == 7 && n == 8 {
			c.stamp = rest[4:12]
		}
		rest = rest[4+n:]
	}
	return c, nil
}

func wide(text string) []byte {
	units := utf16.Encode([]rune(text))
	out := make([]byte, 0, 2*len(units))
	for _, u := range units {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}

func hmacMD5(key []byte, parts ...[]byte) []byte {
	h := hmac.New(md5.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// ntlmKey is NTOWFv2: the user's name counts in upper case, the domain as it is.
func ntlmKey(user, password, domain string) []byte {
	h := md4.New()
	h.Write(wide(password))
	return hmacMD5(h.Sum(nil), wide(strings.ToUpper(user)+domain))
}

// ntlmResponses returns the answers LM version 2 and NT version 2.
func ntlmResponses(key []byte, c *ntlmChallenge, client [8]byte, stamp []byte) (lm, nt []byte) {
	temp := append([]byte{1, 1, 0, 0, 0, 0, 0, 0}, stamp...)
	temp = append(append(temp, client[:]...), 0, 0, 0, 0)
	temp = append(append(temp, c.info...), 0, 0, 0, 0)
	nt = append(hmacMD5(key, c.nonce[:], temp), temp...)
	if c.stamp != nil {
		return make([]byte, 24), nt
	}
	return append(hmacMD5(key, c.nonce[:], client[:]), client[:]...), nt
}

func (n *NTLM) authenticateMessage(c *ntlmChallenge) ([]byte, error) {
	user, domain := n.Username, n.Domain
	if before, after, found := strings.Cut(user, `\`); found && domain == "" {
		domain, user = before, after
	}
	stamp := c.stamp
	if stamp == nil {
		const from1601 = 116444736000000000 // 100 ns steps up to 1970
		stamp = binary.LittleEndian.AppendUint64(nil, uint64(n.Now().UnixNano()/100)+from1601)
	}
	lm, nt := ntlmResponses(ntlmKey(user, n.Password, domain), c, n.Nonce(), stamp)
	parts := [][]byte{lm, nt, wide(domain), wide(user), wide(n.Workstation), nil}
	const head = 64
	m := make([]byte, head)
	copy(m, ntlmSignature)
	binary.LittleEndian.PutUint32(m[8:], 3)
	for i, p := range parts {
		if len(p) > 0xffff || len(m) > 1<<20 {
			return nil, errors.New("the NTLM message is too long")
		}
		field := m[12+8*i:]
		binary.LittleEndian.PutUint16(field, uint16(len(p)))
		binary.LittleEndian.PutUint16(field[2:], uint16(len(p)))
		binary.LittleEndian.PutUint32(field[4:], uint32(len(m)))
		m = append(m, p...)
	}
	binary.LittleEndian.PutUint32(m[60:], ntlmFlags)
	return m, nil
}
