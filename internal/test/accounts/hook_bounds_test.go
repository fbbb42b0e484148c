package accounts_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/hook"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// count is the first value of a query.
func count(t *testing.T, s *apitest.Server, query string, args ...any) (n int64) {
	t.Helper()
	testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(query, args...).Scan(&n)
	}))
	return n
}

// waiting counts the deliveries that have still to be sent.
func waiting(t *testing.T, s *apitest.Server) int64 {
	t.Helper()
	return count(t, s, `SELECT COUNT(*) FROM hook_deliveries WHERE state = 0`)
}

// alter changes rows behind the server's back.
func alter(t *testing.T, s *apitest.Server, query string, args ...any) {
	t.Helper()
	testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(query, args...) }))
}

// A hook may be told of nothing, and says so with an empty list.
func TestNoEvents(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, loopback)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	id := hookOn(t, s, garden, "alice", receive(t, nil), `["push"]`)
	one := fmt.Sprintf("%s/hooks/%d", garden, id)
	s.Check(t, apitest.Case{Do: "PATCH " + one, As: "alice", Status: 200, Send: `{"remove_events": ["push"]}`,
		Want: `{"events": []}`})
	s.Check(t, apitest.Case{Do: "GET " + one, As: "alice", Status: 200, Want: `{"events": []}`})
}

// What a client sends as client_payload grows on its way neither in depth, beyond what can be read again, nor
// in size.
func TestHostileDispatches(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		r := receive(t, nil)
		id := hookOn(t, s, garden, "alice", r, `["repository_dispatch"]`)
		dispatch := func(client string, status int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "POST " + garden + "/dispatches", As: "alice", Status: status,
				Send: `{"event_type": "x", "client_payload": ` + client + `}`})
		}
		nested := func(n int) string {
			return `{"a": ` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`
		}
		dispatch(nested(9_999), 422)
		dispatch(nested(101), 422)
		dispatch(nested(100), 204)
		dispatch(`{"a": "`+strings.Repeat("[", 1000)+`\"["}`, 204)
		const large = 60_000
		dispatch(`{"a": "`+strings.Repeat("<", large)+`"}`, 204)
		got := r.expect(t, "repository_dispatch.x repository_dispatch.x repository_dispatch.x")
		if n := len(got[2].Body); n > large*5/4 {
			t.Errorf("%d bytes became %d", large, n)
		}
		// A row that cannot be read does not hold up those behind it.
		alter(t, s, `INSERT INTO hook_deliveries (hook_id, repo_id, event, about, created_at) VALUES ($1, 1, 'repository_dispatch', '[', `+
			s.DB.Engine().Clock()+`)`, id)
		dispatch(`{}`, 204)
		r.expect(t, "repository_dispatch.x")
	})
}

// Who sends dispatches in a loop to a receiver that does not take them does not fill the disk.
func TestDispatchesInALoop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		id := hookOn(t, s, garden, "alice", receive(t, nil), `["*"]`)
		rest(t, s, id)
		alter(t, s, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
			INSERT INTO hook_deliveries (hook_id, repo_id, event, about, created_at)
			SELECT CAST($1 AS BIGINT), 1, 'repository_dispatch', '{}', `+s.DB.Engine().Clock()+` FROM n`, id)
		for range 3 {
			s.Check(t, apitest.Case{Do: "POST " + garden + "/dispatches", As: "alice", Status: 204,
				Send: `{"event_type": "x"}`})
		}
		s.Check(t, apitest.Case{Do: "POST " + garden + "/issues", As: "alice", Status: 201,
			Send: `{"title": "Slugs"}`})
		if n := count(t, s, `SELECT COUNT(*) FROM hook_deliveries WHERE hook_id = $1 AND state = 0`,
			id); n != 1001 {
			t.Errorf("%d deliveries wait, want 1,000 and that of the issue", n)
		}
	})
}

// rest keeps a hook from being sent anything for a while, once nothing waits and no worker has leased it:
// the end of a lease would end the rest.
func rest(t *testing.T, s *apitest.Server, id int64) {
	t.Helper()
	clock := s.DB.Engine().Clock()
	testkit.Eventually(t, func() bool {
		if count(t, s, `SELECT COUNT(*) FROM hook_deliveries WHERE hook_id = $1 AND state = 0`, id) == 0 {
			alter(t, s, `UPDATE hooks SET due_at = `+clock+` + 3600000000 WHERE id = $1 AND due_at <= `+clock, id)
		}
		return count(t, s, `SELECT COUNT(*) FROM hooks WHERE id = $1 AND due_at > `+clock+` + 1800000000`, id) == 1
	}, "the hook rests")
}

