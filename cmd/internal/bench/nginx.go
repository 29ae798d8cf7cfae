package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// nginx is one worker on one core, with a counter of its requests.
type nginx struct {
	cmd         *exec.Cmd
	plain, safe string // base URLs
	status      string
}

const config = `
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 19000; }
http {
  access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  keepalive_requests 1000000000; keepalive_timeout 600s;
  server {
    listen 127.0.0.1:%[2]d backlog=16384;
    listen 127.0.0.1:%[3]d ssl backlog=16384;
    ssl_certificate %[1]s/cert.pem; ssl_certificate_key %[1]s/key.pem;
    location = / { default_type text/plain; return 200 "hello world\n"; }
    location /item { default_type application/json; return 200 '%[5]s'; }
  }
  server { listen 127.0.0.1:%[4]d; location / { stub_status; } }
}
`

// startNginx starts the server on free ports, pinned to the last core.
func startNginx(dir string) (*nginx, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
	}
	if err := writeCertificate(dir); err != nil {
		return nil, err
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf(config, dir, ports[0], ports[1], ports[2], item())
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	n := &nginx{
		cmd:    exec.Command("taskset", "-c", "1", program, "-c", path),
		plain:  fmt.Sprintf("http://127.0.0.1:%d", ports[0]),
		safe:   fmt.Sprintf("https://127.0.0.1:%d", ports[1]),
		status: fmt.Sprintf("http://127.0.0.1:%d/", ports[2]),
	}
	n.cmd.Stderr = os.Stderr
	if err := n.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start nginx (Debian package nginx-light): %w", err)
	}
	for range 100 {
		if _, err = n.requests(); err == nil {
			return n, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	n.stop()
	return nil, fmt.Errorf("nginx does not answer: %w", err)
}

func (n *nginx) stop() {
	_ = n.cmd.Process.Signal(os.Interrupt)
	_ = n.cmd.Wait() // it was told to end
}

// item is an answer of about 1 KB of JSON.
func item() string {
	text := `{"id":42,"price":12.5,"name":"shoe","tags":["a","b"],"more":[`
	for i := range 20 {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(`{"sku":"SHO-%03d","qty":%d,"colour":"black"}`, i, i)
	}
	return text + `]}`
}

var served = regexp.MustCompile(`\n (\d+) (\d+) (\d+)`)

// requests returns how many requests the server has handled, this one included.
func (n *nginx) requests() (int64, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(n.status)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	found := served.FindSubmatch(text)
	if found == nil {
		return 0, errors.New("no count in stub_status")
	}
	return strconv.ParseInt(string(found[3]), 10, 64)
}

func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func writeCertificate(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
