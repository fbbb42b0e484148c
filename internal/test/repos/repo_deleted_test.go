package repos_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// keeping has deleted repositories kept.
func keeping(o *server.Options) { o.KeepDeleted = 30 * 24 * time.Hour }

// A deleted repository is there for nobody until its owner restores it, and then it is what it was.
func TestDeletedRepositoryIsRestored(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		s := apitest.Start(t, engine, keeping)
		s.Users(t, "alice", "bob", "carol")
		s.Admin(t, "chief")
		id := s.Repo(t, "alice/garden", false).ID
		s.Grant(t, s.Access(t, "alice", "alice/garden").Repo, "bob", account.Push)
		ask := func(as, do, send string, status int) *apitest.Answer { return s.Ask(t, as, do, send, status) }
		ask("alice", "PUT /repos/alice/garden/contents/a.txt", `{"message": "m", "content": "eA=="}`, 201)
		ask("bob", "POST /repos/alice/garden/issues", `{"title": "slugs"}`, 201)
		ask("carol", "PUT /user/starred/alice/garden", "", 204)
		ask("alice", "POST /repos/alice/garden/hooks", `{"config": {"url": "http://93.184.216.34/"}}`, 201)
		ask("alice", "POST /repos/alice/garden/releases", `{"tag_name": "v1"}`, 201)
		before := string(s.Ask(t, "alice", "GET /repos/alice/garden", "", 200).Body)

		ask("alice", "DELETE /repos/alice/garden", "", 204)
		for _, as := range []string{"alice", "bob", "carol", "chief"} {
			for _, path := range []string{"/repos/alice/garden", fmt.Sprint("/repositories/", id),
				fmt.Sprintf("/repos/alice/~deleted-%d", id), "/repos/alice/garden/issues/1",
				"/repos/alice/garden/releases", "/repos/alice/garden/contents/a.txt"} {
				ask(as, "GET "+path, "", 404)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /users/carol/starred", Status: 200, Want: `[]`})
		s.Check(t, apitest.Case{Do: "GET /user", As: "alice", Status: 200,
			Want: `{"public_repos": 0, "owned_private_repos": 0}`})
		sound(t, s)

		s.Visit(t, "alice", "GET /settings/deleted").Shows(t, 200, "alice/garden")
		s.Visit(t, "bob", "GET /settings/deleted").Shows(t, 200, "There are no deleted repositories")
		s.Visit(t, "bob", "POST /settings/deleted", "id", fmt.Sprint(id), "name", "garden").Shows(t, 404)
		s.Visit(t, "bob", "POST /settings/deleted", "id", fmt.Sprint(id), "do", "remove").Shows(t, 404)

		ask("alice", "POST /user/repos", `{"name": "garden"}`, 201) // its name is free
		s.Visit(t, "alice", "POST /settings/deleted", "id", fmt.Sprint(id), "name", "garden").
			Shows(t, 422, "Name already exists")
		s.Visit(t, "alice", "POST /settings/deleted", "id", fmt.Sprint(id), "name", "a/b").Shows(t, 422)
		ask("alice", "PATCH /repos/alice/garden", `{"name": "other"}`, 200)
		s.Visit(t, "alice", "POST /settings/deleted", "id", fmt.Sprint(id), "name", "garden").
			Leads(t, "/alice/garden")
		after := string(s.Ask(t, "alice", "GET /repos/alice/garden", "", 200).Body)
		updated := regexp.MustCompile(`"(updated|pushed)_at":"[^"]*"`)
		if updated.ReplaceAllString(before, "") != updated.ReplaceAllString(after, "") {
			t.Errorf("the repository was\n%s\nand is\n%s", before, after)
		}
		s.Check(t, apitest.Case{Do: "GET /users/carol/starred", Status: 200, Want: `[{"full_name": "alice/garden"}]`})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/hooks", As: "alice", Status: 200, Want: `[{"active": true}]`})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/releases", Status: 200, Want: `[{"tag_name": "v1"}]`})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/a.txt", Status: 200})
		ask("bob", "PATCH /repos/alice/garden/issues/1", `{"title": "snails"}`, 200) // still a collaborator
		sound(t, s)
	})
}

