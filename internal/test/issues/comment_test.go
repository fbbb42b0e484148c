package issues_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
)

// updatedAt reads the updated_at of the only issue, in microseconds.
func updatedAt(t *testing.T, s *apitest.Server) int64 {
	t.Helper()
	return dbtest.Number(t, s.DB, `SELECT updated_at FROM issues`)
}

// A conversation: what people say stands under the issue, in its order, until
// they change or delete it.
func TestComment(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot")
		before := updatedAt(t, s)
		first := issuetest.Comment(t, s, "rae", on, "Beer *traps*.")
		at := fmt.Sprintf("/repos/garden/plot/issues/comments/%d", first)
		page := fmt.Sprintf("{base}/garden/plot/issues/1#issuecomment-%d", first)
		whole := fmt.Sprintf(
			`{"id": %d, "node_id": "$any", "url": "{base}%s", "html_url": "%s", "issue_url": "{base}%s", "body": "Beer *traps*.",
			"user": {"login": "rae"}, "created_at": "$any", "updated_at": "$any", "author_association": "NONE", "performed_via_github_app": null,
			"reactions": "$absent", "body_text": "$absent", "body_html": "$absent"}`, first, at, page, on)
		if now := updatedAt(t, s); now <= before {
			t.Error("a comment left the issue's updated_at alone")
		}
		s.Run(t, []apitest.Case{
			{Name: "read", Do: "GET " + at, Status: 200, Want: whole},
			{Name: "listed", Do: "GET " + on + "/comments", Status: 200, Want: "[" + whole + "]"},
			{Name: "listed of the repository", Do: "GET /repos/garden/plot/issues/comments", Status: 200,
				Want: "[" + whole + "]"},
			{Name: "counted", Do: "GET " + on, Status: 200, Want: `{"comments": 1}`},
			{Name: "a second", Do: "POST " + on + "/comments", As: "will",
				Send:    `{"body": "Or ducks", "user": "rae", "id": 7}`,
				Headers: issuetest.Graduated, Status: 201,
				Want: `{"id": ` + fmt.Sprint(first+1) +
					`, "body": "Or ducks", "author_association": "COLLABORATOR", "user": {"login": "will"},
					"reactions": {"total_count": 0, "url": "{base}/repos/garden/plot/issues/comments/` + fmt.Sprint(first+1) + `/reactions"}}`,
				Has: map[string]string{"Location": "{base}/repos/garden/plot/issues/comments/" +
					fmt.Sprint(first+1)}},
			{Name: "the oldest first", Do: "GET " + on + "/comments", Status: 200,
				Want: `[{"body": "Beer *traps*."}, {"body": "Or ducks"}]`},
			{Name: "the author edits", Do: "PATCH " + at, As: "rae", Send: `{"body": "Beer."}`, Status: 200,
				Want: `{"body": "Beer.", "user": {"login": "rae"}}`},
			{Name: "a POST edits, too", Do: "POST " + at, As: "rae", Send: `{"body": "Ale."}`, Status: 200,
				Want: `{"body": "Ale."}`},
			{Name: "who can push edits", Do: "PATCH " + at, As: "will", Send: `{"body": "Stout."}`,
				Status: 200, Want: `{"body": "Stout.", "user": {"login": "rae"}}`},
			{Name: "others do not edit", Do: "PATCH " + at, As: "sam", Send: `{"body": "x"}`, Status: 403,
				Want: `{"message": "Must be the author of the comment or have push access to Repository."}`},
			{Name: "others do not delete", Do: "DELETE " + at, As: "sam", Status: 403},
			{Name: "as edited", Do: "GET " + on + "/comments", Status: 200,
				Want: `[{"body": "Stout."}, {"body": "Or ducks"}]`},
			{Name: "the author deletes", Do: "DELETE " + at, As: "rae", Status: 204, Body: "-"},
			{Name: "gone", Do: "GET " + at, Status: 404},
			{Name: "gone for an edit", Do: "PATCH " + at, As: "rae", Send: `{"body": "x"}`, Status: 404},
			{Name: "gone for deleting", Do: "DELETE " + at, As: "rae", Status: 404},
			{Name: "gone from the list", Do: "GET " + on + "/comments", Status: 200,
				Want: `[{"body": "Or ducks"}]`},
			{Name: "gone from the repository's", Do: "GET /repos/garden/plot/issues/comments", Status: 200,
				Want: `[{"body": "Or ducks"}]`},
			{Name: "counted off", Do: "GET " + on, Status: 200, Want: `{"comments": 1}`},
			{Name: "who can push deletes",
				Do: "DELETE " + fmt.Sprintf("/repos/garden/plot/issues/comments/%d", first+1), As: "will",
				Status: 204},
			{Name: "none left", Do: "GET /repos/garden/plot/issues/comments", Status: 200, Body: "[]"},
		})
	})
}

