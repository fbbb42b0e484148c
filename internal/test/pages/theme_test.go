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
	for theme, shows := range map[string]string{"dark": `data-theme="dark"`, "light": `data-theme="light"`, "": "!data-theme",
		`"><script>`: "!data-theme"} {
		a := s.Visit(t, "", "POST /settings/theme", "theme", theme, "return_to", "/explore")
		a.Leads(t, "/explore")
		cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
		if !strings.Contains(cookie, "arbor_theme=") || strings.ContainsAny(cookie, `<"`) {
			t.Errorf("%s: the cookie is %s", theme, cookie)
		}
		s.Do(t, apitest.Case{Do: "GET /explore", Headers: map[string]string{"Cookie": cookie, "Accept": "text/html"}}).
			Shows(t, 200, shows)
	}
	s.Visit(t, "", "POST /settings/theme", "theme", "dark", "return_to", "https://example.org/").Leads(t, "/")
}
