package settings

import (
	"net/http"
	"strings"

	"arbor/internal/account/session"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// sessionRow is a browser that is signed in.
type sessionRow struct {
	session.Session
	This bool // it makes the request
}

// Browser is the browser's name in few words, as far as it is recognized.
func (s *sessionRow) Browser() string {
	name, system := "", ""
	for _, known := range [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"}, {"curl/", "curl"}} {
		if strings.Contains(s.Agent, known[0]) {
			name = known[1]
			break
		}
	}
	for _, known := range [][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"},
		{"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}} {
		if strings.Contains(s.Agent, known[0]) {
			system = known[1]
			break
		}
	}
	switch {
	case name == "":
		return page.Clip(s.Agent, 80).Text
	case system == "":
		return name
	}
	return name + " on " + system
}

// How says in words how the session was made.
func (s *sessionRow) How() string {
	if provider, is := strings.CutPrefix(s.MadeWith, session.WithProvider); is {
		return "Identity of " + provider
	}
	if way, is := strings.CutPrefix(s.MadeWith, session.WithDirectory); is {
		directory, factor, _ := strings.Cut(way, "+")
		return "Password of " + directory + map[string]string{"totp": " and authenticator app",
			"recovery": " and recovery code", "passkey": " and passkey"}[factor]
	}
	return map[string]string{"password": "Password", "password+totp": "Password and authenticator app",
		"password+recovery": "Password and recovery code", "password+passkey": "Password and passkey",
		"passkey": "Passkey", "token": "Token", "setup": "Setup of the server", "signup": "Sign-up"}[s.MadeWith]
}

type sessionsView struct {
	view
	List   []sessionRow
	Others bool // there are more than this one
}

// GET /settings/sessions
//
// Sessions lists the browsers that are signed in as the caller.
func (p *Pages) Sessions(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "sessions", "Sessions")
	if err != nil {
		return err
	}
	v, by := &sessionsView{view: f}, caller(r)
	list, err := p.sessions.Sessions(r.Context(), by)
	if err != nil {
		return err
	}
	for _, s := range list {
		this := s.ID == by.TokenID
		v.List, v.Others = append(v.List, sessionRow{s, this}), v.Others || !this
	}
	return p.t.Page(w, r, "sessions.html", v)
}

// POST /settings/sessions
//
// EndSessions ends the session id, or with do=others all but this one.
func (p *Pages) EndSessions(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	by := caller(r)
	id, _ := web.ParseNumber(f.Get("id"))
	done := "The session was ended."
	switch {
	case f.Get("do") == "others":
		done = "All other sessions were ended."
		err = p.sessions.EndOtherSessions(r.Context(), by)
	default:
		err = p.sessions.EndSession(r.Context(), by, id)
	}
	if errs.Is(err, errs.NotFound) && id != 0 { // it has ended
		err = nil
	}
	if err != nil {
		return err
	}
	if by.Session && id == by.TokenID && f.Get("do") != "others" {
		page.EndSession(w, r)
		return page.SeeOther(w, r, "/")
	}
	return page.Done(w, r, "/settings/sessions", done)
}
