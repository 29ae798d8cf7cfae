package demo

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// Header values are shared by all answers and must not be changed.
var (
	typeJSON = []string{"application/json"}
	typeHTML = []string{"text/html; charset=utf-8"}
	typeText = []string{"text/plain; charset=utf-8"}
	typeData = []string{"application/octet-stream"}
)

// send writes a whole answer; one whose status forbids a body has none.
func send(w http.ResponseWriter, status int, contentType []string, body []byte) {
	h := w.Header()
	if status == http.StatusNoContent || status == http.StatusNotModified {
		w.WriteHeader(status)
		return
	}
	h["Content-Type"] = contentType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	w.Write(body)
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		sendError(w, http.StatusInternalServerError, err.Error())
		return
	}
	send(w, status, typeJSON, append(body, '\n'))
}

type problem struct {
	Error string `json:"error"`
}

func sendError(w http.ResponseWriter, status int, message string) {
	sendJSON(w, status, problem{message})
}

// readJSON decodes the body into v, or answers 413, 422 and reports false.
func readJSON(w http.ResponseWriter, r *http.Request, v any) bool {
	err := json.NewDecoder(r.Body).Decode(v)
	if err == nil {
		return true
	}
	if tooLarge(err) {
		sendError(w, http.StatusRequestEntityTooLarge, "body is too large")
		return false
	}
	sendError(w, http.StatusUnprocessableEntity, "body is not the JSON that is expected here")
	return false
}

// number reads an integer of the query within [low, high], or fallback.
func number(r *http.Request, key string, fallback, low, high int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(key))
	if err != nil {
		n = fallback
	}
	return min(max(n, low), high)
}
