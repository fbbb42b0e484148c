package issues_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// spoken fills an issue and a pull request of garden/plot with comments in turn,
// one a minute from 2020-01-01 on, each changed at a time that shuffle gives in
// minutes, and returns their ids.
func spoken(t *testing.T, s *apitest.Server, n int, shuffle func(i int) int) []int64 {
	t.Helper()
	s.Team(t)
	on := []string{issuetest.File(t, s, "sam", "garden/plot"), issuetest.FilePull(t, s, "sam", "garden/plot")}
	other := issuetest.File(t, s, "rae", "garden/shed")
	var ids []int64
	for i := range n {
		ids = append(ids, issuetest.Comment(t, s, "sam", on[i%2], fmt.Sprintf("c%d", i)))
	}
	issuetest.Comment(t, s, "rae", other, "elsewhere")
	begin := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		for i, id := range ids {
			created, updated := begin.Add(time.Duration(i)*time.Minute),
				begin.Add(time.Duration(shuffle(i))*time.Minute)
			if _, err := tx.Exec(`UPDATE issue_comments SET created_at = $2, updated_at = $3 WHERE id = $1`,
				id, db.FromTime(created), db.FromTime(updated)); err != nil {
				return err
			}
		}
		return nil
	})
	testkit.NoError(t, err)
	return ids
}

// Lists contain each comment once for any order and page, and never comments of other issues (decisions
// 23-25).
func TestCommentLists(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const n = 11
		shuffle := func(i int) int { return 100 + i*7%n }
		spoken(t, s, n, shuffle)
		sorted := func(updated, desc bool, from int, keep func(i int) bool) string {
			var order []int
			for i := range n {
				if keep(i) && shuffle(i) >= from {
					order = append(order, i)
				}
			}
			if updated {
				slices.SortFunc(order, func(a, b int) int { return shuffle(a) - shuffle(b) })
			}
			if desc {
				slices.Reverse(order)
			}
			var names []string
			for _, i := range order {
				names = append(names, fmt.Sprintf("c%d", i))
			}
			return strings.Join(names, " ")
		}
		all := func(int) bool { return true }
		first := func(i int) bool { return i%2 == 0 }
		const issue, repository = "/repos/garden/plot/issues/1/comments", "/repos/garden/plot/issues/comments"
		for _, c := range []struct{ path, query, want string }{
			{issue, "", sorted(false, false, 0, first)},
			// that list knows no order
			{issue, "sort=updated&direction=desc", sorted(false, false, 0, first)},
			{issue, "since=2020-01-01T01:45:00Z", sorted(false, false, 105, first)},
			{issue, "since=2020-01-01T03:45:00%2B02:00", sorted(false, false, 105, first)},
			{issue, "since=2030-01-01T00:00:00Z", ""},
			{issue, "since=1970-01-01T00:00:00Z", sorted(false, false, 0, first)},
			{"/repos/garden/plot/issues/2/comments", "", sorted(false, false, 0, func(i int) bool {
				return i%2 == 1
			})},
			{repository, "", sorted(false, false, 0, all)},
			{repository, "direction=desc", sorted(false, false, 0, all)}, // counts with sort only
			{repository, "sort=created", sorted(false, false, 0, all)},
			{repository, "sort=created&direction=desc", sorted(false, true, 0, all)},
			{repository, "sort=updated", sorted(true, false, 0, all)},
			{repository, "sort=updated&direction=desc", sorted(true, true, 0, all)},
			{repository, "since=2020-01-01T01:45:00Z", sorted(false, false, 105, all)},
			{repository, "since=2020-01-01T01:45:00Z&sort=updated&direction=desc",
				sorted(true, true, 105, all)},
			{repository, "since=1970-01-01T00:00:00Z&sort=updated", sorted(true, false, 0, all)},
		} {
			for _, size := range []int{2, 5, 30} {
				if got := walked(t, s, c.path+"?"+c.query+fmt.Sprintf("&per_page=%d", size)); got != c.want {
					t.Errorf("%s?%s by %d:\n%s\nwant\n%s", c.path, c.query, size, got, c.want)
				}
			}
		}
	})
}

// walked follows a list from its first page by its Links and returns the texts;
// Links must agree with what is there.
func walked(t *testing.T, s *apitest.Server, path string) string {
	t.Helper()
	var texts []string
	next := path
	pages := 0
	for next != "" {
		a := s.Check(t, apitest.Case{Do: "GET " + next, Status: 200})
		var list []struct{ Body string }
		a.JSON(t, &list)
		if pages++; len(list) == 0 && pages > 1 {
			t.Fatalf("%s is empty, though a Link led to it", next)
		}
		for _, c := range list {
			texts = append(texts, c.Body)
		}
		next = ""
		for part := range strings.SplitSeq(a.Header.Get("Link"), ", ") {
			if address, ok := strings.CutSuffix(part, `>; rel="next"`); ok {
				next = strings.TrimPrefix(address, "<"+s.URL)
			}
		}
	}
	return strings.Join(texts, " ")
}

