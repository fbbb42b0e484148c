package pages_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Somebody proposes a branch, from the comparison to the pull request with all that was chosen.
func TestNewPullRequest(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		const form = "/alice/plot/pulls/new"
		get(t, s, "alice", form, 200, `href="?base=main&amp;head=tune"`, "Choose a branch")
		get(t, s, "alice", form+"?head=tune", 200, "Tune the third line", "third line", `value="Tune"`,
			"## Why", "Create pull request", "chords.txt")
		get(t, s, "alice", form+"?head=solo", 200, `value="Sing alone"`, "Nobody else came.")
		get(t, s, "alice", form+"?head=nothing", 200, "cannot be compared")
		get(t, s, "alice", form+"?head=main", 200, "nothing to compare")
		without(t, get(t, s, "", form+"?head=tune", 200, "Sign in", "third line"), "Create pull request")
		api(t, s, "alice", "POST /repos/alice/plot/labels", 201,
			changeObject{"name": "good & bad", "color": "ff0000"}, nil)
		to := led(t, s, "alice", form, "base", "main", "head", "tune", "title", "A <tune>", "body",
			"Why **not**", "draft", "1", "label", "good & bad", "reviewer", "will", "assignee", "alice")
		if to != "/alice/plot/pull/1" {
			t.Fatalf("led to %s", to)
		}
		page := get(t, s, "will", to, 200, "A &lt;tune&gt;", "<strong>not</strong>", "good &amp; bad",
			"This is a draft", "asked for a review", "Tune more")
		without(t, page, "A <tune>", "Merge pull request")
		get(t, s, "alice", form+"?head=tune", 200, "A pull request for these branches exists")
		a := post(t, s, "alice", form, 422, "base", "main", "head", "tune", "title", "Once more", "body",
			"typed text", "label", "good & bad")
		holds(t, "again", a, 422, "A pull request already exists",
			"A pull request for these branches exists")
		a = post(t, s, "alice", form, 422, "base", "main", "head", "solo", "title", " ", "body", "typed text",
			"label", "good & bad")
		holds(t, "no title", a, 422, "typed text", `value="good &amp; bad" checked`)
		if to := post(t, s, "", form, 303, "base",
			"main").Header.Get("Location"); !strings.HasPrefix(to, "/login") {
			t.Errorf("a stranger is led to %q", to)
		}
		a = post(t, s, "alice", form, 303, "base", "main", "head", "solo", "title", "Solo", "body", "",
			"reviewer", "nobody")
		cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
		s.Check(t, apitest.Case{Do: "GET " + a.Header.Get("Location"), As: "alice", Status: 200,
			Headers: map[string]string{"Accept": apitest.Browser, "Cookie": cookie}}).Shows(t, 200, "could be added")
		if got := led(t, s, "alice", "/alice/plot/pull/1/draft", "ready", "1"); got != to {
			t.Errorf("led to %s", got)
		}
		get(t, s, "will", to, 200, "Merge pull request", "no conflicts",
			"marked this pull request as ready for review")
		led(t, s, "alice", "/alice/plot/pull/1/draft")
		get(t, s, "will", to, 200, "This is a draft")
	})
}

