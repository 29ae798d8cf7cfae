package sql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"runner/plan/element"
	"runner/plan/element/elementtest"
	"runner/plan/engine"
	"runner/plan/expr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var config = elementtest.Config{Vars: map[string]string{"n": "7", "name": `"Ann"`}}

func TestElement(t *testing.T) {
	for _, d := range All() {
		elementtest.Run(t, d, config)
	}
}

// user is a thread that sends statements to one database.
type user struct {
	*element.Thread
	t      *testing.T
	server string // keys of driver and dsn
}

func newUser(t *testing.T, server string) *user {
	b := elementtest.Bind(t, All()[0], "sql: {query: x, "+server+"}", config)
	th := b.Thread(1)
	th.Clock, th.Masker = engine.NewPlainClock(), &element.Masker{}
	t.Cleanup(th.Close)
	time.Sleep(time.Microsecond) // so that no stamp is 0
	return &user{th, t, server}
}

func onFile(t *testing.T) *user {
	return newUser(t, "driver: sqlite, dsn: '"+t.TempDir()+"/x.db?_pragma=busy_timeout(5000)'")
}

// does sends the statement with more keys, if there are.
func (u *user) does(ctx context.Context, query, more string) (*element.Sample, error) {
	u.t.Helper()
	b := elementtest.Bind(u.t, All()[0], fmt.Sprintf("sql: {query: %q, %s%s}", query, u.server, more), config)
	s := &element.Sample{}
	s.Reset()
	u.Sample = s
	err := b.Element.(element.Sampler).Sample(ctx, u.Thread, s)
	return s, err
}

func (u *user) must(query, more string) *element.Sample {
	u.t.Helper()
	s, err := u.does(u.t.Context(), query, more)
	if err != nil {
		u.t.Fatalf("%s: %v", query, err)
	}
	return s
}

// fails returns the error's class, code and message.
func (u *user) fails(query, more string) string {
	u.t.Helper()
	s, err := u.does(u.t.Context(), query, more)
	var e *element.Error
	if !errors.As(err, &e) {
		u.t.Errorf("%s: %v", query, err)
		return ""
	}
	if s.Status != 0 || len(s.Body) > 0 {
		u.t.Errorf("%s: a failed sample has status %d and body %q", query, s.Status, s.Body)
	}
	code, _ := s.Value("code")
	return fmt.Sprintf("%s|%v|%s", e.Class, code, e.Message)
}

func TestAnswers(t *testing.T) {
	u := onFile(t)
	u.must("create table t (id integer primary key, name text, price numeric, data blob, at timestamp, ok boolean)", "")
	s := u.must("insert into t (name, price, data, at, ok) values (?, 1.5, x'6869', '2026-01-02 03:04:05', true), (null, 2, null, null, false)", ", args: [Bob]")
	if n, _ := s.Value("affected"); n != int64(2) || string(s.Body) != "[]" {
		t.Errorf("%v rows inserted, body %s", n, s.Body)
	}
	s = u.must("select id, name, price, data, at, ok, id from t order by id", "")
	want := []any{
		map[string]any{"id": int64(1), "name": "Bob", "price": 1.5, "data": "hi", "at": "2026-01-02T03:04:05Z", "ok": int64(1), "id_2": int64(1)},
		map[string]any{"id": int64(2), "name": nil, "price": int64(2), "data": nil, "at": nil, "ok": int64(0), "id_2": int64(2)},
	}
	rows, _ := s.Value("rows")
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("rows: %s", d)
	}
	json, err := s.JSON()
	if d := cmp.Diff(want, json); d != "" || err != nil {
		t.Errorf("json: %v %s", err, d)
	}
	if !strings.HasPrefix(string(s.Body), `[{"id":1,"name":"Bob","price":1.5,`) || s.BodySize != int64(len(s.Body)) {
		t.Errorf("body %s of %d bytes", s.Body, s.BodySize)
	}
	if s.Requests != 1 || s.Sent == 0 || s.FirstByte < s.Sent || s.Done < s.FirstByte || s.Phases.Connect != 0 || s.Reconnects != 0 {
		t.Errorf("stamps: %+v", s)
	}
	if s = u.must("select 1 where false", ""); string(s.Body) != "[]" {
		t.Errorf("no rows are %s", s.Body)
	}
	s = u.must("delete from t returning id", "")
	if n, _ := s.Value("affected"); n != int64(2) {
		t.Errorf("%v rows deleted", n)
	}
}

