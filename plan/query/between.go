package query

import "bytes"

// Between returns the texts between left and right, at most limit of them. An
// empty left is the start of the text, an empty right its end.
func Between(text []byte, left, right string, limit int) []string {
	var found []string
	limit = min(limit, MaxMatches)
	l, r := []byte(left), []byte(right)
	for len(found) < limit {
		from := bytes.Index(text, l)
		if from < 0 {
			break
		}
		text = text[from+len(l):]
		to := len(text)
		if right != "" {
			to = bytes.Index(text, r)
		}
		if to < 0 {
			break
		}
		found = append(found, string(text[:to]))
		text = text[to+len(r):]
		if left == "" || right == "" {
			break
		}
	}
	return found
}
