package http_test

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// sampled runs a sampler once and releases the sample's buffers.
func sampled(t *testing.T, sampler element.Sampler, th *element.Thread) (element.Sample, error) {
	t.Helper()
	s := element.Sample{Needs: element.NeedBody | element.NeedHeaders}
	err := sampler.Sample(t.Context(), th, &s)
	s.Body, s.URL = append([]byte(nil), s.Body...), s.FinalURL()
	sampler.(element.Releaser).Release(th, &element.Sample{Private: s.Private})
	return s, err
}

func ok(t *testing.T, sampler element.Sampler, th *element.Thread) element.Sample {
	t.Helper()
	s, err := sampled(t, sampler, th)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func classOf(err error) element.Class {
	var failure *element.Error
	if errors.As(err, &failure) {
		return failure.Class
	}
	return ""
}

func digestServer(t *testing.T, uses int) (url string, log func() []string) {
	var mu sync.Mutex
	var got []string
	left, number := 0, 0
	md := func(text string) string { sum := md5.Sum([]byte(text)); return hex.EncodeToString(sum[:]) }
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		header := r.Header.Get("Authorization")
		field := func(name string) string {
			_, rest, _ := strings.Cut(header, name+"=")
			rest, _, _ = strings.Cut(rest, ",")
			return strings.Trim(rest, `" `)
		}
		nonce := fmt.Sprintf("n%d", number)
		want := md(md("ann:shop:secret") + ":" + nonce + ":" + field("nc") + ":" + field("cnonce") + ":auth:" + md(r.Method+":"+r.URL.RequestURI()))
		good := field("response") == want
		got = append(got, fmt.Sprintf("%s %s nc=%s good=%v body=%s", r.Method, r.URL.RequestURI(), field("nc"), good, body))
		if good && left > 0 {
			left--
			fmt.Fprint(w, "in")
			return
		}
		stale := good
		number, left = number+1, uses
		w.Header().Add("WWW-Authenticate", `Basic realm="shop"`)
		w.Header().Add("WWW-Authenticate", fmt.Sprintf(`Digest realm="shop", nonce="n%d", qop="auth,auth-int", stale=%v`, number, stale))
		w.WriteHeader(401)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string { mu.Lock(); defer mu.Unlock(); return got }
}

func TestDigestReusesItsNonce(t *testing.T) {
	url, log := digestServer(t, 3)
	th := thread(t)
	sampler := step(t, "", "http:\n  request: POST "+url+"/a?b=${id}\n  body: hello\n  auth: {digest: {username: ann, password: secret}}")
	var requests []int
	for range 5 {
		s := ok(t, sampler, th)
		if s.Status != 200 || string(s.Body) != "in" {
			t.Fatalf("status %d", s.Status)
		}
		requests = append(requests, s.Requests)
	}
	th.Close()
	if diff := cmp.Diff([]int{2, 1, 1, 2, 1}, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	want := []string{
		"POST /a?b=7 nc= good=false body=hello", "POST /a?b=7 nc=00000001 good=true body=hello",
		"POST /a?b=7 nc=00000002 good=true body=hello", "POST /a?b=7 nc=00000003 good=true body=hello",
		"POST /a?b=7 nc=00000004 good=true body=hello", "POST /a?b=7 nc=00000001 good=true body=hello",
		"POST /a?b=7 nc=00000002 good=true body=hello",
	}
	if diff := cmp.Diff(want, log()); diff != "" {
		t.Errorf("the server saw (-want +got):\n%s", diff)
	}
}

func TestDigestGivesUp(t *testing.T) {
	url, log := digestServer(t, 3)
	th := thread(t)
	s := ok(t, step(t, "", "http:\n  request: GET "+url+"/\n  auth: {digest: {username: ann, password: wrong}}"), th)
	th.Close()
	if s.Status != 401 || s.Requests != 2 || len(log()) != 2 {
		t.Errorf("status %d after %d requests, the server saw %d", s.Status, s.Requests, len(log()))
	}
}

// ntlmServer knows connections, as the scheme does.
func ntlmServer(t *testing.T) (url string, log func() []string) {
	challenge := make([]byte, 48)
	copy(challenge, "NTLMSSP\x00\x02")
	copy(challenge[24:], "\x01\x23\x45\x67\x89\xab\xcd\xef")
	challenge[44] = 48
	type connKey struct{}
	var mu sync.Mutex
	var got []string
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		mu.Lock()
		defer mu.Unlock()
		step := r.Context().Value(connKey{}).(*int)
		body, _ := io.ReadAll(r.Body)
		message, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Authorization"), "NTLM "))
		kind := 0
		if len(message) > 8 {
			kind = int(message[8])
		}
		got = append(got, fmt.Sprintf("type %d body=%s", kind, body))
		switch {
		case kind == 1:
			*step = 1
			w.Header().Set("WWW-Authenticate", "NTLM "+base64.StdEncoding.EncodeToString(challenge))
		case kind == 3 && *step == 1 && strings.Contains(string(message), "a\x00n\x00n\x00"), kind == 0 && *step == 2:
			*step = 2
			return
		default:
			*step = 0
			w.Header().Set("WWW-Authenticate", "NTLM")
		}
		w.WriteHeader(401)
	}))
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, new(int))
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, func() []string { mu.Lock(); defer mu.Unlock(); return got }
}