// Those of an organization are restored by its owners, private ones stay private, and what happened to people and
// teams in between counts.
func TestDeletedRepositoryOfAnOrganization(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Org(t, "acme", "alice")
		r := s.Repo(t, "acme/plan", true)
		s.Grant(t, r, "bob", account.Admin)
		s.Grant(t, r, "carol", account.Push)
		s.Ask(t, "carol", "POST /repos/acme/plan/issues", `{"title": "x", "assignees": ["carol"]}`, 201)
		s.Ask(t, "bob", "DELETE /repos/acme/plan", "", 204)
		dbtest.Exec(t, s.DB, `DELETE FROM collaborators WHERE repo_id = $1
			AND user_id = (SELECT id FROM accounts WHERE login = 'carol')`, r.ID)
		restore := []string{"id", fmt.Sprint(r.ID), "name", "scheme"}
		s.Visit(t, "bob", "POST /settings/deleted", restore...).Shows(t, 404) // an administrator, but no owner
		s.Visit(t, "alice", "POST /settings/deleted", restore...).Leads(t, "/acme/scheme")
		s.Check(t, apitest.Case{Do: "GET /repos/acme/scheme", As: "bob", Status: 200, Want: `{"private": true}`})
		s.Ask(t, "carol", "GET /repos/acme/scheme", "", 404)
		s.Check(t, apitest.Case{Do: "GET /repos/acme/scheme/issues?assignee=none", As: "alice", Status: 200,
			Want: `[{"title": "x"}]`})
		sound(t, s)
	}, keeping)
}

// What an owner deletes counts in no quota, but the oldest go when more is kept than the quota has room for.
func TestKeptRepositoriesAreBounded(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		one, kb := int64(1), int64(1000)
		_, _, _, err := s.Accounts.EditQuota(t.Context(), nil, account.User, "alice",
			func(q *account.Quota) { q.Repos, q.KB = &one, &kb })
		testkit.NoError(t, err)
		for i := range 4 {
			name := fmt.Sprint("r", i)
			s.Ask(t, "alice", "POST /user/repos", fmt.Sprintf(`{"name": %q}`, name), 201)
			dbtest.Exec(t, s.DB, `UPDATE repos SET size_kb = 400 WHERE name = $1`, name)
			s.Ask(t, "alice", "DELETE /repos/alice/"+name, "", 204)
		}
		testkit.Eventually(t, func() bool { return dbtest.Number(t, s.DB, `SELECT count(*) FROM repos`) == 2 },
			"the oldest two are removed")
		id := dbtest.Number(t, s.DB, `SELECT repo_id FROM kept_repos WHERE name = 'r3'`)
		s.Ask(t, "alice", "POST /user/repos", `{"name": "now"}`, 201)
		s.Visit(t, "alice", "POST /settings/deleted", "id", fmt.Sprint(id), "name", "r3").
			Shows(t, 403, "at most 1 repositories")
		s.Visit(t, "alice", "POST /settings/deleted", "id", fmt.Sprint(id), "do", "remove").Leads(t, "/settings/deleted")
		s.Visit(t, "alice", "POST /settings/deleted", "id", fmt.Sprint(id), "name", "r4").Shows(t, 404)
		testkit.Eventually(t, func() bool {
			return dbtest.Number(t, s.DB, `SELECT count(*) FROM repos WHERE id = $1`, id) == 0
		}, "it is removed")
		sound(t, s)
	}, keeping)
}

