package repos_test

import (
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// Who chooses a license and what git ignores finds both in the first commit, and nothing else unless a README
// was asked for.
func TestTemplatesOfNewRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Run(t, []apitest.Case{
			{Do: "POST /user/repos", As: "alice", Send: `{"name": "x", "gitignore_template": "go"}`,
				Status: 422, Want: `{"errors": [{"field": "gitignore_template", "code": "invalid"}]}`},
			{Do: "POST /user/repos", As: "alice", Send: `{"name": "x", "license_template": "nobodys"}`,
				Status: 422, Want: `{"errors": [{"field": "license_template", "code": "invalid"}]}`},
			{Do: "GET /repos/alice/x", As: "alice", Status: 404},
			{Do: "POST /user/repos", As: "alice",
				Send: `{"name": "both", "gitignore_template": "Go", "license_template": "mit"}`, Status: 201},
			{Do: "GET /repos/alice/both/git/trees/main", Status: 200,
				Want: `{"tree": [{"path": ".gitignore"}, {"path": "LICENSE"}]}`},
			{Do: "POST /user/repos", As: "alice",
				Send: `{"name": "all", "auto_init": true, "gitignore_template": "C++", "license_template": "GPL-3.0"}`, Status: 201},
			{Do: "GET /repos/alice/all/git/trees/main", Status: 200,
				Want: `{"tree": [{"path": ".gitignore"}, {"path": "LICENSE"}, {"path": "README.md"}]}`},
			{Do: "POST /user/repos", As: "alice",
				Send: `{"name": "none", "gitignore_template": "", "license_template": null}`, Status: 201},
			{Do: "GET /repos/alice/none/git/trees/main", Status: 409},
		})
		text := string(s.Do(t, apitest.Case{Do: "GET /repos/alice/both/contents/LICENSE",
			Headers: map[string]string{"Accept": "application/vnd.github.raw"}}).Body)
		if !strings.Contains(text, " alice\n") || strings.Contains(text, "<") {
			t.Errorf("the license begins %q", text[:100])
		}
	})
}

// A repository created with a first commit can be cloned immediately. A taken name leaves nothing behind.
func TestAutoInit(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "guild", "alice")
		s.Run(t, []apitest.Case{
			{Do: "POST /user/repos", As: "alice",
				Send: `{"name": "garden", "description": "Herbs", "auto_init": true}`, Status: 201,
				Want: `{"full_name": "alice/garden", "default_branch": "main"}`},
			{Do: "POST /orgs/guild/repos", As: "alice",
				Send: `{"name": "hall", "private": true, "auto_init": true}`, Status: 201},
			{Name: "taken", Do: "POST /user/repos", As: "alice",
				Send: `{"name": "Garden", "auto_init": true}`, Status: 422},
			{Name: "not allowed", Do: "POST /orgs/guild/repos", As: "bob",
				Send: `{"name": "x", "auto_init": true}`, Status: 403},
			{Name: "of another type", Do: "POST /user/repos", As: "alice",
				Send: `{"name": "x", "auto_init": "yes"}`, Status: 422,
				Want: `{"errors": [{"field": "auto_init"}]}`},
			{Name: "without", Do: "POST /user/repos", As: "alice",
				Send: `{"name": "empty", "auto_init": false}`, Status: 201},
			{Do: "GET /repos/alice/empty/git/trees/main", Status: 409},
			{Do: "GET /repos/alice/garden/git/trees/main", Status: 200,
				Want: `{"tree": [{"path": "README.md", "mode": "100644", "size": 16}]}`},
			{Do: "GET /users/alice/repos", Status: 200, Want: `[{"name": "empty"}, {"name": "garden"}]`},
		})
		clone := filepath.Join(t.TempDir(), "clone")
		gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "alice", "guild/hall"), clone)
		gittest.Run(t, clone, "fsck", "--strict")
		if got := gittest.Run(t, clone, "log", "--format=%an %s"); got != "alice Initial commit" {
			t.Errorf("the first commit is %q", got)
		}
		dirs, err := filepath.Glob(filepath.Join(s.Dir, "repositories", "*", "*"))
		if err != nil || len(dirs) != 2 {
			t.Errorf("directories %s, %v", strings.Join(dirs, " "), err)
		}
	})
}

// A request that takes longer than its reservation gets no repository: the folder may be
// about to be removed. What fails on the way leaves neither a reservation nor a folder.
func TestReservationExpires(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		alice := s.User(t, "alice")
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return s.Forge.Create(tx, &repo.Repo{ID: 5000, OwnerID: alice.ID, Owner: *alice, Name: "late",
				DefaultBranch: "main"}, nil)
		})
		if !errs.Is(err, errs.Unavailable) {
			t.Errorf("a repository under an id that is not reserved: %v", err)
		}
		garden := repo.NewRepo{Owner: "alice", Name: "garden", AutoInit: true}
		if _, err := s.Repos.Create(t.Context(), nil, garden); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Repos.Create(t.Context(), nil, garden); !errs.Is(err, errs.Invalid) {
			t.Errorf("a taken name: %v", err)
		}
		s.Repos.Wait()
		var repos, reserved int64
		err = s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT (SELECT count(*) FROM repos), (SELECT count(*) FROM reserved_repos)`).
				Scan(&repos, &reserved)
		})
		if err != nil || repos != 1 || reserved != 0 {
			t.Errorf("%d repositories, %d reservations, %v", repos, reserved, err)
		}
		folders, err := filepath.Glob(filepath.Join(s.Repos.Dir(), "*", "*"))
		if err != nil || len(folders) != 1 {
			t.Errorf("folders %q, %v", folders, err)
		}
	})
}