// What is kept and what waits has bounds, by age, number and bytes, for each hook and each owner.
func TestPrune(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		const hour = int64(3600 * 1e6)
		var hooks []int64
		for range 5 {
			id := hookOn(t, s, garden, "alice", receive(t, nil), `["issues"]`)
			rest(t, s, id)
			hooks = append(hooks, id)
		}
		add := func(hook, rows, bytes, age int64, state hook.State) {
			t.Helper()
			zeros := map[db.Engine]string{db.SQLite: `zeroblob($3)`,
				db.PostgreSQL: `CAST(REPEAT('x', CAST($3 AS INT)) AS BYTEA)`}[s.DB.Engine()]
			alter(t, s, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
				INSERT INTO hook_deliveries (hook_id, repo_id, event, about, created_at, state, delivered_at,
				payload)
				SELECT CAST($1 AS BIGINT), 1, 'issues', '{}', c - CAST($4 AS BIGINT), CAST($5 AS SMALLINT),
					CASE WHEN $5 = 0 THEN NULL ELSE c END, `+zeros+`
				FROM n, (SELECT `+s.DB.Engine().Clock()+` AS c) x`, hook, rows, bytes, age, int64(state))
		}
		left := func(what string, hook int64, state hook.State, want int64) {
			t.Helper()
			n := count(t, s, `SELECT COUNT(*) FROM hook_deliveries WHERE hook_id = $1 AND state = $2 AND event = 'issues'`, hook, int64(state))
			if n != want {
				t.Errorf("%s: %d are left, want %d", what, n, want)
			}
		}
		// which the second time looks at what is new alone
		pruner := hook.NewPruner(s.DB, slog.New(slog.DiscardHandler))
		prune := func() {
			t.Helper()
			testkit.NoError(t, pruner.Prune(t.Context()))
		}
		add(hooks[0], 5, 1, 73*hour, hook.Succeeded)
		add(hooks[0], 5, 1, 71*hour, hook.Succeeded)
		add(hooks[0], 5, 1, 26*hour, hook.Waiting)
		add(hooks[0], 5, 1, 24*hour, hook.Waiting)
		add(hooks[1], 1600, 1, 0, hook.Failed)
		add(hooks[2], 5, 10<<20, 0, hook.Succeeded)
		add(hooks[3], 5, 10<<20, 0, hook.Waiting)
		prune()
		left("three days old", hooks[0], hook.Succeeded, 5)
		left("a day old", hooks[0], hook.Waiting, 5)
		left("many", hooks[1], hook.Failed, 1000)
		left("large", hooks[2], hook.Succeeded, 3)
		left("large, and waiting", hooks[3], hook.Waiting, 3)
		for _, h := range hooks { // 180 MB in total, less than the limit for each hook
			add(h, 3, 10<<20, 0, hook.Succeeded)
		}
		prune()
		if n := count(t, s, `SELECT SUM(LENGTH(payload)) FROM hook_deliveries WHERE state <> 0`); n > 128<<20 {
			t.Errorf("of one owner %d bytes are kept", n)
		}
		left("the newest", hooks[4], hook.Succeeded, 3)
	})
}

// The webhook of a receiver that fails for days is disabled with a reason; enabled again, it starts over.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		var dead atomic.Bool
		r := receive(t, func(w http.ResponseWriter, _ *http.Request, _ *sent) {
			if dead.Load() {
				w.WriteHeader(http.StatusBadGateway)
			}
		})
		id := hookOn(t, s, garden, "alice", r, `["issues"]`)
		one := fmt.Sprintf("%s/hooks/%d", garden, id)
		dead.Store(true)
		issue := func() {
			t.Helper()
			s.Check(t, apitest.Case{Do: "POST " + garden + "/issues", As: "alice", Status: 201,
				Send: `{"title": "Slugs"}`})
		}
		issue()
		r.expect(t, "issues.opened")
		testkit.Eventually(t, func() bool {
			return count(t, s, `SELECT failures FROM hooks WHERE id = $1`, id) > 0
		}, "a failure is counted")
		// Three days and nine attempts later.
		alter(t, s, `UPDATE hooks SET failures = 9, failing_since = failing_since - 259200000000 WHERE id = $1`, id)
		issue()
		testkit.Eventually(t, func() bool {
			a := s.Check(t, apitest.Case{Do: "GET " + one, As: "alice", Status: 200})
			return apitest.Contains(a.Body,
				`{"active": false, "last_response": {"status": "disabled", "code": 502}}`) == nil &&
				strings.Contains(string(a.Body), "the receiver has failed since")
		}, "the hook is disabled")
		if n := count(t, s, `SELECT COUNT(*) FROM hook_deliveries WHERE hook_id = $1 AND state = 0`,
			id); n != 0 {
			t.Errorf("%d deliveries wait for a hook that is switched off", n)
		}
		dead.Store(false)
		s.Check(t, apitest.Case{Do: "PATCH " + one, As: "alice", Status: 200, Send: `{"active": true}`,
			Want: `{"active": true}`})
		testkit.Eventually(t, func() bool { return strings.HasPrefix(r.names(), "issues.opened") },
			"the issue is delivered")
		if n := count(t, s, `SELECT failures FROM hooks WHERE id = $1`, id); n != 0 {
			t.Errorf("it begins with %d failures", n)
		}
	})
}
