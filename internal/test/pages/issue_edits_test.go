package pages_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// lastEdit returns the address of the newest edit that a list of edits shows.
func lastEdit(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile(`href="([^"]*edit=\d+[^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no edit in %s", page)
	}
	return strings.ReplaceAll(found[1], "&amp;", "&")
}

// Who edited a text, when, and what it said before can be seen by those who see the text; its author and
// maintainers can delete a former text. What was written in a private time stays with the maintainers.
func TestEditHistory(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		r := s.Repo(t, "alice/garden", true)
		s.Grant(t, r, "sam", account.Push)
		s.Grant(t, r, "rae", account.Pull)
		const at, issues = "/alice/garden/issues/1", "POST /repos/alice/garden/issues"
		patch := func(as, path, body string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/issues/" + path, As: as,
				Send: threadObject("body", body), Status: 200})
		}
		s.Check(t, apitest.Case{Do: issues, As: "rae", Send: `{"title": "Sun", "body": "the secret\nstays\n"}`,
			Status: 201})
		lacks(t, at, page(t, s, "rae", at, 200), "/edits?")
		patch("rae", "1", "nothing\nstays\n")
		shows(t, at, page(t, s, "rae", at, 200), "edited")
		patch("sam", "1", "better\nstays\n")
		shows(t, at, page(t, s, "alice", at, 200), "edited by sam")
		patch("sam", "1", "better\nstays\n") // no change is no edit
		list := get(t, s, "rae", at+"/edits", 200)
		if n := strings.Count(list, "edit="); n != 2 {
			t.Errorf("%d edits", n)
		}
		last := lastEdit(t, list)
		shows(t, last, page(t, s, "rae", last, 200), "nothing", "better")

		s.Check(t, apitest.Case{Do: issues + "/1/comments", As: "sam", Send: `{"body": "first"}`, Status: 201})
		patch("alice", "comments/1", "second")
		shows(t, at, page(t, s, "rae", at, 200), "edited by alice")
		last = lastEdit(t, get(t, s, "rae", at+"/edits?comment=1", 200))
		shows(t, last, page(t, s, "rae", last, 200), "first", "second")
		page(t, s, "rae", "/alice/garden/issues/2/edits?comment=1", 404)
		page(t, s, "rae", at+"/edits?comment=99", 404)
		page(t, s, "stranger", at+"/edits", 404)

		// The repository becomes public: its private time does not.
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": false}`, Status: 200})
		patch("sam", "1", "public\nstays\n")
		hidden := lastEdit(t, get(t, s, "", at+"/edits?comment=1", 200))
		shows(t, hidden, page(t, s, "", hidden, 200), "Only people with push access")
		without(t, get(t, s, "", hidden, 200), "first")
		shows(t, hidden, page(t, s, "sam", hidden, 200), "first", "second")
		open := lastEdit(t, get(t, s, "", at+"/edits", 200))
		shows(t, open, page(t, s, "", open, 200), "better", "public")

		// Its author, or a maintainer, deletes a former text for good.
		edit := regexp.MustCompile(`edit=(\d+)`).FindStringSubmatch(hidden)[1]
		post(t, s, "stranger", at+"/edits", 403, "comment", "1", "edit", edit)
		post(t, s, "sam", at+"/edits", 404, "edit", edit) // it is not one of the issue's own text
		post(t, s, "sam", at+"/edits", 303, "comment", "1", "edit", edit)
		shows(t, hidden, page(t, s, "alice", hidden, 200), "was deleted", "By sam")
		post(t, s, "sam", at+"/edits", 404, "comment", "1", "edit", edit)

		// The newest hundred are kept.
		for n := range 101 {
			patch("sam", "1", fmt.Sprint("text ", n))
		}
		list = get(t, s, "sam", at+"/edits", 200, "Older edits are not kept")
		if n := strings.Count(list, "edit="); n != 100 {
			t.Errorf("%d edits are kept", n)
		}

		// They follow the issue, and go with the comment.
		s.Repo(t, "alice/meadow", false)
		post(t, s, "alice", at+"/transfer", 303, "to", "meadow")
		get(t, s, "sam", "/alice/meadow/issues/1/edits?comment=1", 200, "edit=")
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/meadow/issues/comments/1", As: "alice", Status: 204})
		page(t, s, "sam", "/alice/meadow/issues/1/edits?comment=1", 404)
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/meadow", As: "alice", Status: 204})
	})
}

// Reviews and their comments have a history as well.
func TestEditHistoryOfReviews(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		n := propose(t, s, "solo")
		at := fmt.Sprintf("/repos/alice/plot/pulls/%d", n)
		var v struct{ ID int64 }
		api(t, s, "will", "POST "+at+"/reviews", 200, changeObject{"event": "COMMENT", "body": "one",
			"comments": []changeObject{{"path": "solo.txt", "line": 1, "side": "RIGHT", "body": "eins"}}}, &v)
		api(t, s, "will", fmt.Sprintf("PUT %s/reviews/%d", at, v.ID), 200, changeObject{"body": "two"}, nil)
		api(t, s, "will", "PATCH /repos/alice/plot/pulls/comments/1", 200, changeObject{"body": "zwei"}, nil)
		edits := fmt.Sprintf("/alice/plot/issues/%d/edits", n)
		get(t, s, "sam", fmt.Sprintf("/alice/plot/pull/%d", n), 200, fmt.Sprintf("edits?review=%d&amp;", v.ID), "edits?line=1&amp;")
		for query, want := range map[string][]string{fmt.Sprintf("?review=%d", v.ID): {"one", "two"},
			"?line=1": {"eins", "zwei"}} {
			last := lastEdit(t, get(t, s, "sam", edits+query, 200))
			shows(t, last, page(t, s, "sam", last, 200), want...)
		}
	})
}

// The history stays when the account of an editor is deleted, and when the repository becomes private.
func TestEditHistoryOutlivesItsEditors(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		s.Admin(t, "chief")
		s.Grant(t, s.Repo(t, "alice/garden", false), "sam", account.Push)
		const at, issues = "/alice/garden/issues/1", "/repos/alice/garden/issues"
		api(t, s, "rae", "POST "+issues, 201, changeObject{"title": "Sun", "body": "before"}, nil)
		api(t, s, "sam", "PATCH "+issues+"/1", 200, changeObject{"body": "after"}, nil)
		api(t, s, "chief", "DELETE /admin/users/sam", 204, nil, nil)
		last := lastEdit(t, get(t, s, "", at+"/edits", 200, "<bdi>ghost</bdi> edited"))
		shows(t, last, page(t, s, "", last, 200), "Edit by ghost", "before", "after")
		page(t, s, "", "/sam", 404)

		api(t, s, "alice", "PATCH /repos/alice/garden", 200, changeObject{"private": true}, nil)
		for _, path := range []string{at + "/edits", last} {
			page(t, s, "stranger", path, 404)
			page(t, s, "rae", path, 404) // the author has no role
		}
		shows(t, last, page(t, s, "alice", last, 200), "before", "after")
	})
}
