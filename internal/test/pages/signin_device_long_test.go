//go:build long

package pages_test

import (
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// The page works by keyboard in a browser without scripts.
func TestDevicePageInABrowser(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "alice", "a long secret", nil))
	device, code := codes(t, s)
	b := browser.Open(t, s.URL, browser.Look{NoScript: true})
	b.Go("/login/device")
	b.Fill("#login", "alice")
	b.Press("\t")
	b.Press("a long secret\r")
	b.See("label", "Code shown by the program")
	b.Press(code + "\r")
	b.See("form.box", "GitHub CLI")
	b.Click("button.main")
	b.See("p.note", "can now act as you")
	if token := polled(t, s, device)["access_token"]; token == "" {
		t.Error("there is no token")
	}
}
