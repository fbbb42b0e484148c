// Package served_test holds the tests of package page that need a whole server: of forms that two people
// have open, of messages and errors, and of how pages look. In the package's folder, Go would compile for
// them once more everything that imports it.
package pages_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

var shownField = regexp.MustCompile(`name="shown" value="([^"]*)"`)

// Two users have the same form open. Changes of different fields are both kept. For the same field the
// second user gets both values, with the typed text kept and nothing saved, and overwrites by saving again.
func TestClash(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Org(t, "guild", "alice")
		s.Repo(t, "alice/garden", false)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/hooks", As: "alice", Status: 201,
			Send: `{"config": {"url": "https://example.org/1", "content_type": "json", "secret": "s"}, "events": ["push"]}`})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/milestones", As: "alice", Status: 201,
			Send: `{"title": "one", "due_on": "2027-01-02T00:00:00Z"}`})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/labels", As: "alice", Status: 201,
			Send: `{"name": "weed", "color": "00ff00"}`})
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice", Status: 201,
			Send: `{"message": "a", "content": "YQo="}`})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/releases", As: "alice", Status: 201,
			Send: `{"tag_name": "v1", "target_commitish": "main"}`})
		for _, c := range []struct {
			page         string
			all          []string // what the form shows, and sends unchanged
			field, other string   // the fields that clash, and do not
			api, send    string   // what the first one does
			now, mine    string   // values shown to the second user
			api2, both   string   // what is there in the end
		}{
			{"/alice/garden/settings", []string{"do", "details", "name", "garden", "description", "",
				"homepage", "", "default_branch", "main", "has_issues", "1"},
				"description", "homepage", "PATCH /repos/alice/garden",
				`{"description": "theirs"}`, "“theirs”",
				"“https://mine.example”",
				"GET /repos/alice/garden",
				`{"description": "https://mine.example", "homepage": "https://other.example", "has_issues": true}`},
			{"/alice/garden/settings", []string{"do", "topics", "topics", ""}, "topics", "",
				"PUT /repos/alice/garden/topics", `{"names": ["roses", "bees"]}`,
				"“bees, roses”", "“https://mine.example”", "", ""},
			{"/settings/profile", []string{"name", "", "bio", "", "company", "", "location", "", "blog", ""},
				"company", "blog",
				"PATCH /user", `{"company": "theirs"}`, "“theirs”", "“https://mine.example”",
				"GET /user", `{"company": "https://mine.example", "blog": "https://other.example"}`},
			{"/orgs/guild/settings", []string{"name", "", "description", "", "email", "", "company",
				"", "blog", "", "location", "",
				"default_repository_permission", "read", "private_forks", "1"}, "location", "blog",
				"PATCH /orgs/guild", `{"location": "theirs"}`, "“theirs”", "“https://mine.example”",
				"GET /orgs/guild", `{"location": "https://mine.example", "blog": "https://other.example"}`},
			{"/alice/garden/milestones/1/edit",
				[]string{"title", "one", "description", "", "due", "2027-01-02"}, "title", "",
				"PATCH /repos/alice/garden/milestones/1",
				`{"title": "theirs", "due_on": "2027-02-03T00:00:00Z"}`,
				"“theirs”", "“https://mine.example”",
				"GET /repos/alice/garden/milestones/1",
				`{"title": "https://mine.example", "due_on": "2027-02-03T00:00:00Z"}`},
			{"/alice/garden/labels?edit=weed", []string{"was", "weed", "name", "weed", "color", "00ff00",
				"description", ""}, "description", "",
				"PATCH /repos/alice/garden/labels/weed",
				`{"description": "theirs", "color": "ff0000"}`, "“theirs”",
				"“https://mine.example”",
				"GET /repos/alice/garden/labels/weed",
				`{"description": "https://mine.example", "color": "ff0000"}`},
			{"/alice/garden/releases/edit/v1",
				[]string{"action", "save", "tag", "v1", "target", "main", "name", "",
					"body", "", "latest", ""}, "name", "body",
				"PATCH /repos/alice/garden/releases/1", `{"name": "theirs"}`, "“theirs”",
				"“https://mine.example”",
				"GET /repos/alice/garden/releases/1",
				`{"name": "https://mine.example", "body": "https://other.example"}`},
			{"/alice/garden/settings/hooks/1",
				[]string{"do", "save", "url", "https://example.org/1", "content_type",
					"json", "which", "push", "active", "1"},
				"url", "", "PATCH /repos/alice/garden/hooks/1",
				`{"config": {"url": "https://example.org/2", "content_type": "form", "secret": "********"}}`,
				"“https://example.org/2”", "“https://mine.example”",
				"GET /repos/alice/garden/hooks/1",
				`{"config": {"url": "https://mine.example", "content_type": "form", "secret": "********"}, "active": true, "events": ["push"]}`},
		} {
			to, _, _ := strings.Cut(strings.TrimSuffix(c.page, "/1/edit"), "?")
			if to != c.page && strings.HasSuffix(c.page, "/1/edit") {
				to += "/1"
			}
			shown := func(a *apitest.Answer) string {
				return html.UnescapeString(shownField.FindStringSubmatch(string(a.Body))[1])
			}
			sent := func(shown string) []string {
				form := append([]string{"shown", shown}, c.all...)
				for n := 0; n < len(form); n += 2 {
					if form[n] == c.field {
						form[n+1] = "https://mine.example"
					}
				}
				return form
			}
			first := shown(s.Visit(t, "alice", "GET "+c.page).Shows(t, 200))
			s.Check(t, apitest.Case{Do: c.api, As: "alice", Send: c.send, Status: 200})
			if c.other != "" { // the same person saved another field, with what the form showed at first
				form := append([]string{"shown", first}, c.all...)
				for n := 0; n < len(form); n += 2 {
					if form[n] == c.other {
						form[n+1] = "https://other.example"
					}
				}
				s.Visit(t, "alice", "POST "+to, form...).Shows(t, 303)
			}
			a := s.Visit(t, "alice", "POST "+to, sent(first)...)
			if body := html.UnescapeString(string(a.Body)); a.Status != 422 ||
				!strings.Contains(body, "Somebody else changed this") ||
				!strings.Contains(body, c.now) || !strings.Contains(body, c.mine) || !strings.Contains(body,
				`value="https://mine.example"`) {
				t.Errorf("%s: %d %s", c.page, a.Status, body)
				continue
			}
			again := s.Visit(t, "alice", "POST "+to, sent(shown(a))...)
			if c.api2 == "" { // the API refuses such topics, so the form was let through to it
				again.Shows(t, 422)
				continue
			}
			if again.Status != 303 {
				t.Errorf("%s: %d %s", c.page, again.Status, again.Body)
			}
			s.Check(t, apitest.Case{Do: c.api2, As: "alice", Status: 200, Want: c.both})
		}
	})
}