// Somebody who follows an issue by its updated_at must not miss that a comment came,
// changed or went (decision 31).
func TestCommentsMoveTheIssue(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot")
		id := issuetest.Comment(t, s, "sam", on, "one")
		at := fmt.Sprintf("/repos/garden/plot/issues/comments/%d", id)
		for _, step := range []struct {
			c     apitest.Case
			moves bool
		}{
			{apitest.Case{Do: "PATCH " + at, As: "sam", Send: `{"body": "two"}`, Status: 200}, true},
			{apitest.Case{Do: "PATCH " + at, As: "sam", Send: `{"body": "two"}`, Status: 200}, false},
			{apitest.Case{Do: "POST " + at + "/reactions", As: "rae", Headers: issuetest.Graduated,
				Send: `{"content": "heart"}`, Status: 201}, false},
			{apitest.Case{Do: "POST " + on + "/reactions", As: "rae", Headers: issuetest.Graduated,
				Send: `{"content": "heart"}`, Status: 201}, false},
			{apitest.Case{Do: "PUT " + on + "/subscription", As: "rae", Status: 200}, false},
			{apitest.Case{Do: "DELETE " + on + "/subscription", As: "rae", Status: 204}, false},
			{apitest.Case{Do: "PUT " + on + "/lock", As: "will", Headers: issuetest.Graduated, Status: 204},
				true},
			{apitest.Case{Do: "PUT " + on + "/lock", As: "will", Headers: issuetest.Graduated, Status: 204},
				false},
			{apitest.Case{Do: "DELETE " + on + "/lock", As: "will", Headers: issuetest.Graduated,
				Status: 204}, true},
			{apitest.Case{Do: "DELETE " + at, As: "sam", Status: 204}, true},
		} {
			before := updatedAt(t, s)
			s.Check(t, step.c)
			if moved := updatedAt(t, s) > before; moved != step.moves {
				t.Errorf("%s: updated_at moved: %v", step.c.Do, moved)
			}
		}
	})
}

// A client that sends nonsense learns which field it is, and says nothing.
func TestBadComments(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot")
		at := fmt.Sprintf("/repos/garden/plot/issues/comments/%d", issuetest.Comment(t, s, "sam", on, "fine"))
		field := func(code string) string {
			return `{"message": "Validation Failed", "errors": [{"resource": "IssueComment", "field": "body", "code": "` + code + `"}]}`
		}
		missing, invalid := field("missing_field"), field("invalid")
		for _, c := range []struct {
			send   string
			status int
			want   string
		}{
			{``, 400, ""}, {`null`, 400, ""}, {`[]`, 400, ""}, {`"x"`, 400, ""}, {`{"body": `, 400, ""},
			{"{\"body\": \"\xff\"}", 400, ""},
			{`{}`, 422, missing}, {`{"Body": "x"}`, 422, missing}, {`{"body": null}`, 422, missing},
			{`{"body": ""}`, 422, missing},
			{`{"body": " \n\t "}`, 422, missing}, {`{"body": "\u3000"}`, 422, missing},
			{`{"body": 1}`, 422, invalid}, {`{"body": true}`, 422, invalid},
			{`{"body": ["x"]}`, 422, invalid}, {`{"body": {"x": 1}}`, 422, invalid},
			{`{"body": "a\u0000b"}`, 422, invalid}, {`{"body": "x", "body": 1}`, 422, invalid},
			{`{"body": "` + strings.Repeat("é", 65_537) + `"}`, 422, field("custom")},
		} {
			name := c.send[:min(len(c.send), 40)]
			for _, do := range []string{"POST " + on + "/comments", "PATCH " + at} {
				t.Run(do[:5]+name, func(t *testing.T) {
					s.Check(t, apitest.Case{Do: do, As: "sam", Send: c.send, Status: c.status, Want: c.want})
				})
			}
		}
		s.Check(t, apitest.Case{Do: "GET " + on + "/comments", Status: 200, Want: `[{"body": "fine"}]`})
		s.Ask(t, "sam", "PATCH "+at, `{"body": "`+strings.Repeat("é", 65_536)+`"}`, 200)
	})
}

// Readers can comment in a private repository; an unknown comment is a 404.
func TestCommentRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		private := issuetest.File(t, s, "rae", "garden/shed")
		s.Run(t, []apitest.Case{
			{Name: "a reader comments in private", Do: "POST " + private + "/comments", As: "rae",
				Send: `{"body": "x"}`, Status: 201},
			{Name: "no issue", Do: "GET /repos/garden/plot/issues/9/comments", Status: 404},
			{Name: "comment on no issue", Do: "POST /repos/garden/plot/issues/9/comments", As: "sam",
				Send: `{"body": "x"}`, Status: 404},
		})
	})
}

