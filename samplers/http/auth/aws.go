package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sort"
	"strings"
	"time"

	"runner/samplers/http/h1"
)

// AWS signs requests with Signature Version 4. Host, Content-Type and all
// X-Amz-* headers are signed. A streamed body is hashed before it is sent, but
// for the service s3, which takes it unsigned.
type AWS struct {
	Region, Service, AccessKey, SecretKey, SessionToken string
	Now                                                 func() time.Time

	key    []byte // the signing key of keyFor
	keyFor string
}

const unsignedPayload = "UNSIGNED-PAYLOAD"

// Authorize adds X-Amz-Date, X-Amz-Security-Token and Authorization, for s3
// X-Amz-Content-Sha256 as well.
func (w *AWS) Authorize(head []byte, a *h1.Attempt) ([]byte, bool, error) {
	if strings.ContainsAny(w.AccessKey+w.Region+w.Service, "\r\n\x00") {
		return head, false, errors.New("a line end in the access key, region or service")
	}
	payload, err := w.payload(a)
	if err != nil {
		return head, false, err
	}
	stamp := w.Now().UTC().Format("20060102T150405Z")
	fields := signedFields(a)
	add := func(name, value string) {
		key := strings.ToLower(name)
		if _, given := fields[key]; given || value == "" || strings.ContainsAny(value, "\r\n\x00") {
			return
		}
		fields[key] = value
		head = append(append(append(append(head, name...), ": "...), value...), "\r\n"...)
	}
	add("X-Amz-Date", stamp)
	add("X-Amz-Security-Token", w.SessionToken)
	if w.Service == "s3" {
		add("X-Amz-Content-Sha256", payload)
	}
	if given := fields["x-amz-content-sha256"]; given != "" {
		payload = given
	}
	if given := fields["x-amz-date"]; len(given) == len(stamp) {
		stamp = given
	}
	names, block := canonicalFields(fields)
	path, query, _ := strings.Cut(string(a.Target), "?")
	canonical := strings.Join([]string{a.Method, w.canonicalPath(path), canonicalQuery(query), block, names, payload}, "\n")
	scope := stamp[:8] + "/" + w.Region + "/" + w.Service + "/aws4_request"
	sum := sha256.Sum256([]byte(canonical))
	text := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(sum[:])
	signature := hex.EncodeToString(hmacSHA256(w.signingKey(stamp[:8]), text))
	head = fmt.Appendf(head, "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s\r\n",
		w.AccessKey, scope, names, signature)
	return head, false, nil
}

// Challenged never repeats: a signature that was refused is wrong.
func (*AWS) Challenged(*h1.Attempt, *h1.Response) bool { return false }

func (w *AWS) payload(a *h1.Attempt) (string, error) {
	if a.Reader == nil {
		sum := sha256.Sum256(a.Body)
		return hex.EncodeToString(sum[:]), nil
	}
	if w.Service == "s3" {
		return unsignedPayload, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, a.Reader); err != nil {
		return "", fmt.Errorf("the body cannot be hashed: %w", err)
	}
	if _, err := a.Reader.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("the body cannot be read twice: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (w *AWS) signingKey(day string) []byte {
	id := day + "\n" + w.Region + "\n" + w.Service + "\n" + w.SecretKey
	if w.keyFor != id {
		key := hmacSHA256([]byte("AWS4"+w.SecretKey), day)
		for _, part := range []string{w.Region, w.Service, "aws4_request"} {
			key = hmacSHA256(key, part)
		}
		w.key, w.keyFor = key, id
	}
	return w.key
}

func hmacSHA256(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// signedFields returns the header fields that are signed, by lower-case name.
func signedFields(a *h1.Attempt) map[string]string {
	fields := map[string]string{"host": a.Host}
	for line := range bytes.SplitSeq(a.Head, []byte("\r\n")) {
		name, value, _ := strings.Cut(string(line), ":")
		name = strings.ToLower(name)
		if name != "content-type" && !strings.HasPrefix(name, "x-amz-") {
			continue
		}
		value = strings.Join(strings.Fields(value), " ")
		if earlier, twice := fields[name]; twice {
			value = earlier + "," + value
		}
		fields[name] = value
	}
	return fields
}

func canonicalFields(fields map[string]string) (names, block string) {
	list := make([]string, 0, len(fields))
	for name := range fields {
		list = append(list, name)
	}
	sort.Strings(list)
	var b strings.Builder
	for _, name := range list {
		b.WriteString(name + ":" + fields[name] + "\n")
	}
	return strings.Join(list, ";"), b.String()
}

// canonicalPath encodes the path as sent once more, but for s3.
func (w *AWS) canonicalPath(path string) string {
	if w.Service == "s3" {
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
		return escape(path, true)
	}
	kept := []string{}
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", ".":
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, escape(part, false))
		}
	}
	out := "/" + strings.Join(kept, "/")
	if strings.HasSuffix(path, "/") && len(kept) > 0 {
		out += "/"
	}
	return out
}

func canonicalQuery(query string) string {
	if query == "" {
		return ""
	}
	type pair struct{ name, value string }
	var pairs []pair
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, pair{reescape(name), reescape(value)})
	}
	sort.Slice(pairs, func(i, j int) bool {
		return pairs[i].name < pairs[j].name || pairs[i].name == pairs[j].name && pairs[i].value < pairs[j].value
	})
	var b strings.Builder
	for i, p := range pairs {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(p.name + "=" + p.value)
	}
	return b.String()
}

func reescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		text = plain
	}
	return escape(text, false)
}

// escape encodes all but RFC 3986's unreserved characters.
func escape(text string, slash bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 || c == '/' && slash {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}
