package pulls_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// The list in each state, order and direction, by head and base, in pages
// (code-hosting.md: GET pulls; decisions 17, 23, 40).
func TestList(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		lanes(t, s, 5)
		for n, base := range []string{"main", "main", "b4", "main"} { // #1 ... #4
			propose(t, s, "sam", "alice/plot", fmt.Sprint("b", n), base)
		}
		s.Ask(t, "sam", "POST /repos/alice/plot/issues", `{"title": "no pull request"}`, 201)
		for n, comments := range []int{1, 3, 0, 2} {
			for range comments {
				s.Check(t, apitest.Case{Do: fmt.Sprintf("POST /repos/alice/plot/issues/%d/comments", n+1),
					As: "sam", Send: `{"body": "x"}`, Status: 201})
			}
		}
		s.Ask(t, "sam", "PATCH /repos/alice/plot/pulls/3", `{"state": "closed"}`, 200)
		// Updated: 2, 1, 4 and 3, a day apart; 2 was updated 40 days ago.
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			for number, days := range map[int]int64{2: 40, 1: 3, 4: 2, 3: 1} {
				at := tx.Now - db.Time(days*24*time.Hour.Microseconds())
				if _, err := tx.Exec(`UPDATE issues SET updated_at = $2 WHERE number = $1`,
					number, at); err != nil {
					return err
				}
				if _, err := tx.Exec(
					`UPDATE postings SET updated_at = $2 WHERE issue_id = (SELECT id FROM issues WHERE number = $1)`, number, at); err != nil {
					return err
				}
			}
			return nil
		})
		testkit.NoError(t, err)
		for _, c := range []struct{ query, want string }{
			{"", "4 2 1"}, {"state=open", "4 2 1"}, {"state=closed", "3"}, {"state=all", "4 3 2 1"},
			{"direction=asc", "1 2 4"}, {"sort=created", "4 2 1"}, {"sort=created&direction=asc", "1 2 4"},
			{"sort=created&direction=desc", "4 2 1"},
			{"sort=updated", "2 1 4"}, {"sort=updated&direction=asc", "2 1 4"},
			{"sort=updated&direction=desc", "4 1 2"}, {"sort=updated&state=all", "2 1 4 3"},
			{"sort=popularity", "1 4 2"}, {"sort=popularity&direction=desc", "2 4 1"},
			{"sort=popularity&state=all", "3 1 4 2"},
			{"sort=long-running", "1 4"}, {"sort=long-running&direction=desc", "4 1"},
			{"base=main", "4 2 1"}, {"base=b4", ""}, {"base=b4&state=all", "3"}, {"base=none", ""},
			{"base=refs/heads/main", ""}, {"base=MAIN", ""},
			{"head=alice:b0", "1"}, {"head=ALICE:b0", "1"}, {"head=alice:b2", ""},
			{"head=alice:b2&state=all", "3"}, {"head=alice:none", ""}, {"head=nobody:b0", ""},
			{"head=will:b0", ""}, {"head=alice:", ""}, {"head=:b0", ""},
			{"head=alice:b0&base=main", "1"}, {"head=alice:b0&base=b4", ""},
			{"per_page=2", "4 2"}, {"per_page=2&page=2", "1"}, {"per_page=2&page=3", ""}, {"page=0", "4 2 1"},
			{"per_page=x", "4 2 1"}, {"sort=updated&per_page=1&page=2", "1"},
			{"unknown=1", "4 2 1"}, {"state=", "4 2 1"}, {"head=&base=", "4 2 1"}, {"head=b0", "4 2 1"},
			{"head=x+y", "4 2 1"},
		} {
			var list []request
			s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls?" + c.query, Status: 200}).JSON(t, &list)
			var got []string
			for _, p := range list {
				got = append(got, fmt.Sprint(p.Number))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("?%s lists %q, want %s", c.query, got, c.want)
			}
		}
		for query, field := range map[string]string{"state=merged": "state", "state=OPEN": "state",
			"sort=comments": "sort", "sort=longrunning": "sort", "direction=up": "direction"} {
			s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls?" + query, Status: 422,
				Want: `{"message": "Validation Failed", "errors": [{"resource": "PullRequest", "field": "` +
					field + `", "code": "invalid"}]}`})
		}
		s.Run(t, []apitest.Case{
			{Name: "Link", Do: "GET /repos/alice/plot/pulls?state=all&per_page=2", Status: 200,
				Has: map[string]string{
					"Link": `<{base}/repos/alice/plot/pulls?state=all&per_page=2&page=2>; rel="next", <{base}/repos/alice/plot/pulls?state=all&per_page=2&page=2>; rel="last"`}},
			{Name: "one page", Do: "GET /repos/alice/plot/pulls", Status: 200,
				Has: map[string]string{"Link": "-"}},
			{Name: "no repository", Do: "GET /repos/alice/none/pulls?state=foo", Status: 404},
			{Name: "what lists leave out", Do: "GET /repos/alice/plot/pulls?per_page=1", Status: 200,
				Want: `[{"number": 4, "mergeable": "$absent", "merged": "$absent", "commits": "$absent", "body_html": "$absent", "head": {"ref": "b3"}}]`},
			{Name: "in HTML", Do: "GET /repos/alice/plot/pulls?per_page=1",
				Headers: map[string]string{"Accept": "application/vnd.service.v3.html+json"}, Status: 200,
				Want: `[{"number": 4, "body": "$absent", "body_html": "$any"}]`},
			{Name: "in full", Do: "GET /repos/alice/plot/pulls/1",
				Headers: map[string]string{"Accept": "application/vnd.service.v3.full+json"}, Status: 200,
				Want: `{"body": null, "body_html": "$any", "body_text": "$any"}`},
			{Name: "as text", Do: "GET /repos/alice/plot/pulls/1",
				Headers: map[string]string{"Accept": "application/vnd.service.v3.text+json"}, Status: 200,
				Want: `{"body": "$absent", "body_text": "$any"}`},
		})
		a := s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls/1", Status: 200})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls/1",
			Headers: map[string]string{"If-None-Match": a.Header.Get("ETag")}, Status: 304, Body: "-"})
		links(t, s, a)
	})
}

// links follows the eight link relations and the addresses in the payload: each
// answers (decision 9).
func links(t *testing.T, s *apitest.Server, a *apitest.Answer) {
	t.Helper()
	var p struct {
		Links map[string]struct{ Href string } `json:"_links"`
		Diff  string                           `json:"diff_url"`
		Patch string                           `json:"patch_url"`
		Issue string                           `json:"issue_url"`
	}
	a.JSON(t, &p)
	if len(p.Links) != 8 {
		t.Errorf("%d link relations, want 8", len(p.Links))
	}
	all := []string{p.Diff, p.Patch, p.Issue}
	for rel, l := range p.Links {
		switch rel {
		case "html":
		case "review_comment":
			if !strings.HasSuffix(l.Href, "/repos/alice/plot/pulls/comments{/number}") {
				t.Errorf("review_comment leads to %s", l.Href)
			}
		default:
			all = append(all, l.Href)
		}
	}
	for _, address := range all {
		path, ok := strings.CutPrefix(address, s.URL)
		if !ok {
			t.Errorf("%s is no address here", address)
			continue
		}
		s.Check(t, apitest.Case{Do: "GET " + path, Status: 200})
	}
}
