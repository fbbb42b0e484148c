//go:build long

package bench

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// createIssues compares making issues, each with two labels and an assignee,
// with the bare driver that writes the same rows to the same tables in one
// synced transaction after another.
func (s *suite) createIssues(b *testing.B) {
	for _, c := range []struct {
		clients int
		bound   float64
	}{{1, 0.3}, {8, 0.8}} {
		s.part(b, fmt.Sprint("clients-", c.clients), func(b *testing.B) {
			a := s.tracker(b, "", issuetest.Thousand())
			ours, made := filing(b, a, c.clients)
			floor := newIssueFloor(b)
			ours.run(b, slice)
			floor.run(b)
			ratio, x, y := pairs(rounds, func() float64 {
				return ours.run(b, slice)
			}, func() float64 { return floor.run(b) })
			s.atLeast(b, ratio, c.bound, "x-of-driver", rates(x, y))
			a.stop(b)
			checkNumbers(b, a, made.Load())
		})
	}
}

// createOnPostgres compares making issues with eight clients on PostgreSQL with SQLite. The tests' own server
// of PostgreSQL syncs nothing, while SQLite does: for the promise, ARBOR_TEST_POSTGRES_URL names one that
// does.
func (s *suite) createOnPostgres(b *testing.B) {
	s.part(b, "clients-8", func(b *testing.B) {
		url := dbtest.URL(b, db.PostgreSQL)
		postgres := s.tracker(b, url, issuetest.Thousand())
		sqlite := s.tracker(b, "", issuetest.Thousand())
		ours, _ := filing(b, postgres, 8)
		other, _ := filing(b, sqlite, 8)
		ratio, x, y := ours.against(b, other, slice)
		s.atLeast(b, ratio, 0.3, "x-of-sqlite", rates(x, y)+"; the tests' own PostgreSQL does not sync")
	})
}

// filing is clients that make issues, each with two labels and an assignee, and how many they have made.
func filing(b *testing.B, a *arbor, clients int) (*load, *atomic.Int64) {
	n := &atomic.Int64{}
	return newLoad(b, a.url, clients, func(int) []byte {
		return request("POST", "/repos/works/project0/issues", a.token, fmt.Sprintf(
			`{"title":"The parser fails silently under load, number %d","body":%q,"labels":["bug","documentation"],"assignee":"alice"}`, n.Add(1), filedBody))
	}), n
}

// filedBody is what the issues say.
const filedBody = "The parser found nothing broken after the second start, it works on every other machine.\n\n1. Open the `parser`\n2. It *times out*\n\n" +
	"```\nparser: error again\n```\n\nThat happened before the new version, sometimes because of the folder."

// checkNumbers checks that each issue was numbered once, without gaps.
func checkNumbers(b *testing.B, a *arbor, made int64) {
	d := openStore(b, filepath.Join(a.data, "arbor.db"))
	var count, distinct, last, next, postings, counted int64
	err := d.QueryRow(`SELECT count(*), count(DISTINCT i.number), max(i.number), r.next_number,
			(SELECT count(*) FROM postings p WHERE p.repo_id = r.id), (SELECT sum(n) FROM posting_counts c
			WHERE c.repo_id = r.id AND c.kind < 9)
		FROM issues i JOIN repos r ON r.id = i.repo_id WHERE r.name = 'project0'
		GROUP BY r.id`).Scan(&count, &distinct, &last, &next, &postings, &counted)
	testkit.NoError(b, err)
	want := made + int64(issuetest.Thousand().Repos[0])
	if count != want || distinct != want || last != want || next != want+1 || postings != counted {
		b.Errorf("%d issues were made: there are %d with %d numbers up to %d, the next is %d; %d postings, of which %d are counted",
			want, count, distinct, last, next, postings, counted)
	}
}

// issueFloor is the bare driver on a store like the server's.
type issueFloor struct {
	db         *sql.DB
	statements []*sql.Stmt
	repo       repo.ID
	user       int64
	labels     [2]int64
}

