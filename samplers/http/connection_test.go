package http_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// pair writes a self-signed certificate and its key and returns the files.
func pair(t *testing.T, name string) (cert, key string, pool *x509.CertPool, loaded tls.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	for path, text := range map[string][]byte{cert: certPEM, key: keyPEM} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if loaded, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return cert, key, pool, loaded
}

func TestTLSOptions(t *testing.T) {
	ca, _, _, serverPair := pair(t, "shop.test")
	cert, key, clients, _ := pair(t, "client.test")
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		name := ""
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].DNSNames[0]
		}
		fmt.Fprintf(w, "%s %s %x", r.TLS.ServerName, name, r.TLS.Version)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{serverPair}, ClientCAs: clients, ClientAuth: tls.VerifyClientCertIfGiven}
	server.Config.ErrorLog = discard()
	server.StartTLS()
	t.Cleanup(server.Close)
	for _, tc := range []struct {
		tls, want string
		class     element.Class
	}{
		{"ca: " + ca + ", server_name: shop.test", "shop.test  304", ""},
		{"insecure: true", " ", ""},
		{"insecure: true, max_version: '1.2'", " ", ""},
		{"ca: " + ca + ", server_name: shop.test, cert: " + cert + ", key: " + key, "shop.test client.test 304", ""},
		{"ca: " + ca + ", server_name: shop.test, max_version: '1.2'", "shop.test  303", ""},
		{"ca: " + ca + ", server_name: other.test", "", element.TLS},
		{"ca: " + cert + ", server_name: shop.test", "", element.TLS},
		{"server_name: shop.test", "", element.TLS},
	} {
		th := thread(t)
		s, err := sampled(t, step(t, "", "http:\n  request: GET "+server.URL+"/\n  tls: {"+tc.tls+"}"), th)
		th.Close()
		if classOf(err) != tc.class || !strings.Contains(string(s.Body), tc.want) {
			t.Errorf("%s: error %v, answer %q", tc.tls, err, s.Body)
		}
	}
}

func TestNotesSayWhatReportsMust(t *testing.T) {
	for yaml, want := range map[string]string{
		"http:\n  request: GET https://x/\n  tls: {insecure: true}": "certificates of servers are not verified (tls.insecure)",
		"http:\n  request: GET https://x/\n  cache: true":           "caching is on: samples that the cache could answer sent no request",
		"http: GET https://x/":                                      "",
	} {
		if got := strings.Join(step(t, "", yaml).(element.Noter).Notes(), "\n"); got != want {
			t.Errorf("%s: notes %q, want %q", yaml, got, want)
		}
	}
}

func TestMissingKeyFailsBeforeTheRun(t *testing.T) {
	cert, _, _, _ := pair(t, "client.test")
	if _, err := parse(t, "", "http:\n  request: GET https://x/\n  tls: {cert: "+cert+"}"); err == nil || !strings.Contains(err.Error(), "tls.cert") {
		t.Errorf("error %v", err)
	}
}

func TestProxyOptions(t *testing.T) {
	addr, received := rawServer(t, okAnswer)
	for _, tc := range []struct{ yaml, auth string }{
		{"proxy: http://" + addr, ""},
		{"proxy: " + addr, ""},
		{"proxy: http://ann:s%40x@" + addr, "Basic YW5uOnNAeA=="},
		{"proxy: {url: \"http://" + addr + "\", username: ann, password: \"${word}\", no_proxy: [other.test]}", "Basic YW5uOnggeQ=="},
	} {
		th := thread(t)
		ok(t, step(t, "", "http:\n  request: GET http://shop.test/x\n  "+tc.yaml), th)
		th.Close()
		head := sortedHead(received())
		if head["request"] != "GET http://shop.test/x HTTP/1.1" || head["header Proxy-Authorization"] != tc.auth || head["header Host"] != "shop.test" {
			t.Errorf("%s: %v", tc.yaml, head)
		}
	}
}

