package page

import (
	"net/http"
	"slices"
	"strings"

	"arbor/internal/web"
)

// themes are the themes that a person may choose; without a choice pages follow the browser's.
var themes = []string{"light", "dark"}

// themeAge is for how many seconds a browser remembers the theme: a year.
const themeAge = 365 * 24 * 60 * 60

// themeCookie is the cookie with the theme of a browser, signed in or not. It has the attributes of the session
// cookie.
func themeCookie(r *http.Request) *http.Cookie {
	c := sessionCookie(r)
	c.Name = strings.Replace(c.Name, "session", "theme", 1)
	return c
}

// themeOf is the theme that the browser chose: light, dark, or empty.
func themeOf(r *http.Request) string {
	c, err := r.Cookie(themeCookie(r).Name)
	if err != nil || !slices.Contains(themes, c.Value) {
		return ""
	}
	return c.Value
}

// POST /settings/theme
//
// Theme sets the theme of the browser: light, dark, or with any other value that of its system, and leads back to
// the page that it was chosen on. Pages do not hold their own address for that: errors of hidden repositories are to
// be the same as those of absent ones.
func (k *Kit) Theme(w http.ResponseWriter, r *http.Request) error {
	form, err := ReadForm(r)
	if err != nil {
		return err
	}
	c := themeCookie(r)
	c.Value, c.MaxAge = form.Get("theme"), themeAge
	if !slices.Contains(themes, c.Value) {
		c.Value, c.MaxAge = "", -1
	}
	http.SetCookie(w, c)
	return SeeOther(w, r, cameFrom(r))
}

// cameFrom is the page of this site whose form was sent, as browsers say it; without it the home page.
func cameFrom(r *http.Request) string {
	path, is := strings.CutPrefix(r.Referer(), web.From(r.Context()).Site)
	if !is {
		return "/"
	}
	return ReturnTo(path, "/")
}
