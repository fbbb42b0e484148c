package pulls_test

import (
	"fmt"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// A repository says which methods merge, and whether a merged branch goes away. Both hold from the next merge
// on, and only where they were set (decision 37).
func TestMergeSettings(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		orchard(t, s, 4)
		set := func(send string, status int, want string) apitest.Case {
			return apitest.Case{Do: "PATCH /repos/alice/plot", As: "alice", Send: send,
				Status: status, Want: want}
		}
		merge := func(n int, method string, status int, want string) apitest.Case {
			c := merging("will", "alice/plot", int64(n), fmt.Sprintf(`{"merge_method": %q}`, method))
			c.Name, c.Status, c.Want, c.Headers = fmt.Sprintf("#%d %s", n, method), status, want,
				map[string]string{"Accept": graduated}
			return c
		}
		branch := func(name string, status int) apitest.Case {
			return apitest.Case{Name: "branch " + name, Do: "GET /repos/alice/plot/branches/" + name,
				Status: status}
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/plot", As: "will", Status: 200,
				Want: `{"allow_merge_commit": true, "allow_squash_merge": true,
				"allow_rebase_merge": true, "allow_auto_merge": false, "delete_branch_on_merge": false}`},
			{Do: "GET /repos/alice/plot", As: "sam", Status: 200, Want: `{"allow_merge_commit": "$absent"}`},
			set(`{"allow_merge_commit": false, "allow_squash_merge": false, "allow_rebase_merge": false}`,
				422,
				`{"errors": [{"message": "Sorry, you need to allow at least one merge strategy (merge commit, squash, or rebase)"}]}`),
			set(`{"allow_merge_commit": false, "allow_rebase_merge": false}`, 200,
				`{"allow_merge_commit": false, "allow_squash_merge": true, "allow_rebase_merge": false}`),
			set(`{"allow_squash_merge": false}`, 422, `{"message": "Validation Failed"}`),
			merge(1, "merge", 405, `{"message": "Merge commits are not allowed on this repository."}`),
			merge(1, "rebase", 405, `{"message": "Rebase merges are not allowed on this repository."}`),
			merge(1, "squash", 200, ""),
			branch("b0", 200),
			set(`{"allow_squash_merge": false, "allow_merge_commit": true, "delete_branch_on_merge": true}`,
				200, `{"delete_branch_on_merge": true}`),
			merge(2, "squash", 405, `{"message": "Squash merges are not allowed on this repository."}`),
			merge(2, "merge", 200, ""),
			branch("b1", 404),
			{Do: "GET /repos/alice/plot/pulls/2", Status: 200, Want: `{"merged": true, "state": "closed"}`},
			{Name: "another one wants the branch", Do: "POST /repos/alice/plot/pulls", As: "will",
				Send: `{"title": "t", "head": "single", "base": "b2"}`, Status: 201},
			merge(3, "merge", 200, ""),
			branch("b2", 200),
			{Do: "GET /repos/alice/plot/pulls/5", Status: 200, Want: `{"state": "open"}`},
			set(`{"archived": true}`, 200, ""),
			merge(4, "merge", 403, `{"message": "Repository was archived so is read-only."}`),
			set(`{"archived": false, "delete_branch_on_merge": false}`, 200, ""),
			merge(4, "merge", 200, ""),
			branch("b3", 200),
		})
	})
}

// A fork's branch is its owner's: no merge deletes it.
func TestMergeLeavesForks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		orchard(t, s, 2)
		s.User(t, "bob")
		s.Org(t, "guild", "bob")
		heads := func(send string, status int, want string) apitest.Case {
			return apitest.Case{Name: send, Do: "POST /repos/alice/plot/pulls", As: "bob", Send: send,
				Status: status, Want: want}
		}
		hidden := s.Repo(t, "alice/other", true)
		s.Run(t, []apitest.Case{
			{Do: "PATCH /repos/alice/plot", As: "alice", Send: `{"delete_branch_on_merge": true}`,
				Status: 200},
			{Do: "POST /repos/alice/plot/forks", As: "bob", Send: `{"name": "patch"}`, Status: 202},
			{Do: "POST /repos/alice/plot/forks", As: "bob", Send: `{"organization": "guild", "name": "bed"}`,
				Status: 202},
			heads(`{"title": "t", "head": "bob:plot:single", "base": "main"}`, 422,
				`{"errors": [{"field": "head", "code": "invalid"}]}`),
			heads(`{"title": "t", "head": "alice:other:single", "base": "main"}`, 422,
				`{"errors": [{"field": "head", "code": "invalid"}]}`),
			heads(`{"title": "t", "head": "bob:patch:single", "head_repo": "bed", "base": "main"}`, 422,
				`{"errors": [{"field": "head"}]}`),
			heads(`{"title": "t", "head": "bob:single", "head_repo": "guild/bed", "base": "main"}`, 422,
				`{"errors": [{"field": "head"}]}`),
			heads(`{"title": "t", "head": "bob:patch:single", "base": "main"}`, 201,
				`{"number": 3, "head": {"label": "bob:single", "repo": {"full_name": "bob/patch"}}}`),
			heads(`{"title": "t", "head": "guild:single", "head_repo": "bed", "base": "main"}`, 201,
				`{"number": 4, "head": {"repo": {"full_name": "guild/bed"}}}`),
			heads(`{"title": "t", "head": "single", "head_repo": "guild/bed", "base": "b0"}`, 201,
				`{"number": 5, "head": {"repo": {"full_name": "guild/bed"}}}`),
			heads(`{"title": "t", "head": "alice:plot:single", "base": "main"}`, 201,
				`{"number": 6, "head": {"repo": {"full_name": "alice/plot"}}}`),
			{Do: "PUT /repos/alice/plot/pulls/3/merge", As: "alice", Status: 200},
			{Do: "GET /repos/bob/patch/branches/single", Status: 200},
			{Name: "without an owner it is ignored",
				Do: "GET /repos/alice/plot/pulls?head=single&state=open&sort=created&direction=asc&per_page=2", Status: 200,
				Want: `[{"number": 1}, {"number": 2}]`},
		})
		s.Grant(t, hidden, "bob", account.Pull)
		// another network
		s.Check(t, heads(`{"title": "t", "head": "alice:other:single", "base": "main"}`, 422,
			`{"errors": [{"field": "head", "code": "invalid"}]}`))
	})
}

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
		s.Ask(t, "alice", "PATCH /repos/alice/plot0", `{"merge_commit_title": "MINE"}`, 422)
		s.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice",
			Send: `{"name": "new", "merge_commit_title": "PR_TITLE"}`, Status: 201,
			Want: `{"merge_commit_title": "PR_TITLE", "merge_commit_message": "PR_TITLE", "squash_merge_commit_title": "COMMIT_OR_PR_TITLE"}`})
	})
}
