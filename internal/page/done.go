package page

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Done leads the browser to a page of this site after a form was taken. That page says once what was done; it
// does not say it again when it is loaded again or come back to.
func Done(w http.ResponseWriter, r *http.Request, path, what string) error {
	return tell(w, r, path, doneMark+what)
}

// PartlyDone is Done where a part of what the form asked for could not be done.
func PartlyDone(w http.ResponseWriter, r *http.Request, path, what string) error {
	return tell(w, r, path, partlyMark+what)
}

const (
	doneMark   = "+"
	partlyMark = "-"

	maxDone = 300 // bytes of what is said
	doneAge = 60  // seconds within which the page must be opened
)

// doneCookie is the cookie that holds what was done until the next page says it, so the server keeps nothing.
// It has the session cookie's guards. It is no proof of anything: who can put cookies into a browser can have a
// page say something, as text.
func doneCookie(r *http.Request) *http.Cookie {
	c := sessionCookie(r)
	c.Name = strings.Replace(c.Name, "session", "done", 1)
	return c
}

// tell leads the browser to a page, and leaves a cookie that only that page shows, and only to this caller. A
// script that sends a form by itself shows no page.
func tell(w http.ResponseWriter, r *http.Request, path, text string) error {
	to, err := url.Parse(path)
	if mode := r.Header.Get("Sec-Fetch-Mode"); err == nil && (mode == "" || mode == "navigate") {
		text = strings.ToValidUTF8(text[:min(len(text), maxDone)], "")
		c := doneCookie(r)
		c.MaxAge = doneAge
		c.Value = doneFor(r, to.Path) + "." + base64.RawURLEncoding.EncodeToString([]byte(text))
		http.SetCookie(w, c)
	}
	return SeeOther(w, r, path)
}

// doneFor names the page at a path as the request's caller sees it.
func doneFor(r *http.Request, path string) string {
	var id int64
	if v := viewer(r); v != nil {
		id = v.ID
	}
	sum := sha256.Sum256([]byte(strconv.FormatInt(id, 10) + " " + path))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// readDone puts into the frame what the request's cookie has for this page, if a person opens it.
func (f *Frame) readDone(r *http.Request) {
	c, err := r.Cookie(doneCookie(r).Name)
	if dest := r.Header.Get("Sec-Fetch-Dest"); err != nil || r.Method != http.MethodGet ||
		dest != "" && dest != "document" {
		return
	}
	page, encoded, _ := strings.Cut(c.Value, ".")
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || page != doneFor(r, r.URL.Path) {
		return
	}
	if what, partly := strings.CutPrefix(string(text), partlyMark); partly {
		f.Partly = what
	} else {
		f.Done = strings.TrimPrefix(string(text), doneMark)
	}
}

// said reports that the page says what was done.
func (f Frame) said() bool { return f.Done != "" || f.Partly != "" }

// doneSaid is in the cookie once the page was shown, until another page ends the cookie. Browsers keep whole
// pages for people who come back to them; one that no cache may have they drop when such a cookie changes.
const doneSaid = "said"

// sayOnce makes sure that what a view says of a form is said no more, and keeps the page out of caches. It
// reports whether the view says something.
func sayOnce(w http.ResponseWriter, r *http.Request, view any) bool {
	v, framed := view.(interface{ said() bool })
	if !framed {
		return false
	}
	c := doneCookie(r)
	if v.said() {
		c.Value, c.MaxAge = doneSaid, 10*doneAge
		http.SetCookie(w, c)
		w.Header().Set("Cache-Control", "no-store")
		return true
	}
	if was, err := r.Cookie(c.Name); err == nil && was.Value == doneSaid {
		c.MaxAge = -1
		http.SetCookie(w, c)
	}
	return false
}
