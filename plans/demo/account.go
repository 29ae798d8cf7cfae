package demo

import (
	"fmt"
	"html"
	"net/http"
	"strings"
)

const loginPage = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head><body>
<h1>Sign in</h1>
<form method="post" action="/login">
<input type="hidden" name="csrf" value="%s">
<label>E-mail <input type="email" name="email"></label>
<label>Password <input type="password" name="password"></label>
<button>Sign in</button>
</form>
</body></html>
`

func (s *shop) loginForm(w http.ResponseWriter, r *http.Request) {
	token, _ := s.visit(w, r)
	w.Header().Set("Cache-Control", "no-store")
	send(w, http.StatusOK, typeHTML, fmt.Appendf(nil, loginPage, s.signer.mac("csrf", token)))
}

// loginPost answers 403 unless the form carries the csrf value that belongs to
// the visit cookie, 401 for a wrong password, else 303 to the account.
func (s *shop) loginPost(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		sendError(w, http.StatusBadRequest, "form cannot be read")
		return
	}
	c, err := r.Cookie(visitCookie)
	if err != nil || !same(r.PostForm.Get("csrf"), s.signer.mac("csrf", c.Value)) {
		sendError(w, http.StatusForbidden, "csrf value does not belong to this visit")
		return
	}
	id := accountID(r.PostForm.Get("email"), r.PostForm.Get("password"))
	if id == 0 {
		sendError(w, http.StatusUnauthorized, "wrong e-mail or password")
		return
	}
	setCookie(w, sidCookie, s.newSession(id))
	w.Header().Set("Location", "/account")
	send(w, http.StatusSeeOther, typeText, []byte("see /account\n"))
}

type person struct {
	ID    int    `json:"id"`
	Email string `json:"email"`
}

func (s *shop) apiLogin(w http.ResponseWriter, r *http.Request) {
	var in struct{ Email, Password string }
	if !readJSON(w, r, &in) {
		return
	}
	id := accountID(in.Email, in.Password)
	if id == 0 {
		sendError(w, http.StatusUnauthorized, "wrong e-mail or password")
		return
	}
	token := s.newSession(id)
	setCookie(w, sidCookie, token)
	sendJSON(w, http.StatusOK, struct {
		Token string `json:"token"`
		User  person `json:"user"`
	}{token, person{id, emailOf(id)}})
}

// account shows who is signed in, as JSON when the client prefers it, and
// renews the session cookie that the request came with.
func (s *shop) account(w http.ResponseWriter, r *http.Request) {
	who, ok := s.mustSignIn(w, r)
	if !ok {
		return
	}
	if c, err := r.Cookie(sidCookie); err == nil {
		if _, ok := s.byToken(c.Value); ok {
			setCookie(w, sidCookie, c.Value)
		}
	}
	p := person{who.id, emailOf(who.id)}
	if strings.Contains(r.Header.Get("Accept"), "json") {
		sendJSON(w, http.StatusOK, map[string]person{"user": p})
		return
	}
	const page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Your account</title></head><body>\n" +
		"<h1>Your account</h1>\n<p id=\"email\">%s</p>\n</body></html>\n"
	send(w, http.StatusOK, typeHTML, fmt.Appendf(nil, page, html.EscapeString(p.Email)))
}
