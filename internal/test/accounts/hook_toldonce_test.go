package accounts_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Data for payloads is stored once for all webhooks of an event, and for a request with many events up to a
// limit. Otherwise 700 bytes that label an issue would write 100 MB.
func TestToldIsStoredOnceForAllHooks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		hooks := map[int64]*receiver{}
		for range 4 {
			r := receive(t, nil)
			id := hookOn(t, s, garden, "alice", r, `["issues"]`)
			rest(t, s, id)
			hooks[id] = r
		}
		noise := make([]byte, 48_000)
		for n := range noise {
			noise[n] = byte(rand.Uint32())
		}
		body := base64.StdEncoding.EncodeToString(noise)
		s.Check(t, apitest.Case{Do: "POST " + garden + "/issues", As: "alice", Status: 201,
			Send: `{"title": "Peas", "body": "` + body + `"}`})
		if n := count(t, s, `SELECT COUNT(*) FROM hook_told`); n != 1 {
			t.Errorf("four hooks are told one event, which is stored %d times", n)
		}
		labels := make([]string, 60)
		for n := range labels {
			labels[n] = fmt.Sprintf(`"l%d"`, n)
		}
		s.Check(t, apitest.Case{Do: "POST " + garden + "/issues/1/labels", As: "alice", Status: 200,
			Send: `{"labels": [` + strings.Join(labels, ",") + `]}`})
		if n := count(t, s, `SELECT SUM(OCTET_LENGTH(told)) FROM hook_told`); n > 2<<20 {
			t.Errorf("%d bytes are stored for one request", n)
		}
		for id := range hooks {
			alter(t, s, `UPDATE hooks SET due_at = 0 WHERE id = $1`, id)
		}
		s.DB.Ring("hooks")
		for _, r := range hooks {
			r.wait(t, 61)
		}
		testkit.Eventually(t, func() bool {
			return count(t, s, `SELECT COUNT(*) FROM hook_told`) == 0
		}, "nothing is left of what was told")
	})
}

// What a receiver that was down was not told of a repository is not told once that is hidden, also where the
// payload was made for an attempt that failed.
func TestFailedAttemptTellsNothingHidden(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "guild", "alice")
		s.Import(t, s.Repo(t, "guild/garden", false), gittest.Repository(t, 3, 2))
		const at = "/repos/guild/garden"
		var up atomic.Bool
		taken := make(chan *sent, 10)
		r := receive(t, func(w http.ResponseWriter, _ *http.Request, got *sent) {
			switch {
			case up.Load():
				taken <- got
			case got.Event != "ping":
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		id := hookOn(t, s, at, "alice", r, `["pull_request"]`)
		downs(t, s, []step{
			{"", "bob", "POST " + at + "/forks", ``, 202, nil},
			{"", "bob", "PUT /repos/bob/garden/contents/x", `{"message": "x", "content": "eA==", "branch": "main"}`,
				201, nil},
			{"", "bob", "POST " + at + "/pulls", `{"title": "x", "head": "bob:main", "base": "main"}`, 201, nil},
		})
		if first := r.expect(t, "pull_request.opened")[0]; !strings.Contains(string(first.Body), "bob/garden") {
			t.Fatalf("the fork is not told: %s", first.Body)
		}
		testkit.Eventually(t, func() bool {
			return count(t, s, `SELECT COUNT(*) FROM hook_deliveries WHERE hook_id = $1 AND state = 0 AND tries > 0`, id) > 0
		}, "the attempt failed")
		downs(t, s, []step{
			{"", "alice", "PATCH " + at, `{"private": true}`, 200, nil},
			{"", "bob", "PATCH /repos/bob/garden", `{"private": true}`, 200, nil},
			{"", "alice", "PUT /orgs/guild/memberships/bob", `{"role": "member"}`, 200, nil},
		})
		up.Store(true)
		alter(t, s, `UPDATE hook_deliveries SET due_at = 0 WHERE hook_id = $1`, id)
		alter(t, s, `UPDATE hooks SET due_at = 0 WHERE id = $1`, id)
		s.DB.Ring("hooks")
		testkit.Eventually(t, func() bool { return len(taken) == 2 }, "it is told, and what is closed by that")
		for range 2 {
			got := <-taken
			if err := apitest.Contains(got.Body,
				`{"pull_request": {"title": "x", "head": {"repo": null}}}`); err != nil {
				t.Errorf("%s: %v", got.name(), err)
			}
		}
	})
}
