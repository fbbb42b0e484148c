package accounts_test

import (
	"testing"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// If the owner of a fork can no longer see its root, neither the owner nor an App installed there learns
// anything of the fork: it is in no list and cannot be named.
func TestWithdrawnForksAreNotTold(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		root := s.Repo(t, "alice/diary", true)
		s.Grant(t, root, "bob", account.Pull)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/diary/contents/a", As: "alice",
			Send: `{"message": "m", "content": "eA=="}`, Status: 201})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/diary/forks", As: "bob", Send: `{}`, Status: 202})
		s.Repo(t, "bob/plot", false)
		robot := s.NewApp(t, "alice", app.Manifest{Name: "robot", Public: true})
		told := func(i *app.Installation) (names []string) {
			err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
				list, err := app.QueryRepos(tx, i, nil, 10)
				names = nil
				for _, r := range list {
					names = append(names, r.FullName)
				}
				return err
			})
			testkit.NoError(t, err)
			return names
		}
		every := robot.Install(t, "bob")
		if names := told(every); len(names) != 2 {
			t.Errorf("while bob sees the root, the App is told of %q", names)
		}
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/diary/collaborators/bob", As: "alice", Status: 204})
		if names := told(every); len(names) != 1 || names[0] != "bob/plot" {
			t.Errorf("afterwards it is told of %q", names)
		}
		other := s.NewApp(t, "alice", app.Manifest{Name: "other", Public: true})
		_, err := s.Server.Forge().Apps.Install(t.Context(), other.Slug, "bob", []string{"diary"})
		_, absent := s.Server.Forge().Apps.Install(t.Context(), other.Slug, "bob", []string{"nothing"})
		if !errs.Is(err, errs.Invalid) || err.Error() != absent.Error() {
			t.Errorf("installed on a withdrawn fork: %v, and on what is not there: %v", err, absent)
		}
	})
}
