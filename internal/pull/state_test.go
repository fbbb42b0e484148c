package pull_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/apitest"
	"arbor/internal/git/gittest"
)

// lanes is alice's repository with branches b0, b1, ... of one commit each, one,
// lone, that has no history in common with them, and clone a work tree of it.
func lanes(t *testing.T, s *apitest.Server, n int) (clone, remote string) {
	t.Helper()
	for _, login := range []string{"alice", "will", "sam"} {
		s.User(t, login)
	}
	w := &world{}
	w.commit("main", "Begin", "", "", map[string]string{"a": "a\n", "b": "b\n"})
	w.commit("lone", "Elsewhere", "", "", one("z", "z\n"))
	for i := range n {
		w.commit(fmt.Sprint("b", i), fmt.Sprint("Add ", i), "main", "", one(fmt.Sprint("new", i), "x\n"))
	}
	plot, dir := w.plant(t, s, "alice/plot", false)
	s.Grant(t, plot, "will", account.Push)
	clone = t.TempDir()
	gittest.Run(t, clone, "clone", "-q", dir, ".")
	return clone, s.Remote(t, "alice", "alice/plot")
}

const (
	closedPull = `{"state": "closed", "merged": false, "closed_at": "$any", "merged_at": null, "merged_by": null}`
	openPull   = `{"state": "open", "merged": false, "closed_at": null}`
)

// cannotReopen is the answer to who opens what must stay closed.
func cannotReopen(message string) string {
	return `{"message": "Validation Failed", "errors": [{"resource": "PullRequest", "field": "state", "code": "custom", "message": "` + message + `"}]}`
}

