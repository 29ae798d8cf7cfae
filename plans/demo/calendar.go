package demo

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strings"
)

const (
	maxEvents    = 100
	statusMulti  = http.StatusMultiStatus
	calendarType = "text/calendar; charset=utf-8"
)

// calendar holds the delivery dates of one account, as WebDAV has them.
type calendar struct {
	events  map[string][]byte
	changes int
}

// davOwner finds the account by basic credentials and reports whether the
// calendar of the URL is its own; otherwise it answers 401 or 403.
func (s *shop) davOwner(w http.ResponseWriter, r *http.Request) (string, bool) {
	email, password, _ := r.BasicAuth()
	if accountID(email, password) == 0 {
		w.Header().Set("WWW-Authenticate", `Basic realm="demo shop"`)
		sendError(w, http.StatusUnauthorized, "not signed in")
		return "", false
	}
	if r.PathValue("owner") != email {
		sendError(w, http.StatusForbidden, "this is the calendar of somebody else")
		return "", false
	}
	return email, true
}

func href(owner, name string) string { return "/calendars/" + owner + "/" + name }

// davFind answers PROPFIND with the number of changes and the events' addresses.
func (s *shop) davFind(w http.ResponseWriter, r *http.Request) {
	s.davList(w, r, false)
}

// davReport answers REPORT with the events themselves.
func (s *shop) davReport(w http.ResponseWriter, r *http.Request) {
	s.davList(w, r, true)
}

func (s *shop) davList(w http.ResponseWriter, r *http.Request, whole bool) {
	owner, ok := s.davOwner(w, r)
	if !ok {
		return
	}
	if !wellFormed(r.Body) {
		sendError(w, http.StatusBadRequest, "the body is not XML")
		return
	}
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?>` + "\n" + `<D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">` + "\n")
	s.calendars.update(owner, func(c *calendar) {
		fmt.Fprintf(&b, "<D:response><D:href>%s</D:href><D:propstat><D:prop><D:sync-token>%d</D:sync-token></D:prop></D:propstat></D:response>\n",
			href(owner, ""), c.changes)
		for _, name := range c.names() {
			fmt.Fprintf(&b, "<D:response><D:href>%s</D:href>", href(owner, name))
			if whole {
				b.WriteString("<D:propstat><D:prop><C:calendar-data>")
				_ = xml.EscapeText(&b, c.events[name])
				b.WriteString("</C:calendar-data></D:prop></D:propstat>")
			}
			b.WriteString("</D:response>\n")
		}
	})
	b.WriteString("</D:multistatus>\n")
	send(w, statusMulti, []string{"application/xml; charset=utf-8"}, b.Bytes())
}

// wellFormed reports whether there is nothing, or one XML document.
func wellFormed(r io.Reader) bool {
	for d := xml.NewDecoder(r); ; {
		if _, err := d.Token(); err != nil {
			return err == io.EOF
		}
	}
}

func (c *calendar) names() []string {
	names := make([]string, 0, len(c.events))
	for name := range c.events {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// davPut stores an event: 201 if it is new, 204 if not, 415, or 507 if there are too many.
func (s *shop) davPut(w http.ResponseWriter, r *http.Request) {
	owner, ok := s.davOwner(w, r)
	if !ok {
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	if err != nil || !strings.HasPrefix(string(body), "BEGIN:VCALENDAR") {
		sendError(w, http.StatusUnsupportedMediaType, "an iCalendar file is required")
		return
	}
	status := http.StatusCreated
	s.calendars.update(owner, func(c *calendar) {
		if c.events == nil {
			c.events = map[string][]byte{}
		}
		name := r.PathValue("event")
		switch _, known := c.events[name]; {
		case known:
			status = http.StatusNoContent
		case len(c.events) == maxEvents:
			status = http.StatusInsufficientStorage
			return
		}
		c.events[name] = body
		c.changes++
	})
	w.Header().Set("ETag", `"`+hash(body)[:12]+`"`)
	send(w, status, typeText, nil)
}

func (s *shop) davGet(w http.ResponseWriter, r *http.Request) {
	owner, ok := s.davOwner(w, r)
	if !ok {
		return
	}
	var body []byte
	s.calendars.view(owner, func(c *calendar) { body = c.events[r.PathValue("event")] })
	if body == nil {
		sendError(w, http.StatusNotFound, "no such event")
		return
	}
	send(w, http.StatusOK, []string{calendarType}, body)
}

func (s *shop) davDelete(w http.ResponseWriter, r *http.Request) {
	owner, ok := s.davOwner(w, r)
	if !ok {
		return
	}
	status := http.StatusNotFound
	s.calendars.view(owner, func(c *calendar) {
		if name := r.PathValue("event"); c.events[name] != nil {
			delete(c.events, name)
			c.changes++
			status = http.StatusNoContent
		}
	})
	if status == http.StatusNotFound {
		sendError(w, status, "no such event")
		return
	}
	send(w, status, nil, nil)
}
