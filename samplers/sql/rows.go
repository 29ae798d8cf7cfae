package sql

import (
	"database/sql"
	"math"
	"strconv"
	"time"

	"runner/plan/expr"
)

// read returns all rows as maps, and as JSON behind body.
func read(rows *sql.Rows, c *call, body []byte) ([]any, []byte, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, body, err
	}
	columns = distinct(columns)
	values, cells := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		cells[i] = &values[i]
	}
	list := []any{}
	body = append(body, '[')
	for rows.Next() {
		if len(list) == c.maxRows {
			return nil, body, errRows
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, body, err
		}
		row := make(map[string]any, len(columns))
		for i, name := range columns {
			row[name] = plain(values[i])
		}
		if len(list) > 0 {
			body = append(body, ',')
		}
		if body, err = appendRow(body, columns, row); err != nil {
			return nil, body, err
		}
		if len(body) >= c.maxBody {
			return nil, body, errBody
		}
		list = append(list, row)
	}
	return list, append(body, ']'), rows.Err()
}

// appendRow writes a row as JSON, with its columns in their order.
func appendRow(body []byte, columns []string, row map[string]any) (_ []byte, err error) {
	body = append(body, '{')
	for i, name := range columns {
		if i > 0 {
			body = append(body, ',')
		}
		if body, err = expr.AppendJSONValue(body, name); err != nil {
			return body, err
		}
		if body, err = expr.AppendJSONValue(append(body, ':'), row[name]); err != nil {
			return body, err
		}
	}
	return append(body, '}'), nil
}

// distinct numbers the columns of a name from the second on.
func distinct(columns []string) []string {
	seen := make(map[string]bool, len(columns))
	for i, name := range columns {
		unique := name
		for n := 2; seen[unique]; n++ {
			unique = name + "_" + strconv.Itoa(n)
		}
		seen[unique] = true
		columns[i] = unique
	}
	return columns
}

// plain makes a driver's value one of the language.
func plain(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case float32:
		return plain(float64(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return v
	case uint64:
		if v > math.MaxInt64 {
			return strconv.FormatUint(v, 10)
		}
		return int64(v)
	case nil, string, int64, bool:
		return v
	}
	text, err := expr.FormatText(v)
	if err != nil {
		return nil
	}
	return text
}
