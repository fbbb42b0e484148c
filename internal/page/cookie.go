package page

import (
	"net/http"
	"strings"

	"arbor/internal/account/session"
	"arbor/internal/web"
)

// sessionCookie is the cookie that holds a browser's session: only this site gets it back, and no script
// reads it. Behind TLS it never travels without, and the name makes browsers refuse one that a neighboring
// host or a plain connection set.
func sessionCookie(r *http.Request) *http.Cookie {
	c := &http.Cookie{Name: session.Cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if strings.HasPrefix(web.From(r.Context()).Site, "https:") {
		c.Name, c.Secure = "__Host-"+c.Name, true
	}
	return c
}

// SessionOf is the session that a browser sends; empty: none. It may have expired.
func SessionOf(r *http.Request) string {
	c, err := r.Cookie(sessionCookie(r).Name)
	if err != nil {
		return ""
	}
	return c.Value
}

// SetSession sets the browser's session cookie.
func SetSession(w http.ResponseWriter, r *http.Request, value string) {
	c := sessionCookie(r)
	c.Value, c.MaxAge = value, int(session.Age.Seconds())
	http.SetCookie(w, c)
}

// EndSession takes a browser's session back.
func EndSession(w http.ResponseWriter, r *http.Request) {
	c := sessionCookie(r)
	c.MaxAge = -1
	http.SetCookie(w, c)
}

// browserCookie is the cookie by which a browser is known to an account, kept as a session's is.
func browserCookie(r *http.Request) *http.Cookie {
	c := sessionCookie(r)
	c.Name = strings.Replace(c.Name, session.Cookie, session.BrowserCookie, 1)
	return c
}

// SetBrowser sets the cookie by which an account recognizes a browser that has signed in.
func SetBrowser(w http.ResponseWriter, r *http.Request, value string) {
	c := browserCookie(r)
	c.Value, c.MaxAge = value, int(session.BrowserAge.Seconds())
	http.SetCookie(w, c)
}

// Origin is where a request comes from, for what is kept of sessions.
func Origin(r *http.Request) session.Origin {
	from := session.Origin{Address: web.From(r.Context()).From, Agent: r.UserAgent()}
	if c, err := r.Cookie(browserCookie(r).Name); err == nil {
		from.Browser = c.Value
	}
	return from
}
