package pulls_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/journal"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// stacked is a base with two branches: topic, and stacked, which begins at topic. Its
// branches b0 and side are for settled.
func stacked() *pullWorld {
	w := &pullWorld{}
	w.commit("main", "Begin", "", "", one("a", "a\n"))
	w.commit("side", "Leave", "main", "", one("s", "s\n"))
	w.commit("b0", "Add file 0", "side", "", one("0", "0\n"))
	w.commit("topic", "Add b", "main", "", one("b", "b\n"))
	w.commit("stacked", "Add d", "topic", "", one("d", "d\n"))
	return w
}

// byWorker is the context of a look at a push, by the worker.
func byWorker(ctx context.Context) bool { return strings.HasPrefix(journal.ID(ctx), "landing-") }

// interrupted serves alice/plot with a base, topic, and stacked, which begins at
// topic; b0 and side are for settled. What the test stores in act is done once,
// in the middle of the next transaction that runs a statement with that ending; for
// findsBase and findsRef it is the worker's.
func interrupted(t *testing.T, engine db.Engine) (s *apitest.Server, act func(ending string, do func())) {
	t.Helper()
	var ending atomic.Pointer[string]
	var do func()
	look := func(ctx context.Context, query string) {
		e := ending.Load()
		if e == nil || !strings.HasSuffix(query, *e) ||
			(*e == findsBase || *e == findsRef) && !byWorker(ctx) {
			return
		}
		if ending.CompareAndSwap(e, nil) {
			do()
		}
	}
	s = apitest.Start(t, engine, func(o *server.Options) {
		o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: look})
	})
	s.User(t, "alice")
	w := stacked()
	w.commit("instead", "Add e", "main", "", one("e", "e\n"))
	w.commit("beyond", "Add f", "topic", "", one("f", "f\n"))
	w.commit("main", "Add c", "", "", one("c", "c\n"))
	w.plant(t, s, "alice/plot", false)
	return s, func(e string, fn func()) {
		do = fn
		ending.Store(&e)
	}
}

// move points a branch of alice/plot at a commit, as a force-push does.
func move(t *testing.T, s *apitest.Server, branch, sha string) {
	t.Helper()
	s.Check(t, apitest.Case{Do: "PATCH /repos/alice/plot/git/refs/heads/" + branch, As: "alice", Status: 200,
		Send: fmt.Sprintf(`{"sha": %q, "force": true}`, sha)})
}

// settled waits until the worker has looked at all pushes so far. It makes one more that
// merges a pull request, since the worker takes them in their order.
func settled(t *testing.T, s *apitest.Server) {
	t.Helper()
	last := propose(t, s, "alice", "alice/plot", "b0", "side")
	move(t, s, "side", last.Head.SHA)
	testkit.Eventually(t, func() bool {
		a := s.Do(t, apitest.Case{Do: "GET /repos/alice/plot/pulls?state=closed"})
		return strings.Contains(string(a.Body), fmt.Sprintf(`"number":%d,`, last.Number))
	}, "the last pull request is closed")
}

const (
	findsIssue  = "i.repo_id = $1 AND i.number = $2"
	findsRef    = "name IN ($2)"
	findsBase   = "p.base_ref IN ($2) AND p.open ORDER BY p.issue_id"
	findsTarget = "WHERE r.id IN ($2)"
)