// Where issues are switched off their comments are gone; those of pull requests
// stay (decision 16).
func TestCommentsWithoutIssues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on, pull := issuetest.File(t, s, "sam", "garden/plot"), issuetest.FilePull(t, s, "sam", "garden/plot")
		at := fmt.Sprintf("/repos/garden/plot/issues/comments/%d",
			issuetest.Comment(t, s, "sam", on, "of the issue"))
		id := issuetest.Comment(t, s, "sam", pull, "of the pull request")
		page := fmt.Sprintf(
			`{"html_url": "{base}/garden/plot/pull/2#issuecomment-%d", "issue_url": "{base}/repos/garden/plot/issues/2"}`, id)
		s.Run(t, []apitest.Case{
			{Do: "PATCH /repos/garden/plot", As: "alice", Send: `{"has_issues": false}`, Status: 200},
			{Do: "GET " + on + "/comments", Status: 410},
			{Do: "POST " + on + "/comments", As: "sam", Send: `{"body": "x"}`, Status: 410},
			{Do: "GET " + at, Status: 410}, {Do: "PATCH " + at, As: "sam", Send: `{"body": "x"}`,
				Status: 410}, {Do: "DELETE " + at, As: "sam", Status: 410},
			{Do: "GET /repos/garden/plot/issues/comments", Status: 410},
			{Do: "GET " + on + "/reactions", Headers: issuetest.Graduated, Status: 410},
			{Do: "GET " + at + "/reactions", Headers: issuetest.Graduated, Status: 410},
			{Do: "PUT " + on + "/lock", As: "will", Headers: issuetest.Graduated, Status: 410},
			{Do: "GET " + on + "/subscription", As: "sam", Status: 410},
			{Do: "PUT " + on + "/subscription", As: "sam", Status: 410},
			{Do: "DELETE " + on + "/subscription", As: "sam", Status: 410},
			{Do: "GET " + pull + "/comments", Status: 200, Want: "[" + page + "]"},
			{Do: "POST " + pull + "/comments", As: "rae", Send: `{"body": "x"}`, Status: 201},
			{Do: "GET /repos/garden/plot/issues/comments/" + fmt.Sprint(id), Status: 200, Want: page},
			{Do: "PUT " + pull + "/lock", As: "will", Headers: issuetest.Graduated, Status: 204},
		})
	})
}

// Readers choose the form of a comment; what it refers to is linked as far as
// they see it (decision 29).
func TestCommentRepresentations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot")
		issuetest.File(t, s, "rae", "garden/shed")
		at := fmt.Sprintf("/repos/garden/plot/issues/comments/%d",
			issuetest.Comment(t, s, "rae", on, "*Ask* @WILL <script>x</script>about garden/shed#1"))
		var html struct {
			HTML string `json:"body_html"`
		}
		for _, as := range []string{"rae", "sam", ""} {
			s.Check(t, apitest.Case{Do: "GET " + at, As: as, Headers: issuetest.Media("v3.html"), Status: 200,
				Want: `{"body": "$absent", "body_text": "$absent"}`}).JSON(t, &html)
			if !strings.Contains(html.HTML, `<em>Ask</em>`) || !strings.Contains(html.HTML, `/will"`) ||
				strings.Contains(html.HTML, "<script") {
				t.Errorf("as %q: %s", as, html.HTML)
			}
			if linked := strings.Contains(html.HTML, "/garden/shed/issues/1"); linked != (as == "rae") {
				t.Errorf("as %q the private issue is linked: %v", as, linked)
			}
		}
		s.Run(t, []apitest.Case{
			{Name: "raw", Do: "GET " + at, Headers: issuetest.Media("raw"), Status: 200,
				Want: `{"body": "$any", "body_text": "$absent", "body_html": "$absent"}`},
			{Name: "text", Do: "GET " + at, Headers: issuetest.Media("text"), Status: 200,
				Want: `{"body": "$absent", "body_text": "$any", "body_html": "$absent"}`},
			{Name: "full", Do: "GET " + at, Headers: issuetest.Media("full"), Status: 200,
				Want: `{"body": "$any", "body_text": "$any", "body_html": "$any"}`},
			{Name: "lists", Do: "GET " + on + "/comments", Headers: issuetest.Media("full"), Status: 200,
				Want: `[{"body": "$any", "body_text": "$any", "body_html": "$any"}]`},
			{Name: "a new one", Do: "POST " + on + "/comments", As: "sam", Headers: issuetest.Media("html"),
				Send: `{"body": "_x_"}`, Status: 201,
				Want: `{"body": "$absent", "body_html": "<p><em>x</em></p>"}`},
		})
	})
}

