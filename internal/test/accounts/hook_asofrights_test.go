package accounts_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// What was rendered at the event is sent only as far as the receiver may see it when it is sent.
func TestRightsAreAskedWhenItIsSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "eve")
		s.Org(t, "guild", "alice")
		repo := s.Repo(t, "guild/garden", false)
		s.Import(t, repo, gittest.Repository(t, 3, 2))
		const at = "/repos/guild/garden"
		r, spy := receive(t, nil), receive(t, nil)
		id := hookOn(t, s, at, "alice", r, `["fork", "pull_request", "issues", "repository", "public"]`)
		rest(t, s, id)
		a := s.NewApp(t, "eve", app.Manifest{Name: "spy",
			Events:      []string{"issues", "organization", "repository"},
			Permissions: apitest.Permissions("issues=read,members=read,metadata=read"),
			Hook:        app.Hook{URL: spy.URL, Active: true, Secret: "peas", Site: s.URL}})
		in := a.Install(t, "guild")
		spy.expect(t, "installation.created")
		app := count(t, s, `SELECT id FROM hooks WHERE app_id IS NOT NULL`)
		rest(t, s, app)
		steps := []step{
			{"", "bob", "POST " + at + "/forks", ``, 202, nil}, // the fork is hidden: it is not told
			{"", "bob", "PUT /repos/bob/garden/contents/x", `{"message": "x", "content": "eA==", "branch": "main"}`,
				201, nil},
			{"pull_request.opened", "bob", "POST " + at + "/pulls",
				`{"title": "x", "head": "bob:main", "base": "main"}`, 201, is(
					`{"pull_request": {"title": "x", "head": {"repo": null}}}`)},
			{"pull_request.closed", "bob", "PATCH " + at + "/pulls/1", `{"state": "closed"}`, 200, is(
				`{"pull_request": {"state": "closed", "head": {"repo": null}}}`)},
			{"issues.opened", "bob", "POST " + at + "/issues", `{"title": "Slugs"}`, 201, is(
				`{"issue": {"title": "Slugs"}, "repository": {"private": false}}`)},
			{"repository.privatized", "alice", "PATCH " + at, `{"private": true}`, 200, is(
				`{"repository": {"private": true}}`)},
			{"public repository.publicized", "alice", "PATCH " + at, `{"private": false}`, 200, is(
				`{"repository": {"private": false}}`)},
			{"repository.privatized", "alice", "PATCH " + at, `{"private": true}`, 200, is(
				`{"repository": {"private": true}}`)},
			{"", "bob", "PATCH /repos/bob/garden", `{"private": true}`, 200, nil},
			{"", "alice", "PUT /orgs/guild/memberships/bob", `{"role": "member"}`, 200, nil},
		}
		downs(t, s, steps)
		ups(t, s, r, id, steps)

		// A suspended App gets no earlier events of any kind.
		if n := count(t, s, `SELECT COUNT(*) FROM hook_deliveries WHERE hook_id = $1 AND state = 0`, app); n < 4 {
			t.Fatalf("%d deliveries wait for the App", n)
		}
		s.Check(t, apitest.Case{Do: fmt.Sprint("PUT /app/installations/", in.ID, "/suspended"),
			Headers: a.Signed(t), Status: 204})
		alter(t, s, `UPDATE hooks SET due_at = 0 WHERE id = $1`, app)
		s.DB.Ring("hooks")
		spy.expect(t, "installation.suspend")
		testkit.Eventually(t, func() bool { return waiting(t, s) == 0 }, "nothing waits")
		if names := spy.names(); names != "" {
			t.Errorf("a suspended App is told %s", names)
		}
	})
}

