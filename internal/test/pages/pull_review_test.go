package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// A review of several comments is seen by its author alone until it is submitted, at once; then it is talked
// about, settled, and dismissed.
func TestReview(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		number := propose(t, s, "tune")
		at := fmt.Sprintf("/alice/plot/pull/%d", number)
		files, sha := at+"/files", head(t, s, number)
		get(t, s, "will", files, 200, "third line", `form="viewed"`, "Review changes", "Add single comment")
		get(t, s, "will", files+"?comment=song.txt:RIGHT:3", 200, `name="line" value="3"`, "to line 3")
		get(t, s, "will", files+"?comment=song.txt:RIGHT:3-5&diff=split", 200, "to line 5",
			`name="start" inputmode="numeric" pattern="[0-9]*" size="6" value="3"`)
		for _, odd := range []string{"song.txt", "song.txt:UP:3", "song.txt:RIGHT:x", "song.txt:RIGHT:5-3",
			"::", "a:RIGHT:-1"} {
			without(t, get(t, s, "will", files+"?comment="+odd, 200),
				`value="RIGHT"><input type="hidden" name="line" value="3"`)
		}
		to := led(t, s, "will", at+"/comments", "commit", sha, "path", "song.txt", "side", "RIGHT", "line",
			"3", "body", "Too **sharp**", "review", "1", "return_to", files)
		if !strings.HasPrefix(to, files+"#discussion_r") {
			t.Errorf("led to %s", to)
		}
		led(t, s, "will", at+"/comments", "commit", sha, "path", "song.txt", "side", "RIGHT", "line", "5",
			"start", "3", "body", "All of it", "review", "1")
		led(t, s, "will", at+"/comments", "commit", sha, "path", "song.txt", "side", "LEFT", "line", "5",
			"body", "It was good", "review", "1")
		led(t, s, "will", at+"/comments", "commit", sha, "path", "chords.txt", "body", "The whole file",
			"review", "1")
		post(t, s, "will", at+"/comments", 422, "commit", sha, "path", "song.txt", "side", "RIGHT", "line",
			"19", "body", "Far away", "review", "1")
		page := get(t, s, "will", files, 200, "Finish your review", "<strong>sharp</strong>", "lines 3 to 5",
			"It was good", "The whole file")
		if n := strings.Count(page, `<span class="tag warn">Pending</span></header>`); n != 4 {
			t.Errorf("%d pending threads", n)
		}
		get(t, s, "will", at, 200, "Your review is not submitted: 4 comments")
		for _, who := range []string{"alice", "sam", ""} {
			without(t, get(t, s, who, files, 200)+get(t, s, who, at, 200), "sharp", "not submitted",
				"Pending</span>")
		}
		post(t, s, "will", at+"/reviews", 422, "event", "NONSENSE")
		to = led(t, s, "will", at+"/reviews", "event", "REQUEST_CHANGES", "body", "Not yet.")
		review := strings.TrimPrefix(to, at+"#pullrequestreview-")
		page = get(t, s, "alice", at, 200, "requested changes", "Not yet.", "<strong>sharp</strong>",
			"All of it", "The whole file",
			`id="pullrequestreview-`+review, "Changes requested</b> by", "Resolve conversation", "Re-request")
		thread := first(t, page, `id="discussion_r(\d+)"`)
		led(t, s, "alice", at+"/comments", "reply_to", thread, "body", "It is not")
		led(t, s, "alice", at+"/threads", "comment", thread)
		get(t, s, "sam", files, 200, "It is not", "Resolved by alice")
		led(t, s, "will", at+"/threads", "comment", thread, "off", "1")
		without(t, get(t, s, "sam", files, 200), "Resolved by")
		post(t, s, "sam", at+"/threads", 403, "comment", thread)
		get(t, s, "will", at+"/comments/"+thread, 200, "Too **sharp**", "Update comment")
		led(t, s, "will", at+"/comments/"+thread, "body", "Too flat")
		post(t, s, "will", at+"/comments/"+thread, 422, "body", " ")
		post(t, s, "sam", at+"/comments/"+thread, 403, "body", "mine")
		get(t, s, "sam", at, 200, "Too flat")
		post(t, s, "sam", at+"/comments/"+thread, 403, "delete", "1")
		led(t, s, "will", at+"/comments/"+thread, "delete", "1")
		without(t, get(t, s, "sam", at, 200, "It is not"), "Too flat")
		led(t, s, "will", at+"/reviews/"+review, "body", "Not quite yet.")
		get(t, s, "sam", at, 200, "Not quite yet.")
		post(t, s, "alice", at+"/reviews/"+review, 403, "body", "Fine.")
		post(t, s, "sam", at+"/reviews/"+review, 403, "dismiss", "1", "body", "Because")
		led(t, s, "alice", at+"/reviews/"+review, "dismiss", "1", "body", "It was <i>settled</i>")
		without(t, get(t, s, "sam", at, 200, "reviewed (dismissed)", "It was &lt;i&gt;settled"),
			"Changes requested</b> by")
		led(t, s, "alice", at+"/reviewers", "again", "will")
		get(t, s, "will", at, 200, "asked for a review")
		led(t, s, "will", at+"/reviews", "event", "APPROVE", "body", "")
		get(t, s, "sam", at, 200, "approved these changes", "Approved</b> by")
		post(t, s, "alice", at+"/reviews", 422, "event", "APPROVE", "body", "My own")
	})
}

