package pulls_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// A team renames a branch and goes on: open pull requests follow it as head and as base, closed ones tell of the old
// name, and addresses with the old name lead to the branch until another one has that name.
func TestRenameBranch(t *testing.T) {
	t.Parallel()
	const at = "/repos/alice/plot"
	rename := func(name, as, branch, to string, status int, want string) apitest.Case {
		return apitest.Case{Name: name, Do: "POST " + at + "/branches/" + branch + "/rename", As: as,
			Send: `{"new_name": "` + to + `"}`, Status: status, Want: want}
	}
	read := func(path, want string) apitest.Case {
		return apitest.Case{Do: "GET " + at + path, As: "alice", Status: 200, Want: want}
	}
	leads := func(path, to string) apitest.Case {
		return apitest.Case{Do: "GET " + path, Status: 301, Has: map[string]string{"Location": "{base}" + to}}
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		stack(t, s)
		propose(t, s, "sam", "alice/plot", "topic", "dev")
		propose(t, s, "sam", "alice/plot", "dev", "main")
		propose(t, s, "sam", "alice/plot", "topic", "main")
		dev := s.Tip(t, "alice", "alice/plot", "dev")
		s.Run(t, []apitest.Case{
			{Do: "PATCH " + at + "/pulls/3", As: "alice", Send: `{"state": "closed"}`, Status: 200},
			{Do: "POST " + at + "/releases", As: "alice", Status: 201,
				Send: `{"tag_name": "v1", "target_commitish": "dev", "draft": true}`},

			rename("a reader", "sam", "dev", "next", 403, `{"message": "Must have push access to Repository."}`),
			{Name: "nobody", Do: "POST " + at + "/branches/dev/rename", Send: `{"new_name": "x"}`, Status: 401},
			rename("none", "will", "nope", "next", 404, `{"message": "Branch not found"}`),
			rename("taken", "will", "dev", "topic", 422,
				`{"errors": [{"resource": "Branch", "field": "new_name", "code": "already_exists"}]}`),
			rename("itself", "will", "dev", "dev", 422, ``),
			rename("not a name", "will", "dev", "a..b", 422,
				`{"errors": [{"resource": "Branch", "field": "new_name", "code": "invalid"}]}`),
			rename("in the way", "will", "dev", "topic/x", 422, ``),
			rename("no name", "will", "dev", "", 422, ``),
			rename("the default", "will", "main", "trunk", 403,
				`{"message": "Must have admin rights to rename the default branch."}`),

			rename("a branch", "will", "dev", "dev/next", 201,
				`{"name": "dev/next", "commit": {"sha": "`+dev+`"}, "protected": false}`),
			read("/branches/dev/next", `{"commit": {"sha": "`+dev+`"}}`),
			{Name: "the branch has moved", Do: "GET " + at + "/git/ref/heads/dev", Status: 404},
			read("/pulls/1", `{"state": "open", "mergeable": true, "commits": 1,
				"base": {"label": "alice:dev/next", "ref": "dev/next", "sha": "`+dev+`"}}`),
			read("/pulls/2", `{"state": "open", "head": {"label": "alice:dev/next", "ref": "dev/next", "sha": "`+dev+`"}}`),
			read("/pulls?base=dev/next", `[{"number": 1}]`), read("/pulls?base=dev", `[]`),
			read("/pulls?head=alice:dev/next", `[{"number": 2}]`), read("/pulls?head=alice:dev", `[]`),
			read("/issues/1/events", `[{"event": "base_ref_changed", "actor": {"login": "will"}}]`),
			read("/releases", `[{"target_commitish": "dev/next"}]`),
			{Do: "GET /repos/alice/plot/events?per_page=2", Status: 200, Want: `[{"type": "DeleteEvent", "payload": {"ref": "dev"}},
				{"type": "CreateEvent", "payload": {"ref": "dev/next"}}]`},

			leads(at+"/branches/dev", at+"/branches/dev/next"),
			leads("/alice/plot/tree/dev", "/alice/plot/tree/dev/next"),
			leads("/alice/plot/blob/dev/d?plain=1", "/alice/plot/blob/dev/next/d?plain=1"),
			leads("/alice/plot/commits/dev", "/alice/plot/commits/dev/next"),
			leads("/alice/plot/raw/dev/d", "/alice/plot/raw/dev/next/d"),
			{Name: "no branch", Do: "GET " + at + "/branches/dev/d", Status: 404},

			rename("again", "will", "dev/next", "later", 201, `{"name": "later"}`),
			leads(at+"/branches/dev", at+"/branches/later"),
			leads(at+"/branches/dev%2Fnext", at+"/branches/later"),
			rename("back", "will", "later", "dev", 201, `{"name": "dev"}`),
			read("/branches/dev", `{"name": "dev"}`),
			leads(at+"/branches/later", at+"/branches/dev"),

			rename("the default branch", "alice", "main", "trunk", 201, `{"name": "trunk"}`),
			read("", `{"default_branch": "trunk"}`),
			read("/pulls/2", `{"state": "open", "base": {"ref": "trunk"}, "mergeable": true}`),
			read("/pulls/3", `{"state": "closed", "base": {"ref": "main"}}`),
			leads(at+"/branches/main", at+"/branches/trunk"),
			{Name: "the old name is free", Do: "POST " + at + "/git/refs", As: "will", Status: 201,
				Send: `{"ref": "refs/heads/main", "sha": "` + dev + `"}`},
			read("/branches/main", `{"commit": {"sha": "`+dev+`"}}`),
			{Do: "DELETE " + at + "/git/refs/heads/main", As: "will", Status: 204},
			{Name: "and leads nowhere afterwards", Do: "GET " + at + "/branches/main", Status: 404},
			{Do: "PUT " + at + "/pulls/2/merge", As: "will", Status: 200},
			{Do: "DELETE " + at + "/git/refs/heads/dev", As: "will", Status: 204},
			{Name: "a deleted branch is not redirected to", Do: "GET " + at + "/branches/later", Status: 404},

			{Do: "PATCH " + at, As: "alice", Send: `{"archived": true}`, Status: 200},
			rename("archived", "alice", "topic", "x", 403, `{"message": "Repository was archived so is read-only."}`),
		})
	})
}