// A deleted account takes its deleted repositories along.
func TestDeletedRepositoriesOfADeletedAccount(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		s.Ask(t, "alice", "DELETE /repos/alice/garden", "", 204)
		testkit.NoError(t, s.Accounts.Delete(t.Context(), nil, account.User, "alice"))
		testkit.Eventually(t, func() bool { return dbtest.Number(t, s.DB, `SELECT count(*) FROM repos`) == 0 },
			"the repository is removed")
		sound(t, s)
	}, keeping)
}

// A deleted branch is restored by who may push, also with commits that nothing else leads to.
func TestDeletedBranchIsRestored(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		r := s.Repo(t, "alice/garden", false)
		s.Grant(t, r, "bob", account.Push)
		const at = "/alice/garden/branches/deleted"
		s.Ask(t, "alice", "PUT /repos/alice/garden/contents/a", `{"message": "m", "content": "eA=="}`, 201)
		main := s.Tip(t, "alice", "alice/garden", "main")
		s.Ask(t, "bob", "POST /repos/alice/garden/git/refs", `{"ref": "refs/heads/x/y", "sha": "`+main+`"}`, 201)
		s.Ask(t, "bob", "PUT /repos/alice/garden/contents/b",
			`{"message": "m", "content": "eA==", "branch": "x/y"}`, 201)
		tip := s.Tip(t, "alice", "alice/garden", "x/y")
		s.Ask(t, "bob", "DELETE /repos/alice/garden/git/refs/heads/x/y", "", 204)
		id := fmt.Sprint(dbtest.Number(t, s.DB, `SELECT id FROM activities WHERE kind = 3`))
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "x/y", tip[:7], "bob")
		s.Visit(t, "carol", "GET "+at).Shows(t, 403, "!x/y")
		s.Visit(t, "carol", "POST "+at, "id", id).Shows(t, 403)
		s.Visit(t, "bob", "POST "+at, "id", "0").Shows(t, 422, "cannot be restored")
		s.Visit(t, "bob", "POST "+at, "id", id).Leads(t, "/alice/garden/tree/x/y")
		if again := s.Tip(t, "alice", "alice/garden", "x/y"); again != tip {
			t.Errorf("the branch is at %s, and was at %s", again, tip)
		}
		s.Visit(t, "bob", "POST "+at, "id", id).Shows(t, 422, "cannot be restored")
		s.Visit(t, "bob", "GET "+at).Shows(t, 200, "There are none")
		s.Ask(t, "alice", "PATCH /repos/alice/garden", `{"archived": true}`, 200)
		s.Visit(t, "bob", "POST "+at, "id", id).Shows(t, 403)
	})
}