// What happens to branches closes and follows: a new head, a deleted head or
// base, a force-push; and what may be opened again (decisions 33, 36, 57).
func TestBranchesAndStates(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		clone, remote := lanes(t, s, 8)
		push := func(refs ...string) {
			gittest.Run(t, clone, append([]string{"push", "-q", "--force", remote}, refs...)...)
		}
		at := func(n int64) string { return fmt.Sprintf("/repos/alice/plot/pulls/%d", n) }
		state := func(n int64, to string, status int, want string) apitest.Case {
			return apitest.Case{Do: "PATCH " + at(n), As: "alice", Send: `{"state": "` + to + `"}`, Status: status, Want: want}
		}

		p := propose(t, s, "sam", "alice/plot", "b0", "main").Number
		s.Run(t, []apitest.Case{
			{Name: "close", Do: "PATCH " + at(p), As: "sam", Send: `{"state": "closed"}`, Status: 200, Want: closedPull},
			{Name: "close what is closed", Do: "PATCH " + at(p), As: "sam", Send: `{"state": "closed"}`, Status: 200, Want: closedPull},
			{Name: "reopen", Do: "PATCH " + at(p), As: "sam", Send: `{"state": "open"}`, Status: 200, Want: openPull},
			{Name: "through the issue", Do: fmt.Sprintf("PATCH /repos/alice/plot/issues/%d", p), As: "sam", Send: `{"state": "closed"}`, Status: 200},
			{Do: "GET " + at(p), Status: 200, Want: closedPull},
			{Name: "and open", Do: fmt.Sprintf("PATCH /repos/alice/plot/issues/%d", p), As: "sam", Send: `{"state": "open"}`, Status: 200},
			{Do: "GET " + at(p), Status: 200, Want: openPull},
		})

		// A new head: it is the head at once, time moves, the test merge is another.
		before := read(t, s, "", "alice/plot", p)
		time.Sleep(1100 * time.Millisecond) // times have seconds
		gittest.Run(t, clone, "checkout", "-q", "-B", "b0", "origin/b0")
		gittest.Run(t, clone, "commit", "-q", "--allow-empty", "-m", "more")
		push("b0")
		after := read(t, s, "", "alice/plot", p)
		if after.Head.SHA == before.Head.SHA || after.Commits != 2 || after.Updated <= before.Updated || *after.Mergeable != true || *after.MergeCommit == *before.MergeCommit {
			t.Errorf("after a push of b0 from %+v to %+v", before, after)
		}
		// A new base: the head is as before, the test merge another, time stays.
		gittest.Run(t, clone, "checkout", "-q", "-B", "main", "origin/main")
		gittest.Run(t, clone, "commit", "-q", "--allow-empty", "-m", "base")
		push("main")
		based := read(t, s, "", "alice/plot", p)
		if based.Head.SHA != after.Head.SHA || based.Updated != after.Updated || based.Mergeable == nil || *based.MergeCommit == *after.MergeCommit || based.Commits != 2 {
			t.Errorf("after a push of main from %+v to %+v", after, based)
		}
		// A forced head with some history in common, then one without.
		push("+main~1:refs/heads/tmp", "origin/b1:b0")
		if p := read(t, s, "", "alice/plot", p); p.Head.SHA != tip(t, s, "alice/plot", "b1") || p.Commits != 1 || p.State != "open" {
			t.Errorf("after a forced push: %+v", p)
		}
		push("+origin/lone:b0")
		if p := read(t, s, "", "alice/plot", p); p.Head.SHA != tip(t, s, "alice/plot", "lone") || p.Mergeable == nil || *p.Mergeable {
			t.Errorf("after a push of another history: %+v", p)
		}
		for _, part := range []string{"", "/files", "/commits"} {
			s.Check(t, apitest.Case{Do: "GET " + at(p) + part, Status: 200})
		}
		s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /alice/plot/pull/%d.diff", p), Status: 200})
		s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /alice/plot/pull/%d.patch", p), Status: 200})
		push("b0:refs/heads/b0")

		// A deleted head closes; what comes back may be opened if it is the same history.
		push(":b0")
		s.Run(t, []apitest.Case{
			{Name: "its head is deleted", Do: "GET " + at(p), Status: 200, Want: closedPull},
			state(p, "open", 422, cannotReopen("state cannot be changed. The b0 branch or its repository has been deleted.")),
			{Do: fmt.Sprintf("PATCH /repos/alice/plot/issues/%d", p), As: "alice", Send: `{"state": "open"}`, Status: 422},
		})
		push("origin/lone:refs/heads/b0")
		s.Run(t, []apitest.Case{state(p, "open", 422, cannotReopen("state cannot be changed. The b0 branch was force-pushed or recreated."))})
		push("b0:refs/heads/b0")
		s.Run(t, []apitest.Case{state(p, "open", 200, openPull)})
		// While it was closed its branch moved: it follows when it is opened.
		s.Check(t, state(p, "closed", 200, closedPull))
		gittest.Run(t, clone, "commit", "-q", "--amend", "--allow-empty", "-m", "other")
		gittest.Run(t, clone, "checkout", "-q", "b0")
		gittest.Run(t, clone, "commit", "-q", "--allow-empty", "-m", "while closed")
		push("b0")
		if q := read(t, s, "", "alice/plot", p); q.Head.SHA == tip(t, s, "alice/plot", "b0") {
			t.Errorf("a closed one follows its branch: %+v", q)
		}
		s.Check(t, state(p, "open", 200, openPull))
		if q := read(t, s, "", "alice/plot", p); q.Head.SHA != tip(t, s, "alice/plot", "b0") || q.Commits != 3 {
			t.Errorf("opened again: %+v", q)
		}

		// A second one of the same branches, while the first is closed.
		s.Check(t, state(p, "closed", 200, closedPull))
		second := propose(t, s, "sam", "alice/plot", "b0", "main").Number
		s.Run(t, []apitest.Case{
			{Name: "two of the same branches", Do: "PATCH " + at(p), As: "alice", Send: `{"state": "open"}`, Status: 422, Want: `{"errors": [{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for alice:b0."}]}`},
			state(second, "closed", 200, closedPull), state(p, "open", 200, openPull), state(second, "open", 422, ""),
		})

		// A deleted base closes, too; a merged one stays merged whatever goes.
		push("origin/main:refs/heads/base")
		q := propose(t, s, "sam", "alice/plot", "b2", "base").Number
		push(":base")
		s.Run(t, []apitest.Case{
			{Name: "its base is deleted", Do: "GET " + at(q), Status: 200, Want: closedPull},
			state(q, "open", 422, cannotReopen("state cannot be changed. The base branch has been deleted.")),
			merging2("alice", at(q), 405),
		})
		push("origin/main:refs/heads/base")
		s.Check(t, state(q, "open", 200, openPull))
		s.Check(t, merging2("alice", at(q), 200))
		merged := read(t, s, "", "alice/plot", q)
		push(":base", ":b2")
		if now := read(t, s, "", "alice/plot", q); !now.Merged || now.Head.SHA != merged.Head.SHA || *now.MergeCommit != *merged.MergeCommit || now.State != "closed" {
			t.Errorf("merged, without its branches: %+v", now)
		}
		s.Run(t, []apitest.Case{
			state(q, "open", 422, cannotReopen("state cannot be changed. The pull request has been merged.")),
			state(q, "closed", 200, `{"state": "closed", "merged": true}`),
			{Do: "GET " + at(q) + "/files", Status: 200, Want: `[{"filename": "new2"}]`},
			{Do: "GET " + at(q) + "/commits", Status: 200, Want: `[{"sha": "` + merged.Head.SHA + `"}]`},
			{Do: "GET " + at(q) + "/merge", Status: 204, Body: "-"},
		})
		for _, p := range read2(t, s) {
			if p.Mergeable == nil && p.State == "open" {
				t.Errorf("nobody knows whether it merges: %+v", p)
			}
		}
	})
}

