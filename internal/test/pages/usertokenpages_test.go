package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/oauth"
	"arbor/internal/test/apitest"
)

// Pages show an App that acts for a user what everybody sees: they name no permission that an installation could have.
func TestUserTokensOpenNoPages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		for _, name := range []string{"garden", "field"} {
			made := s.Do(t, apitest.Case{Do: "POST /user/repos", As: "alice",
				Send: fmt.Sprintf(`{"name": %q, "private": %t, "auto_init": true}`, name, name == "garden")})
			if made.Status != 201 {
				t.Fatalf("%d %s", made.Status, made.Body)
			}
			s.Ask(t, "alice", "POST /repos/alice/"+name+"/issues", `{"title": "hush"}`, 201)
		}
		c := newAppClient(t, s, "metadata=read", oauth.About{}, "")
		got := c.redeem(t, s, c.allow(t, s, s.PasswordSession(t, "alice")))
		c.Install(t, "alice", "garden")
		works(t, s, fmt.Sprint(got["access_token"]), true)
		for path, status := range map[string]int{"garden": 404, "field": 200} {
			for _, page := range []string{"", "/blob/main/README.md", "/issues", "/issues/1", "/commits/main", "/pulls",
				"/releases", "/blame/main/README.md"} {
				r := bearing(got["access_token"], "GET /alice/"+path+page, status)
				r.Headers["Accept"] = "text/html"
				s.Check(t, r)
			}
		}
		r := bearing(got["access_token"], "GET /search?q=hush&type=issues", 200)
		r.Headers["Accept"] = "text/html"
		if found := string(s.Check(t, r).Body); strings.Contains(found, "alice/garden") || !strings.Contains(found, "alice/field") {
			t.Errorf("a search finds %.300s", found)
		}
	})
}