// A review that waits is discarded with its comments, and can be begun by any of its forms.
func TestDiscard(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		number := propose(t, s, "tune")
		at, sha := fmt.Sprintf("/alice/plot/pull/%d", number), head(t, s, number)
		led(t, s, "alice", at+"/comments", "commit", sha, "path", "song.txt", "side", "RIGHT", "line", "3",
			"body", "For all")
		thread := first(t, get(t, s, "will", at, 200), `id="discussion_r(\d+)"`)
		led(t, s, "will", at+"/comments", "reply_to", thread, "body", "For later", "review", "1")
		get(t, s, "will", at, 200, "1 comment that only you can see", "For later")
		without(t, get(t, s, "alice", at, 200), "For later")
		led(t, s, "will", at+"/reviews", "event", "DISCARD")
		without(t, get(t, s, "will", at, 200, "For all"), "For later", "only you see")
		led(t, s, "will", at+"/reviews", "event", "DISCARD")
		led(t, s, "will", at+"/reviews", "event", "COMMENT", "body", "Just words")
		get(t, s, "alice", at, 200, "Just words")
	})
}

// Files that somebody viewed stay marked until they change, and nobody else's are.
func TestViewed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		number := propose(t, s, "tune")
		at := fmt.Sprintf("/alice/plot/pull/%d", number)
		page := get(t, s, "will", at+"/files", 200)
		blob := first(t, page, `name="view" value="([0-9a-f]{40}) song.txt"`)
		led(t, s, "will", at+"/viewed", "view", blob+" song.txt", "return_to", at+"/files")
		page = get(t, s, "will", at+"/files", 200, `aria-checked="true"`, "Collapsed.", "Show the changes")
		if strings.Count(page, `aria-checked="true"`) != 1 {
			t.Error("more than one file is viewed")
		}
		without(t, get(t, s, "alice", at+"/files", 200), `aria-checked="true"`)
		edit(t, s, "tune", song("3", "third line", "7", "new"), "Again")
		without(t, get(t, s, "will", at+"/files", 200), `aria-checked="true"`)
		led(t, s, "will", at+"/viewed", "view", blob+" chords.txt")
		led(t, s, "will", at+"/viewed", "unview", blob+" chords.txt")
		post(t, s, "will", at+"/viewed", 422, "view", "x song.txt")
		post(t, s, "will", at+"/viewed", 422, "view", blob+" "+strings.Repeat("é", 2000))
		without(t, get(t, s, "", at+"/files", 200), "Viewed")
	})
}

