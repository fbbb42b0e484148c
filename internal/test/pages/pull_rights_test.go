package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// changeForms lists all forms of alice's pull request from her own branch, and the responses for a reader
// who is not the author and for a user with push access.
var changeForms = []struct {
	path           string
	pairs          []string
	reader, pusher int
}{
	{"/merge", []string{"method", "octopus"}, 403, 422},
	{"/update", []string{"sha", "1"}, 403, 422},
	{"/revert", nil, 403, 405},
	{"/draft", nil, 403, 303},
	{"/draft", []string{"ready", "1"}, 403, 303},
	{"/base", []string{"base", "nothing"}, 403, 422},
	{"/branch", nil, 303, 303}, // of an open one nothing is deleted
	{"/reviewers", []string{"more", "will"}, 403, 303},
	{"/comments", []string{"commit", "{sha}", "path", "song.txt", "side", "RIGHT", "line", "3", "body", "x"},
		303, 303},
	{"/comments", []string{"reply_to", "{comment}", "body", "x"}, 303, 303},
	{"/comments/{comment}", []string{"body", "y"}, 403, 303},
	{"/reviews", []string{"event", "COMMENT", "body", "x"}, 303, 303},
	{"/reviews/{review}", []string{"dismiss", "1", "body", "x"}, 403, 422}, // it says nothing that counts
	{"/reviews/{review}", []string{"body", "x"}, 403, 403},
	{"/threads", []string{"comment", "{comment}"}, 403, 303},
	{"/viewed", []string{"view", "{sha} song.txt"}, 303, 303},
	// whose text was changed above
	{"/suggestions", []string{"comment", "{comment}", "sha", "{sha}"}, 403, 422},
}

// Each form is accepted from permitted users only, and never for private, archived or locked things without
// the right.
func TestChangeRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		number := propose(t, s, "tune")
		at, sha := fmt.Sprintf("/alice/plot/pull/%d", number), head(t, s, number)
		to := led(t, s, "alice", at+"/comments", "commit", sha, "path", "song.txt", "side", "RIGHT", "line",
			"5", "body", "```suggestion\nx\n```")
		comment := strings.TrimPrefix(to, at+"#discussion_r")
		to = led(t, s, "alice", at+"/reviews", "event", "COMMENT", "body", "x")
		fill := strings.NewReplacer("{sha}", sha, "{comment}", comment, "{review}",
			strings.TrimPrefix(to, at+"#pullrequestreview-"))
		try := func(who string, status func(n int) int) {
			t.Helper()
			for n, f := range changeForms {
				pairs := []string{}
				for _, one := range f.pairs {
					pairs = append(pairs, fill.Replace(one))
				}
				post(t, s, who, at+fill.Replace(f.path), status(n), pairs...)
			}
		}
		try("sam", func(n int) int { return changeForms[n].reader })
		a := post(t, s, "", at+"/merge", 303)
		if to := a.Header.Get("Location"); !strings.HasPrefix(to, "/login") {
			t.Errorf("led to %s", to)
		}
		api(t, s, "alice", "PUT /repos/alice/plot/issues/1/lock", 204, changeObject{}, nil)
		post(t, s, "sam", at+"/comments", 403, "reply_to", comment, "body", "x")
		post(t, s, "sam", at+"/reviews", 403, "event", "COMMENT", "body", "x")
		post(t, s, "sam", at+"/threads", 403, "comment", comment)
		page := get(t, s, "sam", at, 200, "This conversation is locked") + get(t, s, "sam", at+"/files", 200)
		without(t, page, "Reply", "Review changes", "data-talk", "Comment on lines")
		api(t, s, "alice", "DELETE /repos/alice/plot/issues/1/lock", 204, nil, nil)

		api(t, s, "alice", "PATCH /repos/alice/plot", 200, changeObject{"private": true}, nil)
		for _, path := range []string{"", "/files", "/commits", "/checks",
			"/reviewers", ".diff"} {
			get(t, s, "stranger", at+path, 404)
			get(t, s, "", at+path, 404)
			get(t, s, "will", at+path, 200)
		}
		get(t, s, "stranger", "/alice/plot/pulls", 404)
		get(t, s, "stranger", "/alice/plot/pulls/new", 404)
		try("stranger", func(int) int { return 404 })

		api(t, s, "alice", "PATCH /repos/alice/plot", 200, changeObject{"archived": true}, nil)
		try("will", func(n int) int {
			if changeForms[n].path == "/branch" {
				return 303
			}
			return 403
		})
		page = get(t, s, "will", at, 200) + get(t, s, "will", at+"/files", 200)
		without(t, page, "Merge pull request", "Reply…", "Edit title", "Re-request", "Review changes",
			"Commit suggestion")
		api(t, s, "alice", "PATCH /repos/alice/plot", 200, changeObject{"archived": false}, nil)
		try("will", func(n int) int { return changeForms[n].pusher })
	})
}