func TestArguments(t *testing.T) {
	u := newUser(t, "driver: sqlite, dsn: ':memory:'")
	for args, want := range map[string]string{
		"[1]":                 `[{"v":1,"t":"integer"}]`,
		`["1"]`:               `[{"v":"1","t":"text"}]`,
		"[1.50]":              `[{"v":1.5,"t":"real"}]`,
		"[null]":              `[{"v":null,"t":"null"}]`,
		"[true]":              `[{"v":1,"t":"integer"}]`,
		"[\"${n}\"]":          `[{"v":7,"t":"integer"}]`,
		"[\"n${n} ${name}\"]": `[{"v":"n7 Ann","t":"text"}]`,
		"[30s]":               `[{"v":"30s","t":"text"}]`,
		"[{a: [1, x]}]":       `[{"v":"{\"a\":[1,\"x\"]}","t":"text"}]`,
	} {
		for _, query := range []string{"select ? as v, typeof(?1) as t", "select $1 as v, typeof($1) as t"} {
			if s := u.must(query, ", args: "+args); string(s.Body) != want {
				t.Errorf("%s: %s, want %s", args, s.Body, want)
			}
		}
	}
	for v, want := range map[any]any{int64(7): "7", 1.5: "1.5", true: "true", expr.NewSecret("s3cret"): "s3cret", nil: nil} {
		if got, err := argument("postgres", v); got != want || err != nil {
			t.Errorf("PostgreSQL gets %v for %v, %v", got, v, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	u := onFile(t)
	u.Masker.Add("hush-hush")
	u.must("create table t (id integer primary key, name text unique)", "")
	u.must("insert into t values (1, 'a')", "")
	for query, want := range map[string]string{
		"insert into t values (1, 'b')": "status|1555|1555: constraint failed: UNIQUE constraint failed: t.id",
		"select * from nowhere":         "status|1|1: SQL logic error: no such table: nowhere",
		"select * from \"hush-hush\"":   "status|1|1: SQL logic error: no such table: ***",
		"select ?, 1":                   "protocol||missing argument with index 1",
	} {
		if got := u.fails(query, ""); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	if s := u.must("select 1 as one", ""); s.Phases.Connect != 0 {
		t.Error("an error of the database has cost the connection")
	}
	if got := u.fails("select * from (values (1), (2), (3))", ", max_rows: 2"); got != "protocol||more than max_rows rows" {
		t.Error(got)
	}
	if s := u.must("select * from (values (1), (2))", ", max_rows: 2"); s.BodySize == 0 {
		t.Error("as many rows as are accepted fail")
	}
	if got := u.fails("select 'abcdefghijklmnop'", ", max_body: 20B"); got != "body_too_large||the answer is larger than max_body" {
		t.Error(got)
	}
}

func TestTimes(t *testing.T) {
	u := onFile(t)
	const endless = "with recursive c(n) as (select 1 union all select n + 1 from c) select max(n) from c"
	if got := u.fails(endless, ", timeout: 50ms"); got != "timeout||no answer within the timeout" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := u.does(ctx, endless, "")
	var e *element.Error
	if !errors.As(err, &e) || e.Class != element.Cancelled {
		t.Error(err)
	}
	u.must("select 1", "")
}

func TestAThreadKeepsItsConnection(t *testing.T) {
	u := onFile(t)
	if s := u.must("create table t (n int)", ""); s.Phases.Connect == 0 {
		t.Error("connecting took no time")
	}
	u.must("begin", "")
	u.must("insert into t values (1)", "")
	other := newUser(t, u.server)
	if s := other.must("select count(*) as n from t", ""); string(s.Body) != `[{"n":0}]` {
		t.Errorf("another thread sees %s", s.Body)
	}
	u.must("commit", "")
	if s := other.must("select count(*) as n from t", ""); string(s.Body) != `[{"n":1}]` {
		t.Errorf("another thread sees %s", s.Body)
	}
	u.must("begin", "")
	u.must("delete from t", "")
	u.Close()
	if s := other.must("select count(*) as n from t", ""); string(s.Body) != `[{"n":1}]` {
		t.Errorf("what was left open was kept: %s", s.Body)
	}
}

func TestManyThreads(t *testing.T) {
	first := onFile(t)
	first.must("create table t (n int)", "")
	var all sync.WaitGroup
	for range 8 {
		u := newUser(t, first.server)
		b := elementtest.Bind(t, All()[0], "sql: {query: insert into t values (1), "+u.server+"}", config)
		all.Go(func() {
			for range 20 {
				if err := b.Element.(element.Sampler).Sample(t.Context(), u.Thread, &element.Sample{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if s := first.must("select sum(n) as n from t", ""); string(s.Body) != `[{"n":160}]` {
		t.Errorf("%s", s.Body)
	}
}

// listen answers each connection with what serve does.
func listen(t *testing.T, serve func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			conn.Close()
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return l.Addr().String()
}

func TestConnecting(t *testing.T) {
	closed := listen(t, func(net.Conn) {})
	silent := listen(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); time.Sleep(200 * time.Millisecond) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	l.Close()
	for address, want := range map[string]string{
		closed: "connect||the server closed the connection during the login",
		silent: "connect_timeout||no connection within the time for connecting",
		nobody: "connect_refused||connection refused",
	} {
		for _, server := range []string{
			"driver: postgres, dsn: 'postgres://u:geheim@" + address + "/d?sslmode=disable'",
			"driver: mysql, dsn: 'u:geheim@tcp(" + address + ")/d'",
		} {
			u := newUser(t, server)
			if got := u.fails("select 1", ", connect_timeout: 100ms"); got != want {
				t.Errorf("%s: %s, want %s", server, got, want)
			}
			if s := u.Sample; s.Requests != 0 || s.Sent != 0 {
				t.Errorf("%s: %d requests were sent", server, s.Requests)
			}
		}
	}
	for server, want := range map[string]string{
		"driver: postgres, dsn: 'host=x port=geheim'":          "expression||the dsn is not one of PostgreSQL",
		"driver: mysql, dsn: 'u:geheim@nowhere'":               "expression||the dsn is not one of MySQL",
		"driver: sqlite, dsn: '/nowhere/at/all.db'":            "connect||unable to open database file: out of memory",
		"driver: mysql, dsn: 'tcp(nowhere.invalid:3306)/d'":    "dns||no such host",
		"driver: postgres, dsn: 'host=nowhere.invalid user=u'": "dns||no such host",
	} {
		got := newUser(t, server).fails("select 1", "")
		if strings.HasPrefix(want, "dns") || strings.HasPrefix(want, "connect|") { // whose words depend on the machine
			got, want = got[:strings.Index(got, "|")], want[:strings.Index(want, "|")]
		}
		if got != want {
			t.Errorf("%s: %s", server, got)
		}
	}
}

func TestWhichStatementsGiveRows(t *testing.T) {
	for query, want := range map[string]bool{
		"select 1": true, " (select 1)": true, "-- insert\n/* update */ SELECT 1": true, "values (1)": true,
		"show tables": true, "PRAGMA user_version": true, "explain delete from t": true, "": false, "'select'": false,
		"insert into t select 1": false, "insert into t values ('returning')": false, "update t set n = 1 returning n": true,
		"with a as (select 1) select 1": true, "with a as (select 1) insert into t select * from a": false,
		"with a as (delete from t returning n) select * from a": true, "with a as (select 1) delete from t returning n": true,
		"with a as (insert into t values (1) returning n) update t set n = 2": false, "create table t (n int)": false, "/*": false, "begin": false,
	} {
		if got := givesRows(query); got != want {
			t.Errorf("%q gives rows: %v", query, got)
		}
	}
	u := newUser(t, "driver: sqlite, dsn: ':memory:'")
	if s := u.must("select 1", ", exec: true"); string(s.Body) != "[]" {
		t.Errorf("exec: true gives %s", s.Body)
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"sql: {driver: mysql, dsn: x, query: select $1, args: [1]}":                   "MySQL knows no parameters like $1",
		"sql: {driver: postgres, dsn: x, query: \"select 1 where n = ?\", args: [1]}": "PostgreSQL knows no parameters like ?",
		"sql: select 1": "driver",
		"sql: {driver: oracle, dsn: x, query: select 1}": "oracle",
	} {
		if got := elementtest.Problems(t, All()[0], text, config); !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestFilesAreRelativeToThePlan(t *testing.T) {
	d := elementtest.Bind(t, All()[0], "sql: {driver: sqlite, dsn: x, query: y}", elementtest.Config{Plan: "plans/p.yaml"}).Element.(*statement)
	for dsn, want := range map[string]string{
		"x.db": "plans/x.db", "file:x.db?mode=ro": "file:plans/x.db?mode=ro", "../x.db?a=b": "x.db?a=b", "/x.db": "/x.db",
		":memory:": ":memory:", "file::memory:?cache=shared": "file::memory:?cache=shared", "file:x?mode=memory": "file:x?mode=memory", "": "",
	} {
		if got := besides(dsn, d.DSN.Range()); got != want {
			t.Errorf("%s: %s", dsn, got)
		}
	}
}

func TestDescribe(t *testing.T) {
	u := newUser(t, "driver: sqlite, dsn: ':memory:'")
	b := elementtest.Bind(t, All()[0], "sql: {query: \"select\\n  nothing from "+strings.Repeat("ä", 300)+"\", "+u.server+"}", config)
	s := &element.Sample{}
	if b.Element.(element.Sampler).Sample(t.Context(), u.Thread, s) == nil {
		t.Fatal("it passed")
	}
	got := b.Element.(element.Describer).Describe(u.Thread, s)
	if want := "sqlite: select nothing from " + strings.Repeat("ä", 179) + "…"; got != want {
		t.Error(got)
	}
}
