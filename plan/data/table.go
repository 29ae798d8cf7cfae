package data

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"runner/plan/element"
)

// table knows the columns of a file and how their texts become values.
type table struct {
	path    string
	columns []string
	convert []func(string) (any, error) // nil: text
}

func newTable(cfg Config, columns []string) (table, error) {
	t := table{path: cfg.Path, columns: columns, convert: make([]func(string) (any, error), len(columns))}
	for name, typ := range cfg.Types {
		i := slices.Index(columns, name)
		if i < 0 {
			return t, fmt.Errorf("data %q: types: %s has no column %q; it has %s", cfg.Name, cfg.Path, name, strings.Join(columns, ", "))
		}
		convert, ok := converter(typ)
		if !ok {
			return t, fmt.Errorf("data %q: types: %q is none of int, float, bool, json, text", cfg.Name, typ)
		}
		t.convert[i] = convert
	}
	return t, nil
}

func converter(typ string) (func(string) (any, error), bool) {
	switch typ {
	case "text":
		return nil, true
	case "int":
		return toInt, true
	case "float":
		return toFloat, true
	case "bool":
		return toBool, true
	case "json":
		return toJSON, true
	}
	return nil, false
}

// row returns the values of a row by column.
func (t table) row(fields []string, line int) (row, error) {
	r := make(row, len(fields))
	for i, text := range fields {
		if t.convert[i] == nil {
			r[t.columns[i]] = text
			continue
		}
		v, err := t.convert[i](text)
		if err != nil {
			return nil, &rowError{t.path, line, fmt.Sprintf("column %q: %s", t.columns[i], err)}
		}
		r[t.columns[i]] = v
	}
	return r, nil
}

func toInt(text string) (any, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is not an int", shown(text))
	}
	return n, nil
}

func toFloat(text string) (any, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || f-f != 0 { // no NaN, no Inf
		return nil, fmt.Errorf("%s is not a float", shown(text))
	}
	return f, nil
}

func toBool(text string) (any, error) {
	switch strings.TrimSpace(text) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return nil, fmt.Errorf("%s is not true or false", shown(text))
}

func toJSON(text string) (any, error) {
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("%s is not JSON", shown(text))
	}
	return element.DecodeJSON([]byte(text))
}

func shown(text string) string {
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + "…"
	}
	return strconv.Quote(text)
}
