package issues_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// thread is what tests look at of a thread.
type thread struct {
	ID         string
	Reason     string
	Unread     bool
	Repository struct {
		FullName string `json:"full_name"`
	}
	Subject struct {
		Title, URL, Type string
		LatestCommentURL string `json:"latest_comment_url"`
	}
}

// settle waits until people were told of all that happened.
func settle(t testing.TB, s *apitest.Server) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		testkit.NoError(t, s.Server.Forge().Notifier.Settle(t.Context()))
		return dbtest.Number(t, s.DB, `SELECT count(*) FROM notification_acts`) == 0
	}, "people are told")
}

// threads are somebody's threads: of the path's list, the one told last first.
func threads(t testing.TB, s *apitest.Server, login, path string) []thread {
	t.Helper()
	settle(t, s)
	var list []thread
	s.Check(t, apitest.Case{Do: "GET " + path, As: login, Status: 200}).JSON(t, &list)
	return list
}

// told is somebody's unread threads in short: "Slugs:mention Peas:author".
func told(t testing.TB, s *apitest.Server, login string) string {
	t.Helper()
	var out []string
	for _, x := range threads(t, s, login, "/notifications") {
		out = append(out, x.Subject.Title+":"+x.Reason)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// expect compares the users' notifications with the expected ones.
func expect(t testing.TB, s *apitest.Server, want map[string]string) {
	t.Helper()
	for login, is := range want {
		if got := told(t, s, login); got != is {
			t.Errorf("%s is told %q, want %q", login, got, is)
		}
	}
}

// readAll marks all threads of people as read.
func readAll(t testing.TB, s *apitest.Server, people ...string) {
	t.Helper()
	settle(t, s)
	for _, p := range people {
		s.Ask(t, p, "PUT /notifications", "", 205)
	}
}

var people = []string{"alice", "bob", "carol", "dan", "eve"}

// world is a repository of alice's, which carol watches.
func world(t testing.TB, s *apitest.Server) {
	for _, p := range people {
		s.User(t, p)
	}
	r := s.Repo(t, "alice/garden", false)
	s.Grant(t, r, "dan", account.Push)
	s.Ask(t, "carol", "PUT /repos/alice/garden/subscription", "", 200)
}

const issues = "/repos/alice/garden/issues"

// People hear of what they have a part in, with the reason, and never of what they did themselves.
func TestReasons(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		world(t, s)
		s.Ask(t, "bob", "POST "+issues, `{"title": "Slugs", "body": "@eve and @bob, look"}`, 201)
		expect(t, s, map[string]string{"alice": "", "bob": "", "carol": "Slugs:subscribed",
			"eve": "Slugs:mention"})
		s.Ask(t, "alice", "PATCH "+issues+"/1", `{"assignee": "dan"}`, 200)
		expect(t, s, map[string]string{"alice": "", "bob": "", "dan": "Slugs:assign"})
		s.Ask(t, "dan", "POST "+issues+"/1/comments", `{"body": "on it"}`, 201)
		expect(t, s, map[string]string{"bob": "Slugs:author", "carol": "Slugs:subscribed",
			"eve": "Slugs:mention"})
		readAll(t, s, people...)
		expect(t, s, map[string]string{"bob": "", "carol": "", "dan": "", "eve": ""})

		// Several notifications of an issue are one thread, and a mention stays its reason.
		s.Ask(t, "alice", "PATCH "+issues+"/1", `{"state": "closed"}`, 200)
		s.Ask(t, "eve", "POST "+issues+"/1/comments", `{"body": "not yet, @bob"}`, 201)
		s.Ask(t, "eve", "POST "+issues+"/1/comments", `{"body": "really"}`, 201)
		expect(t, s, map[string]string{"alice": "Slugs:state_change", "bob": "Slugs:mention",
			"carol": "Slugs:subscribed",
			"dan":   "Slugs:assign", "eve": "Slugs:mention"})
		readAll(t, s, people...)
		s.Ask(t, "dan", "PUT "+issues+"/1/subscription", `{"ignored": true}`, 200)
		s.Ask(t, "carol", "PUT "+issues+"/1/subscription", `{"subscribed": true}`, 200)
		s.Ask(t, "alice", "POST "+issues+"/1/comments", `{"body": "@dan?"}`, 201)
		expect(t, s, map[string]string{"alice": "", "bob": "Slugs:mention",
			"carol": "Slugs:manual", "dan": ""})

		// An edit tells those whom it mentions for the first time.
		readAll(t, s, people...)
		s.Ask(t, "bob", "PATCH "+issues+"/1", `{"body": "@eve and @alice"}`, 200)
		expect(t, s, map[string]string{"alice": "Slugs:mention", "eve": "", "carol": ""})
		s.Ask(t, "bob", "PATCH "+issues+"/1", `{"title": "Snails", "body": "@alice!"}`, 200)
		s.Ask(t, "alice", "PATCH "+issues+"/1", `{"labels": ["bug"]}`, 200)
		expect(t, s, map[string]string{"alice": "Snails:mention", "eve": "", "carol": ""})
	})
}

