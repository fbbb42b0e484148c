package pages_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// waitsFor creates n issues and pull requests that wait for carol for each list, in two repositories.
func waitsFor(t *testing.T, s *apitest.Server, n int) {
	t.Helper()
	s.Users(t, "alice", "carol")
	for _, name := range []string{"garden", "cellar"} {
		s.Run(t, []apitest.Case{
			{Do: "POST /user/repos", As: "alice",
				Send:   fmt.Sprintf(`{"name": %q, "private": %t, "auto_init": true}`, name, name == "cellar"),
				Status: 201},
			{Do: "PUT /repos/alice/" + name + "/collaborators/carol", As: "alice",
				Send: `{"permission": "push"}`, Status: 204},
			{Do: "PUT /repos/alice/" + name + "/subscription", As: "carol", Send: `{"subscribed": true}`,
				Status: 200},
		})
		for k := range n {
			pull := func(as, branch string) int {
				s.Check(t, apitest.Case{Do: "PUT /repos/alice/" + name + "/contents/" + branch,
					As: as, Status: 201,
					Send: fmt.Sprintf(`{"message": "Add", "content": "aGVsbG8K", "branch": %q}`, branch)})
				var made struct{ Number int }
				s.Check(t, apitest.Case{Do: "POST /repos/alice/" + name + "/pulls", As: as, Status: 201,
					Send: fmt.Sprintf(`{"title": "Pull %s %s", "head": %q, "base": "main"}`, name, branch,
						branch)}).JSON(t, &made)
				return made.Number
			}
			own, asked := fmt.Sprintf("own%d", k), fmt.Sprintf("asked%d", k)
			for _, branch := range []string{own, asked} {
				s.Check(t, apitest.Case{Do: "POST /repos/alice/" + name + "/git/refs",
					As: "alice", Status: 201,
					Send: fmt.Sprintf(`{"ref": "refs/heads/%s", "sha": %q}`, branch,
						s.Tip(t, "alice", "alice/"+name, "main"))})
			}
			pull("carol", own)
			number := pull("alice", asked)
			s.Run(t, []apitest.Case{
				{Do: fmt.Sprintf("POST /repos/alice/%s/pulls/%d/requested_reviewers", name, number),
					As: "alice", Send: `{"reviewers": ["carol"]}`, Status: 201},
				{Do: "POST /repos/alice/" + name + "/issues", As: "alice",
					Send: fmt.Sprintf(`{"title": "Task %s %d", "assignee": "carol", "labels": ["l%d"]}`, name,
						k, k), Status: 201},
				{Do: "POST /repos/alice/" + name + "/issues", As: "alice",
					Send:   fmt.Sprintf(`{"title": "Word %s %d", "body": "Dear @carol"}`, name, k),
					Status: 201},
			})
		}
	}
}

// questions are the searches that home shows for carol, by the lists' titles.
var questions = map[string]string{"Review requests": "is:open is:pr review-requested:carol",
	"Assigned to you": "is:open assignee:carol",
	"Mentioning you":  "is:open mentions:carol", "Your open pull requests": "is:open is:pr author:carol"}

// home is the home page of somebody.
func home(t *testing.T, s *apitest.Server, session string) string {
	t.Helper()
	a := visit(t, s, "GET /", session, "")
	want(t, a, 200, "Recent activity")
	return string(a.Body)
}

// Home shows of each search what the search itself finds: the first eight, in its order, and how many there
// are. What carol may no longer see is in none of its lists and counts, nor in the feed.
func TestHomeShowsWhatSearchesFind(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		waitsFor(t, s, 6)
		session := s.Session(t, "carol")
		check := func(most int) {
			t.Helper()
			body := home(t, s, session)
			for title, q := range questions {
				var found struct {
					Total int `json:"total_count"`
					Items []struct{ Title string }
				}
				s.Check(t, apitest.Case{Do: "GET /search/issues?sort=updated&per_page=8&q=" +
					url.QueryEscape(q), As: "carol", Status: 200}).JSON(t, &found)
				if found.Total != most {
					t.Errorf("%s finds %d, want %d", q, found.Total, most)
				}
				_, box, _ := strings.Cut(body, fmt.Sprintf(`<h2>%s</h2><span class="count">%d</span>`,
					title, most))
				box, _, _ = strings.Cut(box, "</section>")
				at := 0
				for _, item := range found.Items {
					next := strings.Index(box[at:], "<bdi>"+item.Title+"</bdi>")
					if next < 0 {
						t.Fatalf("%s: %q is not in its place in %.3000s", q, item.Title, box)
					}
					at += next
				}
				if n := strings.Count(box, "<li>"); n != len(found.Items) {
					t.Errorf("%s: %d rows, want %d", q, n, len(found.Items))
				}
			}
		}
		check(12)
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/cellar/collaborators/carol", As: "alice",
			Status: 204})
		check(6)
		if body := home(t, s, session); strings.Contains(body, "cellar") {
			t.Error("home tells of a repository that carol may not see")
		}
	})
}

