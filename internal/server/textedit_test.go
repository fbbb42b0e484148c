package server_test

import (
	"net/http"
	"strings"
	"testing"

	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Editing another user's text, or transferring it, counts for the rate of the editor. Otherwise the owner
// of a repository could use up the rates of everyone who has written there, and write without a limit.
func TestEditsOfOthersCountInTheEditorsRate(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "mallory", "bob")
		s.Repo(t, "mallory/trap", false)
		s.Repo(t, "mallory/other", false)
		s.Repo(t, "bob/garden", false)
		s.Check(t, apitest.Case{Do: "POST /repos/mallory/other/issues", As: "mallory", Status: 201,
			Send: `{"title": "x", "body": "@alice @bob"}`})
		if n := textOfAccounts(t, s); n["alice"]+n["bob"] != 0 {
			t.Errorf("mentions count for whom they name: %v", n)
		}
		s.Check(t, apitest.Case{Do: "POST /repos/mallory/trap/issues", As: "alice", Status: 201, Send: `{"title": "x"}`})
		s.Check(t, apitest.Case{Do: "POST /repos/mallory/trap/issues/1/comments", As: "alice", Status: 201,
			Send: `{"body": "x"}`})
		edit := func(path, letter string, status int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: http.MethodPatch + " " + path, As: "mallory", Status: status,
				Send: `{"body": "` + strings.Repeat(letter, 40_000) + `"}`})
		}
		edit("/repos/mallory/trap/issues/1", "a", 200)
		edit("/repos/mallory/trap/issues/comments/1", "a", 200)
		edit("/repos/mallory/trap/issues/1", "b", 403)
		edit("/repos/mallory/trap/issues/comments/1", "b", 403)
		s.Check(t, apitest.Case{Do: "POST /repos/mallory/other/issues", As: "mallory", Status: 403,
			Send: `{"title": "x", "body": "` + strings.Repeat("a", 40_000) + `"}`})
		mine := apitest.Case{Do: "POST /repos/bob/garden/issues", As: "alice", Status: 201,
			Send: `{"title": "x", "body": "` + strings.Repeat("a", 40_000) + `"}`}
		s.Check(t, mine)
		s.Check(t, mine)
		mine.Status = 403
		s.Check(t, mine)
		soundTexts(t, s)
	}, func(o *server.Options) { o.TextRate = 100_000 })
}

// What the bot of an App wrote within the hour counts for the App's owner also once the App is removed. If
// this failed, who makes and removes Apps would write without a rate.
func TestRemovedAppsCountInTheirOwnersRate(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		a := s.Bot(t, "helper", "alice", "issues=write,metadata=read")
		issue := apitest.Case{Do: "POST /repos/alice/garden/issues", As: "helper[bot]", Status: 201,
			Send: `{"title": "x", "body": "` + strings.Repeat("a", 60_000) + `"}`}
		s.Check(t, issue)
		testkit.NoError(t, s.Server.Forge().Apps.Remove(t.Context(), a.Slug))
		issue.As, issue.Status = "alice", 403
		s.Check(t, issue)
		soundTexts(t, s)
	}, func(o *server.Options) { o.TextRate = 100_000 })
}
