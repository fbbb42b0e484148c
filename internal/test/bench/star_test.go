//go:build long

package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// stars measures popular repositories: lists of a million stars compared with those of a thousand, deep
// pages compared with the driver's own index scan, and starring compared with the driver's own synced
// transactions. The ratios are required on SQLite.
func (s *suite) stars(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		big, small := s.starry(b, "", 1_000_000), s.starry(b, "", 1000)
		s.part(b, "first-page", func(b *testing.B) { s.firstStars(b, big, small) })
		s.part(b, "deep-page", func(b *testing.B) {
			floor := openStore(b, filepath.Join(big.data, "arbor.db"))
			s.deepStars(b, big, func(q string) (rows, error) { return floor.Query(q) })
		})
	})
	b.Run("write", s.writeStars)
	b.Run("postgres", func(b *testing.B) {
		url := dbtest.URL(b, db.PostgreSQL)
		big := s.starry(b, url, 1_000_000)
		small := s.starry(b, dbtest.URL(b, db.PostgreSQL), 1000)
		s.part(b, "first-page", func(b *testing.B) { s.firstStars(b, big, small) })
		floor, err := pgx.Connect(b.Context(), url)
		testkit.NoError(b, err)
		defer floor.Close(context.Background())
		s.part(b, "deep-page", func(b *testing.B) {
			s.deepStars(b, big, func(q string) (rows, error) { return floor.Query(b.Context(), q) })
		})
	})
}

// starry serves a store with n people and n repositories. Everyone starred the
// repository popular, and alice starred all. Without an address of PostgreSQL
// it is SQLite's.
func (s *suite) starry(b *testing.B, database string, n int) *arbor {
	b.Helper()
	b.Setenv("ARBOR_DATABASE", database)
	data, token := s.newData(b)
	if database == "" {
		database = filepath.Join(data, "arbor.db")
	}
	took := timed(func() {
		testkit.NoError(b, fillStars(database, n))
	})
	s.note(b, took, "s", fmt.Sprintf("to fill a store with %d stars", 2*n))
	if strings.Contains(database, "://") {
		vacuum(b, database)
	}
	return s.serve(b, data, token)
}

// firstStar is the id of popular, and of the first one who starred it.
const firstStar = 1_000_000

// fillStars adds the people, the repositories and the stars, which the store counts.
func fillStars(database string, n int) error {
	ctx := context.Background()
	d, err := db.Open(ctx, db.Options{URL: database})
	if err != nil {
		return err
	}
	defer d.Close()
	const numbers = `WITH RECURSIVE n(i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $2) `
	return d.Write(ctx, func(tx *db.Tx) error {
		for _, q := range []string{
			`INSERT INTO accounts (id, login, login_folded, kind, public_repos, created_at, updated_at)
				SELECT i, 'u' || i, 'u' || i, 1, 1, i, i FROM n`,
			`INSERT INTO repos (id, owner_id, name, name_folded, private, default_branch, created_at,
				updated_at, pushed_at)
				SELECT i, i, 'r' || i, 'r' || i, FALSE, 'main', i, i, i * 7919 % 1000003 FROM n`,
			`INSERT INTO stars (user_id, repo_id, private, created_at) SELECT i, CAST($1 AS BIGINT), FALSE, i * 104729 % 1000003 FROM n`,
			`INSERT INTO stars (user_id, repo_id, private, created_at)
				SELECT (SELECT id FROM accounts WHERE login = 'alice'), i, FALSE, i * 15485863 % 1000003
				FROM n`,
		} {
			if _, err := tx.Exec(numbers+q, firstStar, firstStar+n-1); err != nil {
				return err
			}
		}
		return nil
	})
}

// starLists are the lists, each with the driver's own walk to a page of it.
var starLists = [...]struct{ path, floor string }{
	{fmt.Sprintf("/repos/u%d/r%d/stargazers?", firstStar, firstStar),
		`SELECT user_id, created_at FROM stars WHERE repo_id = ` + fmt.Sprint(firstStar) +
			` ORDER BY created_at, user_id`},
	{"/user/starred?", starsOfAlice("s.created_at DESC, s.repo_id DESC")},
	{"/users/alice/starred?direction=asc", starsOfAlice("s.created_at, s.repo_id")},
	{"/users/alice/starred?sort=updated", pushedStarsOfAlice("p.pushed_at DESC, p.id DESC")},
	{"/user/starred?sort=updated&direction=asc", pushedStarsOfAlice("p.pushed_at, p.id")},
}