// Who may merge has it done once the rules allow it, sees who asked for that, and takes it back.
func TestAutoMergeBox(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		s.User(t, "bob")
		const settings, at = "/alice/plot/settings", "/alice/plot/pull/1"
		s.Ask(t, "alice", "POST /repos/alice/plot/rulesets", `{"name": "ci", "enforcement": "active", "conditions":
			{"ref_name": {"include": ["~ALL"], "exclude": []}}, "rules": [{"type": "required_status_checks", "parameters":
			{"required_status_checks": [{"context": "ci"}], "strict_required_status_checks_policy": false}}]}`, 201)
		propose(t, s, "tune")
		without(t, get(t, s, "will", at, 200, "Rules of"), "auto-merge")
		get(t, s, "alice", settings, 200, "Allow auto-merge")
		led(t, s, "alice", settings, "do", "merging", "allow_merge_commit", "1", "allow_squash_merge", "1",
			"allow_auto_merge", "1", "merge_commit_title", "MERGE_MESSAGE", "merge_commit_message", "PR_TITLE",
			"squash_merge_commit_title", "COMMIT_OR_PR_TITLE", "squash_merge_commit_message", "BLANK")
		get(t, s, "alice", settings, 200, `name="allow_auto_merge" value="1" checked`)
		without(t, get(t, s, "bob", at, 200, "Rules of"), "auto-merge")
		get(t, s, "will", at, 200, "Enable auto-merge")
		form := []string{"method", "squash", "sha", head(t, s, 1), "title", "Later", "message", "Much later"}
		led(t, s, "will", at+"/automerge", form...)
		without(t, get(t, s, "will", at, 200, "Auto-merge is enabled.", "by squashing", "Disable auto-merge",
			"enabled auto-merge (squash)"), "Enable auto-merge")
		without(t, get(t, s, "bob", at, 200, "Auto-merge is enabled."), "Disable auto-merge")
		holds(t, "bob", post(t, s, "bob", at+"/automerge", 403, "off", "1"), 403)
		led(t, s, "alice", at+"/automerge", "off", "1")
		get(t, s, "will", at, 200, "Enable auto-merge", "disabled auto-merge: Manually disabled by user")
		form[3] = strings.Repeat("1", 40)
		holds(t, "stale", post(t, s, "will", at+"/automerge", 409, form...), 409, "Head branch was modified", "Much later")
		form[3] = head(t, s, 1)
		led(t, s, "will", at+"/automerge", form...)
		s.Ask(t, "will", "POST /repos/alice/plot/statuses/"+form[3], `{"context": "ci", "state": "success"}`, 201)
		s.Settle(t)
		get(t, s, "bob", at, 200, "merged this")
	})
}

// Where the base has a merge queue the box offers that, says where the pull request stands, and lets it leave.
func TestMergeQueueOnThePage(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		s.User(t, "bob")
		const at, queue = "/alice/plot/pull/1", "/alice/plot/queue/main"
		s.Ask(t, "alice", "POST /repos/alice/plot/rulesets", `{"name": "queue", "enforcement": "active", "conditions":
			{"ref_name": {"include": ["refs/heads/main"], "exclude": []}}, "rules": [{"type": "merge_queue"},
			{"type": "required_status_checks", "parameters": {"required_status_checks": [{"context": "ci"}],
			"strict_required_status_checks_policy": false}}]}`, 201)
		propose(t, s, "tune")
		without(t, get(t, s, "will", at, 200, "Rules of"), "Merge when ready")
		report := func(sha string) {
			t.Helper()
			s.Ask(t, "will", "POST /repos/alice/plot/statuses/"+sha, `{"context": "ci", "state": "success"}`, 201)
		}
		report(head(t, s, 1))
		get(t, s, "alice", "/alice/plot/settings/rules", 200, "merge queue")
		get(t, s, "will", queue, 200, "The queue is empty.")
		get(t, s, "will", "/alice/plot/queue/tune", 404)
		without(t, get(t, s, "bob", at, 200, "no conflicts"), "Merge when ready")
		get(t, s, "will", at, 200, "Merge when ready", "Merge without the queue")
		holds(t, "stale", post(t, s, "will", at+"/queue", 409, "sha", strings.Repeat("1", 40)), 409,
			"Head branch was modified")
		led(t, s, "will", at+"/queue", "sha", head(t, s, 1))
		s.Settle(t)
		without(t, get(t, s, "will", at, 200, "Queued to merge.", "number 1", "Remove from queue",
			"added this to the merge queue"),
			"Merge when ready")
		without(t, get(t, s, "bob", at, 200, "Queued to merge."), "Remove from queue")
		get(t, s, "bob", queue, 200, "waits for checks of its merge group", "will")
		led(t, s, "will", at+"/queue", "off", "1")
		get(t, s, "will", at, 200, "removed this from the merge queue", "Merge when ready")
		led(t, s, "will", at+"/queue", "sha", head(t, s, 1))
		s.Settle(t)
		var groups []struct{ Object struct{ SHA string } }
		s.Ask(t, "will", "GET /repos/alice/plot/git/matching-refs/heads/gh-readonly-queue", "", 200).JSON(t, &groups)
		report(groups[0].Object.SHA)
		s.Settle(t)
		get(t, s, "bob", at, 200, "merged this", "removed this from the merge queue: merged")
	})
}

