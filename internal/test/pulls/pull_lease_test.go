package pulls_test

import (
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/test/dbtest"
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
		if err != nil {
			t.Fatal(err)
		}
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
		if err != nil {
			t.Fatal(err)
		}
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