func TestNTLMProvesEachConnection(t *testing.T) {
	url, log := ntlmServer(t)
	th := thread(t)
	sampler := step(t, "", "http:\n  request: POST "+url+"/\n  body: hello\n  auth: {ntlm: {username: 'SHOP\\ann', password: secret}}\n  keep_alive: iteration")
	var requests []int
	for i := range 3 {
		s := ok(t, sampler, th)
		if s.Status != 200 {
			t.Fatalf("status %d", s.Status)
		}
		if requests = append(requests, s.Requests); i == 1 {
			th.StartIteration(false) // another connection
		}
	}
	th.Close()
	if diff := cmp.Diff([]int{3, 1, 2}, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	want := []string{"type 0 body=hello", "type 1 body=", "type 3 body=hello", "type 0 body=hello", "type 1 body=hello", "type 3 body=hello"}
	if diff := cmp.Diff(want, log()); diff != "" {
		t.Errorf("the server saw (-want +got):\n%s", diff)
	}
}

func TestNTLMRefused(t *testing.T) {
	url, _ := ntlmServer(t)
	th := thread(t)
	s := ok(t, step(t, "", "http:\n  request: GET "+url+"/\n  auth: {ntlm: {username: bob, password: secret}}"), th)
	th.Close()
	if s.Status != 401 || s.Requests != 3 {
		t.Errorf("status %d after %d requests", s.Status, s.Requests)
	}
}

func TestAWSSignatureOnTheWire(t *testing.T) {
	addr, received := rawServer(t, okAnswer)
	th := thread(t)
	ok(t, step(t, "", "http:\n  request: GET http://"+addr+"/x\n  auth: {aws_sigv4: {region: eu-west-1, service: execute-api, access_key: AK, secret_key: SK, session_token: T}}"), th)
	head := sortedHead(received())
	if !strings.HasPrefix(head["header Authorization"], "AWS4-HMAC-SHA256 Credential=AK/") ||
		!strings.Contains(head["header Authorization"], "/eu-west-1/execute-api/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=") {
		t.Errorf("headers %v", head)
	}
}

// tokenServer hands out tokens t1, t2 … and serves those that hold the newest.
func tokenServer(t *testing.T, answer func(n int64) (int, string), delay time.Duration) (url string, tokens *atomic.Int64) {
	tokens = &atomic.Int64{}
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/token" {
			n := tokens.Add(1)
			time.Sleep(delay)
			id, secret, _ := r.BasicAuth()
			if id == "" {
				id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
			}
			if id != "shop" || secret != "s%26s" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "read write" {
				t.Errorf("token request of %q %q with %v", id, secret, r.Form)
			}
			status, text := answer(n)
			w.WriteHeader(status)
			fmt.Fprint(w, text)
			return
		}
		fmt.Fprint(w, r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	return server.URL, tokens
}

const oauthStep = "http:\n  request: GET URL/x\n  auth: {oauth2: {token_url: URL/token, client_id: shop, client_secret: 's&s', scopes: [read, write]}}"

func TestOAuth2TokenIsShared(t *testing.T) {
	url, tokens := tokenServer(t, func(n int64) (int, string) {
		return 200, fmt.Sprintf(`{"access_token": "t%d", "token_type": "Bearer", "expires_in": "3600"}`, n)
	}, 100*time.Millisecond)
	sampler := step(t, "", strings.ReplaceAll(oauthStep, "URL", url))
	shared, clock := &element.Shared{}, wallClock{time.Now()}
	var all sync.WaitGroup
	for range 8 {
		th := thread(t)
		th.Plan, th.Clock = shared, clock
		all.Go(func() {
			defer th.Close()
			for range 2 {
				s := element.Sample{Needs: element.NeedBody, Due: th.Now(), Dispatched: th.Now()}
				err := sampler.Sample(context.Background(), th, &s)
				if err != nil || string(s.Body) != "Bearer t1" || s.Requests != 1 {
					t.Errorf("%v, answer %q, requests %d", err, s.Body, s.Requests)
				}
				if s.Response() > 90*time.Millisecond || s.Sent < s.Due {
					t.Errorf("the token's time is in the response time of %v", s.Response())
				}
			}
		})
	}
	all.Wait()
	if n := tokens.Load(); n != 1 {
		t.Errorf("%d token requests", n)
	}
}

func TestOAuth2TokenIsRenewed(t *testing.T) {
	url, tokens := tokenServer(t, func(n int64) (int, string) {
		return 200, fmt.Sprintf(`{"access_token": "t%d", "expires_in": 0.2}`, n)
	}, 0)
	sampler := step(t, "", strings.ReplaceAll(oauthStep, "URL", url))
	th := thread(t)
	first := ok(t, sampler, th)
	time.Sleep(250 * time.Millisecond)
	second := ok(t, sampler, th)
	th.Close()
	if string(first.Body) != "Bearer t1" || string(second.Body) != "Bearer t2" || tokens.Load() != 2 {
		t.Errorf("answers %q and %q after %d token requests", first.Body, second.Body, tokens.Load())
	}
}

func TestOAuth2Failures(t *testing.T) {
	for _, tc := range []struct {
		status  int
		text    string
		class   element.Class
		message string
	}{
		{401, `{"error": "invalid_client"}`, element.Status, "OAuth 2 token: the endpoint answered with status 401"},
		{200, `<html>`, element.Protocol, "OAuth 2 token: the answer is not JSON with an access_token"},
		{200, `{}`, element.Protocol, "OAuth 2 token: the answer has no valid access_token"},
		{200, `{"access_token": "a\r\nb"}`, element.Protocol, "OAuth 2 token: the answer has no valid access_token"},
		{200, `{"access_token": "a", "token_type": "mac"}`, element.Protocol, "OAuth 2 token: the token is not of type bearer"},
	} {
		url, tokens := tokenServer(t, func(int64) (int, string) { return tc.status, tc.text }, 0)
		sampler := step(t, "", strings.ReplaceAll(oauthStep, "URL", url))
		th := thread(t)
		for range 3 { // the failure is kept for a moment: the endpoint is not stormed
			s, err := sampled(t, sampler, th)
			var failure *element.Error
			if !errors.As(err, &failure) || failure.Class != tc.class || failure.Message != tc.message || s.Requests != 0 {
				t.Errorf("%s: error %v, requests %d", tc.text, err, s.Requests)
			}
		}
		th.Close()
		if n := tokens.Load(); n != 1 {
			t.Errorf("%s: %d token requests", tc.text, n)
		}
	}
}

func TestOAuth2CredentialsInTheBody(t *testing.T) {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if _, _, basic := r.BasicAuth(); r.URL.Path == "/token" && !basic && r.FormValue("client_secret") == "s&s" && r.FormValue("audience") == "api" {
			fmt.Fprint(w, `{"access_token": "t"}`)
			return
		}
		fmt.Fprint(w, r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	th := thread(t)
	s := ok(t, step(t, "", "http:\n  request: GET "+server.URL+"/x\n  auth: {oauth2: {token_url: \""+server.URL+"/token\", client_id: shop, client_secret: 's&s', audience: api, client_auth: body}}"), th)
	th.Close()
	if string(s.Body) != "Bearer t" {
		t.Errorf("answer %q", s.Body)
	}
}

// Another user does not ride on the connection of the last one.
func TestNTLMOfAnotherUser(t *testing.T) {
	url, _ := ntlmServer(t)
	sampler := step(t, "", "http:\n  request: GET "+url+"/\n  auth: {ntlm: {username: \"${word}\", password: secret}}")
	th := thread(t)
	th.Set("word", "ann")
	first := ok(t, sampler, th)
	th.Set("word", "bob")
	second := ok(t, sampler, th)
	th.Close()
	if first.Status != 200 || second.Status != 401 {
		t.Errorf("status %d for ann, %d for bob", first.Status, second.Status)
	}
}

// A digest covers the path of each hop.
func TestDigestAfterARedirect(t *testing.T) {
	inner, log := digestServer(t, 5)
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/from" {
			nethttp.Redirect(w, r, "/to?a=b", nethttp.StatusFound)
			return
		}
		req, _ := nethttp.NewRequestWithContext(r.Context(), r.Method, inner+r.URL.RequestURI(), r.Body)
		req.Header = r.Header
		res, err := nethttp.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		w.Header()["Www-Authenticate"] = res.Header["Www-Authenticate"]
		w.WriteHeader(res.StatusCode)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(nethttp.DefaultTransport.(*nethttp.Transport).CloseIdleConnections)
	th := thread(t)
	s := ok(t, step(t, "", "http:\n  request: GET "+server.URL+"/from\n  auth: {digest: {username: ann, password: secret}}"), th)
	th.Close()
	if s.Status != 200 || s.Requests != 3 {
		t.Errorf("status %d, requests %d, %q", s.Status, s.Requests, log())
	}
}