// The head of a pull request to another repository follows, too, and a former name is as hidden as its repository.
func TestRenameBranchOfFork(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		stack(t, s)
		s.Ask(t, "sam", "POST /repos/alice/plot/forks", "", 202)
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
				Send: `{"title": "t", "head": "sam:topic", "base": "main"}`},
			{Do: "POST /repos/sam/plot/branches/topic/rename", As: "sam", Send: `{"new_name": "mine"}`, Status: 201},
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"state": "open", "head": {"label": "sam:mine"}, "mergeable": true}`},
			{Do: "GET /repos/alice/plot/pulls?head=sam:mine", Status: 200, Want: `[{"number": 1}]`},
			{Do: "GET /repos/alice/plot/branches/topic", Status: 200},
			{Do: "POST /repos/alice/plot/branches/topic/rename", As: "alice", Send: `{"new_name": "x"}`, Status: 201},
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200, Want: `{"state": "open", "head": {"label": "sam:mine"}}`},
			{Do: "PUT /repos/alice/plot/pulls/1/merge", As: "alice", Status: 200},
			{Do: "PATCH /repos/alice/plot", As: "alice", Send: `{"private": true}`, Status: 200},
			{Do: "GET /repos/alice/plot/branches/topic", As: "sam", Status: 404, Has: map[string]string{"Location": "-"}},
			{Do: "GET /repos/alice/plot/branches/topic", As: "alice", Status: 301},
			{Do: "PATCH /repos/alice/plot", As: "alice", Send: `{"name": "bed"}`, Status: 200},
			{Do: "GET /repos/alice/bed/branches/topic", As: "alice", Status: 301,
				Has: map[string]string{"Location": "{base}/repos/alice/bed/branches/x"}},
			{Do: "DELETE /repos/alice/bed", As: "alice", Status: 204},
		})
	})
}
