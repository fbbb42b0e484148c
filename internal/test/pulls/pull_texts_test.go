package pulls_test

import (
	"fmt"
	"testing"

	"arbor/internal/test/apitest"
)

// Teams that read their history by its messages choose what merges say. What a request says wins; what was
// never chosen stays as it was.
func TestMergeTexts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const (
			byPull   = `"squash_merge_commit_title": "PR_TITLE"`
			messages = `"squash_merge_commit_message": "COMMIT_MESSAGES"`
		)
		for n, c := range []struct {
			set, method, also, want string
			single                  bool // the head has one commit
		}{
			{set: `{}`, method: "merge", want: "Merge pull request #%d from alice/%s\n\nT"},
			{set: `{"merge_commit_title": "PR_TITLE", "merge_commit_message": "PR_BODY"}`, method: "merge",
				want: "T\n\nB\n\nC"},
			{set: `{"merge_commit_message": "BLANK"}`, method: "merge", want: "T"},
			{set: `{"merge_commit_title": "MERGE_MESSAGE"}`, method: "merge",
				want: "Merge pull request #%d from alice/%s\n\nB\n\nC"},
			{set: `{"merge_commit_message": "PR_TITLE", "merge_commit_title": null}`, method: "merge",
				also: `, "commit_title": "Mine", "commit_message": "why"`, want: "Mine\n\nwhy"},
			{set: `{}`, method: "squash", want: "T"},
			{set: `{}`, method: "squash", single: true, want: "Only\n\nIts reason."},
			{set: `{` + byPull + `}`, method: "squash", single: true, want: "T"},
			{set: `{"squash_merge_commit_message": "PR_BODY"}`, method: "squash", want: "T\n\nB\n\nC"},
			{set: `{` + messages + `}`, method: "squash", want: "T\n\n* First\n\nWhy.\n\n* Second"},
			{set: `{"use_squash_pr_title_as_default": false}`, method: "squash", single: true,
				want: "Only\n\nIts reason."},
			{set: `{` + messages + `}`, method: "squash", also: `, "commit_message": "short"`,
				want: "T\n\nshort"},
		} {
			name := fmt.Sprint("plot", n)
			if n == 0 {
				s.User(t, "alice")
			}
			w := &pullWorld{}
			w.commit("main", "Begin", "", "", map[string]string{"a": "a\n"})
			head := "two"
			w.commit("two", "First\n\nWhy.", "main", "", one("1", "1\n"))
			w.commit("two", "Second", "", "", one("2", "2\n"))
			w.commit("single", "Only\n\nIts reason.\n", "main", "", one("s", "s\n"))
			if c.single {
				head = "single"
			}
			w.plant(t, s, "alice/"+name, false)
			at := "/repos/alice/" + name
			graduatedOnly := map[string]string{"Accept": graduated}
			if n > 0 && n < 5 { // each change is on top of those before
				s.Check(t, apitest.Case{Do: "PATCH " + at, As: "alice", Status: 200,
					Send: `{"merge_commit_title": "PR_TITLE", "merge_commit_message": "PR_BODY"}`})
			}
			if n == 10 {
				s.Check(t, apitest.Case{Do: "PATCH " + at, As: "alice", Status: 200,
					Send: `{"use_squash_pr_title_as_default": true}`,
					Want: `{"use_squash_pr_title_as_default": true, "squash_merge_commit_title": "PR_TITLE", "squash_merge_commit_message": "BLANK"}`})
			}
			s.Check(t, apitest.Case{Do: "PATCH " + at, As: "alice", Status: 200, Send: c.set})
			s.Check(t, apitest.Case{Do: "POST " + at + "/pulls", As: "alice", Status: 201,
				Send: `{"title": "T", "body": "B\r\n\r\nC", "head": "` + head + `", "base": "main"}`})
			var merged struct{ SHA string }
			s.Check(t, apitest.Case{Do: "PUT " + at + "/pulls/1/merge", As: "alice", Status: 200,
				Headers: graduatedOnly,
				Send:    `{"merge_method": "` + c.method + `"` + c.also + `}`}).JSON(t, &merged)
			var got struct {
				Commit struct{ Message string }
			}
			s.Check(t, apitest.Case{Do: "GET " + at + "/commits/" + merged.SHA, Status: 200}).JSON(t, &got)
			want := c.want
			if len(want) > 5 && want[:5] == "Merge" {
				want = fmt.Sprintf(want, 1, head)
			}
			if got.Commit.Message != want {
				t.Errorf("%s %s: %q, want %q", c.set, c.method, got.Commit.Message, want)
			}
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/plot0", As: "alice",
			Send: `{"merge_commit_title": "MINE"}`, Status: 422})
		s.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice",
			Send: `{"name": "new", "merge_commit_title": "PR_TITLE"}`, Status: 201,
			Want: `{"merge_commit_title": "PR_TITLE", "merge_commit_message": "PR_TITLE", "squash_merge_commit_title": "COMMIT_OR_PR_TITLE"}`})
	})
}
