package pages_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// maxCost is how many statements each page may take, with nothing in memory, and moreCost how many of these
// only a page with more than its first part to show.
const (
	maxCost  = 40
	moreCost = 1 // to count the rows of a full page
)

// costed are the pages.
var costed = []string{"/pulls", "/pull/1", "/pull/1/commits", "/pull/1/files", "/pull/1/checks",
	"/issues", "/issues/2"}

// Each page of pull requests and issues takes one number of statements, few, and one process of git, however
// much there is to show.
func TestChangePagesAskLittle(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		changePlant(t, s)
		s.Bot(t, "ci", "alice", "checks=write")
		n := propose(t, s, "tune")
		api(t, s, "alice", "POST /repos/alice/plot/issues", 201, changeObject{"title": "Too loud"}, nil)
		say(t, s, n, 1)
		little := cost(t, s, statements, func(string) int64 { return maxCost })
		say(t, s, n, 100) // three hundred entries
		most := func(page string) int64 { return min(little[page]+moreCost, maxCost) }
		for name, much := range cost(t, s, statements, most) {
			if much > most(name) {
				t.Errorf("%s takes %d statements with much to show, and %d with little", name, much,
					little[name])
			}
			t.Logf("%s: %d and %d", name, little[name], much)
		}
	})
}

// say adds to a pull request and to issue 2 so many comments, threads, reviews, statuses, check runs, labels
// and issues.
func say(t testing.TB, s *apitest.Server, number, times int) {
	t.Helper()
	tip := head(t, s, number)
	for k := range times {
		who := []string{"will", "alice"}[k%2]
		text := changeObject{"body": fmt.Sprint("I say ", times, "-", k)}
		api(t, s, who, fmt.Sprintf("POST /repos/alice/plot/issues/%d/comments", number), 201, text, nil)
		api(t, s, who, "POST /repos/alice/plot/issues/2/comments", 201, text, nil)
		api(t, s, who, fmt.Sprintf("POST /repos/alice/plot/pulls/%d/comments", number), 201,
			changeObject{"body": "Line", "commit_id": tip, "path": "song.txt", "line": 3, "side": "RIGHT"}, nil)
		api(t, s, "will", fmt.Sprintf("POST /repos/alice/plot/pulls/%d/reviews", number), 200,
			changeObject{"body": "Fine", "event": "APPROVE"}, nil)
		api(t, s, "alice", "POST /repos/alice/plot/statuses/"+tip, 201,
			changeObject{"state": "success", "context": fmt.Sprint("ci", k)}, nil)
		api(t, s, "ci[bot]", "POST /repos/alice/plot/check-runs", 201,
			changeObject{"name": fmt.Sprint("run", k), "head_sha": tip,
				"conclusion": "failure", "output": changeObject{"title": "t", "summary": "s"}}, nil)
		api(t, s, "alice", "POST /repos/alice/plot/labels", 201,
			changeObject{"name": fmt.Sprint("l", times, k), "color": "ff0000"}, nil)
		api(t, s, who, "POST /repos/alice/plot/issues", 201,
			changeObject{"title": "Again", "labels": []string{fmt.Sprint("l", times, k)}}, nil)
	}
}

// cost is what each page costs will, after somebody changed something: so nothing is in memory. It is the least of
// several visits, and of many while it is more than most: a visit that takes longer than a request relies on one
// moment asks some things twice.
func cost(t testing.TB, s *apitest.Server, statements *atomic.Int64, most func(page string) int64) map[string]int64 {
	t.Helper()
	of := map[string]int64{}
	for _, page := range costed {
		least, processes := int64(1<<30), int64(1<<30)
		for n := 0; n < 4 || n < 300 && (least > most(page) || processes > 1); n++ {
			api(t, s, "alice", "PATCH /repos/alice/plot", 200,
				changeObject{"description": fmt.Sprint(n, page)}, nil)
			s.Settle(t)
			statements.Store(0)
			before := s.Git.Started()
			s.Visit(t, "will", "GET /alice/plot"+page).Shows(t, 200)
			least = min(least, statements.Load())
			processes = min(processes, int64(s.Git.Started()-before))
		}
		if processes > 1 {
			t.Errorf("%s runs %d processes of git", page, processes)
		}
		of[page] = least
	}
	return of
}