// Pull requests, releases and comments on commits also cause notifications.
func TestSubjects(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		world(t, s)
		s.Email(t, "bob", "bob@example.org")
		var made struct{ Commit struct{ SHA string } }
		s.Ask(t, "alice", "PUT /repos/alice/garden/contents/a", `{"message": "Sow\n\nmore", "content": "eA==",
			"author": {"name": "Bob", "email": "bob@example.org"}}`, 201).JSON(t, &made)
		sha := made.Commit.SHA
		s.Ask(t, "dan", "POST /repos/alice/garden/git/refs",
			`{"ref": "refs/heads/fence", "sha": "`+sha+`"}`, 201)
		s.Ask(t, "dan", "PUT /repos/alice/garden/contents/b",
			`{"message": "Fence", "content": "eA==", "branch": "fence"}`, 201)

		s.Ask(t, "dan", "POST /repos/alice/garden/pulls",
			`{"title": "Fence", "head": "fence", "base": "main"}`, 201)
		s.Ask(t, "dan", "POST /repos/alice/garden/pulls/1/requested_reviewers", `{"reviewers": ["alice"]}`, 201)
		expect(t, s, map[string]string{"alice": "Fence:review_requested",
			"carol": "Fence:subscribed", "dan": ""})
		s.Ask(t, "alice", "POST /repos/alice/garden/pulls/1/reviews",
			`{"event": "COMMENT", "body": "hm, @eve"}`, 200)
		expect(t, s, map[string]string{"dan": "Fence:author", "eve": "Fence:mention"})
		readAll(t, s, people...)
		s.Ask(t, "alice", "PUT /repos/alice/garden/pulls/1/merge", "", 200)
		expect(t, s, map[string]string{"dan": "Fence:author", "eve": "Fence:mention", "alice": "",
			"carol": "Fence:subscribed"})
		readAll(t, s, people...)

		s.Ask(t, "alice", "POST /repos/alice/garden/releases", `{"tag_name": "v2", "draft": true}`, 201)
		s.Ask(t, "alice", "POST /repos/alice/garden/releases", `{"tag_name": "v1", "name": "One"}`, 201)
		expect(t, s, map[string]string{"carol": "One:subscribed", "dan": ""})
		readAll(t, s, "carol")
		s.Ask(t, "alice", "PATCH /repos/alice/garden/releases/1", `{"draft": false}`, 200)
		s.Ask(t, "alice", "PATCH /repos/alice/garden/releases/2", `{"draft": true}`, 200)
		expect(t, s, map[string]string{"carol": "v2:subscribed"})

		s.Ask(t, "dan", "POST /repos/alice/garden/commits/"+sha+"/comments", `{"body": "nice, @eve"}`, 201)
		expect(t, s, map[string]string{"bob": "Sow:author", "eve": "Sow:mention", "dan": ""})
		s.Ask(t, "eve", "POST /repos/alice/garden/commits/"+sha+"/comments", `{"body": "indeed"}`, 201)
		expect(t, s, map[string]string{"dan": "Sow:comment", "bob": "Sow:author"})
		first := threads(t, s, "dan", "/notifications")[0].ID
		s.Ask(t, "dan", "GET /notifications/threads/"+first+"/subscription", "", 404)
		s.Ask(t, "dan", "PUT /notifications/threads/"+first+"/subscription", `{"ignored": true}`, 200)
		readAll(t, s, people...)
		s.Ask(t, "eve", "POST /repos/alice/garden/commits/"+sha+"/comments", `{"body": "@dan"}`, 201)
		expect(t, s, map[string]string{"dan": "", "bob": "Sow:author"})

		// Addresses lead to what they say.
		s.Ask(t, "alice", "POST "+issues+"/1/comments", `{"body": "done"}`, 201)
		settle(t, s)
		s.Run(t, []apitest.Case{
			{Do: "GET /notifications", As: "bob", Status: 200,
				Want: `[{"subject": {"title": "Sow", "type": "Commit",
				"url": "{base}/repos/alice/garden/commits/` + sha + `", "latest_comment_url": "{base}/repos/alice/garden/comments/3"}}]`},
			{Do: "GET /notifications?participating=true&all=true", As: "dan", Status: 200,
				Want: `[{"subject": {"type": "PullRequest",
				"url": "{base}/repos/alice/garden/pulls/1", "latest_comment_url": "{base}/repos/alice/garden/issues/comments/1"}}, {"subject": {"type": "Commit"}}]`},
			{Do: "GET /notifications?all=true", As: "carol", Status: 200,
				Want: `[{"subject": {"type": "PullRequest"}}, {"subject": {"type": "Commit"}},
				{"subject": {"type": "Release", "url": "{base}/repos/alice/garden/releases/1", "latest_comment_url": "{base}/repos/alice/garden/releases/1"}}]`},
			{Do: "GET /notifications?participating=true&all=true", As: "carol", Status: 200, Body: "[]"},
		})
	})
}

