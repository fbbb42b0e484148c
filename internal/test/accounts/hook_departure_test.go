package accounts_test

import (
	"strings"
	"testing"

	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// departures pins, transfers and deletes issues of guild/garden, and returns the delivered events.
func departures(t *testing.T, s *apitest.Server, r *receiver) (all []*sent) {
	t.Helper()
	s.Repo(t, "guild/beds", false)
	s.Repo(t, "guild/cellar", true)
	beds := receive(t, nil)
	hookOn(t, s, "/repos/guild/beds", "alice", beds, `["issues"]`)
	of := func(name string) *repo.Access { return s.Access(t, "alice", "guild/"+name) }
	issues, garden := s.Forge.Issues, of("garden")
	do := func(names string, change func(number int64) error) []*sent {
		t.Helper()
		var made struct{ Number int64 }
		s.Check(t, apitest.Case{Do: "POST /repos/guild/garden/issues", As: "bob", Send: `{"title": "Peas"}`,
			Status: 201}).JSON(t, &made)
		r.expect(t, "issues.opened")
		testkit.NoError(t, change(made.Number))
		got := r.expect(t, names)
		all = append(all, got...)
		return got
	}
	do("issues.pinned issues.unpinned", func(n int64) error {
		_, err := issues.Pin(t.Context(), garden, n)
		if err == nil {
			_, err = issues.Unpin(t.Context(), garden, n)
		}
		return err
	})
	do("issues.transferred", func(n int64) error {
		_, err := issues.Transfer(t.Context(), garden, n, issue.Transfer{To: of("beds")})
		return err
	})
	come := beds.expect(t, "issues.opened")
	if body := string(come[0].Body); !strings.Contains(body, `"old_repository":{`) ||
		!strings.Contains(body, `"full_name":"guild/garden"`) {
		t.Errorf("where the issue arrives, hooks hear: %s", body)
	}
	all = append(all, come...)
	away := do("issues.deleted", func(n int64) error {
		_, err := issues.Transfer(t.Context(), garden, n, issue.Transfer{To: of("cellar")})
		return err
	})
	if strings.Contains(string(away[0].Body), "cellar") {
		t.Errorf("hooks of a public repository hear of a private one: %s", away[0].Body)
	}
	do("issues.deleted", func(n int64) error { return issues.Delete(t.Context(), garden, n) })
	for _, name := range []string{"beds", "cellar"} {
		s.Check(t, apitest.Case{Do: "DELETE /repos/guild/" + name, As: "alice", Status: 204})
	}
	return all
}
