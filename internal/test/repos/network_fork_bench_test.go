//go:build long

package repos_test

import (
	"fmt"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// POST forks: of the Go distribution's tree in public it must cost what it costs
// of a few files, in private it costs the copy.
func BenchmarkFork(b *testing.B) {
	for _, c := range []struct {
		name           string
		large, private bool
	}{{"small", false, false}, {"go", true, false}, {"go-private", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			var source string
			if c.large {
				source, _ = gittest.GoTree(b)
			} else {
				source = gittest.Repository(b, 3, 3)
			}
			s := apitest.Start(b, db.SQLite)
			s.User(b, "alice")
			r := s.Repo(b, "alice/go", c.private)
			s.Import(b, r, source)
			n := 0
			for b.Loop() {
				b.StopTimer()
				login := fmt.Sprintf("user%d", n)
				n++
				s.User(b, login)
				s.Grant(b, r, login, account.Pull)
				b.StartTimer()
				s.Check(b, apitest.Case{Do: "POST /repos/alice/go/forks", As: login, Status: 202})
			}
		})
	}
}

// GET forks: the page at the end of 20,000 must cost what the first one does.
func BenchmarkListForks(b *testing.B) {
	s := apitest.Start(b, db.SQLite)
	s.User(b, "alice")
	forkable(b, s, s.Repo(b, "alice/go", false))
	s.User(b, "bob")
	s.Check(b, apitest.Case{Do: "POST /repos/alice/go/forks", As: "bob", Status: 202})
	err := s.DB.Write(b.Context(), func(tx *db.Tx) error {
		for _, statement := range []string{
			`INSERT INTO repos (owner_id, name, name_folded, private, default_branch, created_at, updated_at,
				pushed_at, parent_id, root_id)
				WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
				SELECT r.owner_id, 'f' || i, 'f' || i, r.private, 'main', i, i, i, r.parent_id, r.root_id
				FROM n, repos r WHERE r.parent_id IS NOT NULL`,
			`UPDATE repos SET forks_count = 20000, network_count = 20000 WHERE parent_id IS NULL`,
		} {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, page := range []int{1, 666} {
		b.Run(fmt.Sprintf("page%d", page), func(b *testing.B) {
			for b.Loop() {
				s.Check(b, apitest.Case{Do: fmt.Sprintf("GET /repos/alice/go/forks?page=%d", page),
					Status: 200})
			}
		})
	}
}