func TestProxyOfTheEnvironmentOnlyWhenAsked(t *testing.T) {
	addr, received := rawServer(t, okAnswer)
	t.Setenv("HTTP_PROXY", "http://"+addr)
	t.Setenv("NO_PROXY", "direct.test")
	th := thread(t)
	defer th.Close()
	ok(t, step(t, "", "http:\n  request: GET http://shop.test/x\n  proxy: env"), th)
	if head := sortedHead(received()); head["request"] != "GET http://shop.test/x HTTP/1.1" {
		t.Errorf("request %q", head["request"])
	}
	ok(t, step(t, "", "http: GET http://"+addr+"/y"), th)
	if head := sortedHead(received()); head["request"] != "GET /y HTTP/1.1" {
		t.Errorf("request %q", head["request"])
	}
	ok(t, step(t, "", "http:\n  request: GET http://direct.test/z\n  proxy: env\n  dns: {hosts: {direct.test: \""+addr+"\"}}"), th)
	if head := sortedHead(received()); head["request"] != "GET /z HTTP/1.1" {
		t.Errorf("request %q", head["request"])
	}
}

func TestProxyRefused(t *testing.T) {
	th := thread(t)
	defer th.Close()
	_, err := sampled(t, step(t, "", "http:\n  request: GET http://shop.test/\n  proxy: http://127.0.0.1:1"), th)
	if classOf(err) != element.ConnectRefused || !strings.HasPrefix(err.(*element.Error).Message, "proxy: ") {
		t.Errorf("error %v", err)
	}
}

func TestDNSHosts(t *testing.T) {
	addr, received := rawServer(t, okAnswer)
	host, port, _ := net.SplitHostPort(addr)
	for _, yaml := range []string{
		"request: GET http://shop.test/x\n  dns: {hosts: {shop.test: \"" + addr + "\"}}",
		"request: GET http://shop.test:" + port + "/x\n  dns: {hosts: {Shop.test: " + host + "}, policy: each, family: ipv4}",
		"request: GET http://localhost:" + port + "/x\n  dns: {family: ipv4, policy: round_robin}",
	} {
		th := thread(t)
		ok(t, step(t, "", "http:\n  "+yaml), th)
		th.Close()
		if head := sortedHead(received()); !strings.HasPrefix(head["header Host"], "shop.test") && !strings.HasPrefix(head["header Host"], "localhost") {
			t.Errorf("%s: %v", yaml, head)
		}
	}
}

func TestSourceAddressesByThread(t *testing.T) {
	got := make(chan string, 10)
	server := httptest.NewServer(nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		got <- host
	}))
	t.Cleanup(server.Close)
	sampler := step(t, "", "http:\n  request: GET "+server.URL+"/\n  dns: {source: [127.0.0.2, 127.0.0.3]}")
	var seen []string
	for id := 1; id <= 3; id++ {
		th := thread(t)
		th.ID = id
		ok(t, sampler, th)
		th.Close()
		seen = append(seen, <-got)
	}
	if diff := cmp.Diff([]string{"127.0.0.2", "127.0.0.3", "127.0.0.2"}, seen); diff != "" {
		t.Errorf("source addresses (-want +got):\n%s", diff)
	}
}

