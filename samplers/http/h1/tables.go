package h1

const tokenChars = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// targetChars are those that may stand in a request target as they are:
// RFC 3986's, "%" (escapes are the writer's business) and brackets, which
// query strings use everywhere.
const targetChars = "%-._~!$&'()*+,;=:@/?[]0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

var (
	token    = setOf(tokenChars)
	inTarget = setOf(targetChars)
	lower    = lowerTable()
)

func setOf(chars string) (set [256]bool) {
	for i := range len(chars) {
		set[chars[i]] = true
	}
	return set
}

func lowerTable() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] = byte(i) + 'a' - 'A'
		}
	}
	return t
}
