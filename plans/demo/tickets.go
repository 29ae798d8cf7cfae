package demo

import (
	"fmt"
	"net/http"
)

const maxMessages = 200

// ticket is a conversation with the help desk.
type ticket struct {
	ID       string    `json:"id"`
	Ref      string    `json:"ref,omitempty"` // the client's own name for it
	Subject  string    `json:"subject"`
	State    string    `json:"state"` // open or closed
	Messages []message `json:"messages"`

	owner int
}

type message struct {
	Number int    `json:"number"`
	ID     string `json:"id,omitempty"` // given by the client
	Text   string `json:"text"`
}

// ticketCreate takes {"subject", "ref"?} of somebody who is signed in: 201, 401 or 422.
func (s *shop) ticketCreate(w http.ResponseWriter, r *http.Request) {
	who, ok := s.mustSignIn(w, r)
	var in struct{ Subject, Ref string }
	if !ok || !readJSON(w, r, &in) {
		return
	}
	if in.Subject == "" {
		sendError(w, http.StatusUnprocessableEntity, "subject is required")
		return
	}
	t := ticket{ID: fmt.Sprintf("tic-%06d", s.serial.Add(1)), Ref: in.Ref, Subject: in.Subject, State: "open", Messages: []message{}, owner: who.id}
	s.tickets.update(t.ID, func(e *ticket) { *e = t })
	w.Header().Set("Location", "/tickets/"+t.ID)
	sendJSON(w, http.StatusCreated, t)
}

// mustSignIn answers 401 and reports false if nobody is signed in.
func (s *shop) mustSignIn(w http.ResponseWriter, r *http.Request) (shopper, bool) {
	who, ok := s.signedIn(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="demo shop"`)
		sendError(w, http.StatusUnauthorized, "not signed in")
	}
	return who, ok
}

// withTicket runs f on the ticket of the request, or answers 401 or 404.
func (s *shop) withTicket(w http.ResponseWriter, r *http.Request, f func(*ticket)) bool {
	who, ok := s.mustSignIn(w, r)
	if !ok {
		return false
	}
	mine := false
	s.tickets.view(r.PathValue("id"), func(t *ticket) {
		if mine = t.owner == who.id; mine {
			f(t)
		}
	})
	if !mine {
		sendError(w, http.StatusNotFound, "you have no such ticket")
	}
	return mine
}

func (s *shop) ticketShow(w http.ResponseWriter, r *http.Request) {
	var view ticket
	if s.withTicket(w, r, func(t *ticket) { view = t.copy() }) {
		sendJSON(w, http.StatusOK, view)
	}
}

func (t *ticket) copy() ticket {
	c := *t
	c.Messages = append([]message{}, t.Messages...)
	return c
}

// ticketChange takes {"subject"?, "state"?}.
func (s *shop) ticketChange(w http.ResponseWriter, r *http.Request) {
	var in struct{ Subject, State string }
	if !readJSON(w, r, &in) {
		return
	}
	if in.State != "" && in.State != "open" && in.State != "closed" {
		sendError(w, http.StatusUnprocessableEntity, "state must be open or closed")
		return
	}
	var view ticket
	if s.withTicket(w, r, func(t *ticket) {
		if in.Subject != "" {
			t.Subject = in.Subject
		}
		if in.State != "" {
			t.State = in.State
		}
		view = t.copy()
	}) {
		sendJSON(w, http.StatusOK, view)
	}
}

// ticketAnswer takes {"text", "id"?}: 201 and the message, 409 if the ticket is closed.
func (s *shop) ticketAnswer(w http.ResponseWriter, r *http.Request) {
	var in struct{ Text, ID string }
	if !readJSON(w, r, &in) {
		return
	}
	if in.Text == "" {
		sendError(w, http.StatusUnprocessableEntity, "text is required")
		return
	}
	m := message{ID: in.ID, Text: in.Text}
	if !s.withTicket(w, r, func(t *ticket) {
		if t.State != "open" || len(t.Messages) == maxMessages {
			return
		}
		m.Number = len(t.Messages) + 1
		t.Messages = append(t.Messages, m)
	}) {
		return
	}
	if m.Number == 0 {
		sendError(w, http.StatusConflict, "the ticket takes no more messages")
		return
	}
	sendJSON(w, http.StatusCreated, m)
}