func merging2(who, at string, status int) apitest.Case {
	return apitest.Case{Do: "PUT " + at + "/merge", As: who, Status: status}
}

func read2(t *testing.T, s *apitest.Server) (all []request) {
	t.Helper()
	var list []request
	s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls?state=all&per_page=100", Status: 200}).JSON(t, &list)
	for _, p := range list {
		all = append(all, read(t, s, "", "alice/plot", p.Number))
	}
	return all
}

// Nobody pushes to what belongs to pull requests, neither with git nor through
// the API, and everyone who may read fetches it (decision 36).
func TestPullRefs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		clone, remote := lanes(t, s, 1)
		p := propose(t, s, "sam", "alice/plot", "b0", "main")
		for _, ref := range []string{"refs/pull/1/head", "refs/pull/1/merge", "refs/pull/2/head", "refs/pull/9/x"} {
			for _, spec := range []string{"+main:" + ref, ":" + ref} {
				if out, problems, err := gittest.Try(t, clone, nil, "push", "--porcelain", remote, spec); err == nil {
					t.Errorf("git push %s succeeds: %s%s", spec, out, problems)
				}
			}
			s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/git/refs", As: "alice", Send: `{"ref": "` + ref + `", "sha": "` + p.Base.SHA + `"}`, Status: 422})
			if a := s.Do(t, apitest.Case{Do: "PATCH /repos/alice/plot/git/" + ref, As: "alice", Send: `{"sha": "` + p.Base.SHA + `", "force": true}`}); a.Status != 422 && a.Status != 404 {
				t.Errorf("PATCH of %s: %d %s", ref, a.Status, a.Body)
			}
			if a := s.Do(t, apitest.Case{Do: "DELETE /repos/alice/plot/git/" + ref, As: "alice"}); a.Status != 422 && a.Status != 404 {
				t.Errorf("DELETE of %s: %d %s", ref, a.Status, a.Body)
			}
		}
		got := gittest.Run(t, clone, "ls-remote", s.Remote(t, "", "alice/plot"), "refs/pull/*")
		if want := p.Head.SHA + "\trefs/pull/1/head\n" + *p.MergeCommit + "\trefs/pull/1/merge"; got != want {
			t.Errorf("git ls-remote says %s, want %s", got, want)
		}
		gittest.Run(t, clone, "fetch", "-q", s.Remote(t, "", "alice/plot"), "refs/pull/1/head:h", "refs/pull/1/merge:m")
		if parents := gittest.Run(t, clone, "log", "-1", "--format=%P %T", "m"); !strings.HasPrefix(parents, p.Base.SHA+" "+p.Head.SHA+" ") {
			t.Errorf("the test merge has %s", parents)
		}
		// With a conflict there is no test merge to fetch.
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/plot/contents/new0", As: "alice", Send: `{"message": "m", "branch": "main", "content": "eQ=="}`, Status: 201})
		if p := read(t, s, "", "alice/plot", 1); *p.Mergeable || p.MergeCommit != nil {
			t.Errorf("it conflicts now, and is %+v", p)
		}
		if got := gittest.Run(t, clone, "ls-remote", remote, "refs/pull/*"); got != p.Head.SHA+"\trefs/pull/1/head" {
			t.Errorf("git ls-remote says %s", got)
		}
	})
}
