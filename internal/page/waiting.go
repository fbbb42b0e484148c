package page

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/web"
)

// Waiting is a sign-in at an identity provider that the browser was led to (package oidc).
type Waiting struct {
	Secret string // of this browser; empty: it waits for nothing
	Link   bool   // the identity is linked with the account of the session
	Back   string // where the browser goes then
}

// maxBack bounds the address in the cookie, in bytes.
const maxBack = 2000

// waitingAge is how long somebody may take to sign in there, in seconds.
const waitingAge = 15 * 60

// waitingCookie is the cookie that keeps it, as a session's is kept.
func waitingCookie(r *http.Request) *http.Cookie {
	c := sessionCookie(r)
	c.Name = strings.Replace(c.Name, "arbor_session", "arbor_waiting", 1)
	return c
}

// SetWaiting keeps a sign-in in the browser.
func SetWaiting(w http.ResponseWriter, r *http.Request, wait Waiting) {
	if len(wait.Back) > maxBack {
		wait.Back = "/"
	}
	mode := "s"
	if wait.Link {
		mode = "l"
	}
	c := waitingCookie(r)
	c.Value = wait.Secret + "." + mode + "." + base64.RawURLEncoding.EncodeToString([]byte(wait.Back))
	c.MaxAge = waitingAge
	http.SetCookie(w, c)
}

// TakeWaiting returns what the browser keeps, and removes it: it counts once.
func TakeWaiting(w http.ResponseWriter, r *http.Request) (wait Waiting) {
	c, err := r.Cookie(waitingCookie(r).Name)
	if err != nil {
		return wait
	}
	gone := waitingCookie(r)
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	parts := strings.Split(c.Value, ".")
	if len(parts) != 3 {
		return wait
	}
	back, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return wait
	}
	return Waiting{Secret: parts[0], Link: parts[1] == "l", Back: string(back)}
}

// Callback is the address to which a provider leads the browser back: its administrator registers it.
func Callback(r *http.Request, provider string) string {
	return web.From(r.Context()).Page("/login/oidc/" + url.PathEscape(provider) + "/callback")
}
