package accounts_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// While ten thousand deliveries wait for a receiver that does not answer, others get theirs, and the dead one
// costs a few attempts.
func TestADeadReceiverSlowsNothingDown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "bob/garden", false)
		ended := make(chan struct{})
		dead := receive(t, func(_ http.ResponseWriter, r *http.Request, d *sent) {
			if d.Event == "ping" {
				return
			}
			select {
			case <-r.Context().Done():
			case <-ended:
			}
		})
		t.Cleanup(func() { close(ended) })
		id := hookOn(t, s, garden, "alice", dead, `["issues"]`)
		const queued = 10_000
		alter(t, s, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
			INSERT INTO hook_deliveries (hook_id, repo_id, event, action, about, created_at)
			SELECT CAST($1 AS BIGINT), 1, 'repository', 'edited', '{}', `+s.DB.Engine().Clock()+` FROM n`, id, queued)
		s.DB.Ring("hooks")
		alive := receive(t, nil)
		hookOn(t, s, "/repos/bob/garden", "bob", alive, `["issues"]`)
		for n := range 50 {
			s.Check(t, apitest.Case{Do: "POST /repos/bob/garden/issues", As: "bob", Status: 201,
				Send: fmt.Sprintf(`{"title": "%d"}`, n)})
		}
		for n, d := range alive.wait(t, 50) {
			if err := apitest.Contains(d.Body, fmt.Sprintf(`{"issue": {"title": "%d"}}`, n)); err != nil {
				t.Fatalf("delivery %d is out of order: %v", n, err)
			}
		}
		tried := count(t, s, `SELECT COUNT(*) FROM hook_deliveries WHERE hook_id = $1 AND tries > 0`, id)
		if tried > 20 {
			t.Errorf("the dead receiver was asked %d times", tried)
		}
	})
}

// Receivers that hang do not hold all places of their owner: hooks that worked get theirs at once.
func TestHangingReceiversLeavePlaces(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		var holding, most, dead atomic.Int64
		ended := make(chan struct{})
		hanging := receive(t, func(_ http.ResponseWriter, r *http.Request, d *sent) {
			if d.Event == "ping" {
				return
			}
			n := holding.Add(1)
			defer holding.Add(-1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			dead.Add(1)
			select {
			case <-r.Context().Done():
			case <-ended:
			}
		})
		t.Cleanup(func() { close(ended) })
		for n := range 6 {
			s.Check(t, apitest.Case{Do: "POST " + garden + "/hooks", As: "alice", Status: 201,
				Send: fmt.Sprintf(
					`{"config": {"url": "%s/%d", "content_type": "json"}, "events": ["issues"]}`,
					hanging.URL, n)})
		}
		hanging.wait(t, 6)
		testkit.Eventually(t, func() bool {
			return waiting(t, s) == 0
		}, "no delivery waits")
		alter(t, s, `UPDATE hooks SET failures = 1`)
		alive := receive(t, nil)
		hookOn(t, s, garden, "alice", alive, `["issues"]`)
		for range 20 {
			s.Check(t, apitest.Case{Do: "POST " + garden + "/issues", As: "alice", Status: 201,
				Send: `{"title": "Slugs"}`})
		}
		alive.wait(t, 20)
		testkit.Eventually(t, func() bool { return dead.Load() >= 2 }, "two deliveries to who does not answer")
		if n := most.Load(); n > 2 {
			t.Errorf("receivers that hang held %d places of their owner at one time", n)
		}
	})
}

// What becomes of hooks, of what waits for them and of what was rendered, when rights, names and owners
// change.
//
//	transition           hooks of it               what waits                       what was rendered
//	hidden, shown        stay                      shows what it was                stays
//	renamed              stay                      has the name of then             stays
//	transferred          go along                  goes along; of the organization  stays with its hook
//	                                               that had it, is dropped
//	archived             stay, may only be removed is sent                          stays
//	maker loses admin    stay, no longer theirs    is sent                          not theirs to read
//	owner suspended      stay                      is sent                          not theirs to read
//	deleted              go                        goes; its organization is told   goes
//
// Package payloads has the table for what was rendered and waits.
func TestHookTransitions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "will")
		s.Admin(t, "chief")
		s.Org(t, "guild", "alice")
		s.Org(t, "club", "bob")
		repo := s.Repo(t, "guild/garden", true)
		s.Grant(t, repo, "will", account.Admin)
		r, guild, club := receive(t, nil), receive(t, nil), receive(t, nil)
		const at = "/repos/guild/garden"
		id := hookOn(t, s, at, "will", r, `["issues", "repository"]`)
		hookOn(t, s, "/orgs/guild", "alice", guild, `["issues"]`)
		hookOn(t, s, "/orgs/club", "bob", club, `["issues", "repository"]`)
		self := func(at string) string { return fmt.Sprintf("%s/hooks/%d", at, id) }
		issue := func(at, as, want string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "POST " + at + "/issues", As: as, Send: `{"title": "Slugs"}`,
				Status: 201})
			d := r.expect(t, "issues.opened")[0]
			if err := apitest.Contains(d.Body, want); err != nil {
				t.Error(err)
			}
		}
		issue(at, "will", `{"repository": {"full_name": "guild/garden", "private": true}}`)
		guild.expect(t, "issues.opened")

		// Its maker loses the right, and with it the sight of the hook and its deliveries. The hook goes on.
		s.Grant(t, repo, "will", account.Push)
		s.Run(t, []apitest.Case{
			{Name: "not theirs any more", Do: "GET " + self(at), As: "will", Status: 403},
			{Name: "nor what was sent", Do: "GET " + self(at) + "/deliveries", As: "will", Status: 403},
			{Do: "PATCH " + self(at), As: "will", Send: `{"config": {"url": "` + club.URL + `"}}`,
				Status: 403},
		})
		issue(at, "alice", `{"sender": {"login": "alice"}}`)
		guild.expect(t, "issues.opened")
		s.Check(t, apitest.Case{Do: "PUT /users/will/suspended", As: "chief", Status: 204})
		issue(at, "alice", `{"sender": {"login": "alice"}}`)
		guild.expect(t, "issues.opened")

		told(t, s, r, apitest.Case{Do: "PATCH " + at, As: "alice", Send: `{"archived": true}`},
			"repository.archived")
		s.Check(t, apitest.Case{Do: "PATCH " + self(at), As: "alice", Send: `{"active": false}`, Status: 403})
		told(t, s, r, apitest.Case{Do: "PATCH " + at, As: "alice",
			Send: `{"archived": false, "name": "plot"}`}, "repository.renamed repository.unarchived")

		// Given to another organization: its own hook goes along, the old organization hears nothing more.
		told(t, s, r, apitest.Case{Do: "POST /repos/guild/plot/transfer", As: "chief",
			Send: `{"new_owner": "club"}`, Status: 202},
			"repository.transferred")
		club.expect(t, "repository.transferred")
		issue("/repos/club/plot", "bob",
			`{"repository": {"full_name": "club/plot"}, "organization": {"login": "club"}}`)
		club.expect(t, "issues.opened")
		if names := guild.names(); names != "" {
			t.Errorf("the organization that had it is told %s", names)
		}
		s.Check(t, apitest.Case{Do: "GET " + self("/repos/club/plot"), As: "alice", Status: 404})

		s.Check(t, apitest.Case{Do: "DELETE /repos/club/plot", As: "bob", Status: 204})
		club.expect(t, "repository.deleted")
		if n := count(t, s, `SELECT (SELECT COUNT(*) FROM hooks WHERE id = $1) +
			(SELECT COUNT(*) FROM hook_deliveries WHERE hook_id = $1)`, id); n != 0 {
			t.Errorf("%d rows of the hook are left", n)
		}
		if names := r.names(); names != "" {
			t.Errorf("the hook of the deleted repository was told %s", names)
		}
	})
}

// A payload shows its own repository and only public data of others: a private fork's branch is shown
// without its repository.
func TestPayloadsTellNothingOfPrivateForks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		repo := s.Repo(t, "alice/garden", true)
		s.Grant(t, repo, "bob", account.Pull)
		r := receive(t, nil)
		hookOn(t, s, garden, "alice", r, `["*"]`)
		told(t, s, r, apitest.Case{Do: "PUT " + garden + "/contents/a", As: "alice",
			Send: `{"message": "a", "content": "eA=="}`, Status: 201},
			"create push")
		s.Check(t, apitest.Case{Do: "POST " + garden + "/forks", As: "bob", Status: 202})
		s.Check(t, apitest.Case{Do: "PUT /repos/bob/garden/contents/b", As: "bob", Status: 201,
			Send: `{"message": "b", "content": "eA==", "branch": "main"}`})
		d := told(t, s, r, apitest.Case{Do: "POST " + garden + "/pulls", As: "bob", Status: 201,
			Send: `{"title": "b", "head": "bob:main", "base": "main"}`}, "pull_request.opened")[0]
		if err := apitest.Contains(d.Body,
			`{"pull_request": {"head": {"repo": null}, "base": {"repo": {"full_name": "alice/garden"}}}}`); err != nil {
			t.Error(err)
		}
	})
}

// Who mends the address of a hook whose receiver failed does not wait for what was put off.
func TestAMendedHookIsTriedAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		old, mended := receive(t, nil), receive(t, nil)
		id := hookOn(t, s, garden, "alice", old, `["issues"]`)
		rest(t, s, id)
		s.Check(t, apitest.Case{Do: "POST " + garden + "/issues", As: "alice", Send: `{"title": "Slugs"}`,
			Status: 201})
		later := s.DB.Engine().Clock() + ` + 3600000000`
		alter(t, s, `UPDATE hook_deliveries SET tries = 9, due_at = `+later+` WHERE state = 0`)
		told(t, s, mended, apitest.Case{Do: fmt.Sprintf("PATCH %s/hooks/%d/config", garden, id),
			As: "alice", Status: 200,
			Send: `{"url": "` + mended.URL + `"}`}, "issues.opened")
	})
}