// A deleted release is there for nobody, and is restored as a draft with its files.
func TestDeletedReleaseIsRestored(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		s := apitest.Start(t, engine, keeping)
		s.Users(t, "alice", "carol")
		s.Repo(t, "alice/garden", false)
		s.Ask(t, "alice", "PUT /repos/alice/garden/contents/a", `{"message": "m", "content": "eA=="}`, 201)
		var r, file struct {
			ID  int64
			URL string
		}
		s.Ask(t, "alice", "POST /repos/alice/garden/releases", `{"tag_name": "v1", "name": "One"}`, 201).JSON(t, &r)
		s.Check(t, apitest.Case{Do: fmt.Sprintf("POST /repos/alice/garden/releases/%d/assets?name=f", r.ID), As: "alice",
			Send: "content", Headers: map[string]string{"Content-Type": "text/plain"}, Status: 201}).JSON(t, &file)
		s.Ask(t, "alice", fmt.Sprint("DELETE /repos/alice/garden/releases/", r.ID), "", 204)
		for _, as := range []string{"alice", "carol"} {
			for _, path := range []string{fmt.Sprint("/releases/", r.ID), "/releases/tags/v1", "/releases/latest",
				fmt.Sprint("/releases/assets/", file.ID), fmt.Sprintf("/releases/%d/assets", r.ID)} {
				s.Ask(t, as, "GET /repos/alice/garden"+path, "", 404)
			}
			s.Ask(t, as, "GET /alice/garden/releases/download/v1/f", "", 404)
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/releases", As: as, Status: 200, Want: `[]`})
		}
		s.Ask(t, "alice", fmt.Sprint("DELETE /repos/alice/garden/releases/assets/", file.ID), "", 404)
		s.Ask(t, "alice", fmt.Sprint("PATCH /repos/alice/garden/releases/", r.ID), `{"name": "x"}`, 404)
		sound(t, s)
		const at = "/alice/garden/releases/deleted"
		id := fmt.Sprint(r.ID)
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "One", "v1")
		s.Visit(t, "carol", "GET "+at).Shows(t, 403)
		s.Visit(t, "carol", "POST "+at, "id", id).Shows(t, 403)
		s.Visit(t, "carol", "POST "+at, "id", id, "do", "remove").Shows(t, 403)
		s.Ask(t, "alice", "POST /repos/alice/garden/releases", `{"tag_name": "v1"}`, 201) // the tag is free
		s.Visit(t, "alice", "POST "+at, "id", id).Leads(t, "/alice/garden/releases")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/releases/" + id, As: "alice", Status: 200,
			Want: `{"draft": true, "name": "One", "assets": [{"name": "f"}]}`})
		s.Ask(t, "carol", "GET /repos/alice/garden/releases/"+id, "", 404)
		s.Visit(t, "alice", "POST "+at, "id", id).Shows(t, 404)
		s.Ask(t, "alice", "DELETE /repos/alice/garden/releases/"+id, "", 204)
		s.Visit(t, "alice", "POST "+at, "id", id, "do", "remove").Leads(t, at)
		leaves(t, s, 0)
		s.Visit(t, "alice", "POST "+at, "id", id).Shows(t, 404)
		sound(t, s)
	})
}

// Of deleted releases the last ten are kept, and none of whose owner has used half of the quota; the time ends.
func TestKeptReleasesAreBounded(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		remove := func(n int) {
			var r struct{ ID int64 }
			s.Ask(t, "alice", "POST /repos/alice/garden/releases", fmt.Sprintf(`{"tag_name": "v%d", "draft": true}`, n),
				201).JSON(t, &r)
			s.Ask(t, "alice", fmt.Sprint("DELETE /repos/alice/garden/releases/", r.ID), "", 204)
		}
		for n := range 12 {
			remove(n)
		}
		kept := func() int64 { return dbtest.Number(t, s.DB, `SELECT count(*) FROM releases`) }
		if n := kept(); n != 10 {
			t.Errorf("%d deleted releases are kept, want 10", n)
		}
		dbtest.Exec(t, s.DB, `DELETE FROM releases`)
		kb := int64(1000)
		_, _, _, err := s.Accounts.EditQuota(t.Context(), nil, account.User, "alice",
			func(q *account.Quota) { q.KB = &kb })
		testkit.NoError(t, err)
		remove(20)
		dbtest.Exec(t, s.DB, `UPDATE repos SET size_kb = 600`)
		remove(21)
		if n := kept(); n != 1 {
			t.Errorf("%d deleted releases are kept, want 1", n)
		}
	}, keeping)
}

// A private fork is not kept: restored, it would be its owner's without those who gave access to its root.
func TestDeletedPrivateForkIsRemoved(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		r := s.Repo(t, "alice/plan", true)
		s.Ask(t, "alice", "PUT /repos/alice/plan/contents/a", `{"message": "m", "content": "eA=="}`, 201)
		s.Grant(t, r, "bob", account.Pull)
		s.Ask(t, "bob", "POST /repos/alice/plan/forks", "", 202)
		s.Ask(t, "bob", "DELETE /repos/bob/plan", "", 204)
		if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM repos`); n != 1 {
			t.Errorf("%d repositories are there, want 1", n)
		}
		s.Visit(t, "bob", "GET /settings/deleted").Shows(t, 200, "There are no deleted repositories")
	}, keeping)
}
