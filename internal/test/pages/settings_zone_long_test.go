//go:build long

package pages_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// The script shows times in the browser's time zone until another is chosen. The settings offer the browser's, also
// by a name that the list does not have. Due dates are the same days everywhere.
func TestTimeZoneInABrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice")
	s.Repo(t, "alice/garden", false)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/milestones", As: "alice", Status: 201,
		Send: `{"title": "Spring", "due_on": "2030-03-05T08:00:00Z"}`})
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a.txt", As: "alice", Status: 201,
		Send: `{"message": "Sow", "content": "YQo=", "author": {"name": "A", "email": "a@example.org",
			"date": "2020-05-31T22:30:00Z"}, "committer": {"name": "A", "email": "a@example.org",
			"date": "2020-05-31T22:30:00Z"}}`})
	const blame, due = "/alice/garden/blame/main/a.txt", "/alice/garden/milestones"
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "alice"))
	title := func(path string) (title string) {
		b.Go(path)
		b.Eval(`document.querySelector("main time").title + "|" + document.querySelector("main time").textContent`, &title)
		return title
	}
	b.Run(emulation.SetTimezoneOverride("Asia/Calcutta"))
	if got := title(blame); !strings.HasPrefix(got, "1 June 2020 at 04:00") {
		t.Errorf("in the browser's zone: %s", got)
	}
	b.Go("/settings/account")
	if flaws := b.Flaws(); len(flaws) > 0 {
		t.Errorf("%q", flaws)
	}
	b.See("[data-zones] + button", "Use Asia/Calcutta")
	b.Click("[data-zones] + button")
	b.Follow("form:has([data-zones]) button.main")
	b.See("[role=status]", "Your time zone was saved.")
	b.Run(emulation.SetTimezoneOverride("America/Los_Angeles"))
	if got := title(blame); got != "1 June 2020, 04:00 IST|1 Jun 2020" {
		t.Errorf("in the chosen zone: %s", got)
	}
	if got := title(due); !strings.HasSuffix(got, "|5 March 2030") || strings.HasPrefix(got, "4") {
		t.Errorf("a due date: %s", got)
	}
	b.Go("/settings/account")
	b.See("[data-zones] + button", "Use America/Los_Angeles")
	b.Resize(360, 800)
	if flaws := append(b.Layout(), b.Flaws()...); len(flaws) > 0 {
		t.Errorf("on a phone: %q", flaws)
	}
}