// Threads are marked one by one and together, and pollers hear only of what is new.
func TestMarkingAndPolling(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		world(t, s)
		for _, title := range []string{"A", "B", "C"} {
			s.Ask(t, "bob", "POST "+issues, `{"title": "`+title+`", "body": "@eve"}`, 201)
			settle(t, s)
		}
		list := threads(t, s, "eve", "/notifications")
		if len(list) != 3 || list[0].Subject.Title != "C" {
			t.Fatalf("eve is told %v", list)
		}
		at := "/notifications/threads/" + list[1].ID
		since := time.UnixMicro(dbtest.Number(t, s.DB,
			`SELECT updated_at FROM notification_threads WHERE id = CAST($1 AS BIGINT)`, list[1].ID)).
			UTC().Format(time.RFC3339Nano)
		s.Run(t, []apitest.Case{
			{Do: "GET /notifications", Status: 401},
			{Do: "GET /notifications?per_page=2", As: "eve", Status: 200, Want: `[{}, {}]`,
				Has: map[string]string{"X-Poll-Interval": "60",
					"Link": `<{base}/notifications?per_page=2&page=2>; rel="next", <{base}/notifications?per_page=2&page=2>; rel="last"`}},
			{Do: "GET /notifications?per_page=2&page=2", As: "eve", Status: 200,
				Want: `[{"subject": {"title": "A"}}]`},
			{Do: "GET /notifications?all=maybe", As: "eve", Status: 422},
			{Do: "GET /notifications?since=yesterday", As: "eve", Status: 422},
			{Do: "GET /notifications?before=1970-01-01T00:00:00Z", As: "eve", Status: 200, Body: "[]"},
			{Do: "GET /notifications?since=9999-01-01T00:00:00Z", As: "eve", Status: 200, Body: "[]"},
			{Do: "GET " + at, As: "eve", Status: 200,
				Want: `{"unread": true, "reason": "mention", "last_read_at": null, "url": "{base}` + at + `",
				"subscription_url": "{base}` + at + `/subscription", "repository": {"full_name": "alice/garden"}}`},
			{Name: "not for others", Do: "GET " + at, As: "alice", Status: 404},
			{Do: "PATCH " + at, As: "alice", Status: 404},
			{Do: "DELETE " + at, As: "alice", Status: 404},
			{Do: "PUT " + at + "/subscription", As: "alice", Status: 404},
			{Do: "DELETE " + at + "/subscription", As: "alice", Status: 404},
			{Do: "GET /notifications/threads/0", As: "eve", Status: 404},
			{Do: "GET /notifications/threads/x", As: "eve", Status: 404},
			{Do: "PATCH " + at, As: "eve", Status: 205, Body: "-"},
			{Do: "GET /notifications", As: "eve", Status: 200,
				Want: `[{"subject": {"title": "C"}}, {"subject": {"title": "A"}}]`},
			{Do: "GET /repos/alice/garden/notifications?all=true", As: "eve", Status: 200,
				Want: `[{}, {"unread": false, "last_read_at": "$any"}, {}]`},
			{Do: "GET " + at + "/subscription", As: "eve", Status: 200,
				Want: `{"subscribed": true, "reason": "mention", "thread_url": "{base}` + at + `"}`},
			{Do: "DELETE " + at, As: "eve", Status: 204, Body: "-"},
			{Do: "GET " + at, As: "eve", Status: 404},
			{Do: "PUT /notifications", As: "eve", Send: `{"last_read_at": "` + since + `"}`,
				Status: 205, Body: "-"},
			{Do: "GET /notifications", As: "eve", Status: 200, Want: `[{"subject": {"title": "C"}}]`},
			{Do: "PUT /notifications", As: "eve", Send: `{"last_read_at": "x"}`, Status: 422},
			{Do: "PUT /notifications", As: "eve", Send: `{"read": false}`, Status: 422},
			{Do: "PUT /repos/alice/garden/notifications", As: "eve", Send: `{"read": true}`, Status: 205},
			{Do: "GET /notifications", As: "eve", Status: 200, Body: "[]"},
			{Do: "PUT /repos/alice/nowhere/notifications", As: "eve", Status: 404},
		})

		// A thread marked as done starts over, and unsubscribed users are notified only of mentions.
		s.Ask(t, "bob", "POST "+issues+"/2/comments", `{"body": "x"}`, 201)
		expect(t, s, map[string]string{"eve": "B:mention"})
		again := "/notifications/threads/" + threads(t, s, "eve", "/notifications")[0].ID
		s.Ask(t, "eve", "DELETE "+again+"/subscription", "", 204)
		s.Ask(t, "eve", "GET "+issues+"/2/subscription", "", 404)
		readAll(t, s, "eve")
		s.Ask(t, "bob", "POST "+issues+"/2/comments", `{"body": "x"}`, 201)
		expect(t, s, map[string]string{"eve": ""})
		s.Ask(t, "bob", "POST "+issues+"/2/comments", `{"body": "@eve"}`, 201)
		expect(t, s, map[string]string{"eve": "B:mention"})
	})
}

