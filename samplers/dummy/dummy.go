// Package dummy is the `dummy:` sampler: it sends nothing, takes a time and
// answers what the plan says, so that plans, assertions and reports can be tried
// without a server.
package dummy

import (
	"context"
	"strings"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/spec"
)

// All returns the package's definitions.
func All() []element.Definition {
	return []element.Definition{element.DefineSampler[dummy]("dummy", element.Doc{
		Summary: "sends nothing, takes a given time and answers what the plan says",
		Text: "For trying a plan, its assertions and its reports without a server. The short form is the delay. " +
			"As with any sampler, a status of 400 or more fails the sample unless a `status` assertion is in scope. " +
			"Each sample counts as one request.",
		Examples: []element.Example{
			{YAML: "dummy: 100ms"},
			{YAML: "dummy: {delay: 50ms..200ms, json: {id: \"${thread.id}\", state: PAID}}"},
			{YAML: "dummy: {delay: {mean: 100ms, deviation: 20ms}, status: 404, message: Not Found, body: nothing here}"},
			{YAML: "dummy:\n  delay: {exponential: 30ms, max: 2s}\n  headers: {Content-Type: text/plain, ETag: abc}\n  body: hello ${thread.id}"},
			{YAML: "dummy: {delay: 10ms, fail: 2%}", Note: "two samples in a hundred fail as if the connection had been reset"},
			{YAML: "dummy: {delay: 1s, fail: {share: 10%, class: timeout, message: no answer}}"},
		},
	})}
}

type dummy struct {
	Delay   delay                 `plan:"delay,short" doc:"how long a sample takes: a time, a range of times, {mean, deviation}, or {exponential: mean}"`
	Status  expr.Int              `plan:"status" doc:"the status" default:"200" min:"0" max:"999"`
	Message expr.String           `plan:"message" doc:"the status text"`
	Headers spec.Map[expr.String] `plan:"headers,fold" doc:"the headers of the answer"`
	Body    expr.String           `plan:"body" doc:"the answer as text" group:"body"`
	JSON    expr.Tree             `plan:"json" doc:"the answer as JSON" group:"body"`
	Bytes   expr.SizeValue        `plan:"bytes" doc:"how many bytes count as received; by default those of headers and body"`
	Fail    *failing              `plan:"fail" doc:"how many samples fail as if there had been no answer"`
}

type failing struct {
	Share   expr.ShareValue `plan:"share,required,short" doc:"share of the samples that fail, drawn at random" min:"0%" max:"100%"`
	Class   string          `plan:"class" doc:"the class of the failure" default:"reset" enum:"dns|connect_refused|connect_timeout|connect|tls|timeout|reset|reset_reused|closed_early|truncated|protocol|decode|body_too_large|header_too_large|redirect|local_resource"`
	Message expr.String     `plan:"message" doc:"what is said of it" default:"made to fail by the plan"`
}

// state is what a thread keeps from sample to sample.
type state struct {
	timer *time.Timer
	body  []byte
	text  []byte // of the headers
}

// Sample waits and fills the sample with the answer.
func (d *dummy) Sample(ctx context.Context, t *element.Thread, s *element.Sample) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	st := t.Local(d, func() any { return &state{} }).(*state)
	wait, err := d.Delay.draw(t)
	if err != nil {
		return err
	}
	if err := d.answer(t, s, st); err != nil {
		return err
	}
	s.Sent, s.Requests = t.Now(), 1
	if err := st.wait(ctx, wait); err != nil {
		return err
	}
	s.Done = t.Now()
	s.Phases.Wait = max(0, s.Done-s.Sent)
	if err := d.failure(t); err != nil {
		s.Status, s.Message, s.Headers, s.Body, s.BodySize, s.BytesReceived = 0, "", s.Headers[:0], nil, 0, 0
		return err
	}
	s.FirstByte = s.Done
	return nil
}

func (st *state) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if st.timer == nil {
		st.timer = time.NewTimer(d)
	} else {
		st.timer.Reset(d)
	}
	select {
	case <-st.timer.C:
		return nil
	case <-ctx.Done():
		st.timer.Stop()
		return ctx.Err()
	}
}

// failure returns the error of a sample that is to fail.
func (d *dummy) failure(t *element.Thread) error {
	if d.Fail == nil {
		return nil
	}
	share, err := d.Fail.Share.Eval(t)
	if err != nil || t.Rand.Float64() >= float64(share) {
		return err
	}
	message, err := d.Fail.Message.Eval(t)
	if err != nil {
		return err
	}
	return &element.Error{Class: element.Class(d.Fail.Class), Message: message}
}

// answer fills status, headers and body.
func (d *dummy) answer(t *element.Thread, s *element.Sample, st *state) (err error) {
	status, err := d.Status.Eval(t)
	if err != nil {
		return err
	}
	s.Status = int(status)
	if s.Message, err = d.Message.Eval(t); err != nil {
		return err
	}
	if err := d.headers(t, s, st); err != nil {
		return err
	}
	st.body = st.body[:0]
	switch {
	case d.JSON.IsSet():
		st.body, err = d.JSON.AppendJSON(st.body, t)
	case d.Body.IsSet():
		st.body, err = expr.AppendText(st.body, &d.Body, t)
	}
	if err != nil {
		return err
	}
	s.Body, s.BodySize = st.body, int64(len(st.body))
	s.BytesReceived += s.BodySize
	if d.Bytes.IsSet() {
		n, err := d.Bytes.Eval(t)
		s.BytesReceived = int64(n)
		return err
	}
	return nil
}

func (d *dummy) headers(t *element.Thread, s *element.Sample, st *state) (err error) {
	st.text, s.Headers = st.text[:0], s.Headers[:0]
	if d.JSON.IsSet() && !d.typed() {
		st.text = append(st.text, contentType+"application/json"...)
		st.header(s, 0, len(contentType))
	}
	for i := range d.Headers.Entries {
		e := &d.Headers.Entries[i]
		start := len(st.text)
		st.text = append(st.text, e.Name...)
		colon := len(st.text)
		if st.text, err = expr.AppendText(st.text, &e.Value, t); err != nil {
			return err
		}
		st.header(s, start, colon)
	}
	return nil
}

// typed reports whether the plan gives the answer's media type.
func (d *dummy) typed() bool {
	for i := range d.Headers.Entries {
		if strings.EqualFold(d.Headers.Entries[i].Name, contentType) {
			return true
		}
	}
	return false
}

const contentType = "Content-Type"

// header adds the header whose name is text[start:colon] and whose value follows.
func (st *state) header(s *element.Sample, start, colon int) {
	end := len(st.text)
	s.Headers = append(s.Headers, element.Header{Name: st.text[start:colon:colon], Value: st.text[colon:end:end]})
	s.BytesReceived += int64(end - start + len(": \r\n"))
}

// Describe says what the sample was.
func (d *dummy) Describe(*element.Thread, *element.Sample) string { return "dummy" }