// Suggestions are shown as a diff, and go into the branch: one, or several in a commit, if they still fit.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		number := propose(t, s, "tune")
		at := fmt.Sprintf("/alice/plot/pull/%d", number)
		suggest := func(path, line, start, body string) string {
			t.Helper()
			to := led(t, s, "sam", at+"/comments", "commit", head(t, s, number), "path", path, "side",
				"RIGHT", "line", line, "start", start, "body", body)
			return strings.TrimPrefix(to, at+"#discussion_r")
		}
		one := suggest("song.txt", "3", "", "Better:\n```suggestion\nthe <third> line\nand more\n```\nNo?")
		page := get(t, s, "alice", at, 200, "Suggested change", "the &lt;third&gt; line", "Commit suggestion",
			`<del>third line</del>`, "Better:", "No?")
		without(t, page, "<third>")
		get(t, s, "alice", at+"/files?diff=split", 200, "<del>third line</del>", "Commit suggestion")
		without(t, get(t, s, "sam", at, 200, "Suggested change"), "Commit suggestion")
		post(t, s, "sam", at+"/suggestions", 403, "comment", one, "sha", head(t, s, number))
		post(t, s, "alice", at+"/suggestions", 409, "comment", one, "sha", strings.Repeat("3", 40))
		led(t, s, "alice", at+"/suggestions", "comment", one, "sha", head(t, s, number), "message", "Take it")
		want := song("3", "the <third> line\nand more", "5", "fifth line")
		if got := file(t, s, "tune", "song.txt"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		get(t, s, "sam", at, 200, "Resolved by alice", "Outdated")
		post(t, s, "alice", at+"/suggestions", 422, "comment", one, "sha", head(t, s, number))
		post(t, s, "alice", at+"/suggestions", 422, "sha", head(t, s, number))
		// takes "and more", line 4 and fifth line away
		two := suggest("song.txt", "6", "4", "```suggestion\n```")
		three := suggest("song.txt", "3", "", "```suggestion\nthird\n```")
		four := suggest("chords.txt", "2", "", "```suggestion\nD\n```")
		before := s.Tip(t, "alice", "alice/plot", "tune")
		led(t, s, "alice", at+"/suggestions", "comment", two, "comment", three, "comment", four, "sha",
			head(t, s, number))
		got := file(t, s, "tune", "song.txt")
		if !strings.HasPrefix(got, "line 1\nline 2\nthird\nline 6\n") ||
			file(t, s, "tune", "chords.txt") != "C\nD\n" {
			t.Errorf("got %q", got)
		}
		var c struct {
			Message string
			Parents []struct{ SHA string }
		}
		api(t, s, "alice", "GET /repos/alice/plot/git/commits/"+s.Tip(t, "alice", "alice/plot", "tune"), 200,
			nil, &c)
		if c.Parents[0].SHA != before || !strings.Contains(c.Message, "@sam") {
			t.Errorf("%+v", c)
		}
		five, six := suggest("song.txt", "3", "2", "```suggestion\na\n```"),
			suggest("song.txt", "3", "", "```suggestion\nb\n```")
		holds(t, "overlap", post(t, s, "alice", at+"/suggestions", 422, "comment", five, "comment", six,
			"sha", head(t, s, number)), 422, "change the same lines")
	})
}

// People are asked for a review, and asked no longer.
func TestReviewers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		at := fmt.Sprintf("/alice/plot/pull/%d", propose(t, s, "tune"))
		without(t, get(t, s, "alice", at+"/reviewers", 200, `value="will"`), `value="alice"`)
		led(t, s, "alice", at+"/reviewers", "reviewer", "will", "more", "sam, ")
		get(t, s, "sam", at, 200, `<bdi>sam</bdi></a> <span title="Review pending">`,
			`<bdi>will</bdi></a> <span title="Review pending">`)
		led(t, s, "alice", at+"/reviewers", "reviewer", "sam")
		without(t, get(t, s, "sam", at, 200), `<bdi>will</bdi></a> <span title="Review pending">`)
		post(t, s, "alice", at+"/reviewers", 422, "more", "nobody")
		post(t, s, "sam", at+"/reviewers", 403, "more", "will")
	})
}

// A reviewer comes back to what changed since the last review; a forced push is said.
func TestChangesSinceReview(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		number := propose(t, s, "tune")
		at := fmt.Sprintf("/alice/plot/pull/%d", number)
		const link = "Changes since your last review"
		without(t, get(t, s, "will", at+"/files", 200), link)
		led(t, s, "will", at+"/reviews", "event", "COMMENT", "body", "So far", "commit", head(t, s, number))
		without(t, get(t, s, "will", at+"/files", 200), link)
		edit(t, s, "tune", song("3", "third line", "5", "fifth line", "15", "new"), "Again")
		without(t, get(t, s, "alice", at+"/files", 200), link)
		get(t, s, "will", at+"/files", 200, link, "chords.txt", "?since=review")
		page := get(t, s, "will", at+"/files?since=review&comment=song.txt:LEFT:15", 200, "since your last review", "song.txt")
		without(t, page, "chords.txt", "line-form", "lineform", "data-talk")
		get(t, s, "alice", at+"/files?since=review", 200, "chords.txt", "line-form")

		api(t, s, "alice", "PATCH /repos/alice/plot/git/refs/heads/tune", 200,
			changeObject{"sha": s.Tip(t, "alice", "alice/plot", "solo"), "force": true}, nil)
		get(t, s, "will", at+"/files?since=review", 200, "is no longer part of this pull request", "solo.txt",
			"line-form")
	})
}
