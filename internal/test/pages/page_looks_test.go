//go:build long

package pages_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

const readme = `- [ ] sow
- [x] *water* \<b> & "feed"

| Plant | Sensor | Comment |
|---|---|---|
| Strawberries | -20.60 | Temperature of the greenhouse at night |
`

// Pages with long names, tables, tasks and pinned issues have no visible defects, in a wide window and on a
// phone.
func TestPagesLookWithMuchOnThem(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Admin(t, "root-gardener")
	s.User(t, "alice")
	garden := s.Repo(t, "alice/garden", false)
	s.Grant(t, garden, "root-gardener", account.Admin)
	long := "feature/" + strings.Repeat("a-branch-with-a-long-name-", 5)
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/README.md", As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"message": "first", "content": %q}`,
			base64.StdEncoding.EncodeToString([]byte(readme)))})
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"ref": "refs/heads/%s", "sha": %q}`, long,
			s.Tip(t, "alice", "alice/garden", "main"))})
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"title": "Weeds", "body": %q}`, readme)})
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/collaborators/root-gardener", As: "alice", Status: 204,
		Send: `{"permission": "pull"}`})
	s.Visit(t, "alice", "POST /alice/garden/issues/1/pin").Leads(t, "/alice/garden/issues/1")

	for _, look := range []browser.Look{{}, {Dark: true, Width: 390, Height: 844}} {
		b := browser.Open(t, s.URL, look)
		b.SignIn(s.Session(t, "root-gardener"))
		for _, path := range []string{"/alice/garden", "/alice/garden/branches", "/alice/garden/issues",
			"/alice/garden/issues/1", "/alice/garden/labels", "/site/audit"} {
			b.Go(path)
			for _, flaw := range b.Flaws() {
				t.Errorf("%+v %s: %s", look, path, flaw)
			}
		}

		// A branch's name has the width of a line, also on a phone.
		b.Go("/alice/garden/branches")
		var width, height float64
		b.Eval(`document.querySelector('a[href*="feature"]').getBoundingClientRect().width`, &width)
		b.Eval(`document.documentElement.scrollHeight`, &height)
		if width < 250 || height > 1000 {
			t.Errorf("%+v: a branch's name is %v wide, the page %v high", look, width, height)
		}

		// A task says whether it is done to people who do not see its box.
		for path, boxes := range map[string]string{"/alice/garden": "Incomplete task, Completed task",
			"/alice/garden/issues/1": `sow, water <b> & "feed"`} {
			b.Go(path)
			var names string
			b.Eval(`[...document.querySelectorAll('.said :is(input[type=checkbox], .task)')]
				.map((box) => box.ariaLabel).join(', ')`, &names)
			if names != boxes {
				t.Errorf("%+v %s: the boxes are named %q", look, path, names)
			}
		}
	}
}