// newIssueFloor prepares the statements that one issue takes.
func newIssueFloor(b *testing.B) *issueFloor {
	b.Helper()
	file := filepath.Join(b.TempDir(), "floor.db")
	d, err := db.Open(context.Background(), db.Options{URL: file})
	testkit.NoError(b, err)
	made, err := issuetest.Fill(context.Background(), d, issuetest.Thousand())
	testkit.NoError(b, err)
	testkit.NoError(b, d.Close())
	r := made.Repos[0]
	f := &issueFloor{db: openStore(b, file), repo: r.ID, user: int64(made.People[0].ID),
		labels: [2]int64{r.Labels[0].ID, r.Labels[1].ID}}
	for _, q := range []string{
		`UPDATE repos SET issues_generation = issues_generation + 1, next_number = next_number + 1,
			open_issues = open_issues + 1
			WHERE id = ? RETURNING next_number - 1`,
		`INSERT INTO issues (repo_id, number, pull, title, body, author_id, state, state_reason, locked,
			labels, assignees, comments,
			created_at, updated_at, draft) VALUES (?, ?, FALSE, ?, ?, ?, 1, 0, FALSE, ?, ?, 0, ?, ?, FALSE)`,
		`INSERT INTO postings (issue_id, kind, value, repo_id, state, updated_at, comments) VALUES ` +
			marks(issuePostings, 7),
		`INSERT INTO posting_counts (repo_id, kind, value, state, n) VALUES ` + marks(issuePostings, 5) +
			` ON CONFLICT (repo_id, kind, value, state) DO UPDATE SET n = posting_counts.n + excluded.n`,
		`INSERT INTO issue_events (repo_id, issue_id, actor_id, kind, user_id, detail, created_at) VALUES ` +
			marks(3, 7),
	} {
		statement, err := f.db.Prepare(q)
		testkit.NoError(b, err)
		b.Cleanup(func() { statement.Close() })
		f.statements = append(f.statements, statement)
	}
	return f
}

// marks are the placeholders of rows.
func marks(rows, columns int) string {
	row := "(?" + strings.Repeat(",?", columns-1) + ")"
	return row + strings.Repeat(","+row, rows-1)
}

// issuePostings is how many postings an issue with an author who is its
// assignee, two labels and no milestone has.
const issuePostings = 8

// run commits for a slice and tells the rate.
func (f *issueFloor) run(b *testing.B) float64 {
	count := 0
	took := timed(func() {
		for start := time.Now(); time.Since(start) < slice; count++ {
			testkit.NoError(b, f.create())
		}
	})
	return float64(count) / took
}

// create commits one issue.
func (f *issueFloor) create() error {
	tx, err := f.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	now := time.Now().UnixMicro()
	var number int64
	if err := tx.Stmt(f.statements[0]).QueryRow(f.repo).Scan(&number); err != nil {
		return err
	}
	title := fmt.Sprintf("The parser fails silently under load, number %d", number)
	result, err := tx.Stmt(f.statements[1]).Exec(f.repo, number, title, filedBody, f.user,
		fmt.Sprint(f.labels[0], ",", f.labels[1]), fmt.Sprint(f.user), now, now)
	if err != nil {
		return err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return err
	}
	var postings, counts, events []any
	for _, p := range [issuePostings][2]int64{{1, 0}, {2, f.user}, {3, f.user}, {3, -1}, {4, 0},
		{5, f.labels[0]}, {5, f.labels[1]}, {7, f.user}} {
		postings = append(postings, id, p[0], p[1], f.repo, 1, now, 0)
		counts = append(counts, f.repo, p[0], p[1], 1, 1)
	}
	for n, kind := range [...]int{3, 3, 5} {
		var user, detail any = nil, `{"label":{"name":"bug","color":"d73a4a"}}`
		if n == 2 {
			user, detail = f.user, nil
		}
		events = append(events, f.repo, id, f.user, kind, user, detail, now)
	}
	for n, args := range [][]any{postings, counts, events} { // the text to be indexed is noted by a trigger

		if _, err := tx.Stmt(f.statements[2+n]).Exec(args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
