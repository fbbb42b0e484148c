package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// What completes a mention is what its writer may see: teams only for members of the organization, secret ones for
// those in them. Emojis come by their beginning. No answer is longer than the list, and nothing typed is an error.
func TestCompletions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "olive", "mia", "zoe")
		s.Org(t, "guild", "olive")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/memberships/mia", As: "olive", Status: 200})
		s.Repo(t, "guild/plot", false)
		for _, team := range []string{`{"name": "Mowers", "privacy": "closed"}`, `{"name": "Moles", "privacy": "secret"}`} {
			s.Check(t, apitest.Case{Do: "POST /orgs/guild/teams", As: "olive", Send: team, Status: 201})
		}
		ask := func(who, q string, shows ...string) {
			t.Helper()
			a := as(t, s, who).get("/guild/plot/suggest?q=" + url.QueryEscape(q))
			a.Shows(t, 200, shows...)
			if n := strings.Count(string(a.Body), "<li"); n > 8 {
				t.Errorf("%s: %d suggestions", q, n)
			}
		}
		ask("olive", "@mo", `"@guild/mowers "`, `"@guild/moles "`)
		ask("olive", "@m", `"@mia "`, `"@guild/mowers "`)
		ask("mia", "@mo", `"@guild/mowers "`, "!moles")
		ask("mia", "@guild/m", `"@guild/mowers "`, "!moles", "!@mia")
		ask("mia", "@gui", `"@guild/mowers "`)
		ask("mia", "@other/m", "!<li")
		ask("zoe", "@mo", "!mowers", "!moles")
		ask("zoe", "@guild/", "!<li")
		ask("", "@guild/", "!<li")
		ask("mia", ":smil", `":smile: "`, "😄")
		ask("mia", ":+", "👍")
		ask("mia", ":", "!<li")
		ask("mia", "@%_", "!<li")
		for _, q := range []string{":<b>", "@" + strings.Repeat("é/", 500), "#" + strings.Repeat("9", 300), "@\xff/\xff", "x", "",
			"@guild/%", "@guild/_"} {
			ask("mia", q, "!<li")
		}
		s.Check(t, apitest.Case{Do: "DELETE /orgs/guild/members/mia", As: "olive", Status: 204})
		ask("mia", "@guild/", "!<li")
	})
}
