package sql

import (
	"context"
	"database/sql"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
)

// Sample sends the statement and fills the sample with the answer.
func (d *statement) Sample(ctx context.Context, t *element.Thread, s *element.Sample) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := d.evaluate(t)
	if err != nil {
		return err
	}
	l := t.Local(database{d.Driver, c.dsn}, func() any { return newLink(d.Driver, c.dsn, t.Now) }).(*link)
	l.query = c.query
	s.Private = l
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	l.net.reset()
	err = l.use(limited, s, c)
	s.Phases.DNS = min(time.Duration(l.net.dns.Load()), s.Phases.Connect)
	s.Phases.Connect -= s.Phases.DNS
	s.BytesSent, s.BytesReceived = l.net.sent.Load(), l.net.received.Load()
	s.Done = t.Now()
	if err != nil {
		return l.failed(ctx, limited, t, s, c, err)
	}
	if s.FirstByte == 0 {
		s.FirstByte = s.Done
	}
	s.Phases.Wait, s.Phases.Receive = max(0, s.FirstByte-s.Sent), max(0, s.Done-s.FirstByte)
	return nil
}

// call is one statement with everything evaluated.
type call struct {
	dsn, query       string
	args             []any
	rows             bool // it gives rows
	maxRows          int
	maxBody          int
	timeout, connect time.Duration
}

func (d *statement) evaluate(t *element.Thread) (*call, error) {
	c := &call{}
	var err error
	if c.dsn, err = d.DSN.Eval(t); err != nil {
		return nil, err
	}
	if d.Driver == "sqlite" {
		c.dsn = besides(c.dsn, d.DSN.Range())
	}
	if c.query, err = d.Query.Eval(t); err != nil {
		return nil, err
	}
	for i := range d.Args {
		v, err := d.Args[i].Eval(t)
		if err != nil {
			return nil, err
		}
		if v, err = argument(d.Driver, v); err != nil {
			return nil, err
		}
		c.args = append(c.args, v)
	}
	c.rows = givesRows(c.query)
	if d.Exec != nil {
		c.rows = !*d.Exec
	}
	return c, d.limits(t, c)
}

func (d *statement) limits(t *element.Thread, c *call) error {
	rows, err := d.MaxRows.Eval(t)
	if err != nil {
		return err
	}
	size, err := d.MaxBody.Eval(t)
	if err != nil {
		return err
	}
	c.maxRows, c.maxBody = int(rows), int(size)
	if c.timeout, err = d.Timeout.Eval(t); err != nil {
		return err
	}
	c.connect = c.timeout
	if d.ConnectTimeout.IsSet() {
		c.connect, err = d.ConnectTimeout.Eval(t)
	}
	return err
}

// argument makes a value of the plan one that the driver takes. PostgreSQL is
// given text, which it reads as what the statement asks for.
func argument(driver string, v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case expr.Secret:
		return v.Reveal(), nil
	case int64, float64, bool:
		if driver != "postgres" {
			return v, nil
		}
	}
	return expr.FormatText(v)
}

// use sends the statement over the thread's connection, which is opened if there
// is none, and anew if the server has closed it and nothing was sent.
func (l *link) use(ctx context.Context, s *element.Sample, c *call) error {
	kept := l.conn != nil
	if err := l.connect(ctx, s, c); err != nil {
		return err
	}
	err := l.send(ctx, s, c)
	if kept && isBad(err) {
		l.drop()
		s.Reconnects++
		if err := l.connect(ctx, s, c); err != nil {
			return err
		}
		err = l.send(ctx, s, c)
	}
	return err
}

func (l *link) send(ctx context.Context, s *element.Sample, c *call) error {
	s.Sent, s.Requests = l.now(), 1
	if !c.rows {
		res, err := l.conn.ExecContext(ctx, c.query, c.args...)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			n = 0 // a database that does not count them
		}
		s.Values = map[string]any{"rows": []any{}, "affected": n, "code": ""}
		s.Body, s.BodySize = append(l.body[:0], "[]"...), 2
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	rows, err := l.conn.QueryContext(ctx, c.query, c.args...)
	if err != nil {
		return err
	}
	s.FirstByte = l.now()
	return l.answer(s, c, rows, stop)
}

// answer reads all rows. Where it gives up, it stops the statement rather than
// read what is left.
func (l *link) answer(s *element.Sample, c *call, rows *sql.Rows, stop func()) error {
	list, body, err := read(rows, c, l.body[:0])
	l.body = body
	if err != nil {
		stop()
	}
	if closing := rows.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	affected := int64(0)
	if returning(c.query) {
		affected = int64(len(list))
	}
	s.Values = map[string]any{"rows": list, "affected": affected, "code": ""}
	s.Body, s.BodySize = body, int64(len(body))
	return nil
}