// The merge box offers what the repository allows, and each way of merging can be undone by a branch of its
// own.
func TestMergeAndRevert(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		before := file(t, s, "main", "song.txt")
		for n, method := range []string{"merge", "squash", "rebase"} {
			if n > 0 { // another head for the same change: the one before was reverted
				api(t, s, "alice", "POST /repos/alice/plot/git/refs", 201,
					changeObject{"ref": "refs/heads/" + method, "sha": s.Tip(t, "alice", "alice/plot", "main")},
					nil)
				for k, line := range []string{"3", "5"} {
					edit(t, s, method, song("3", "third line", "5", []string{"line 5", "fifth line"}[k]),
						line)
				}
			}
			branch := map[string]string{"merge": "tune", "squash": "squash", "rebase": "rebase"}[method]
			number := propose(t, s, branch)
			at := fmt.Sprintf("/alice/plot/pull/%d", number)
			page := get(t, s, "will", at, 200, "This branch has no conflicts", "Merge pull request</button>",
				"Squash and merge", "Rebase and merge")
			if method == "merge" {
				holds(t, "defaults", &apitest.Answer{Status: 200, Body: []byte(page)}, 200,
					"Merge pull request #1 from alice/tune", "About tune")
			}
			sha := head(t, s, number)
			stale := post(t, s, "will", at+"/merge", 409, "method", "squash", "sha", strings.Repeat("1", 40),
				"title", "My title", "message", "My message")
			holds(t, "stale", stale, 409, "Head branch was modified", "My title", "My message")
			led(t, s, "will", at+"/merge", "method", method, "sha", sha, "title", "Said by will",
				"message", "And why")
			page = get(t, s, "will", at, 200, "merged", "Revert", "Delete branch")
			without(t, page, "Merge pull request</button>", "closed this", "mentioned this in a commit")
			if file(t, s, "main", "song.txt") == before {
				t.Errorf("%s changed nothing", method)
			}
			var c struct{ Message string }
			api(t, s, "alice", "GET /repos/alice/plot/git/commits/"+s.Tip(t, "alice", "alice/plot", "main"),
				200, nil, &c)
			if method != "rebase" && !strings.HasPrefix(c.Message, "Said by will\n\nAnd why") {
				t.Errorf("%s says %q", method, c.Message)
			}
			led(t, s, "will", at+"/branch")
			api(t, s, "alice", "GET /repos/alice/plot/git/ref/heads/"+branch, 404, nil, nil)
			get(t, s, "will", at, 200, "The branch was deleted")
			to := led(t, s, "will", at+"/revert")
			u, err := url.Parse(to)
			if err != nil || u.Query().Get("head") != fmt.Sprintf("revert-%d-%s", number, branch) {
				t.Fatalf("%s: led to %s", method, to)
			}
			get(t, s, "will", to, 200, "Revert &#34;About "+branch, "Reverts alice/plot#", "1 commit<")
			q := u.Query()
			undo := led(t, s, "will", "/alice/plot/pulls/new", "base", q.Get("base"), "head", q.Get("head"),
				"title", q.Get("title"), "body", q.Get("body"))
			var of struct{ Head struct{ SHA string } }
			api(t, s, "alice", "GET /repos"+strings.Replace(undo, "/pull/", "/pulls/", 1), 200, nil, &of)
			led(t, s, "will", undo+"/merge", "method", "squash", "sha", of.Head.SHA)
			if got := file(t, s, "main", "song.txt"); got != before {
				t.Errorf("%s is not undone: %s", method, got)
			}
		}
	})
}

