package pages_test

import (
	"fmt"
	"testing"

	"arbor/internal/test/apitest"
)

// People react to releases on their pages, and take that back; who is not signed in sees how many did.
func TestReactToReleases(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releasesPlant(t, s)
		const at = releasesAt + "/tag/v1"
		s.Visit(t, "alice", "POST "+releasesAt+"/new", "action", "publish", "tag", "v1").Leads(t, at)
		var made struct{ ID int64 }
		s.Ask(t, "alice", "GET /repos/alice/plot/releases/tags/v1", "", 200).JSON(t, &made)
		to := fmt.Sprint(releasesAt, "/", made.ID, "/reactions")
		s.Visit(t, "", "GET "+at).Shows(t, 200, `!class="reactions"`)
		s.Visit(t, "sam", "GET "+releasesAt).Shows(t, 200, `name="content" value="rocket"`, `!name="content" value="-1"`)
		s.Visit(t, "sam", "POST "+to, "content", "rocket", "return_to", at).Leads(t, fmt.Sprint(at, "#release-", made.ID))
		s.Visit(t, "sam", "POST "+to, "content", "confused").Shows(t, 422)
		s.Visit(t, "sam", "POST "+releasesAt+"/99/reactions", "content", "rocket").Shows(t, 404)
		s.Visit(t, "sam", "GET "+at).Shows(t, 200, `aria-pressed="true" aria-label="rocket, 1"`)
		s.Visit(t, "bob", "GET "+at).Shows(t, 200, `aria-pressed="false" aria-label="rocket, 1"`)
		s.Visit(t, "", "GET "+at).Shows(t, 200, "🚀", "!<button class=\"small\" name=\"content\"")
		s.Visit(t, "sam", "POST "+to, "content", "rocket", "return_to", at)
		s.Visit(t, "", "GET "+at).Shows(t, 200, "!🚀")
	})
}
