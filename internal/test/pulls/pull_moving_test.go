package pulls_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A merge whose base moves under it each time that it looks must give up in the
// end, say so (decision 37), and leave nothing half done.
func TestMergeIntoWhatKeepsMoving(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var armed, moving atomic.Bool
		var move func()
		look := func(_ context.Context, query string) {
			if armed.Load() && strings.HasSuffix(query, "i.repo_id = $1 AND i.number = $2") &&
				moving.CompareAndSwap(false, true) {
				move() // in the middle of the merge's snapshot, which does not see it
				moving.Store(false)
			}
		}
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: look})
		})
		s.Server.Forge().Repos.RetryFor = time.Second
		s.User(t, "alice")
		r := s.Repo(t, "alice/garden", false)
		w := &pullWorld{}
		w.commit("main", "Begin", "", "", one("a", "a\n"))
		w.commit("topic", "Add b", "main", "", one("b", "b\n"))
		w.commit("main", "Add c", "", "", one("c", "c\n"))
		dir := w.write(t)
		gittest.Run(t, dir, "push", "-q", s.Remote(t, "alice", "alice/garden"), "main", "topic")
		tips := strings.Fields(gittest.Run(t, dir, "rev-parse", "main", "main~"))
		p := propose(t, s, "alice", "alice/garden", "topic", "main")
		moved := 0
		move = func() {
			moved++
			s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/git/refs/heads/main",
				As: "alice", Status: 200,
				Send: fmt.Sprintf(`{"sha": %q, "force": true}`, tips[moved%2])})
		}
		armed.Store(true)
		s.Check(t, apitest.Case{Do: fmt.Sprintf("PUT /repos/alice/garden/pulls/%d/merge", p.Number),
			As: "alice", Status: 405,
			Want: `{"message": "Base branch was modified. Review and try the merge again.", "documentation_url": "$any"}`})
		armed.Store(false)
		if moved < 10 {
			t.Errorf("the base moved %d times only: it gave up too early", moved)
		}
		if now := s.Tip(t, "alice", "alice/garden", "main"); now != tips[moved%2] {
			t.Errorf("the base is %s, want %s", now, tips[moved%2])
		}
		if p := read(t, s, "", "alice/garden", p.Number); p.State != "open" || p.Merged {
			t.Errorf("the pull request is %+v", p)
		}
		s.Check(t, apitest.Case{Do: fmt.Sprintf("PUT /repos/alice/garden/pulls/%d/merge", p.Number),
			As: "alice", Status: 200, Want: `{"merged": true}`})
		gittest.Run(t, s.Objects(t, r.ID).Dir(), "fsck", "--strict")
	})
}

// Somebody who merges at home and pushes the result has merged: the pull request must
// not stay open, or in conflict with what holds it already.
func TestPushedMerge(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		for n, head := range []string{"slugs", "snails"} {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"title": "x", "head": "` + head + `", "base": "main"}`, Status: 201,
				Want: fmt.Sprintf(`{"number": %d}`, n+1)})
		}
		head := s.Tip(t, "alice", "alice/plot", "slugs")
		s.Ask(t, "will", "PATCH /repos/alice/plot/git/refs/heads/main", `{"sha": "`+head+`"}`, 200)
		closed := func() bool {
			a := s.Do(t, apitest.Case{Do: "GET /repos/alice/plot/pulls?state=closed"})
			return strings.Contains(string(a.Body), `"number":1`)
		}
		testkit.Eventually(t, closed, "the pull request is closed")
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"state": "closed", "merged": true, "merged_by": {"login": "will"}, "merge_commit_sha": "` + head + `", "mergeable": null, "commits": 1}`},
			{Do: "GET /repos/alice/plot/pulls/1/merge", Status: 204},
			{Do: "GET /repos/alice/plot/pulls/2", Status: 200,
				Want: `{"state": "open", "merged": false, "mergeable": true}`},
			{Name: "a head set back to what the base had is no merge",
				Do: "PATCH /repos/alice/plot/git/refs/heads/snails", As: "will",
				Send: `{"sha": "` + head + `", "force": true}`, Status: 200},
			{Do: "GET /repos/alice/plot/pulls/2", Status: 200, Want: `{"state": "open", "merged": false}`},
		})
	})
}
