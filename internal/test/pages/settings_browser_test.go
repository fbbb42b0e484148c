//go:build long

package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// In a real browser, with the script and without: somebody makes a token and copies it, revokes it after
// being asked, and deletes a repository by its name. A session that is ended elsewhere opens nothing any
// more.
func TestSettingsInABrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	for _, look := range []browser.Look{{}, {NoScript: true, Width: 390, Height: 800, Dark: true}} {
		s.Repo(t, "alice/garden", false)
		b := browser.Open(t, s.URL, look)
		b.SignIn(s.PasswordSession(t, "alice"))
		b.Go("/settings/tokens/new")
		b.Fill("#note", "from a browser")
		b.Click(`input[value="public_repo"]`)
		b.Follow("form.form button.main")
		b.See("h1", "Your new token")
		var token string
		b.Eval(`document.getElementById("once").value`, &token)
		s.Check(t, apitest.Case{Do: "GET /user", Headers: apitest.Bearer(token), Status: 200})
		b.Follow(`a.button[href="/settings/tokens"]`)
		b.See("main", "from a browser")
		b.Click(".box li:first-child .sure summary")
		b.Follow(".box li:first-child .sure button")
		b.See("[role=status]", "The token was revoked.")
		s.Check(t, apitest.Case{Do: "GET /user", Headers: apitest.Bearer(token), Status: 401})

		b.Go("/alice/garden/settings")
		b.Follow(`a[href="/alice/garden/settings/delete"]`)
		b.Fill("#confirm", "alice/grden")
		b.Follow("button.danger")
		b.See("[role=alert]", "Nothing was done")
		b.Fill("#confirm", "")
		b.Fill("#confirm", "alice/garden")
		b.Follow("button.danger")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 404})

		b.Go("/settings/sessions")
		as(t, s, "alice").post("/settings/sessions", "do", "others")
		b.Go("/settings/profile")
		if !strings.HasPrefix(b.Path(), "/login") {
			t.Errorf("a session that was ended elsewhere opens %s", b.Path())
		}
	}
}
