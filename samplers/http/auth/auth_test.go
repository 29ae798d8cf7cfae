package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/samplers/http/h1"
)

func TestParseChallenges(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []challenge
	}{
		{`Basic realm="a, b"`, []challenge{{scheme: "basic", params: map[string]string{"realm": "a, b"}}}},
		{`Digest realm="x\"y", nonce=abc, qop="auth,auth-int" , Basic realm=z`, []challenge{
			{scheme: "digest", params: map[string]string{"realm": `x"y`, "nonce": "abc", "qop": "auth,auth-int"}},
			{scheme: "basic", params: map[string]string{"realm": "z"}}}},
		{"Negotiate, NTLM TlRM/+A==", []challenge{{scheme: "negotiate", params: map[string]string{}}, {scheme: "ntlm", token: "TlRM/+A==", params: map[string]string{}}}},
		{`Digest realm="never closed`, []challenge{{scheme: "digest", params: map[string]string{"realm": "never closed"}}}},
		{"", nil}, {",,, ,", nil}, {`="x"`, nil}, {"\x00", nil},
	} {
		if diff := cmp.Diff(tc.want, parseChallenges(tc.text), cmp.AllowUnexported(challenge{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.text, diff)
		}
	}
	if got := parseChallenges(strings.Repeat("a b=c,", 10_000)); len(got) > maxParams {
		t.Errorf("%d challenges of a hostile header", len(got))
	}
}