// What does not exist is a page that says so; numbers of issues and pull requests lead to each other.
func TestAddresses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		propose(t, s, "tune")
		api(t, s, "alice", "POST /repos/alice/plot/issues", 201, changeObject{"title": "An issue"}, nil)
		for _, path := range []string{"/pull/9", "/pull/x", "/pull/0", "/pull/2/files", "/pull/9/commits",
			"/pull/99999999999999999999", "/pull/1/nothing", "/pull/1.txt"} {
			get(t, s, "alice", "/alice/plot"+path, 404)
		}
		a := s.Do(t, apitest.Case{Do: "GET /alice/plot/pull/2", As: "alice",
			Headers: inBrowser})
		if a.Status != 302 || a.Header.Get("Location") != "/alice/plot/issues/2" {
			t.Errorf("%d %v", a.Status, a.Header)
		}
		holds(t, "diff", s.Do(t, apitest.Case{Do: "GET /alice/plot/pull/1.diff"}), 200, "+third line")
		api(t, s, "alice", "PATCH /repos/alice/plot", 200, changeObject{"has_issues": false}, nil)
		// pull requests stay where issues are switched off
		get(t, s, "", "/alice/plot/pull/1", 200, "About tune")
		get(t, s, "", "/alice/plot/pulls", 200, "About tune")
		get(t, s, "", "/alice/plot/pull/2", 404)
		get(t, s, "alice", "/alice/plot/pull/1/comments/7", 404)
		post(t, s, "alice", "/alice/plot/pull/1/threads", 404, "comment", "7")
		post(t, s, "alice", "/alice/plot/pull/1/threads", 404, "comment", "../x")
		post(t, s, "alice", "/alice/plot/pull/1/reviews/7", 404, "dismiss", "1", "body", "x")
		post(t, s, "alice", "/alice/plot/pull/9/merge", 404)
	})
}

// A pull request whose fork turned private, or is gone, is shown still, and says why it cannot be merged.
func TestHeadGone(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		api(t, s, "sam", "POST /repos/alice/plot/forks", 202, changeObject{}, nil)
		api(t, s, "sam", "PUT /repos/sam/plot/contents/flute.txt", 201,
			changeObject{"message": "Add a flute", "content": "bGEK", "branch": "solo"}, nil)
		get(t, s, "sam", "/alice/plot/pulls/new", 200, "head=sam%3Asolo")
		get(t, s, "sam", "/alice/plot/pulls/new?head=sam:solo", 200, "Add a flute",
			"Allow edits by maintainers")
		at := led(t, s, "sam", "/alice/plot/pulls/new", "base", "main", "head", "sam:solo", "title",
			"A flute", "modify", "1")
		edit(t, s, "main", song("1", "first"), "Meanwhile")
		get(t, s, "will", at, 200, "sam:solo", "no conflicts", "Update branch")
		get(t, s, "sam", at, 200, "Stop edits by maintainers")
		led(t, s, "sam", at+"/base", "modify", "0")
		without(t, get(t, s, "will", at, 200), "Update branch")
		api(t, s, "sam", "DELETE /repos/sam/plot", 204, nil, nil)
		for _, path := range []string{"", "/files", "/commits", "/checks"} {
			get(t, s, "will", at+path, 200, "deleted repository")
			get(t, s, "", at+path, 200)
		}
		without(t, get(t, s, "will", at, 200), "Merge pull request", "Delete branch")
	})
}

