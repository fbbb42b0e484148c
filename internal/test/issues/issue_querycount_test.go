package issues_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
	"arbor/internal/web"
)

// statements are those that a server sends to its database for requests, workers left out.
type statements struct {
	mu   sync.Mutex
	list []string
}

func (s *statements) add(ctx context.Context, query string) {
	if i := web.From(ctx); i.ID == "" || i.ForHook {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, strings.Join(strings.Fields(query), " "))
}

func (s *statements) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	return list
}

// maxStatements is the limit for any page: the caller, the repository, the names in parameters, the rows,
// their number, and one statement for each kind of thing that the rows refer to.
const maxStatements = 20

// moreKinds is how many kinds of things may be on a page that a smaller one lacks:
// a milestone, a reaction, a person of an event.
const moreKinds = 3

// A page of 30 takes the same few statements as a page of two, with any filter and any issues; for events
// of many kinds a page of 100 takes as many as one of 30.
func TestStatementsOfAPage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		count := &statements{}
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: count.add})
		})
		laden(t, s)
		n := 0
		cost := func(path string, size int) []string {
			t.Helper()
			n++ // another address than any before: nothing that is kept answers
			count.take()
			a := s.Check(t, apitest.Case{Do: fmt.Sprintf("GET %s&per_page=%d&x=%d", path, size, n),
				As: "will", Headers: map[string]string{"Accept": "application/vnd.github.v3.full+json"},
				Status: 200})
			if len(a.Body) < 100 {
				t.Errorf("%s is empty: %s", path, a.Body)
			}
			return count.take()
		}
		// within is cost, once more where it is over: a request that takes long asks some things twice.
		within := func(path string, size, most int) (list []string) {
			t.Helper()
			for range 50 {
				if list = cost(path, size); len(list) <= most {
					break
				}
			}
			return list
		}
		cost("/repos/garden/plot/labels?", 1) // who calls is known from here on
		for _, path := range pagesOf(s) {
			small, large := 2, 30
			if strings.Contains(path, "/events") || strings.Contains(path, "/timeline") {
				small, large = 30, 100
			}
			few := cost(path, small)
			many := within(path, large, min(len(few)+moreKinds, maxStatements))
			t.Logf("%2d statements for %s", len(many), path)
			if len(many) > len(few)+moreKinds || len(many) > maxStatements {
				t.Errorf("%s: %d statements for a page of %d, %d for a page of %d, at most %d:\n%s", path,
					len(few), small, len(many), large, maxStatements, strings.Join(many, "\n"))
			}
			if !strings.Contains(path, "/plot/issues?") {
				continue
			}
			if second := within(path+"&page=2", 2, len(few)+moreKinds); len(second) > len(few)+moreKinds {
				t.Errorf("%s: %d statements for the second page, %d for the first:\n%s", path, len(second),
					len(few), strings.Join(second, "\n"))
			}
		}
		bare := cost("/repos/garden/bare/issues?", 30)
		if rich := within("/repos/garden/plot/issues?", 30, len(bare)+8); len(rich) > len(bare)+8 {
			t.Errorf("%d statements for bare issues, %d for those with labels, assignees, milestones, reactions and references:\n%s", len(bare), len(rich), strings.Join(rich, "\n"))
		}
	})
}

