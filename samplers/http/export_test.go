package http

import "runner/samplers/http/h1"

// SpoilReleased makes what is given back useless until it is lent again, so that
// whoever still reads it shows.
func SpoilReleased(on bool) {
	spoil = nil
	if on {
		spoil = spoilCall
	}
}

func spoilCall(l *call) {
	for _, b := range [][]byte{l.text, l.base, l.path, l.head, l.cookie, l.body, l.target, l.url, l.res.Body, l.res.Reason} {
		for i := range b {
			b[i] = '!'
		}
	}
	for i := range l.res.Headers() {
		h := l.res.Header(i)
		clear(h.Name)
		clear(h.Value)
	}
	l.own = h1.Request{TLS: true, Addr: "released.invalid:1", Host: "released.invalid", Method: "RELEASED", NoCookies: true, OmitLength: true,
		ExpectContinue: true, MaxBody: 1, MaxHeader: 1, MaxRatio: 1, Length: -1, BodyReader: &l.stream, Timeouts: h1.Timeouts{Total: 1}}
	l.res.Status, l.res.Requests, l.res.Method, l.res.WireBody = 999, 999, "RELEASED", -1
	l.sent, l.authorized, l.token = true, true, "released"
}

// IsIdle reports whether the sample's exchange holds nothing that is lent.
func IsIdle(private any) bool { return private.(*exchange).call == nil }