// A merge of a stacked pull request is repeated if its head was replaced. Nothing is merged then, so the
// pull request below it stays open.
func TestMergeThatBeginsAnewLandsNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, act := interrupted(t, engine)
		below := propose(t, s, "alice", "alice/plot", "topic", "main")
		above := propose(t, s, "alice", "alice/plot", "stacked", "main")
		instead := s.Tip(t, "alice", "alice/plot", "instead")
		replaced := 0
		var replace func()
		replace = func() { // the merge has read its pull request, and now reads the issue
			if replaced++; replaced < 5 {
				defer act(findsIssue, replace)
			}
			move(t, s, "stacked", []string{above.Head.SHA, instead}[replaced%2])
		}
		act(findsIssue, replace)
		c := merging("alice", "alice/plot", above.Number, "")
		c.Status = 200
		s.Check(t, c)
		if replaced != 5 {
			t.Fatalf("the head was replaced %d times", replaced)
		}
		settled(t, s)
		if p := read(t, s, "alice", "alice/plot", below.Number); p.Merged || p.State != "open" {
			t.Errorf("what only the rolled back merge held is %+v", p)
		}
		if p := read(t, s, "alice", "alice/plot", above.Number); !p.Merged || p.Head.SHA != instead {
			t.Errorf("what was merged is %+v", p)
		}
		truth(t, s, "alice", "alice/plot")
	})
}

// A merge or a push whose commit fails has moved nothing, and merged nothing.
func TestCommitThatFailsLandsNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		w := stacked()
		w.plant(t, s, "alice/plot", false)
		s.Ask(t, "alice", "POST /repos/alice/plot/issues", `{"title": "Slugs"}`, 201)
		below := propose(t, s, "alice", "alice/plot", "topic", "main")
		above := propose(t, s, "alice", "alice/plot", "stacked", "main")
		s.Check(t, apitest.Case{Do: fmt.Sprintf("PATCH /repos/alice/plot/issues/%d", below.Number),
			As: "alice", Send: `{"body": "Fixes #1"}`, Status: 200})
		base := s.Tip(t, "alice", "alice/plot", "main")

		mend := failCommits(t, s)
		s.Log.AllowErrors()
		for _, c := range []apitest.Case{
			merging("alice", "alice/plot", above.Number, ""),
			{Do: "PATCH /repos/alice/plot/git/refs/heads/main", As: "alice",
				Send: fmt.Sprintf(`{"sha": %q}`, above.Head.SHA)},
		} {
			if a := s.Do(t, c); a.Status < 500 {
				t.Fatalf("%s: %d %s: the commit did not fail", c.Do, a.Status, a.Body)
			}
		}
		mend()
		settled(t, s)
		if now := s.Tip(t, "alice", "alice/plot", "main"); now != base {
			t.Errorf("main is at %s, want %s", now, base)
		}
		for _, p := range []request{below, above} {
			if p := read(t, s, "alice", "alice/plot", p.Number); p.Merged || p.State != "open" {
				t.Errorf("after commits that failed it is %+v", p)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/issues/1", Status: 200, Want: `{"state": "open"}`})
		truth(t, s, "alice", "alice/plot")
	})
}

// failCommits makes every transaction that moves main fail at its commit until mend is called.
func failCommits(t *testing.T, s *apitest.Server) (mend func()) {
	t.Helper()
	run := func(list ...string) {
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			for _, statement := range list {
				if _, err := tx.Exec(statement); err != nil {
					return err
				}
			}
			return nil
		})
		testkit.NoError(t, err)
	}
	run(`CREATE TABLE traps (id BIGINT REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED)`)
	if s.Engine == db.PostgreSQL {
		run(`CREATE FUNCTION trap() RETURNS TRIGGER LANGUAGE plpgsql AS $$
				BEGIN INSERT INTO traps VALUES (-1); RETURN NULL; END $$`,
			`CREATE TRIGGER trap AFTER UPDATE ON refs FOR EACH ROW
				WHEN (NEW.name = 'refs/heads/main') EXECUTE FUNCTION trap()`)
		return func() { run(`DROP TRIGGER trap ON refs`) }
	}
	run(`CREATE TRIGGER trap AFTER UPDATE ON refs WHEN new.name = 'refs/heads/main'
		BEGIN INSERT INTO traps VALUES (-1); END`)
	return func() { run(`DROP TRIGGER trap`) }
}

