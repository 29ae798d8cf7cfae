// Package sql is the `sql:` sampler: one statement to a PostgreSQL, MySQL or
// SQLite database over a connection that belongs to the thread.
package sql

import (
	"regexp"
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
)

// All returns the package's definitions.
func All() []element.Definition {
	d := element.DefineSampler[statement]("sql", element.Doc{
		Summary: "sends one SQL statement to a PostgreSQL, MySQL or SQLite database",
		Text:    text,
		Examples: []element.Example{
			{YAML: "sql:\n  driver: postgres\n  dsn: postgres://loadtest@db.example.com/shop?sslmode=require\n" +
				"  query: select state from orders where id = $1\n  args: [\"${thread.id}\"]"},
			{YAML: "sql: {driver: mysql, dsn: \"loadtest@tcp(db.example.com:3306)/shop\", query: \"update stock set n = n - ? where sku = ?\", args: [1, HAT-001]}"},
			{YAML: "sql: {driver: sqlite, dsn: \"shop.db?_pragma=busy_timeout(5000)\", query: select sku from products, max_rows: 50, timeout: 2s}"},
			{YAML: "sql: {driver: postgres, dsn: \"host=/run/postgresql dbname=shop\", query: \"call close_day()\", exec: true}",
				Note: "a statement whose rows do not matter"},
		},
	})
	d.Roots = map[string]expr.Type{"rows": expr.ListType, "affected": expr.IntType, "code": expr.TextType}
	return []element.Definition{d}
}

const text = "The short form is the statement; `driver` and `dsn` are best given once, as `defaults: {sql: {driver: postgres, dsn: \"${secrets.dsn}\"}}`.\n\n" +
	"**Connections.** Each thread has one connection for each database, opened by its first statement and kept over all its iterations, " +
	"so that `sql: begin` and `sql: commit` around other steps work; what is left open is rolled back when the thread ends. " +
	"Opening it, login included, counts in `connect`. A connection that is lost fails the sample; " +
	"the next sample opens a new one. One that the server has closed in the meantime is opened anew before anything is sent.\n\n" +
	"**Arguments** are written in the statement as the database has them: `$1` for PostgreSQL, `?` for MySQL, either for SQLite. " +
	"They are typed by their look, as in a JSON body: 7 is a number, \"7\" is text; `null` is NULL; lists and maps become JSON; times, rates and sizes stay as written. " +
	"PostgreSQL gives each the type that the statement asks for.\n\n" +
	"**Answers.** `rows` is a list of maps, by column; the same as JSON is the body, for `json.`, `jsonpath` and every other extractor and assertion. " +
	"Whole and floating numbers and truth values are such (SQLite has 0 and 1), NULL is nil, times are RFC 3339, everything else (numeric, uuid, bytes) is text as the driver gives it. " +
	"A second column of the same name gets `_2` behind it. `affected` is the number of rows that a statement without rows has changed, or that `returning` has given. " +
	"A statement counts as one with rows if it begins with select, with, values, table, show, explain, describe or pragma or has `returning`; `exec` overrides that.\n\n" +
	"**Failures.** An error that the database answers is of class `status`; `code` is then its SQLSTATE (PostgreSQL) or number, and `message` its text without values.\n\n" +
	"**DSN.** PostgreSQL: a URL or `host=… user=…`; MySQL: `user:password@tcp(host:3306)/database` (with `interpolateParams=true` arguments need no round trip of their own); " +
	"SQLite: a file, relative to the plan, or `:memory:`, which each thread has for itself. Several threads that write to one SQLite file need `?_pragma=busy_timeout(5000)`. " +
	"Each sample counts as one request."

type statement struct {
	Query          expr.String    `plan:"query,required,short,nonempty" doc:"the statement"`
	Args           []expr.Tree    `plan:"args" doc:"values of the statement's parameters, in their order"`
	Driver         string         `plan:"driver,required" enum:"postgres|mysql|sqlite" doc:"kind of database"`
	DSN            expr.String    `plan:"dsn,required,nonempty" secret:"true" doc:"data source name: where the database is, and who signs in"`
	Exec           *bool          `plan:"exec" doc:"whether the statement gives no rows; by default that is seen from its first word"`
	MaxRows        expr.Int       `plan:"max_rows" default:"1000" min:"1" max:"1000000" doc:"most rows that are accepted; more fail the sample with class protocol"`
	MaxBody        expr.SizeValue `plan:"max_body" default:"32MiB" min:"1B" doc:"largest answer that is accepted, as JSON"`
	Timeout        expr.Duration  `plan:"timeout" default:"30s" min:"1ms" doc:"limit for the whole sample, connecting included"`
	ConnectTimeout expr.Duration  `plan:"connect_timeout" min:"1ms" doc:"limit for connecting, login included"`
}

var (
	dollar   = regexp.MustCompile(`\$\d`)
	question = regexp.MustCompile(`[=(,]\s*\?\s*([,)]|$|\s)`)
)

// Check reports parameters that are written as another database has them.
func (d *statement) Check(report func(field, code, summary, detail string)) {
	query, literal := d.Query.Literal()
	if !literal || len(d.Args) == 0 {
		return
	}
	switch {
	case d.Driver == "mysql" && dollar.MatchString(query) && !strings.Contains(query, "?"):
		report("query", "sql-parameter", "MySQL knows no parameters like $1", "write ? for each parameter")
	case d.Driver == "postgres" && question.MatchString(query) && !dollar.MatchString(query):
		report("query", "sql-parameter", "PostgreSQL knows no parameters like ?", "write $1, $2 … in the order of args")
	}
}

// Describe returns the statement in one line.
func (d *statement) Describe(_ *element.Thread, s *element.Sample) string {
	l, ok := s.Private.(*link)
	if !ok {
		return d.Driver
	}
	return d.Driver + ": " + shortened(l.query, 200)
}

// shortened returns text in one line of at most n letters.
func shortened(text string, n int) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(text[:min(len(text), 8*n)], "")), " ")
	if letters := []rune(line); len(letters) > n {
		return string(letters[:n-1]) + "…"
	}
	return line
}
