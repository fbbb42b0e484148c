package pages_test

import (
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// The server shows its documentation, with links between its pages.
func TestHelp(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Visit(t, "", "GET /help").Shows(t, 200, `href="/help/first-steps"`, "!.md")
	s.Visit(t, "", "GET /help/install").Shows(t, 200, "<title>Install", `href="/help/limits"`, "!.md\"")
	s.Visit(t, "", "GET /help/security").Shows(t, 200, `href="/help/users#user-content-when-a-person-leaves"`)
	s.Visit(t, "", "GET /help/README").Shows(t, 404)
	s.Visit(t, "", "GET /help/none").Shows(t, 404)
}
