package page

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Done redirects the browser to a page of this site after a form was taken. That page shows the message once:
// neither reloading it nor the back button shows it again.
func Done(w http.ResponseWriter, r *http.Request, path, what string) error {
	return tell(w, r, path, doneMark+what)
}

// LeadOut leads the browser to an address of a program, which learns nothing else.
func LeadOut(w http.ResponseWriter, r *http.Request, to string) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// PartlyDone is Done for a form that failed in part. The message is shown as a warning.
func PartlyDone(w http.ResponseWriter, r *http.Request, path, what string) error {
	return tell(w, r, path, partlyMark+what)
}

const (
	doneMark   = "+"
	partlyMark = "-"

	maxDone = 300 // bytes of the message
	doneAge = 60  // seconds within which the page must be opened
)

// doneCookie is the cookie with the message until the next page shows it, so the server keeps no state. It
// has the attributes of the session cookie. Its value is not trusted: anyone who can set cookies in a
// browser can make a page show a text there.
func doneCookie(r *http.Request) *http.Cookie {
	c := sessionCookie(r)
	c.Name = strings.Replace(c.Name, "session", "done", 1)
	return c
}

// tell redirects the browser and sets a cookie whose message only that page shows, and only to this caller.
// Forms that a script sends set none: nobody would see the page.
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

// doneFor is a hash of the page's path and of the request's caller.
func doneFor(r *http.Request, path string) string {
	var id int64
	if v := viewer(r); v != nil {
		id = v.ID
	}
	sum := sha256.Sum256([]byte(strconv.FormatInt(id, 10) + " " + path))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// readDone copies the cookie's message into the frame, if it is for this page and caller and a person opens
// the page.
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

// said reports whether the page shows a message.
func (f Frame) said() bool { return f.Done != "" || f.Partly != "" }

// doneSaid replaces the message once it was shown, until another page ends the cookie. Chromium keeps pages
// for the back button, even those with no-store; it drops these when an HttpOnly cookie changes.
const doneSaid = "said"

// sayOnce takes the message of a view out of the cookie, and keeps the page out of caches. It reports whether
// the view has one.
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
