package pulls_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// stack is alice's repository with main, dev a commit ahead of it, topic another
// ahead of that, and lone, which has no history in common with them.
func stack(t *testing.T, s *apitest.Server) {
	s.Users(t, "alice", "will", "sam")
	w := &pullWorld{}
	w.commit("main", "Begin", "", "", one("a", "a\n"))
	w.commit("lone", "Elsewhere", "", "", one("z", "z\n"))
	w.commit("dev", "Add d", "main", "", one("d", "d\n"))
	w.commit("topic", "Add t", "dev", "", one("t", "t\n"))
	plot, _ := w.plant(t, s, "alice/plot", false)
	s.Grant(t, plot, "will", account.Push)
}

// The base of a pull request can be changed: its commits, mergeability, lists and merge follow (decisions
// 36, 38).
func TestChangeBase(t *testing.T) {
	t.Parallel()
	const edit = "PATCH /repos/alice/plot/pulls/1"
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		stack(t, s)
		made := propose(t, s, "sam", "alice/plot", "topic", "main")
		propose(t, s, "sam", "alice/plot", "dev", "main")
		dev := s.Tip(t, "alice", "alice/plot", "dev")
		list := func(query, want string) apitest.Case {
			return apitest.Case{Name: query, Do: "GET /repos/alice/plot/pulls?" + query,
				Status: 200, Want: want}
		}
		s.Run(t, []apitest.Case{
			list("base=main&direction=asc", `[{"number": 1, "commits": "$absent"}, {"number": 2}]`),
			list("base=dev", `[]`),
			{Name: "what it brings to main", Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"mergeable": true, "commits": 2, "changed_files": 2}`},
			{Name: "the same base", Do: edit, As: "sam", Send: `{"base": "main"}`, Status: 200,
				Want: `{"mergeable": true, "base": {"ref": "main"}, "updated_at": "` + made.Updated + `"}`},
			{Name: "none", Do: edit, As: "sam", Send: `{"base": null}`, Status: 200,
				Want: `{"base": {"ref": "main"}}`},
			{Name: "another", Do: edit, As: "sam", Send: `{"base": "dev", "title": "Add t"}`, Status: 200,
				Want: `{"title": "Add t", "mergeable": true, "commits": 1, "base": {"label": "alice:dev", "ref": "dev", "sha": "` + dev + `"}}`},
			{Name: "what it brings to dev", Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"mergeable": true, "mergeable_state": "clean", "commits": 1, "changed_files": 1}`},
			{Do: "GET /repos/alice/plot/pulls/1/files", Status: 200, Want: `[{"filename": "t"}]`},
			{Do: "GET /repos/alice/plot/pulls/1/commits", Status: 200,
				Want: `[{"commit": {"message": "Add t"}}]`},
			{Do: "GET /repos/alice/plot/commits/" + dev + "/pulls", Status: 200, Want: `[{"number": 2}]`},
			list("base=main", `[{"number": 2}]`), list("base=dev", `[{"number": 1}]`),
			list("head=alice:topic", `[{"number": 1}]`),
			{Name: "it is told", Do: "GET /repos/alice/plot/issues/1/events", Status: 200,
				Want: `[{"event": "base_ref_changed", "actor": {"login": "sam"}, "commit_id": null}, {"event": "renamed"}]`},
			{Do: "GET /repos/alice/plot/issues/1/timeline", Status: 200,
				Want: `[{"event": "base_ref_changed"}, {"event": "renamed"}]`},
			{Name: "back", Do: edit, As: "will", Send: `{"base": "main"}`, Status: 200,
				Want: `{"base": {"ref": "main"}}`},
			list("base=main&direction=asc", `[{"number": 1}, {"number": 2}]`), list("base=dev", `[]`),
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"mergeable": true, "commits": 2, "changed_files": 2}`},
			{Name: "and closed at once", Do: edit, As: "will", Send: `{"base": "dev", "state": "closed"}`,
				Status: 200, Want: `{"base": {"ref": "dev"}, "state": "closed"}`},
			list("base=main", `[{"number": 2}]`), list("base=dev", `[]`),
			list("base=dev&state=closed", `[{"number": 1}]`),
			{Name: "reopened", Do: edit, As: "will", Send: `{"state": "open"}`, Status: 200,
				Want: `{"base": {"ref": "dev"}, "state": "open"}`},
			{Name: "merged into the new base", Do: "PUT /repos/alice/plot/pulls/1/merge", As: "will",
				Status: 200},
			{Do: "GET /repos/alice/plot/contents/t?ref=dev", Status: 200},
			{Do: "GET /repos/alice/plot/contents/t", Status: 404},
		})
		truth(t, s, "alice", "alice/plot")
	})
}

// What a new pull request may not ask to merge into, an old one may not either;
// nothing else of the request is done then (decisions 17, 38).
func TestChangeBaseToWrong(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		stack(t, s)
		made := propose(t, s, "sam", "alice/plot", "topic", "main")
		propose(t, s, "sam", "alice/plot", "topic", "dev")
		propose(t, s, "sam", "alice/plot", "dev", "main")
		wrong := func(name, send, field string) apitest.Case {
			return apitest.Case{Name: name, Do: "PATCH /repos/alice/plot/pulls/1", As: "sam", Send: send,
				Status: 422, Want: `{"message": "Validation Failed", "errors": [` + field + `]}`}
		}
		invalid := func(base string) apitest.Case {
			return wrong("no branch: "+base, fmt.Sprintf(`{"base": %q, "title": "New"}`, base),
				fmt.Sprintf(`{"resource": "PullRequest", "field": "base", "code": "invalid", "value": %q}`,
					base))
		}
		for _, k := range kinds {
			if k.kind != "null" && k.kind != "string" && k.kind != "empty" {
				s.Check(t, wrong(k.kind, `{"base": `+k.json+`}`,
					`{"resource": "PullRequest", "field": "base", "code": "invalid"}`))
			}
		}
		const closed = `{"resource": "PullRequest", "field": "base", "code": "custom", "message": "Cannot change the base branch of a closed pull request."}`
		s.Run(t, []apitest.Case{
			invalid("none"), invalid(""), invalid("refs/heads/none"), invalid("alice:dev"), invalid("DEV"),
			invalid(s.Tip(t, "alice", "alice/plot", "dev")), invalid("--help"), invalid("dev~0"),
			wrong("NUL", `{"base": "dev\u0000"}`, `{"field": "base"}`),
			wrong("another has the two", `{"base": "dev", "title": "New"}`,
				`{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for alice:topic."}`),
			wrong("itself", `{"base": "topic", "title": "New"}`,
				`{"resource": "PullRequest", "field": "head", "code": "custom", "message": "No commits between topic and topic"}`),
			wrong("no common history", `{"base": "lone"}`,
				`{"resource": "PullRequest", "field": "base", "code": "custom", "message": "The lone branch has no history in common with topic"}`),
			{Do: "PATCH /repos/alice/plot/pulls/1", Send: `{"base": "dev"}`, Status: 401},
			{Name: "nothing was changed", Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"title": "About topic", "mergeable": true, "base": {"ref": "main"}, "updated_at": "` +
					made.Updated + `"}`},
			{Do: "GET /repos/alice/plot/issues/1/events", Status: 200, Body: "[]"},
			{Name: "nothing new for it", Do: "PATCH /repos/alice/plot/pulls/3", As: "sam",
				Send: `{"base": "topic"}`, Status: 422,
				Want: `{"errors": [{"field": "head", "code": "custom", "message": "No commits between topic and dev"}]}`},
			{Do: "PATCH /repos/alice/plot/pulls/1", As: "sam", Send: `{"state": "closed"}`, Status: 200},
			wrong("of a closed one", `{"base": "dev", "title": "New"}`, closed),
			wrong("of one that is opened by it", `{"base": "dev", "state": "open"}`, closed),
			{Name: "its own", Do: "PATCH /repos/alice/plot/pulls/1", As: "sam", Send: `{"base": "main"}`,
				Status: 200, Want: `{"state": "closed"}`},
		})
		fork(t, s)
		s.Run(t, []apitest.Case{
			{Name: "from a fork", Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`, Status: 201,
				Want: `{"number": 4}`},
			{Name: "named as there", Do: "PATCH /repos/alice/plot/pulls/4", As: "sam",
				Send: `{"base": "lone"}`, Status: 422,
				Want: `{"errors": [{"field": "base", "message": "The lone branch has no history in common with sam:hoes"}]}`},
			{Name: "its base", Do: "PATCH /repos/alice/plot/pulls/4", As: "sam", Send: `{"base": "dev"}`,
				Status: 200, Want: `{"base": {"ref": "dev"}}`},
			{Name: "by a stranger", Do: "PATCH /repos/alice/plot/pulls/4", As: stranger(t, s),
				Send: `{"base": "main"}`, Status: 403},
		})
		truth(t, s, "alice", "alice/plot")
	})
}

// stranger is somebody with no rights but everyone's.
func stranger(t *testing.T, s *apitest.Server) string {
	s.User(t, "zoe")
	return "zoe"
}

// Somebody merges while somebody else changes the base: the merge is in the
// branch that the pull request then names, or in none.
func TestChangeBaseWhileMerging(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		many(t, s, "alice/plot", 8)
		for i := range 4 {
			head, other := fmt.Sprint("b", i), fmt.Sprint("b", 4+i)
			p := propose(t, s, "alice", "alice/plot", head, "main")
			var merged, changed *apitest.Answer
			together(2, func(k int) {
				if k == 0 {
					merged = s.Do(t, merging("alice", "alice/plot", p.Number, ""))
				} else {
					changed = s.Do(t, apitest.Case{Do: fmt.Sprintf("PATCH /repos/alice/plot/pulls/%d",
						p.Number), As: "alice", Send: `{"base": "` + other + `"}`})
				}
			})
			if merged.Status != 200 || changed.Status != 200 && changed.Status != 422 {
				t.Errorf("merging %d %s, changing %d %s", merged.Status, merged.Body, changed.Status,
					changed.Body)
			}
			now := read(t, s, "alice", "alice/plot", p.Number)
			if want := map[bool]string{true: other,
				false: "main"}[changed.Status == 200]; now.Base.Ref != want || !now.Merged {
				t.Errorf("the change answered %d, and it is %+v", changed.Status, now)
			}
			for _, branch := range []string{"main", other} {
				want := 404
				if branch == now.Base.Ref {
					want = 200
				}
				s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/alice/plot/contents/new/%s?ref=%s",
					strings.TrimPrefix(head, "b"), branch), Status: want})
			}
		}
		truth(t, s, "alice", "alice/plot")
	})
}

// The base is changed between what a request reads and what it writes: a merge
// goes to the new one, and a test merge for the former says nothing.
func TestChangeBaseBetween(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var left atomic.Int32 // times that a pull request is looked at before it happens
		var change func()
		look := func(_ context.Context, query string) {
			if strings.HasSuffix(query, "i.repo_id = $1 AND i.number = $2") && left.Add(-1) == 0 {
				change() // in the middle of the request's snapshot, which does not see it
			}
		}
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: look})
		})
		stack(t, s)
		propose(t, s, "sam", "alice/plot", "topic", "main")
		dev := s.Tip(t, "alice", "alice/plot", "dev")
		changing := func(base string) func() {
			return func() {
				s.Ask(t, "sam", "PATCH /repos/alice/plot/pulls/1", `{"base": "`+base+`"}`, 200)
			}
		}
		// both branches are at one commit, which main was not at when the head was new
		s.Run(t, []apitest.Case{
			{Do: "PATCH /repos/alice/plot/git/refs/heads/main", As: "alice", Send: `{"sha": "` + dev + `"}`,
				Status: 200},
			{Do: "GET /repos/alice/plot/pulls/1/merge", Status: 404},
		})
		change = changing("dev")
		left.Store(1)
		// began before the change: either base
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls/1", Status: 200})
		if p := read(t, s, "", "alice/plot", 1); left.Load() > 0 || p.Base.Ref != "dev" ||
			p.Mergeable == nil || p.Commits != 1 || p.Files != 1 {
			t.Errorf("after a test merge for the former base: %+v", p)
		}
		change = changing("main")
		// a merge looks first where it is to wait; that it is there is still known from the line above
		left.Store(2)
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/alice/plot/pulls/1/merge", As: "will", Status: 200},
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"merged": true, "base": {"ref": "main"}}`},
			{Do: "GET /repos/alice/plot/contents/t?ref=main", Status: 200},
			{Do: "GET /repos/alice/plot/contents/t?ref=dev", Status: 404},
		})
		truth(t, s, "alice", "alice/plot")
	})
}
