package sql

import (
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"

	"runner/plan/source"
)

// dialect is what differs from database to database.
type dialect interface {
	name() string
	// open makes a DB that dials by n; it does not connect.
	open(dsn string, n *network) (*sql.DB, error)
	// answer returns what the database said, ok if err is an error of its own.
	// fatal: the connection is of no use any more.
	answer(err error) (a refusal, ok bool)
	// remote reports that a broken statement leaves a broken connection.
	remote() bool
}

// refusal is an error that the database answered.
type refusal struct {
	code, message string
	fatal         bool
}

func dialects(driver string) dialect {
	switch driver {
	case "postgres":
		return postgres{}
	case "mysql":
		return maria{}
	}
	return lite{}
}

type postgres struct{}

func (postgres) name() string { return "PostgreSQL" }
func (postgres) remote() bool { return true }

func (postgres) open(dsn string, n *network) (*sql.DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.LookupFunc, config.DialFunc = n.lookup, n.dial
	return sql.OpenDB(stdlib.GetConnector(*config)), nil
}

func (postgres) answer(err error) (refusal, bool) {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return refusal{}, false
	}
	severity := e.SeverityUnlocalized
	if severity == "" {
		severity = e.Severity
	}
	message := e.Message
	if strings.HasPrefix(e.Code, "22") { // data exceptions name the data
		message = quoted.ReplaceAllString(message, `"…"`)
	}
	return refusal{e.Code, message, severity == "FATAL" || severity == "PANIC"}, true
}

type maria struct{}

func (maria) name() string { return "MySQL" }
func (maria) remote() bool { return true }

func (maria) open(dsn string, n *network) (*sql.DB, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	config.ParseTime, config.DialFunc, config.Logger = true, n.dialName, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func (maria) answer(err error) (refusal, bool) {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return refusal{}, false
	}
	message := e.Message
	switch e.Number {
	case 1062, 1064, 1292, 1366, 1411, 1690: // whose first quoted part is a value
		if at := quoted.FindStringIndex(message); at != nil {
			message = message[:at[0]] + "'…'" + message[at[1]:]
		}
	}
	return refusal{strconv.Itoa(int(e.Number)), message, false}, true
}

type lite struct{}

func (lite) name() string { return "SQLite" }
func (lite) remote() bool { return false }

func (lite) open(dsn string, _ *network) (*sql.DB, error) { return sql.Open("sqlite", dsn) }

func (lite) answer(err error) (refusal, bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return refusal{}, false
	}
	return refusal{strconv.Itoa(e.Code()), numbered.ReplaceAllString(e.Error(), ""), false}, true
}

var (
	quoted   = regexp.MustCompile(`"[^"]*"|'(?:[^']|'')*'`)
	numbered = regexp.MustCompile(` \(\d+\)( \(SQLITE_BUSY\))?$`)
)

// besides makes the file of a SQLite DSN relative to the plan that names it.
func besides(dsn string, r source.Range) string {
	scheme := ""
	rest, isURI := strings.CutPrefix(dsn, "file:")
	if isURI {
		scheme = "file:"
	}
	file, options, _ := strings.Cut(rest, "?")
	if r.File == nil || file == "" || file[0] == ':' || filepath.IsAbs(file) || memory(options) {
		return dsn
	}
	full := filepath.Join(filepath.Dir(r.File.Name), filepath.FromSlash(file))
	return scheme + full + rest[len(file):]
}

// memory reports whether options keep the database in memory.
func memory(options string) bool {
	values, err := url.ParseQuery(options)
	return err == nil && values.Get("mode") == "memory"
}
