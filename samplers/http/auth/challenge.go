// Package auth proves to HTTP servers who asks: digest (RFC 7616), NTLM version 2
// (MS-NLMP) and the signatures of AWS (version 4). Each is an h1.Authorizer of
// one thread.
package auth

import (
	"strings"

	"runner/samplers/http/h1"
)

// challenge is one scheme of a WWW-Authenticate header with its parameters.
type challenge struct {
	scheme string            // in lower case
	token  string            // of schemes that send one blob
	params map[string]string // names in lower case
}

// maxParams bounds what is read of one answer.
const maxParams = 64

// challenges returns what an answer asks for.
func challenges(res *h1.Response) []challenge {
	var all []challenge
	for _, value := range res.Values("WWW-Authenticate") {
		all = append(all, parseChallenges(string(value))...)
		if len(all) > maxParams {
			break
		}
	}
	return all
}

// parseChallenges reads a list of challenges; what cannot be read is left out.
func parseChallenges(text string) []challenge {
	var all []challenge
	for n := 0; n < maxParams; n++ {
		text = strings.TrimLeft(text, " \t,")
		word, rest := token(text)
		if word == "" {
			return all
		}
		if after := strings.TrimLeft(rest, " \t"); strings.HasPrefix(after, "=") && len(all) > 0 {
			var value string
			value, text = paramValue(strings.TrimLeft(after[1:], " \t"))
			last := &all[len(all)-1]
			if name := strings.ToLower(word); last.params[name] == "" {
				last.params[name] = value
			}
			continue
		}
		c := challenge{scheme: strings.ToLower(word), params: map[string]string{}}
		text = strings.TrimLeft(rest, " \t")
		if blob, after, ok := token68(text); ok && text != rest {
			c.token, text = blob, after
		}
		all = append(all, c)
	}
	return all
}

func isToken(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

func token(text string) (word, rest string) {
	end := 0
	for end < len(text) && isToken(text[end]) {
		end++
	}
	return text[:end], text[end:]
}

// token68 reads a blob that ends the challenge.
func token68(text string) (blob, rest string, ok bool) {
	end := 0
	for end < len(text) && (isToken(text[end]) || text[end] == '/') {
		end++
	}
	if end == 0 {
		return "", text, false
	}
	for end < len(text) && text[end] == '=' {
		end++
	}
	rest = strings.TrimLeft(text[end:], " \t")
	return text[:end], rest, rest == "" || rest[0] == ','
}

// paramValue reads a token or a quoted text.
func paramValue(text string) (value, rest string) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, ", \t")
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:]
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return b.String(), text[i+1:]
		case text[i] == '\\' && i+1 < len(text):
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String(), ""
}
