package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// commitPlant is alice's pull request 1 of three commits, which the answers name; will may push.
func commitPlant(t testing.TB, s *apitest.Server, private bool) (list []string) {
	t.Helper()
	s.Users(t, "alice", "will", "sam")
	h := &history{}
	h.commit("main", "", "Begin", "song.txt", song())
	h.commit("topic", "main", "First <verse>\n\nIn full.", "song.txt", song("3", "third line"))
	h.commit("topic", "", "Second verse", "song.txt", song("3", "third line", "15", "fifteenth"))
	h.commit("topic", "", "New song", "other.txt", "hello\n")
	s.Grant(t, h.into(t, s, "alice/plot", private), "will", account.Push)
	propose(t, s, "topic")
	var commits []struct{ SHA string }
	api(t, s, "alice", "GET /repos/alice/plot/pulls/1/commits", 200, nil, &commits)
	for _, c := range commits {
		list = append(list, c.SHA)
	}
	if len(list) != 3 {
		t.Fatalf("%d commits", len(list))
	}
	return list
}

// The changes of a pull request are shown a commit at a time, with what was said of each.
func TestOneCommit(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		list := commitPlant(t, s, false)
		const at = "/alice/plot/pull/1"
		one := func(n int) string { return at + "/commits/" + list[n] }
		get(t, s, "will", at+"/files?w=1", 200, "All commits", one(0)+"?w=1", one(2)+"?w=1", "First &lt;verse&gt;")
		get(t, s, "will", at+"/commits", 200, `href="`+one(1)+`"`)

		// What the first changes is what the pull request changes up to it: its lines take comments.
		page := get(t, s, "will", one(0)+"?diff=split", 200, "third line", "In full.",
			`data-key="n" href="`+one(1)+`?diff=split"`,
			"line-form", `name="commit" value="`+list[0]+`"`)
		without(t, page, "fifteenth", "other.txt", `data-key="p"`, `aria-checked`, "viewcount")
		led(t, s, "will", at+"/comments", "commit", list[0], "path", "song.txt", "side", "LEFT", "line", "3",
			"body", "It was good", "return_to", one(0))
		get(t, s, "sam", one(0), 200, "It was good")

		// The second changes less than the pull request up to it.
		page = get(t, s, "will", one(1)+"?comment=song.txt:RIGHT:15", 200, "fifteenth", "Lines take comments among",
			`data-key="p" href="`+one(0)+`"`, `data-key="n" href="`+one(2)+`"`)
		without(t, page, "line-form", "lineform", "data-talk", "It was good", "other.txt")

		// What was said of the newest lines stands at the last, too, as far as it is about them.
		led(t, s, "will", at+"/comments", "commit", list[2], "path", "other.txt", "side", "RIGHT", "line", "1",
			"body", "Hello to you", "return_to", at+"/files")
		page = get(t, s, "will", one(2), 200, "Hello to you", "other.txt")
		without(t, page, "It was good", `data-key="n"`)
		without(t, get(t, s, "", one(1), 200, "fifteenth"), "Lines take comments", "lineform")

		get(t, s, "will", at+"/commits/"+s.Tip(t, "alice", "alice/plot", "main"), 303)
		for _, odd := range []string{list[0][:10], "topic", strings.Repeat("0", 40), "x"} {
			get(t, s, "will", at+"/commits/"+odd, 404)
		}
	})
}

// Who does not see the pull request does not see its commits.
func TestOneCommitRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		one := "/alice/plot/pull/1/commits/" + commitPlant(t, s, true)[0]
		get(t, s, "will", one, 200, "third line")
		get(t, s, "sam", one, 404)
		api(t, s, "alice", "DELETE /repos/alice/plot/collaborators/will", 204, nil, nil)
		get(t, s, "will", one, 404)
	})
}
