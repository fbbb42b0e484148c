package issuetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// File files an issue and returns its address.
func File(t testing.TB, s *apitest.Server, as, repository string) string {
	t.Helper()
	var made struct{ Number int64 }
	s.Check(t, apitest.Case{Do: "POST /repos/" + repository + "/issues", As: as,
		Send: `{"title": "Slugs"}`, Status: 201}).JSON(t, &made)
	return fmt.Sprintf("/repos/%s/issues/%d", repository, made.Number)
}

// FilePull creates the issue of a pull request, as package pull does.
func FilePull(t testing.TB, s *apitest.Server, as, repository string) string {
	t.Helper()
	who, err := db.Get(t.Context(), s.DB, func(tx *db.Tx) (*account.Account, error) {
		return account.ByLogin(tx, as)
	})
	testkit.NoError(t, err)
	owner, name, _ := strings.Cut(repository, "/")
	f, err := s.Repos.Find(t.Context(), &account.Caller{ID: who.ID, Login: who.Login}, owner, name)
	testkit.NoError(t, err)
	made, err := issue.New(s.DB, s.Repos, nil, s.Forge).Create(t.Context(), &f.Access,
		issue.NewIssue{Title: "Nets", Pull: true})
	testkit.NoError(t, err)
	return fmt.Sprintf("/repos/%s/issues/%d", repository, made.Number)
}

// Comment comments and returns the comment's id.
func Comment(t testing.TB, s *apitest.Server, as, on, text string) int64 {
	t.Helper()
	send, err := json.Marshal(map[string]string{"body": text})
	testkit.NoError(t, err)
	var made struct{ ID int64 }
	s.Check(t, apitest.Case{Do: "POST " + on + "/comments", As: as, Send: string(send), Status: 201}).JSON(t,
		&made)
	return made.ID
}

// Media asks for a media type of the interface's own dialect.
func Media(name string) map[string]string {
	return map[string]string{"Accept": "application/vnd.service." + name + "+json"}
}

// Graduated is what GitHub's clients send: all previews are on.
var Graduated = map[string]string{"Accept": "application/vnd.github.v3+json"}