// A page that was kept must never be shown when something in it has changed
// since: texts, people, names, reactions.
func TestCommentsAreFresh(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot")
		at := fmt.Sprintf("/repos/garden/plot/issues/comments/%d", issuetest.Comment(t, s, "sam", on, "one"))
		see := func(want string) {
			t.Helper()
			for range 2 {
				s.Check(t, apitest.Case{Do: "GET " + at, Headers: issuetest.Graduated,
					Status: 200, Want: want})
				s.Check(t, apitest.Case{Do: "GET " + on + "/comments", Headers: issuetest.Graduated,
					Status: 200, Want: "[" + want + "]"})
				s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues/comments",
					Headers: issuetest.Graduated, Status: 200, Want: "[" + want + "]"})
			}
		}
		see(`{"body": "one", "author_association": "NONE", "reactions": {"total_count": 0}}`)
		var made struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "POST " + at + "/reactions", As: "rae", Headers: issuetest.Graduated,
			Send: `{"content": "heart"}`, Status: 201}).JSON(t, &made)
		see(`{"reactions": {"total_count": 1, "heart": 1}}`)
		s.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE %s/reactions/%d", at, made.ID), As: "rae",
			Headers: issuetest.Graduated, Status: 204})
		see(`{"reactions": {"total_count": 0, "heart": 0}}`)
		s.Check(t, apitest.Case{Do: "PUT /repos/garden/plot/collaborators/sam", As: "alice", Status: 204})
		see(`{"author_association": "COLLABORATOR"}`)
		s.Check(t, apitest.Case{Do: "PUT /orgs/garden/members/sam", As: "alice", Status: 204})
		see(`{"author_association": "COLLABORATOR"}`) // that sam belongs to the organization is a secret
		s.Check(t, apitest.Case{Do: "GET " + at, As: "alice", Status: 200,
			Want: `{"author_association": "MEMBER"}`})
		s.Check(t, apitest.Case{Do: "PATCH " + at, As: "sam", Send: `{"body": "two"}`, Status: 200})
		see(`{"body": "two"}`)
		a := s.Check(t, apitest.Case{Do: "GET " + at, Status: 200})
		same := map[string]string{"If-None-Match": a.Header.Get("ETag")}
		if a.Header.Get("Last-Modified") == "" {
			t.Error("a comment has no date")
		}
		s.Check(t, apitest.Case{Do: "GET " + at, Headers: same, Status: http.StatusNotModified, Body: "-"})
		s.Check(t, apitest.Case{Do: "DELETE " + at, As: "sam", Status: 204})
		s.Check(t, apitest.Case{Do: "GET " + at, Headers: same, Status: 404})
	})
}

// Many people at once: nothing is lost, and the counters are right.
func TestCommentAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "sam", "garden/plot")
		const n = 12
		var ids [n]int64
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { ids[i] = issuetest.Comment(t, s, "rae", on, fmt.Sprint(i)) })
		}
		wg.Wait()
		for i := range n / 2 { // deleted while someone reacts
			at := fmt.Sprintf("/repos/garden/plot/issues/comments/%d", ids[i])
			wg.Go(func() { s.Check(t, apitest.Case{Do: "DELETE " + at, As: "rae", Status: 204}) })
			wg.Go(func() {
				a := s.Do(t, apitest.Case{Do: "POST " + at + "/reactions", As: "sam",
					Headers: issuetest.Graduated, Send: `{"content": "eyes"}`})
				if a.Status != 201 && a.Status != 404 {
					t.Errorf("status %d: %s", a.Status, a.Body)
				}
			})
		}
		wg.Wait()
		a := s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues/comments?per_page=5", Status: 200,
			Has: map[string]string{
				"Link": `<{base}/repos/garden/plot/issues/comments?per_page=5&page=2>; rel="next", <{base}/repos/garden/plot/issues/comments?per_page=5&page=2>; rel="last"`}})
		var list []struct{ ID int64 }
		if a.JSON(t, &list); len(list) != 5 {
			t.Errorf("%d comments on a page of five", len(list))
		}
		s.Check(t, apitest.Case{Do: "GET " + on, Status: 200, Want: `{"comments": 6}`})
		if left := dbtest.Number(t, s.DB, `SELECT count(*) FROM reactions`); left != 0 {
			t.Errorf("%d reactions to deleted comments", left)
		}
	})
}
