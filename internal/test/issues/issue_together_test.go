package issues_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
)

// Many people file at once, some of them what is refused: each issue has its number, none is skipped, and all
// counters are right.
func TestFilingTogether(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const clients, each = 8, 9
		var mu sync.Mutex
		titles := map[int64]string{}
		var all sync.WaitGroup
		for c := range clients {
			all.Go(func() {
				for n := range each {
					title, fields, want := fmt.Sprintf("%d of %d", n, c),
						`"labels": ["old", "new `+fmt.Sprint(n)+`"], "assignee": "alice"`, 201
					if (n+c)%3 == 0 {
						fields, want = `"labels": ["other `+fmt.Sprint(n)+`"], "assignee": "sam"`, 422
					}
					a := s.Do(t, apitest.Case{Do: "POST /repos/garden/plot/issues", As: "will",
						Send: fmt.Sprintf(`{"title": %q, "body": "@rae sees it", %s}`, title, fields)})
					if a.Status != want {
						t.Errorf("%s: status %d, want %d: %s", title, a.Status, want, a.Body)
					} else if want == 201 {
						var made struct{ Number int64 }
						a.JSON(t, &made)
						mu.Lock()
						titles[made.Number] = title
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		const filed = clients * each * 2 / 3
		for number := range int64(filed) {
			if titles[number+1] == "" {
				t.Errorf("no issue has the number %d", number+1)
				continue
			}
			s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/garden/plot/issues/%d", number+1),
				Status: 200,
				Want:   fmt.Sprintf(`{"title": %q, "assignee": {"login": "alice"}}`, titles[number+1])})
		}
		s.Check(t, apitest.Case{Do: "GET /repos/garden/plot", Status: 200,
			Want: fmt.Sprintf(`{"open_issues_count": %d}`, filed)})
		if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM posting_counts c WHERE c.kind < 9 AND c.n <>
			(SELECT count(*) FROM postings p WHERE p.repo_id = c.repo_id AND p.kind = c.kind
			AND p.value = c.value AND p.state = c.state)`); n != 0 {
			t.Errorf("%d counters are wrong", n)
		}
		if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM labels WHERE name LIKE 'other%'`); n != 0 {
			t.Errorf("%d labels are there of issues that were refused", n)
		}
	})
}

// What answers a write shows what its issue refers to as it is now, also where memory holds it as it was.
func TestAnswersOfWritesAreFresh(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/garden/plot/milestones", As: "will", Send: `{"title": "Spring"}`, Status: 201},
			{Do: "POST /repos/garden/plot/issues", As: "rae", Send: `{"title": "Slugs"}`, Status: 201},
		})
		const on = "/repos/garden/plot/issues/1"
		write := func(send, want string) {
			t.Helper()
			written := s.Check(t, apitest.Case{Do: "PATCH " + on, As: "will", Headers: issuetest.Graduated,
				Send: send, Status: 200, Want: want})
			read := s.Check(t, apitest.Case{Do: "GET " + on, As: "will", Headers: issuetest.Graduated,
				Status: 200})
			if string(written.Body) != string(read.Body) {
				t.Errorf("%s is answered\n%s\nand then it is\n%s", send, written.Body, read.Body)
			}
			// Lists leave in memory what issues refer to.
			for _, as := range []string{"will", "sam"} {
				s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues", As: as,
					Headers: issuetest.Graduated, Status: 200})
			}
		}
		write(`{"labels": ["pest"], "milestone": 1, "assignee": "will"}`,
			`{"milestone": {"open_issues": 1}, "author_association": "NONE"}`)
		write(`{"title": "Snails"}`, `{"labels": [{"name": "pest"}]}`)
		for _, c := range []struct{ do, as, send string }{
			{"PATCH /repos/garden/plot/labels/pest", "will", `{"name": "plague"}`},
			{"PUT /repos/garden/plot/collaborators/rae", "alice", `{"permission": "pull"}`},
			{"PATCH /repos/garden/plot/milestones/1", "will", `{"title": "Summer"}`},
			{"DELETE /repos/garden/plot/labels/plague", "will", ``},
		} {
			if a := s.Do(t, apitest.Case{Do: c.do, As: c.as, Send: c.send}); a.Status >= 300 {
				t.Fatalf("%s: %d %s", c.do, a.Status, a.Body)
			}
			write(`{"title": "After `+strings.ReplaceAll(c.do, "/", " ")+`"}`, ``)
		}
		write(`{"state": "closed"}`,
			`{"labels": [], "milestone": {"title": "Summer", "open_issues": 0}, "author_association": "COLLABORATOR",
			"closed_by": {"login": "will"}}`)
		write(`{"labels": ["fresh"], "state": "open"}`, `{"labels": [{"name": "fresh"}]}`)
	})
}