// The examples of RFC 7616 3.9.1 and RFC 2617 3.5.
func TestDigestOfTheRFCs(t *testing.T) {
	const nonce, cnonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
	for _, tc := range []struct {
		s                      digestState
		password, cnonce, want string
	}{
		{digestState{realm: "http-auth@example.org", nonce: nonce, algorithm: "MD5", qop: "auth"}, "Circle of Life", cnonce, "8ca523f5e9506fed4657c9700eebdbec"},
		{digestState{realm: "http-auth@example.org", nonce: nonce, algorithm: "SHA-256", qop: "auth"}, "Circle of Life", cnonce, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"},
		{digestState{realm: "testrealm@host.com", nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093", qop: "auth"}, "Circle Of Life", "0a4f113b", "6629fae49393a05397450978507c4ef1"},
		{digestState{realm: "testrealm@host.com", nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093"}, "Circle Of Life", "", "670fd8c2df070c60b045671b8b24ff02"},
	} {
		if got := tc.s.response("Mufasa", tc.password, "GET", "/dir/index.html", "00000001", tc.cnonce); got != tc.want {
			t.Errorf("%+v: response %s, want %s", tc.s, got, tc.want)
		}
	}
}

func TestDigestRefusesWhatItCannotMeet(t *testing.T) {
	for text, want := range map[string]int{
		`Digest realm=a, nonce=b`:                                1,
		`Digest realm=a, nonce=b, algorithm=SHA-256, qop="auth"`: 2,
		`Digest realm=a, nonce=b, algorithm=SHA-512-256-sess`:    2,
		`Digest realm=a, nonce=b, algorithm=NEW`:                 0,
		`Digest realm=a, nonce=b, qop="auth-int"`:                0,
		`Digest realm=a`:                   0,
		"Digest realm=\"a\r\nb\", nonce=b": 0,
		`Basic realm=a`:                    0,
	} {
		if got := rankOf(parseChallenges(text)[0]); got != want {
			t.Errorf("%q: rank %d, want %d", text, got, want)
		}
	}
}

// The examples of MS-NLMP 4.2.4.
func TestNTLMOfMicrosoft(t *testing.T) {
	key := ntlmKey("User", "Password", "Domain")
	if got := hex.EncodeToString(key); got != "0c868a403bfd7a93a3001ef22ef02e3f" {
		t.Errorf("NTOWFv2 is %s", got)
	}
	var c ntlmChallenge
	copy(c.nonce[:], "\x01\x23\x45\x67\x89\xab\xcd\xef")
	c.info, _ = hex.DecodeString("02000c0044006f006d00610069006e0001000c0053006500720076006500720000000000")
	var client [8]byte
	copy(client[:], bytes.Repeat([]byte{0xaa}, 8))
	lm, nt := ntlmResponses(key, &c, client, make([]byte, 8))
	if got := hex.EncodeToString(lm); got != "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa" {
		t.Errorf("the LM response is %s", got)
	}
	if got := hex.EncodeToString(nt[:16]); got != "68cd0ab851e51c96aabc927bebef6a1c" {
		t.Errorf("the NT proof is %s", got)
	}
}

func TestNTLMSurvivesDamagedChallenges(t *testing.T) {
	whole := make([]byte, 56)
	copy(whole, ntlmSignature)
	whole[8], whole[40], whole[44] = 2, 8, 48
	whole[48], whole[50] = 7, 8 // a time that is longer than what is there
	for _, m := range [][]byte{nil, whole[:31], whole, append([]byte("X"), whole[1:]...)} {
		if _, err := parseNTLM(base64.StdEncoding.EncodeToString(m)); err == nil {
			t.Errorf("%x was accepted", m)
		}
	}
	whole[40], whole[44], whole[45] = 0xff, 0xff, 0xff
	if _, err := parseNTLM(base64.StdEncoding.EncodeToString(whole)); err == nil {
		t.Error("a field beyond the end was accepted")
	}
	if _, err := parseNTLM("***"); err == nil {
		t.Error("what is not base64 was accepted")
	}
}

// The signatures of AWS's published test suite.
func TestAWSTestSuite(t *testing.T) {
	at := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	w := &AWS{Region: "us-east-1", Service: "service", AccessKey: "AKIDEXAMPLE", SecretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Now: func() time.Time { return at }}
	for _, tc := range []struct{ method, target, want string }{
		{"GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"GET", "/./", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"GET", "/a/..", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"GET", "/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	} {
		head, _, err := w.Authorize(nil, &h1.Attempt{Method: tc.method, Target: []byte(tc.target), Host: "example.amazonaws.com"})
		if err != nil {
			t.Fatal(err)
		}
		want := "X-Amz-Date: 20150830T123600Z\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, " +
			"SignedHeaders=host;x-amz-date, Signature=" + tc.want + "\r\n"
		if diff := cmp.Diff(want, string(head)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tc.method, tc.target, diff)
		}
	}
}

func TestAWSSignsBodyTokenAndType(t *testing.T) {
	w := &AWS{Region: "eu-central-1", Service: "s3", AccessKey: "AK", SecretKey: "SK", SessionToken: "TOKEN", Now: func() time.Time { return time.Unix(0, 0) }}
	sign := func(edit func(a *h1.Attempt)) string {
		a := &h1.Attempt{Method: "PUT", Target: []byte("/k%20x"), Host: "b.example.com", Head: []byte("Content-Type:  text/plain \r\nX-Other: 1\r\n"), Body: []byte("a")}
		edit(a)
		head, _, err := w.Authorize(nil, a)
		if err != nil {
			t.Fatal(err)
		}
		return string(head)
	}
	whole := sign(func(*h1.Attempt) {})
	if !strings.Contains(whole, "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token,") || !strings.Contains(whole, "X-Amz-Security-Token: TOKEN\r\n") {
		t.Errorf("signed is %s", whole)
	}
	if other := sign(func(a *h1.Attempt) { a.Body = []byte("b") }); other == whole {
		t.Error("the body is not signed")
	}
	streamed := sign(func(a *h1.Attempt) { a.Body, a.Reader = nil, strings.NewReader("a") })
	if !strings.Contains(streamed, "X-Amz-Content-Sha256: UNSIGNED-PAYLOAD\r\n") {
		t.Errorf("a streamed body of s3: %s", streamed)
	}
	w.Service = "other"
	if sign(func(*h1.Attempt) {}) != sign(func(a *h1.Attempt) { a.Body, a.Reader = nil, strings.NewReader("a") }) {
		t.Error("a streamed body is signed in another way")
	}
	w.AccessKey = "A\r\nInjected: 1"
	if _, _, err := w.Authorize(nil, &h1.Attempt{}); err == nil {
		t.Error("a line end went into a header")
	}
}

func FuzzChallenges(f *testing.F) {
	f.Add(`Digest realm="a", nonce=b`)
	f.Add("NTLM TlRMTVNTUAACAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range parseChallenges(text) {
			rankOf(c)
			_, _ = parseNTLM(c.token)
		}
	})
}