// The worker finds merged pull requests after the push, and the base may have moved again: its history at
// that later time counts.
func TestBaseMovesBeforeTheWorkerLooks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		for _, c := range []struct {
			name, reads, to string
			merged          bool
		}{
			{"back, while pull requests are read", findsBase, "instead", false},
			{"back, while the tip is read", findsRef, "instead", false},
			{"on, while pull requests are read", findsBase, "beyond", true},
			{"on, while the tip is read", findsRef, "beyond", true},
		} {
			t.Run(c.name, func(t *testing.T) {
				s, act := interrupted(t, engine)
				p := propose(t, s, "alice", "alice/plot", "topic", "main")
				to := s.Tip(t, "alice", "alice/plot", c.to)
				var moved atomic.Bool
				again := func() {
					moved.Store(true)
					move(t, s, "main", to)
				}
				var look func()
				look = func() {
					switch {
					case s.Tip(t, "alice", "alice/plot", "main") != p.Head.SHA:
						act(findsBase, look) // the worker looks at an earlier push
					case c.reads == findsBase:
						again()
					default:
						act(c.reads, again)
					}
				}
				act(findsBase, look)
				move(t, s, "main", p.Head.SHA)
				settled(t, s)
				if !moved.Load() {
					t.Fatal("the base was not moved in between")
				}
				if p := read(t, s, "alice", "alice/plot", p.Number); p.Merged != c.merged {
					t.Errorf("it is %+v", p)
				}
				truth(t, s, "alice", "alice/plot")
			})
		}
	})
}

// While a fork's branch is pushed, its pull request ends, or gets another base: what is
// merged or closed keeps its head, and what goes on follows the branch.
func TestPushWhileThePullRequestChanges(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		if engine == db.SQLite {
			return // one transaction writes at a time
		}
		s, act := interrupted(t, engine)
		s.User(t, "bob")
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/forks", As: "bob", Status: 202})
		for n, c := range []struct {
			name, do, send string
			follows        bool
		}{
			{"merged", "PUT %s/merge", "", false},
			{"closed", "PATCH %s", `{"state": "closed"}`, false},
			{"another base", "PATCH %s", `{"base": "instead"}`, true},
		} {
			branch := []string{"topic", "stacked", "b0"}[n]
			p := propose(t, s, "bob", "alice/plot", "bob:"+branch, "main")
			changed := false
			act(findsTarget, func() { // the push knows its pull requests, and has locked none of them
				changed = true
				s.Check(t, apitest.Case{Do: fmt.Sprintf(c.do,
					fmt.Sprint("/repos/alice/plot/pulls/", p.Number)),
					As: "alice", Send: c.send, Status: 200})
			})
			sha := commit(t, s, "bob/plot", branch, fmt.Sprint("file", n), "x\n")
			if !changed {
				t.Fatalf("%s: nothing happened during the push", c.name)
			}
			want := p.Head.SHA
			if c.follows {
				want = sha
			}
			if now := read(t, s, "alice", "alice/plot", p.Number); now.Head.SHA != want {
				t.Errorf("%s: the head is %s, want %s", c.name, now.Head.SHA, want)
			}
		}
		truth(t, s, "alice", "alice/plot")
	})
}

// A pull request loses its head while it is merged, with so many others that it is closed
// only later: it is not merged any more.
func TestDetachedWhileMerged(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, act := interrupted(t, engine)
		p := propose(t, s, "alice", "alice/plot", "topic", "main")
		reads := 0
		var detach func()
		detach = func() { // the merge has read its pull request, and now reads the issue
			if reads++; reads < 2 { // it only finds out which branch it is about
				act(findsIssue, detach)
				return
			}
			err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec(`UPDATE pulls SET head_repo_id = NULL WHERE number = $1`, p.Number)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
		act(findsIssue, detach)
		c := merging("alice", "alice/plot", p.Number, "")
		c.Status = 405
		s.Check(t, c)
		if p := read(t, s, "alice", "alice/plot", p.Number); p.Merged || reads != 2 {
			t.Errorf("after %d readings it is %+v", reads, p)
		}
	})
}
