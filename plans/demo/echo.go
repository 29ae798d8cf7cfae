package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"unicode/utf8"
)

// echoView is the request as the server read it.
type echoView struct {
	Method     string              `json:"method"`
	URI        string              `json:"uri"`
	Path       string              `json:"path"`
	Host       string              `json:"host"`
	Proto      string              `json:"proto"`
	Query      map[string][]string `json:"query"`
	Headers    map[string][]string `json:"headers"`
	Body       *string             `json:"body"` // null if it is not UTF-8
	BodyBytes  int                 `json:"body_bytes"`
	BodySHA256 string              `json:"body_sha256"`
	JSON       json.RawMessage     `json:"json,omitempty"`
	Form       map[string][]string `json:"form,omitempty"`
	Files      []echoFile          `json:"files,omitempty"`
}

type echoFile struct {
	Field       string `json:"field"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int    `json:"size"`
	SHA256      string `json:"sha256"`
}

func tooLarge(err error) bool {
	var limit *http.MaxBytesError
	return errors.As(err, &limit)
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (s *shop) echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if tooLarge(err) {
		sendError(w, http.StatusRequestEntityTooLarge, "body is too large")
		return
	}
	if err != nil {
		sendError(w, http.StatusBadRequest, "body cannot be read")
		return
	}
	v := echoView{
		Method: r.Method, URI: r.RequestURI, Path: r.URL.Path, Host: r.Host, Proto: r.Proto,
		Query: r.URL.Query(), Headers: r.Header,
		BodyBytes: len(body), BodySHA256: hash(body),
	}
	if utf8.Valid(body) {
		text := string(body)
		v.Body = &text
	}
	if err := v.parse(r.Header.Get("Content-Type"), body); err != nil {
		sendError(w, http.StatusBadRequest, "body does not match its content type")
		return
	}
	sendJSON(w, http.StatusOK, v)
}

// parse fills what the content type says the body is.
func (v *echoView) parse(contentType string, body []byte) error {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil
	}
	switch kind {
	case "application/json":
		if !json.Valid(body) {
			return errors.New("invalid JSON")
		}
		v.JSON = body
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		v.Form = form
		return err
	case "multipart/form-data":
		return v.parseParts(multipart.NewReader(bytes.NewReader(body), params["boundary"]))
	}
	return nil
}

const maxParts = 1000

func (v *echoView) parseParts(parts *multipart.Reader) error {
	v.Form = map[string][]string{}
	for range maxParts {
		p, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return err
		}
		if p.FileName() == "" {
			v.Form[p.FormName()] = append(v.Form[p.FormName()], string(content))
			continue
		}
		v.Files = append(v.Files, echoFile{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), len(content), hash(content)})
	}
	return errors.New("too many parts")
}
