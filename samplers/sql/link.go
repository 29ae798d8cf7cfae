package sql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"runner/plan/element"
)

// database is the key of a thread's connection.
type database struct{ driver, dsn string }

// link is a thread's connection to one database.
type link struct {
	now    func() time.Duration
	driver dialect
	dsn    string
	net    network
	db     *sql.DB
	conn   *sql.Conn // nil: not connected
	query  string    // the last statement
	body   []byte
}

func newLink(driver, dsn string, now func() time.Duration) *link {
	l := &link{now: now, driver: dialects(driver), dsn: dsn}
	l.net.now = now
	return l
}

// connect opens the connection, if there is none.
func (l *link) connect(ctx context.Context, s *element.Sample, c *call) error {
	if l.conn != nil {
		return nil
	}
	if l.db == nil {
		db, err := l.driver.open(l.dsn, &l.net)
		if err != nil {
			return &element.Error{Class: element.Expression, Message: "the dsn is not one of " + l.driver.name(), Err: err}
		}
		db.SetMaxOpenConns(1)
		l.db = db
	}
	ctx, cancel := context.WithTimeout(ctx, c.connect)
	defer cancel()
	began := l.now()
	conn, err := l.db.Conn(ctx)
	s.Phases.Connect += l.now() - began
	if err != nil {
		return &connectError{err, ctx.Err() != nil}
	}
	l.conn = conn
	return nil
}

// connectError is an error from before there was a connection.
type connectError struct {
	err  error
	late bool // the time for connecting was over
}

// Error returns the cause's text.
func (e *connectError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *connectError) Unwrap() error { return e.err }

// isBad reports that a connection was found closed before anything was sent.
func isBad(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone)
}

// drop closes a connection that cannot be used any more.
func (l *link) drop() {
	if l.conn == nil {
		return
	}
	_ = l.conn.Raw(func(any) error { return driver.ErrBadConn }) // so that it is closed, not kept
	_ = l.conn.Close()
	l.conn = nil
}

// Close closes the connection and everything around it.
func (l *link) Close() error {
	l.drop()
	if l.db == nil {
		return nil
	}
	err := l.db.Close()
	l.db = nil
	return err
}