// A client that polls with the last ETag misses nothing, and gets a 304 if nothing is new.
func TestPolling(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		world(t, s)
		last := s.Ask(t, "eve", "GET /notifications", "", 200).Header.Get("Last-Modified")
		poll := func() int {
			t.Helper()
			settle(t, s)
			a := s.Do(t, apitest.Case{Do: "GET /notifications", As: "eve",
				Headers: map[string]string{"If-Modified-Since": last}})
			if a.Header.Get("X-Poll-Interval") != "60" {
				t.Error("a poller is not told when to come again")
			}
			last = a.Header.Get("Last-Modified")
			return a.Status
		}
		if got := poll(); got != http.StatusNotModified {
			t.Errorf("nothing happened, and a poll is a %d", got)
		}
		for n := range 3 {
			s.Ask(t, "bob", "POST "+issues, `{"title": "x", "body": "@eve"}`, 201)
			if got := poll(); got != http.StatusOK {
				t.Errorf("mention %d: a poll is a %d", n, got)
			}
		}
		quiet := func() {
			t.Helper()
			testkit.Eventually(t, func() bool { return poll() == http.StatusNotModified },
				"a poll says that nothing is new")
		}
		quiet()
		s.Ask(t, "eve", "PUT /notifications", "", 205)
		if got := poll(); got != http.StatusOK {
			t.Errorf("threads were marked, and a poll is a %d", got)
		}
	})
}