// pagesOf are all lists of the tracker, each with each parameter.
func pagesOf(s *apitest.Server) []string {
	list := []string{"/repos/garden/plot/issues/1/comments?", "/repos/garden/plot/issues/comments?",
		"/repos/garden/plot/issues/comments?sort=updated&direction=desc",
		"/repos/garden/plot/issues/1/events?", "/repos/garden/plot/issues/events?",
		"/repos/garden/plot/issues/1/timeline?", "/repos/garden/plot/labels?",
		"/repos/garden/plot/milestones?sort=completeness",
		"/repos/garden/plot/issues/1/labels?", "/repos/garden/plot/milestones/1/labels?",
		"/repos/garden/plot/issues/1/reactions?", "/repos/garden/plot/assignees?"}
	for _, parameters := range []string{"", "state=closed", "state=all", "labels=l1", "labels=l1,l2,l3",
		"milestone=1", "milestone=*", "milestone=none&state=all", "assignee=will", "assignee=*",
		"assignee=none&state=all", "creator=will", "mentioned=will", "sort=updated", "sort=comments",
		"sort=comments&direction=asc", "since=2001-01-01T00:00:00Z",
		"since=2001-01-01T00:00:00Z&labels=l1&sort=comments",
		"milestone=1&assignee=will&creator=will&mentioned=will&labels=l1,l2&state=all&sort=updated&direction=asc&since=2001-01-01T00:00:00Z"} {
		list = append(list, "/repos/garden/plot/issues?"+parameters)
	}
	for _, across := range []string{"/issues?", "/user/issues?", "/orgs/garden/issues?"} {
		for _, filter := range []string{"assigned", "created", "mentioned", "subscribed", "all"} {
			list = append(list, across+"filter="+filter,
				across+"labels=l1,l2&state=all&sort=comments&since=2001-01-01T00:00:00Z&filter="+filter)
		}
	}
	for _, r := range s.Server.Routes() {
		if r.Pattern == "/search/issues" {
			for _, q := range []string{"rich", "author:will", "involves:will+is:open",
				"label:l1+label:l2+repo:garden/plot", "org:garden+assignee:will+code",
				"user:garden+-label:bug+sort:updated-desc"} {
				list = append(list, "/search/issues?q="+q)
			}
		}
	}
	return list
}

// laden files 32 issues that carry everything, and as many that carry nothing.
// One of them has as many comments, and they, too, carry everything.
func laden(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Team(t)
	s.Grant(t, s.Repo(t, "garden/bare", false), "will", account.Push)
	post := func(do, as, send string) {
		t.Helper()
		if a := s.Do(t, apitest.Case{Do: do, As: as, Headers: issuetest.Graduated,
			Send: send}); a.Status >= 300 {
			t.Fatalf("%s: %d %s", do, a.Status, a.Body)
		}
	}
	for n := range 32 {
		post("POST /repos/garden/plot/milestones", "will", fmt.Sprintf(`{"title": "M%d"}`, n))
	}
	for n := 1; n <= 32; n++ {
		post("POST /repos/garden/bare/issues", "alice", `{"title": "bare"}`)
		on := fmt.Sprintf("/repos/garden/plot/issues/%d", n)
		text := fmt.Sprintf("@alice @will @rae see #%d, garden/bare#%[1]d, garden/shed#1 and `code`", n)
		post("POST /repos/garden/plot/issues", "will",
			fmt.Sprintf(`{"title": "rich", "body": %q, "milestone": 1, "assignees": ["will", "alice"],
			"labels": ["l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l%d"]}`, text, n+8))
		post("POST "+on+"/reactions", "rae", `{"content": "heart"}`)
		post("POST /repos/garden/plot/issues/1/comments", []string{"will", "rae", "sam"}[n%3],
			fmt.Sprintf(`{"body": %q}`, text))
		post(fmt.Sprintf("POST /repos/garden/plot/issues/comments/%d/reactions", n), "will",
			`{"content": "eyes"}`)
		post("PATCH /repos/garden/plot/issues/1", "will",
			fmt.Sprintf(`{"title": "rich %d", "state": %q}`, n, []string{"open", "closed"}[n%2]))
		if n%2 == 0 {
			post("PATCH "+on, "will", `{"state": "closed"}`)
		}
		if n%8 == 0 {
			post("PATCH "+on, "will", `{"milestone": null, "assignees": []}`)
			post("PATCH "+strings.Replace(on, "plot", "bare", 1), "will",
				`{"labels": ["l1", "l2"], "assignees": ["will"], "body": "@will"}`)
		}
	}
	post("POST /repos/garden/shed/issues", "rae", `{"title": "shed", "body": "@will garden/plot#1"}`)
	for _, content := range []string{"+1", "-1", "laugh"} {
		post("POST /repos/garden/plot/issues/1/reactions", "sam", `{"content": "`+content+`"}`)
	}
}
