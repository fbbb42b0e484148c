package issues_test

import (
	"fmt"
	"slices"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/markdown"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// Figures that were measured on a generated tracker are worth nothing unless it
// is what the operations themselves would have left: the postings that follow
// from each row, counters that count them, numbers without gaps.
func TestFilledStoreIsLikeAnyOther(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		before := indexes(t, s)
		made, err := issuetest.Fill(t.Context(), s.DB, issuetest.Options{First: "alice",
			Repos: []int{400, 30, 1}, People: 12, History: true, Texts: true})
		testkit.NoError(t, err)
		if after := indexes(t, s); !slices.Equal(before, after) {
			t.Errorf("indexes %v, in a fresh store %v", after, before)
		}
		err = s.DB.Read(t.Context(), func(tx *db.Tx) error {
			for _, r := range made.Repos {
				checkRepo(t, tx, r)
			}
			checkCounts(t, tx)
			return nil
		})
		testkit.NoError(t, err)
		lists(t, s)
	})
}

// indexes are the names of all indexes.
func indexes(t *testing.T, s *apitest.Server) []string {
	query := `SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name`
	if s.Engine == db.PostgreSQL {
		query = `SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexname`
	}
	return dbtest.Column[string](t, s.DB, query)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// checkRepo holds what belongs to a repository against its issues' rows.
func checkRepo(t *testing.T, tx *db.Tx, r *issuetest.Repo) {
	ids := must(db.QueryColumn[issue.ID](tx, `SELECT id FROM issues WHERE repo_id = $1 ORDER BY id`, r.ID))
	list := must(issue.ByIDs(tx, ids))
	if len(list) != r.Issues {
		t.Fatalf("%s has %d issues, not %d", r.Name, len(list), r.Issues)
	}
	open, comments := int64(0), int64(0)
	for n, i := range list {
		if i.Number != int64(n+1) || n > 0 && i.CreatedAt < list[n-1].CreatedAt || i.UpdatedAt < i.CreatedAt {
			t.Fatalf("%s: issue %d has number %d, was made at %v and changed at %v", r.Name, n+1, i.Number,
				i.CreatedAt, i.UpdatedAt)
		}
		if i.State == issue.Open {
			open++
		}
		comments += i.Comments
		checkIssue(t, tx, i)
	}
	counted := must(db.QueryColumn[int64](tx, `SELECT open_issues FROM repos WHERE id = $1`, r.ID))[0]
	next := must(db.QueryColumn[int64](tx, `SELECT next_number FROM repos WHERE id = $1`, r.ID))[0]
	rows := must(db.QueryColumn[int64](tx, `SELECT count(*) FROM issue_comments WHERE repo_id = $1`, r.ID))[0]
	if counted != open || next != int64(r.Issues+1) || rows != comments {
		t.Errorf("%s: counts %d open issues, %d comments, the next number %d; there are %d, %d, %d", r.Name,
			counted, comments, next, open, rows, r.Issues)
	}
}

// checkIssue holds the postings of an issue against what the code that changes
// issues derives from the row, the text and the comments.
func checkIssue(t *testing.T, tx *db.Tx, i *issue.Issue) {
	want := map[posting.Property]bool{}
	for _, p := range i.Properties() {
		want[p] = true
	}
	involved := append([]account.ID{i.AuthorID}, i.Assignees...)
	for _, a := range must(account.ByLogins(tx, markdown.Parse(*i.Body).References().Logins)) {
		want[posting.ByMention.OfUser(a.ID)] = true
		involved = append(involved, a.ID)
	}
	involved = append(involved,
		must(db.QueryColumn[account.ID](tx, `SELECT author_id FROM issue_comments WHERE issue_id = $1`, i.ID))...)
	for _, id := range involved {
		want[posting.BySubscriber.OfUser(id)] = true
	}
	rows, err := tx.Query(
		`SELECT kind, value, repo_id, state, updated_at, comments FROM postings WHERE issue_id = $1`, i.ID)
	testkit.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var kind, value int64
		var repoID repo.ID
		var state, comments int64
		var updated db.Time
		testkit.NoError(t, rows.Scan(&kind, &value, &repoID, &state, &updated, &comments))
		p := posting.Property{Kind: posting.Kind(kind), Value: value}
		if !want[p] || repoID != i.RepoID || issue.State(state) != i.State || updated != i.UpdatedAt ||
			comments != i.Comments {
			t.Errorf("issue %d: a posting %v that does not follow from it, or differs from it", i.ID, p)
		}
		delete(want, p)
	}
	if err := rows.Err(); err != nil || len(want) > 0 {
		t.Errorf("issue %d: no postings %v, %v", i.ID, want, err)
	}
}

// checkCounts compares the counters with what they count.
func checkCounts(t *testing.T, tx *db.Tx) {
	const counted = `SELECT repo_id, kind, value, state, n FROM posting_counts WHERE kind < 9 AND n <> 0`
	const there = `SELECT repo_id, kind, value, state, count(*) FROM postings GROUP BY repo_id, kind, value, state`
	for _, query := range []string{counted + ` EXCEPT ` + there, there + ` EXCEPT ` + counted} {
		if n := must(db.QueryColumn[int64](tx, `SELECT count(*) FROM (`+query+`) d`))[0]; n != 0 {
			t.Errorf("%d counters differ from the postings: %s", n, query)
		}
	}
}

// lists asks for the tracker over HTTP, and goes on with it.
func lists(t *testing.T, s *apitest.Server) {
	var page []struct {
		Number   int64
		Comments int64
	}
	for _, path := range []string{"/repos/works/project0/issues?labels=bug&state=all",
		"/repos/works/project0/issues?milestone=1&assignee=alice&state=all",
		"/repos/works/project0/issues?sort=comments&direction=asc",
		"/repos/works/project0/issues?mentioned=alice&since=2021-01-01T00:00:00Z&sort=updated"} {
		s.Check(t, apitest.Case{Do: "GET " + path, As: "alice", Status: 200}).JSON(t, &page)
		if len(page) == 0 {
			t.Errorf("%s is empty", path)
		}
	}
	s.Check(t, apitest.Case{Do: "GET /repos/works/project0/issues?per_page=1&state=all&sort=comments",
		As: "alice", Status: 200}).JSON(t, &page)
	var comments []struct{ Body string }
	most := page[0]
	s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/works/project0/issues/%d/comments?per_page=100",
		most.Number), Status: 200}).JSON(t, &comments)
	if int64(len(comments)) != most.Comments {
		t.Errorf("%d comments, the issue counts %d", len(comments), most.Comments)
	}
	var found struct {
		Total int `json:"total_count"`
	}
	s.Check(t, apitest.Case{Do: "GET /search/issues?q=crashes+repo:works/project0", Status: 200}).JSON(t,
		&found)
	if found.Total == 0 {
		t.Error("no issue is found by its words")
	}
	s.Run(t, []apitest.Case{
		{Do: "POST /repos/works/project0/issues", As: "alice",
			Send: `{"title": "one more", "labels": ["bug"]}`, Status: 201, Want: `{"number": 401}`},
		{Do: "GET /repos/works/project0/milestones/1", Status: 200,
			Want: `{"open_issues": "$any", "closed_issues": "$any"}`},
	})
}