func TestLargeFilesAreStreamed(t *testing.T) {
	const size = 24 << 20
	path := filepath.Join(t.TempDir(), "big.bin")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("tail"), size-4); err != nil {
		t.Fatal(err)
	}
	f.Close()
	type upload struct {
		Length int64
		Size   int64
		Tail   string
		Kind   string
	}
	got := make(chan upload, 1)
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/again" {
			nethttp.Redirect(w, r, "/once", nethttp.StatusTemporaryRedirect)
			return
		}
		u := upload{Length: r.ContentLength}
		from := io.Reader(r.Body)
		if parts, err := r.MultipartReader(); err == nil {
			p, err := parts.NextPart()
			if err != nil {
				t.Error(err)
				return
			}
			note, _ := io.ReadAll(p)
			p, err = parts.NextPart()
			if err != nil {
				t.Error(err)
				return
			}
			from, u.Length = p, 0
			u.Kind = string(note) + " " + p.FileName()
			defer func() {
				if p, err := parts.NextPart(); err != nil || p.FormName() != "after" {
					t.Errorf("the part behind the file: %v", err)
				}
			}()
		}
		last := make([]byte, 4)
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			u.Size += int64(n)
			if n >= 4 {
				copy(last, buf[n-4:n])
			} else if n > 0 {
				copy(last, append(last, buf[:n]...)[n:])
			}
			if err != nil {
				break
			}
		}
		u.Tail = string(last)
		got <- u
	}))
	t.Cleanup(server.Close)
	for _, tc := range []struct {
		yaml string
		want upload
	}{
		{"request: PUT " + server.URL + "/once\n  body: {file: " + path + "}", upload{size, size, "tail", ""}},
		{"request: PUT " + server.URL + "/again\n  body: {file: " + path + "}", upload{size, size, "tail", ""}},
		{"request: POST " + server.URL + "/once\n  expect_continue: true\n  multipart: [{name: note, value: \"n${id}\"}, {name: up, file: " + path + "}, {name: after, value: x}]", upload{0, size, "tail", "n7 big.bin"}},
	} {
		sampler := step(t, "", "http:\n  "+tc.yaml)
		th := thread(t)
		before := allocated()
		s := ok(t, sampler, th)
		if used := allocated() - before; used > 8<<20 {
			t.Errorf("%s: %d MiB were allocated for a file of 24 MiB", tc.yaml, used>>20)
		}
		th.Close()
		if diff := cmp.Diff(tc.want, <-got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.yaml, diff)
		}
		if s.BytesSent < size {
			t.Errorf("%d bytes were counted", s.BytesSent)
		}
		if err := sampler.(element.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTemplateFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "order.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("{\"id\": ${id},\n \"who\": \"${word}\"}\n")
	yaml := "http:\n  request: PUT http://ADDR/\n  body: {file: " + path + ", template: true}"
	addr, received := rawServer(t, okAnswer)
	th := thread(t)
	ok(t, step(t, "", strings.ReplaceAll(yaml, "ADDR", addr)), th)
	th.Close()
	if got := sortedHead(received())["body"]; got != "{\"id\": 7,\n \"who\": \"x y\"}\n" {
		t.Errorf("body %q", got)
	}
	for text, code := range map[string]string{"a ${nobody} b": "undefined", "a\n${": "unclosed"} {
		write(text)
		if _, err := parse(t, "", yaml); err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%q: diagnostics %v", text, err)
		}
	}
}

func TestMoreMistakes(t *testing.T) {
	for _, tc := range []struct{ yaml, code string }{
		{"version: '2'", "version"},
		{"version: '3'", "version"},
		{"proxy: https://x:1", "bad-proxy"},
		{"proxy: http://x", "bad-proxy"},
		{"dns: {hosts: {a: b.test}}", "bad-address"},
		{"dns: {source: [eth0]}", "bad-address"},
		{"dns: {source: ['::1'], family: ipv4}", "address-family"},
		{"dns: {policy: sticky}", "policy"},
		{"tls: {key: up.txt}", "key-without-cert"},
		{"tls: {min_version: '1.3', max_version: '1.2'}", "version-order"},
		{"resources: {include: '('}", "bad-regex"},
		{"auth: {basic: {username: a, password: b}, bearer: c}", "exclusive"},
		{"auth: {oauth2: {token_url: x, client_id: y}}", "client_secret"},
		{"body: {text: a, template: true}", "template-without-file"},
	} {
		if _, err := parse(t, "", "http:\n  request: GET http://x/\n  "+tc.yaml); err == nil || !strings.Contains(err.Error(), tc.code) {
			t.Errorf("%s: diagnostics %v, want %s", tc.yaml, err, tc.code)
		}
	}
}