// An issue that waits for two reasons is on home once, and its second list says so.
func TestHomeShowsAnIssueOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		waitsFor(t, s, 1)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
			Send: `{"title": "Twice", "body": "Dear @carol", "assignee": "carol"}`})
		body := home(t, s, s.Session(t, "carol"))
		lists, feed, _ := strings.Cut(body, "<h2>Recent activity</h2>")
		if n := strings.Count(lists, "<bdi>Twice</bdi>"); n != 1 {
			t.Errorf("the issue is there %d times", n)
		}
		if !strings.Contains(lists, "1 more, listed above") {
			t.Error("the list of mentions does not tell of it")
		}
		if n := strings.Count(feed, `<li class="line">`); n != 7 {
			t.Errorf("what alice and carol did by turns in two repositories is in %d groups, want 7", n)
		}
	})
}

// Home takes as many statements for lists that are full, with a feed of all kinds of events, as may be.
func TestHomeAsksLittle(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		waitsFor(t, s, 5)
		s.Run(t, happened())
		session := s.Session(t, "carol")
		var all []int64
		for n := range 4 {
			s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice",
				Send: fmt.Sprintf(`{"description": "%d"}`, n), Status: 200})
			statements.Store(0)
			home(t, s, session)
			all = append(all, statements.Load())
		}
		if least := slices.Min(all); least > 20 {
			t.Errorf("%v statements, want 20 at most", all)
		}
		t.Logf("%v statements", all)
	})
}

// happened is what feeds tell of in a way of its own.
func happened() []apitest.Case {
	return []apitest.Case{
		{Do: "PUT /user/following/alice", As: "carol", Status: 204},
		{Do: "POST /repos/alice/garden/issues/3/comments", As: "alice", Send: `{"body": "Salt"}`,
			Status: 201},
		{Do: "POST /repos/alice/garden/pulls/1/reviews", As: "alice", Status: 200,
			Send: `{"event": "REQUEST_CHANGES", "body": "No", "comments": [{"path": "own0", "position": 1, "body": "Here"}]}`},
		{Do: "POST /repos/alice/garden/commits/main/comments", As: "alice", Send: `{"body": "Fine"}`,
			Status: 201},
		{Do: "POST /repos/alice/garden/releases", As: "alice", Send: `{"tag_name": "v1", "body": "First"}`,
			Status: 201},
		{Do: "POST /repos/alice/garden/forks", As: "carol", Status: 202},
		{Do: "PATCH /repos/alice/garden/issues/4", As: "alice", Send: `{"state": "closed"}`, Status: 200},
		{Do: "PUT /repos/alice/garden/pulls/2/merge", As: "alice", Status: 200},
	}
}

// The lines of home's feed lead where the API's events say.
func TestHomeLeadsWhereEventsDo(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		waitsFor(t, s, 1)
		s.Run(t, happened())
		body := home(t, s, s.Session(t, "carol"))
		var events []struct {
			Type    string
			Payload struct {
				Issue, Comment, Review, Release struct {
					HTMLURL string `json:"html_url"`
				}
			}
		}
		s.Check(t, apitest.Case{Do: "GET /users/carol/received_events?per_page=20", As: "carol",
			Status: 200}).JSON(t, &events)
		told := map[string]int{}
		for _, e := range events {
			of := e.Payload
			for _, address := range []string{of.Review.HTMLURL, of.Comment.HTMLURL, of.Release.HTMLURL,
				of.Issue.HTMLURL} {
				if address == "" {
					continue
				}
				told[e.Type]++
				if path := strings.TrimPrefix(address, s.URL); !strings.Contains(body, `href="`+path+`"`) {
					t.Errorf("%s: nothing leads to %s", e.Type, path)
				}
				break
			}
		}
		if len(told) < 6 {
			t.Errorf("events of %v alone", told)
		}
		for _, text := range []string{"asked for changes to pull request", "#1 Pull garden own0",
			"merged pull request", "closed issue", "carol/garden"} {
			if !strings.Contains(body, text) {
				t.Errorf("%q is not in %s", text, body)
			}
		}
	})
}
