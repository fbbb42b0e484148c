package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// A pull request says which issues it closes, and an issue by which pull requests it will be closed.
func TestClosedIssues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		for _, title := range []string{"Flat note", "Other"} {
			api(t, s, "alice", "POST /repos/alice/plot/issues", 201, changeObject{"title": title}, nil)
		}
		api(t, s, "alice", "POST /repos/alice/plot/pulls", 201, changeObject{"title": "Tune it", "head": "tune",
			"base": "main", "body": "Fixes #1, see #2"}, nil)
		api(t, s, "alice", "POST /repos/alice/plot/pulls", 201, changeObject{"title": "Elsewhere", "head": "solo",
			"base": "tune", "body": "Fixes #2"}, nil)
		shows(t, "pull", page(t, s, "sam", "/alice/plot/pull/3", 200), "Development", "A merge closes", "Flat note")
		without(t, get(t, s, "sam", "/alice/plot/pull/4", 200), "Development") // a merge there closes nothing
		shows(t, "issue", page(t, s, "", "/alice/plot/issues/1", 200), "Development", "Closed by a merge of", "Tune it")
		api(t, s, "alice", "PUT /repos/alice/plot/pulls/3/merge", 200, nil, nil)
		shows(t, "pull", page(t, s, "sam", "/alice/plot/pull/3", 200), "This closed", "Flat note")
	})
}

// A head branch that was deleted after the merge is restored by one button.
func TestRestoreBranch(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		n := propose(t, s, "solo")
		was, at := head(t, s, n), fmt.Sprintf("/alice/plot/pull/%d", n)
		post(t, s, "will", at+"/branch", 409, "restore", "1")
		api(t, s, "alice", fmt.Sprintf("PUT /repos/alice/plot/pulls/%d/merge", n), 200, nil, nil)
		without(t, get(t, s, "will", at, 200), "Restore branch")
		post(t, s, "will", at+"/branch", 303)
		get(t, s, "will", at, 200, "Restore branch")
		without(t, get(t, s, "sam", at, 200), "Restore branch")
		post(t, s, "sam", at+"/branch", 403, "restore", "1")
		post(t, s, "will", at+"/branch", 303, "restore", "1")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/git/ref/heads/solo", As: "will", Status: 200,
			Want: `{"object": {"sha": "` + was + `"}}`})
		without(t, get(t, s, "will", at, 200), "Restore branch")
	})
}

// Who pushed a branch is offered to propose it, until that is done.
func TestRecentPushes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		api(t, s, "will", "PUT /repos/alice/plot/contents/new", 201, changeObject{"message": "m", "content": "eA==",
			"branch": "tune"}, nil)
		const offer = "/alice/plot/pulls/new?head=tune"
		get(t, s, "will", "/alice/plot", 200, offer, "had pushes")
		for _, other := range []string{"alice", "sam", ""} {
			without(t, get(t, s, other, "/alice/plot", 200), "had pushes")
		}
		propose(t, s, "tune")
		without(t, get(t, s, "will", "/alice/plot", 200), "had pushes")
	})
}

// A fork is brought up to date on its page.
func TestSyncFork(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		api(t, s, "sam", "POST /repos/alice/plot/forks", 202, changeObject{}, nil)
		const at = "/sam/plot/sync"
		shows(t, at, page(t, s, "alice", "/alice/plot/sync", 200), "This repository is not a fork")
		shows(t, at, page(t, s, "sam", at, 200), "main is not behind alice:main")
		change := func(repo, who, text string) {
			t.Helper()
			api(t, s, who, "PUT /repos/"+repo+"/contents/new", 201, changeObject{"message": "m", "content": text}, nil)
		}
		change("alice/plot", "alice", "eA==")
		get(t, s, "sam", "/sam/plot", 200, "Sync fork")
		shows(t, at, page(t, s, "sam", at, 200), "main is 1 commit behind alice:main", "Update branch")
		without(t, get(t, s, "alice", at, 200), "Update branch")
		post(t, s, "alice", at, 403, "branch", "main")
		if to := led(t, s, "sam", at, "branch", "main"); to != "/sam/plot" && !strings.HasPrefix(to, "/sam/plot?") {
			t.Errorf("leads to %s", to)
		}
		shows(t, at, page(t, s, "sam", at, 200), "main is not behind alice:main")
		post(t, s, "sam", at, 422, "branch", "no")
		s.Check(t, apitest.Case{Do: "GET /repos/sam/plot/contents/new", As: "sam", Status: 200})
	})
}

// The pickers find what their first hundred rows do not have, keep what is chosen while one searches, and
// create labels.
func TestPickers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		s.Grant(t, s.Repo(t, "alice/garden", false), "sam", account.Push)
		for n := range 110 {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/labels", As: "alice",
				Send: threadObject("name", fmt.Sprintf("z %d", n)), Status: 201})
		}
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Send: `{"title": "Sun"}`, Status: 201})
		const at = "/alice/garden/issues/1"
		without(t, get(t, s, "sam", at+"/labels", 200, "Others"), `value="z 99"`)
		found := get(t, s, "sam", at+"/labels?q=Z+99&chosen=1&label=bug", 200, `value="z 99"`, `value="bug" checked`)
		without(t, found, `value="z 98"`)
		get(t, s, "sam", "/alice/garden/issues/choices/labels?q=z+9", 200, `value="z 99"`, `value="z 9"`)
		get(t, s, "sam", "/alice/garden/issues/choices/labels?q=wet", 200, "Create label", `value="wet"`)
		without(t, get(t, s, "rae", "/alice/garden/issues/choices/labels?q=wet", 200), "Create label")
		get(t, s, "rae", "/alice/garden/issues/choices/assignees?q=SA", 200, `value="sam"`)
		page(t, s, "rae", "/alice/garden/issues/choices/other", 404)
	})
}