const ofAlice = `s.user_id = (SELECT id FROM accounts WHERE login = 'alice')`

func starsOfAlice(order string) string {
	return `SELECT s.repo_id, s.created_at FROM stars s WHERE ` + ofAlice + ` ORDER BY ` + order
}

func pushedStarsOfAlice(order string) string {
	return `SELECT s.repo_id, s.created_at FROM repos p CROSS JOIN stars s WHERE ` + ofAlice +
		` AND s.repo_id = p.id ORDER BY ` + order
}

// firstStars compares first pages of a big and a small store.
func (s *suite) firstStars(b *testing.B, big, small *arbor) {
	in, control := connect(b, big.url), connect(b, small.url)
	for _, l := range starLists {
		ratio, x, y := pairs(61, timeOf(b, in, get(l.path, big.token)),
			timeOf(b, control, get(l.path, small.token)))
		s.atMost(b, ratio, 1.5, "x-of-1000-stars", l.path+" "+seconds(x, y))
	}
}

// rows are those of either driver.
type rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// deepStars compares pages far in with the driver's own walk to them.
func (s *suite) deepStars(b *testing.B, big *arbor, query func(q string) (rows, error)) {
	const page = 33_000
	in := connect(b, big.url)
	for _, l := range starLists {
		walk := fmt.Sprintf(`%s LIMIT 30 OFFSET %d`, l.floor, (page-1)*30)
		ratio, x, y := pairs(15, timeOf(b, in, get(fmt.Sprintf("%s&page=%d", l.path, page), big.token)),
			func() float64 {
				return timed(func() {
					found, err := query(walk)
					testkit.NoError(b, err)
					scanAll(b, found)
				})
			})
		s.atMost(b, ratio, 1.5, "x-of-driver", l.path+" "+seconds(x, y))
	}
}

// scanAll reads all rows, which closes them.
func scanAll(b *testing.B, found rows) {
	n := 0
	for ; found.Next(); n++ {
		var id, at int64
		testkit.NoError(b, found.Scan(&id, &at))
	}
	if found.Err() != nil || n != 30 {
		b.Fatal("the floor found", n, "rows,", found.Err())
	}
}

// timeOf returns a function that measures a response in seconds.
func timeOf(b *testing.B, c *client, request []byte) func() float64 {
	return func() float64 {
		return timed(func() {
			if _, err := c.must(request); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// writeStars compares starring and unstarring with the bare driver that inserts
// one row in one synced transaction after another.
func (s *suite) writeStars(b *testing.B) {
	for _, c := range []struct {
		clients int
		bound   float64
	}{{1, 0.25}, {8, 0.6}} {
		s.part(b, fmt.Sprint("clients-", c.clients), func(b *testing.B) {
			a := s.starry(b, "", 1000)
			stars := newStars(b, a, c.clients)
			ours := func() float64 { return stars.run(b, slice) }
			floor := newLoadOfDriver(b, b.TempDir())
			ours()
			floor()
			ratio, x, y := pairs(rounds, ours, floor)
			s.atLeast(b, ratio, c.bound, "x-of-driver", rates(x, y))
			a.stop(b)
			checkStars(b, a)
		})
	}
}

// newStars returns clients that each remove and restore a star repeatedly.
func newStars(b *testing.B, a *arbor, clients int) *crowd {
	b.Helper()
	last := 0
	off := make([]int, clients) // whose star each client has taken off; 0: none
	stars := newCrowd(b, a.url, clients, func(to []byte, client int) []byte {
		method, id := "PUT", off[client]
		if off[client] = 0; id == 0 {
			last++
			method, id = "DELETE", firstStar+last%1000
			off[client] = id
		}
		return fmt.Appendf(to,
			"%s /user/starred/u%d/r%d HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n", method,
			id, id, a.token)
	})
	stars.open = func(client int) bool { return off[client] != 0 }
	return stars
}

// checkStars checks that all stars exist and are counted.
func checkStars(b *testing.B, a *arbor) {
	var stars, counted, ofRepos int64
	err := openStore(b, filepath.Join(a.data, "arbor.db")).QueryRow(`SELECT (SELECT count(*) FROM stars),
		(SELECT sum(public) FROM mark_counts WHERE kind = 0), (SELECT sum(stars)
		FROM repos)`).Scan(&stars, &counted, &ofRepos)
	if err != nil || stars != 2000 || counted != 2000 || ofRepos != 2000 {
		b.Errorf("of 2000 stars there are %d, counted as %d of people and %d of repositories, %v", stars,
			counted, ofRepos, err)
	}
}
