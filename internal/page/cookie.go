package page

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/web"
)

// SetSession gives the browser a session: only this site gets it back, no script reads it, and behind TLS it never
// travels without.
func SetSession(w http.ResponseWriter, r *http.Request, value string) {
	http.SetCookie(w, &http.Cookie{Name: account.SessionCookie, Value: value, Path: "/", HttpOnly: true,
		Secure:   strings.HasPrefix(web.From(r.Context()).Site, "https:"),
		SameSite: http.SameSiteLaxMode, MaxAge: int(account.SessionAge.Seconds())})
}

// NoSession takes a browser's session back.
func NoSession() *http.Cookie {
	return &http.Cookie{Name: account.SessionCookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: -1}
}

// Origin is where a request comes from, for what is kept of sessions.
func Origin(r *http.Request) account.Origin {
	return account.Origin{Address: web.From(r.Context()).From, Agent: r.UserAgent()}
}
