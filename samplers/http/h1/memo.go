package h1

// maxMemo is up to how many bytes of a head are remembered.
const maxMemo = 1 << 10

// memo is the last head that was parsed in a buffer. A server's answers begin
// alike but for the date, which changes once a second, so most heads need only be
// compared. It lies with the buffer, as the few that are in use stay in the
// processor's cache.
type memo struct {
	head          []byte
	fields        []field
	frame         framing
	status, minor int
	reason        field
}

// recall fills res if input begins with the remembered head, and that is no longer
// than limit (0 is none).
func (m *memo) recall(input []byte, limit int, res *Response) bool {
	n := len(m.head)
	if n == 0 || n > len(input) || limit > 0 && n > limit || string(input[:n]) != string(m.head) {
		return false
	}
	res.fields = append(res.fields, m.fields...)
	res.frame, res.Status, res.Minor, res.reason = m.frame, m.status, m.minor, m.reason
	return true
}

// remember keeps what was made of a head.
func (m *memo) remember(head []byte, res *Response) {
	if len(head) > maxMemo {
		return
	}
	m.head = append(m.head[:0], head...)
	m.fields = append(m.fields[:0], res.fields...)
	m.frame, m.status, m.minor, m.reason = res.frame, res.Status, res.Minor, res.reason
}
