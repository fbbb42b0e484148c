package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// A browser keeps the theme that somebody chose in it, signed in or not, and forgets it again.
func TestTheme(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Visit(t, "", "GET /explore").Shows(t, 200, "!data-theme")
	choose := func(theme, from string) *apitest.Answer {
		return s.Do(t, apitest.Case{Do: "POST /settings/theme", Send: apitest.Form("theme", theme),
			Headers: map[string]string{"Referer": from, "Content-Type": apitest.FormType}})
	}
	for theme, shows := range map[string]string{"dark": `data-theme="dark"`, "light": `data-theme="light"`, "": "!data-theme",
		`"><script>`: "!data-theme"} {
		a := choose(theme, s.URL+"/explore?q=x")
		a.Leads(t, "/explore?q=x")
		cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
		if !strings.Contains(cookie, "arbor_theme=") || strings.ContainsAny(cookie, `<"`) {
			t.Errorf("%s: the cookie is %s", theme, cookie)
		}
		s.Do(t, apitest.Case{Do: "GET /explore", Headers: map[string]string{"Cookie": cookie, "Accept": "text/html"}}).
			Shows(t, 200, shows)
	}
	for _, from := range []string{"", "https://example.org/a", s.URL + ".example.org/a", s.URL + "//example.org/a"} {
		choose("dark", from).Leads(t, "/")
	}
}
