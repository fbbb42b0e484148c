package pulls_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testenv"
	"arbor/internal/test/testkit"
)

// Two nodes look for scheduled test merges at the same moments, one of them with a
// clock that is hours ahead: each is given to one of them.
func TestTestMergesAreLeasedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		const n = 40
		address := dbtest.URL(t, engine)
		nodes := [2]*db.DB{dbtest.OpenURL(t, address),
			dbtest.OpenWith(t, db.Options{URL: address, Now: func() time.Time {
				return time.Now().Add(5 * time.Hour)
			}})}
		alice, err := account.New(nodes[0], nil).CreateUser(t.Context(), account.NewUser{Login: "alice"})
		testkit.NoError(t, err)
		err = nodes[0].Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO repos (id, owner_id, name, name_folded, private,
					default_branch, created_at, updated_at, pushed_at)
				VALUES (1, $1, 'garden', 'garden', FALSE, 'main', 1, 1, 1)`, alice.ID)
			if err != nil {
				return err
			}
			for i := range n {
				_, err := tx.Exec(`INSERT INTO issues (id, repo_id, number, title, author_id, state,
						labels, assignees, created_at, updated_at, pull)
					VALUES ($1, 1, $1, 'x', $2, 1, '', '', 1, 1, TRUE)`, i+1, alice.ID)
				if err != nil {
					return err
				}
				_, err = tx.Exec(`INSERT INTO pulls (issue_id, repo_id, number, open, base_ref, base_sha,
						head_owner_id, head_ref, head_sha, wanted)
					VALUES ($1, 1, $1, TRUE, 'main', '', $2, 'h', '', TRUE)`, i+1, alice.ID)
				if err != nil {
					return err
				}
			}
			return nil
		})
		testkit.NoError(t, err)
		var mu sync.Mutex
		times := map[issue.ID]int{}
		var all sync.WaitGroup
		for w := range 8 {
			all.Go(func() {
				for range n {
					var p *pull.Pull
					err := nodes[w%2].Write(t.Context(), func(tx *db.Tx) (err error) {
						p, _, err = pull.Lease(tx, time.Hour)
						return err
					})
					if err != nil {
						t.Error(err)
						return
					}
					if p != nil {
						mu.Lock()
						times[p.IssueID]++
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		for id, k := range times {
			if k != 1 {
				t.Errorf("the test merge of #%d was given out %d times", id, k)
			}
		}
		if len(times) != n {
			t.Errorf("%d of %d test merges were given out", len(times), n)
		}
	})
}

// Two sides that rename thousands of files to different names take git very long, here with three seconds
// more than so many take by themselves: who proposes that does not wait for it, and everyone learns of the
// end.
func TestSlowTestMerge(t *testing.T) {
	t.Parallel()
	if !testenv.Long {
		t.Skip("takes seconds of processor time")
	}
	s := apitest.Start(t, db.SQLite, func(o *server.Options) {
		o.Git = gittest.New(t, git.Options{Binary: gittest.Wrapped(t, "merge-tree", "sleep 3")})
	})
	s.Server.Forge().Pulls.Patience = 2 * time.Second
	s.User(t, "alice")
	random := rand.New(rand.NewPCG(1, 1))
	base, left, right := map[string]string{}, map[string]string{}, map[string]string{}
	for i := range 1100 {
		var b strings.Builder
		for range 200 {
			fmt.Fprintln(&b, random.IntN(50))
		}
		name := fmt.Sprintf("d%d/f%d", i%7, i)
		base[name], left[name], right[name] = b.String(), gone, gone
		left[fmt.Sprintf("e%d/g%d", i%11, i)] = "x\ny\n" + b.String()
		right[fmt.Sprintf("h%d/k%d", i%13, i)] = "z\nw\nq\n" + b.String()
	}
	w := &pullWorld{}
	w.commit("main", "Begin", "", "", base)
	w.commit("left", "l", "main", "", left)
	w.commit("right", "r", "main", "", right)
	w.plant(t, s, "alice/plot", false)
	start := time.Now()
	made := proposeNow(t, s, "alice", "alice/plot", "left", "right")
	t.Logf("made in %v", time.Since(start))
	if made.Mergeable != nil {
		t.Errorf("it was waited for: %+v", made)
	}
	for p := made; ; p = read(t, s, "", "alice/plot", made.Number) {
		if p.Mergeable != nil {
			if *p.Mergeable || p.MergeableState != "dirty" || p.Files != 2200 {
				t.Errorf("it is %+v", p)
			}
			break
		}
		if time.Since(start) > testkit.Patience {
			t.Fatalf("nobody ever learns whether it merges: %+v", p)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("known after %v", time.Since(start))
}