// Each hook gets the addresses by which its maker reached the server, and a redelivery the same bytes.
func TestAddressesOfToldEvents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		r, other := receive(t, nil), receive(t, nil)
		id := hookOn(t, s, garden, "alice", r, `["issues"]`)
		second := hookOn(t, s, garden, "alice", other, `["issues"]`)
		rest(t, s, id)
		rest(t, s, second)
		alter(t, s, `UPDATE hooks SET site = 'https://two.example:8443', prefix = 'https://api.two.example:8443'
			WHERE id = $1`, second)
		steps := []step{{"issues.opened", "alice", "POST " + garden + "/issues",
			`{"title": "https://x.invalid and \"quotes\""}`, 201, is(`{"issue": {"number": 1}}`)}}
		s.Check(t, apitest.Case{Do: steps[0].do, As: "alice", Send: steps[0].send, Status: 201})
		s.Check(t, apitest.Case{Do: "PATCH " + garden + "/issues/1", As: "alice", Send: `{"title": "Slugs"}`,
			Status: 200})
		for hook, at := range map[int64]*receiver{id: r, second: other} {
			alter(t, s, `UPDATE hooks SET due_at = 0 WHERE id = $1`, hook)
			s.DB.Ring("hooks")
			got := at.expect(t, "issues.opened issues.edited")[0]
			site, api, host := s.URL, s.URL, strings.TrimPrefix(s.URL, "http://")
			if hook == second {
				site, api, host = "https://two.example:8443", "https://api.two.example:8443", "two.example:8443"
			}
			want := fmt.Sprintf(`{"issue": {"title": "https://x.invalid and \"quotes\"",
				"html_url": "%s/alice/garden/issues/1", "url": "%s/repos/alice/garden/issues/1"},
				"repository": {"ssh_url": "git@%s:alice/garden.git"}}`, site, api, host)
			if err := apitest.Contains(got.Body, want); err != nil {
				t.Error(err)
			}
			if hook != id {
				continue
			}
			delivery := count(t, s, `SELECT MIN(id) FROM hook_deliveries WHERE hook_id = $1 AND event = 'issues'`, id)
			testkit.Eventually(t, func() bool {
				return count(t, s,
					`SELECT COUNT(*) FROM hook_deliveries WHERE id = $1 AND state = 1 AND mark IS NULL`, delivery) == 1
			}, "it was stored")
			s.Check(t, apitest.Case{Do: fmt.Sprintf("POST %s/hooks/%d/deliveries/%d/attempts", garden, id, delivery),
				As: "alice", Status: 202})
			if again := r.expect(t, "issues.opened")[0]; !bytes.Equal(again.Body, got.Body) {
				t.Errorf("again it says %s, and said %s", again.Body, got.Body)
			}
		}
	})
}

// What nobody rendered at the event shows what there is: what a node of the version before noted, and what an
// account did that is deleted.
func TestWhatWasNotRendered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		bob := s.User(t, "bob")
		repo := s.Repo(t, "alice/garden", false)
		s.Grant(t, repo, "bob", account.Push)
		r := receive(t, nil)
		id := hookOn(t, s, garden, "alice", r, `["issues", "label"]`)
		rest(t, s, id)
		steps := []step{
			{"issues.opened", "alice", "POST " + garden + "/issues", `{"title": "Peas"}`, 201, is(
				`{"issue": {"title": "Beans"}}`)},
			{"", "alice", "POST " + garden + "/labels", `{"name": "gone"}`, 201, nil},
			{"issues.edited", "alice", "PATCH " + garden + "/issues/1", `{"title": "Beans"}`, 200, is(
				`{"issue": {"title": "Beans"}, "changes": {"title": {"from": "Peas"}}}`)},
			{"label.deleted", "alice", "DELETE " + garden + "/labels/gone", ``, 204, is(`{"label": {"name": "gone"}}`)},
		}
		downs(t, s, steps)
		alter(t, s, `DELETE FROM hook_told`)
		after := []step{
			{"issues.closed", "bob", "PATCH " + garden + "/issues/1", `{"state": "closed"}`, 200, is(
				`{"sender": {"login": "ghost"}, "issue": {"state": "open"}}`)},
			{"issues.reopened", "alice", "PATCH " + garden + "/issues/1", `{"state": "open"}`, 200, is(
				`{"sender": {"login": "alice"}, "issue": {"state": "open"}}`)},
		}
		downs(t, s, after)
		if err := s.Accounts.Delete(t.Context(), nil, account.User, "bob"); err != nil {
			t.Fatal(bob, err)
		}
		ups(t, s, r, id, append(steps, after...))
	})
}

// The commits of a new branch are those that no other branch had at that time, even if the others are gone
// at delivery.
func TestANewBranchBroughtWhatOthersLacked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/garden", false), gittest.Repository(t, 2, 2))
		r := receive(t, nil)
		id := hookOn(t, s, garden, "alice", r, `["push"]`)
		rest(t, s, id)
		branch := func(name, sha string) step {
			return step{"push", "alice", "POST " + garden + "/git/refs",
				`{"ref": "refs/heads/` + name + `", "sha": "` + sha + `"}`, 201, is(`{"created": true, "commits": []}`)}
		}
		steps := []step{branch("fence", s.Tip(t, "alice", "alice/garden", "main")), {"push", "alice",
			"PUT " + garden + "/contents/wood", `{"message": "Wood", "content": "eA==", "branch": "fence"}`, 201,
			is(`{"commits": [{"message": "Wood"}]}`)}}
		downs(t, s, steps)
		more := []step{branch("gate", s.Tip(t, "alice", "alice/garden", "fence")), {"push", "alice",
			"DELETE " + garden + "/git/refs/heads/fence", ``, 204, is(`{"deleted": true}`)}}
		downs(t, s, more)
		ups(t, s, r, id, append(steps, more...))
	})
}