// What a list cannot mean is refused by name (decisions 17, 25), and a page past
// the end is empty.
func TestCommentListParameters(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		spoken(t, s, 3, func(i int) int { return i })
		const issue, repository = "/repos/garden/plot/issues/1/comments", "/repos/garden/plot/issues/comments"
		for _, c := range []struct{ path, field string }{
			{issue + "?since=yesterday", "since"}, {issue + "?since=2020-13-01T00:00:00Z", "since"},
			{issue + "?since=1577836800", "since"},
			{repository + "?since=soon", "since"}, {repository + "?sort=comments", "sort"},
			{repository + "?sort=UPDATED", "sort"},
			{repository + "?sort=updated&direction=up", "direction"},
			{repository + "?direction=sideways", "direction"},
		} {
			s.Check(t, apitest.Case{Do: "GET " + c.path, Status: 422,
				Want: `{"errors": [{"resource": "IssueComment", "field": "` + c.field +
					`", "code": "invalid"}]}`})
		}
		for _, path := range []string{issue, repository} {
			s.Check(t, apitest.Case{Do: "GET " + path + "?page=9&per_page=1", Status: 200, Body: "[]"})
			s.Check(t, apitest.Case{Do: "GET " + path + "?page=99999999999999999999",
				Status: 200, Body: "[]"})
			s.Check(t, apitest.Case{Do: "GET " + path + "?page=9&since=2019-01-01T00:00:00Z",
				Status: 200, Body: "[]"})
			s.Check(t, apitest.Case{Do: "GET " + path + "?page=x&per_page=0", Status: 200})
		}
		s.Check(t, apitest.Case{Do: "GET " + repository + "?page=2&per_page=1&since=2020-01-01T00:01:00Z",
			Status: http.StatusOK, Want: `[{"body": "c2"}]`,
			Has: map[string]string{"Link": `<{base}` + repository +
				`?page=1&per_page=1&since=2020-01-01T00:01:00Z>; rel="first", <{base}` + repository +
				`?page=1&per_page=1&since=2020-01-01T00:01:00Z>; rel="prev"`}})
	})
}

// BenchmarkComments reads pages of 30 in a repository with 100,000 comments: cached, rendered, and deep in
// the list.
func BenchmarkComments(b *testing.B) {
	s := apitest.Start(b, db.SQLite)
	s.Users(b, "alice", "sam")
	r := s.Repo(b, "alice/plot", false)
	on := issuetest.File(b, s, "sam", "alice/plot")
	issuetest.Comment(b, s, "sam", on, "the first")
	err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
		const n = 100_000
		for range n / 1000 {
			if _, err := tx.Exec(`INSERT INTO issue_comments (repo_id, issue_id, author_id, body, created_at,
				updated_at)
				WITH RECURSIVE k(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM k WHERE x < 1000)
				SELECT repo_id, issue_id, author_id,
				'Snails eat *everything* that is green and tender in a single night.', created_at, updated_at
				FROM issue_comments, k WHERE id = 1`); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(`UPDATE issues SET comments = comments + $1`, n); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE posting_counts SET n = n + $1 WHERE kind = 9`, n)
		return err
	})
	testkit.NoError(b, err)
	anew := func() {
		dbtest.Exec(b, s.DB, `UPDATE repos SET issues_generation = issues_generation + 1 WHERE id = $1`,
			r.ID)
	}
	for _, c := range []struct {
		name, path string
		change     bool
	}{
		{"kept", on + "/comments", false},
		{"anew", on + "/comments", true},
		{"anew/html", on + "/comments", true},
		{"anew/repository", "/repos/alice/plot/issues/comments?sort=updated&direction=desc", true},
		{"anew/deep", on + "/comments?page=3000", true},
		{"anew/repository/deep", "/repos/alice/plot/issues/comments?sort=updated&direction=desc&page=3000",
			true},
	} {
		b.Run(c.name, func(b *testing.B) {
			request := apitest.Case{Do: "GET " + c.path, Status: 200}
			if strings.Contains(c.name, "html") {
				request.Headers = issuetest.Media("html")
			}
			for b.Loop() {
				if c.change {
					b.StopTimer()
					anew()
					b.StartTimer()
				}
				s.Check(b, request)
			}
		})
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			issuetest.Comment(b, s, "sam", on, "one more")
		}
	})
}