// edit commits another text of song.txt to a branch.
func edit(t testing.TB, s *apitest.Server, branch, text, message string) {
	t.Helper()
	var blob struct{ SHA string }
	api(t, s, "alice", "POST /repos/alice/plot/git/blobs", 201, changeObject{"content": text}, &blob)
	var tree, commit struct{ SHA string }
	at := s.Tip(t, "alice", "alice/plot", branch)
	api(t, s, "alice", "POST /repos/alice/plot/git/trees", 201, changeObject{"base_tree": at, "tree": []changeObject{
		{"path": "song.txt", "mode": "100644", "type": "blob", "sha": blob.SHA}}}, &tree)
	api(t, s, "alice", "POST /repos/alice/plot/git/commits", 201,
		changeObject{"message": message, "tree": tree.SHA, "parents": []string{at}}, &commit)
	api(t, s, "alice", "PATCH /repos/alice/plot/git/refs/heads/"+branch, 200, changeObject{"sha": commit.SHA}, nil)
}

// Conflicts are named by their files, a branch that is behind is brought up to date, and a revert that later
// commits forbid says so.
func TestConflicts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		tune, clash, solo := propose(t, s, "tune"), propose(t, s, "clash"), propose(t, s, "solo")
		led(t, s, "will", fmt.Sprintf("/alice/plot/pull/%d/merge", tune), "method", "merge", "sha",
			head(t, s, tune))
		page := get(t, s, "will", fmt.Sprintf("/alice/plot/pull/%d", clash), 200, "has conflicts",
			"<code><bdi>song.txt</bdi></code>")
		without(t, page, "Squash and merge")
		at := fmt.Sprintf("/alice/plot/pull/%d", solo)
		get(t, s, "will", at, 200, "3 commits of <bdi>main</bdi> are not in this branch", "Update branch")
		without(t, get(t, s, "sam", at, 200, "Only people with push access"), "Update branch",
			"Create a merge commit")
		post(t, s, "sam", at+"/update", 403, "sha", head(t, s, solo))
		post(t, s, "will", at+"/update", 422, "sha", strings.Repeat("2", 40))
		led(t, s, "will", at+"/update", "sha", head(t, s, solo))
		s.Settle(t) // the page says that it checks until then
		without(t, get(t, s, "will", at, 200, "no conflicts"), "not in this branch")
		edit(t, s, "main", song("3", "yet another"), "Later")
		a := post(t, s, "will", fmt.Sprintf("/alice/plot/pull/%d/revert", tune), 409)
		holds(t, "revert", a, 409, "later commits changed the same lines")
		led(t, s, "alice", at+"/base", "base", "clash")
		get(t, s, "will", at, 200, "changed the base branch", ">clash<")
		post(t, s, "alice", at+"/base", 422, "base", "nothing")
		post(t, s, "sam", at+"/base", 403, "base", "main")
	})
}

// A method that the repository does not allow is not offered, and not taken.
func TestMethods(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		number := propose(t, s, "tune")
		api(t, s, "alice", "PATCH /repos/alice/plot", 200,
			changeObject{"allow_merge_commit": false, "allow_rebase_merge": false}, nil)
		at := fmt.Sprintf("/alice/plot/pull/%d", number)
		without(t, get(t, s, "will", at, 200, "Squash and merge"), "Create a merge commit",
			"Rebase and merge")
		a := post(t, s, "will", at+"/merge", 405, "method", "merge", "sha", head(t, s, number))
		holds(t, "merge", a, 405, "Merge commits are not allowed on this repository.", "Squash and merge")
		post(t, s, "will", at+"/merge", 422, "method", "octopus", "sha", head(t, s, number))
	})
}