// The list finds what a search asks for, shows how things stand, and takes any search.
func TestList(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		get(t, s, "", "/alice/plot/pulls", 200, "There are no open pull requests")
		propose(t, s, "tune")
		clash, solo := propose(t, s, "clash"), propose(t, s, "solo")
		led(t, s, "will", fmt.Sprintf("/alice/plot/pull/%d/reviews", clash), "event", "REQUEST_CHANGES",
			"body", "No")
		led(t, s, "will", fmt.Sprintf("/alice/plot/pull/%d/reviews", solo), "event", "APPROVE")
		api(t, s, "will", "POST /repos/alice/plot/statuses/"+s.Tip(t, "alice", "alice/plot", "tune"), 201,
			changeObject{"state": "failure", "context": "ci"}, nil)
		api(t, s, "alice", "POST /repos/alice/plot/issues/1/labels", 200,
			changeObject{"labels": []string{"two words"}}, nil)
		led(t, s, "alice", "/alice/plot/issues/2/state", "state", "closed")
		page := get(t, s, "", "/alice/plot/pulls", 200, "About tune", "About solo", ">Approved<",
			"checks: failure", "2 Open", "1 Closed", "two words")
		without(t, page, "About clash", "/pulls/new")
		get(t, s, "alice", "/alice/plot/pulls?q=is:closed", 200, "About clash", "Changes requested",
			"1 Closed", "2 Open", "/pulls/new")
		without(t, get(t, s, "", `/alice/plot/pulls?q=is:open+label:"two+words"`, 200, "About tune",
			"label%3A%22two"), "About solo")
		without(t, get(t, s, "", "/alice/plot/pulls?q=review:approved", 200, "About solo"), "About tune")
		get(t, s, "", "/alice/plot/issues/filter/review?at=/alice/plot/pulls&q=is:open", 200,
			"Changes requested", "/alice/plot/pulls?q=is%3Aopen", "review%3Aapproved")
		get(t, s, "", "/alice/plot/issues/filter/status?at=/alice/plot/pulls&q=", 200, "status%3Afailure")
		get(t, s, "", "/alice/plot/pulls?q=author:nobody-here", 422)
		get(t, s, "", "/alice/plot/pulls?q=", 200, "About clash", "About tune")
		for _, odd := range []string{"is:nonsense", `"`, "repo:other/one", "((", "%00%ff",
			strings.Repeat("x", 5000), "<script>alert(1)</script>"} {
			a := s.Do(t, apitest.Case{Do: "GET /alice/plot/pulls?q=" + odd,
				Headers: inBrowser})
			if a.Status != 200 && a.Status != 422 || strings.Contains(string(a.Body), "<script>alert") {
				t.Errorf("%.20s: %d", odd, a.Status)
			}
		}
	})
}

// Who settled a thread, and who reviewed, stays known by the name of ghost when the account is deleted; what
// only that account saw goes with it.
func TestDeletedReviewer(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		s.Admin(t, "chief")
		number := propose(t, s, "tune")
		at, sha := fmt.Sprintf("/alice/plot/pull/%d", number), head(t, s, number)
		to := led(t, s, "will", at+"/comments", "commit", sha, "path", "song.txt", "side", "RIGHT", "line",
			"3", "body", "Said by will")
		led(t, s, "will", at+"/threads", "comment", strings.TrimPrefix(to, at+"#discussion_r"))
		led(t, s, "will", at+"/viewed", "view", sha+" song.txt")
		led(t, s, "will", at+"/comments", "commit", sha, "path", "song.txt", "side", "RIGHT", "line", "5",
			"body", "Never said", "review", "1")
		api(t, s, "chief", "DELETE /admin/users/will", 204, nil, nil)
		page := get(t, s, "alice", at, 200, "Resolved by ghost", "Said by will")
		without(t, page, "Never said", ">will<")
		get(t, s, "alice", at+"/files", 200, "Resolved by ghost")
	})
}
