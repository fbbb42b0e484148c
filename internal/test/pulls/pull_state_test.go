package pulls_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// lanes is alice's repository with branches b0, b1, ... of one commit each, one,
// lone, that has no history in common with them, and clone a work tree of it.
func lanes(t *testing.T, s *apitest.Server, n int) (clone, remote string) {
	t.Helper()
	s.Users(t, "alice", "will", "sam")
	w := &pullWorld{}
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

// yard is a repository of lanes, and what the tests of states do there.
type yard struct {
	*testing.T
	s             *apitest.Server
	clone, remote string
}

func (y *yard) git(args ...string) { gittest.Run(y.T, y.clone, args...) }
func (y *yard) push(refs ...string) {
	y.git(append([]string{"push", "-q", "--force", y.remote}, refs...)...)
}
func (y *yard) read(n int64) request     { return read(y.T, y.s, "", "alice/plot", n) }
func (y *yard) tip(branch string) string { return y.s.Tip(y.T, "alice", "alice/plot", branch) }
func (y *yard) propose(head, base string) int64 {
	return propose(y.T, y.s, "sam", "alice/plot", head, base).Number
}

// at is the address of a pull request.
func at(n int64) string { return fmt.Sprintf("/repos/alice/plot/pulls/%d", n) }

// state opens or closes a pull request.
func (y *yard) state(n int64, to string, status int, want string) {
	y.Helper()
	y.s.Check(y.T, apitest.Case{Do: "PATCH " + at(n), As: "alice", Send: `{"state": "` + to + `"}`,
		Status: status, Want: want})
}

// What happens to branches closes and follows: a new head, a deleted head or
// base, a force-push; and what may be opened again (decisions 33, 36, 57).
func TestBranchesAndStates(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		clone, remote := lanes(t, s, 8)
		y := &yard{t, s, clone, remote}
		p := y.propose("b0", "main")
		s.Run(t, []apitest.Case{
			{Name: "close", Do: "PATCH " + at(p), As: "sam", Send: `{"state": "closed"}`, Status: 200,
				Want: closedPull},
			{Name: "close what is closed", Do: "PATCH " + at(p), As: "sam", Send: `{"state": "closed"}`,
				Status: 200, Want: closedPull},
			{Name: "reopen", Do: "PATCH " + at(p), As: "sam", Send: `{"state": "open"}`, Status: 200,
				Want: openPull},
			{Name: "through the issue", Do: fmt.Sprintf("PATCH /repos/alice/plot/issues/%d", p), As: "sam",
				Send: `{"state": "closed"}`, Status: 200},
			{Do: "GET " + at(p), Status: 200, Want: closedPull},
			{Name: "and open", Do: fmt.Sprintf("PATCH /repos/alice/plot/issues/%d", p), As: "sam",
				Send: `{"state": "open"}`, Status: 200},
			{Do: "GET " + at(p), Status: 200, Want: openPull},
		})
		y.movedBranches(p)
		y.forcedHead(p)
		y.deletedHead(p)
		y.twoOfAPair(p)
		y.deletedBase()
		truth(t, s, "alice", "alice/plot")
	})
}

// movedBranches: with a new head the test merge is another and time moves, with a
// new base only the test merge.
func (y *yard) movedBranches(p int64) {
	before := y.read(p)
	time.Sleep(1100 * time.Millisecond) // times have seconds
	y.git("checkout", "-q", "-B", "b0", "origin/b0")
	y.git("commit", "-q", "--allow-empty", "-m", "more")
	y.push("b0")
	after := y.read(p)
	if after.Head.SHA == before.Head.SHA || after.Commits != 2 || after.Updated <= before.Updated ||
		!*after.Mergeable || *after.MergeCommit == *before.MergeCommit {
		y.Errorf("after a push of b0 from %+v to %+v", before, after)
	}
	y.git("checkout", "-q", "-B", "main", "origin/main")
	y.git("commit", "-q", "--allow-empty", "-m", "base")
	y.push("main")
	based := y.read(p)
	if based.Head.SHA != after.Head.SHA || based.Updated != after.Updated || based.Mergeable == nil ||
		*based.MergeCommit == *after.MergeCommit || based.Commits != 2 {
		y.Errorf("after a push of main from %+v to %+v", after, based)
	}
}

// forcedHead: one with some history in common, then one without.
func (y *yard) forcedHead(p int64) {
	y.push("origin/b1:refs/heads/b0")
	if p := y.read(p); p.Head.SHA != y.tip("b1") || p.Commits != 1 || p.State != "open" {
		y.Errorf("after a forced push: %+v", p)
	}
	y.push("origin/lone:refs/heads/b0")
	if p := y.read(p); p.Head.SHA != y.tip("lone") || p.Mergeable == nil || *p.Mergeable {
		y.Errorf("after a push of another history: %+v", p)
	}
	for _, path := range []string{at(p), at(p) + "/files", at(p) + "/commits",
		fmt.Sprintf("/alice/plot/pull/%d.diff", p), fmt.Sprintf("/alice/plot/pull/%d.patch", p)} {
		y.s.Check(y.T, apitest.Case{Do: "GET " + path, Status: 200})
	}
	y.push("b0:refs/heads/b0")
}

// deletedHead closes; what comes back may be opened if it is the same history,
// and is followed from then on.
func (y *yard) deletedHead(p int64) {
	y.push(":b0")
	y.s.Check(y.T, apitest.Case{Do: "GET " + at(p), Status: 200, Want: closedPull})
	y.state(p, "open", 422,
		cannotReopen("state cannot be changed. The b0 branch or its repository has been deleted."))
	y.s.Check(y.T, apitest.Case{Do: fmt.Sprintf("PATCH /repos/alice/plot/issues/%d", p), As: "alice",
		Send: `{"state": "open"}`, Status: 422})
	y.push("origin/lone:refs/heads/b0")
	y.state(p, "open", 422,
		cannotReopen("state cannot be changed. The b0 branch was force-pushed or recreated."))
	y.push("b0:refs/heads/b0")
	y.state(p, "open", 200, openPull)

	y.state(p, "closed", 200, closedPull)
	y.git("checkout", "-q", "b0")
	y.git("commit", "-q", "--allow-empty", "-m", "while closed")
	y.push("b0")
	if q := y.read(p); q.Head.SHA == y.tip("b0") {
		y.Errorf("a closed one follows its branch: %+v", q)
	}
	y.state(p, "open", 200, `{"state": "open", "mergeable": true, "commits": 3, "head": {"sha": "`+
		y.tip("b0")+`"}}`)
	if q := y.read(p); q.Head.SHA != y.tip("b0") || q.Commits != 3 {
		y.Errorf("opened again: %+v", q)
	}
}

// twoOfAPair of branches are never open at once.
func (y *yard) twoOfAPair(p int64) {
	const exists = `{"errors": [{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for alice:b0."}]}`
	y.state(p, "closed", 200, closedPull)
	second := y.propose("b0", "main")
	y.state(p, "open", 422, exists)
	y.state(second, "closed", 200, closedPull)
	y.state(p, "open", 200, openPull)
	y.state(second, "open", 422, exists)
}

// deletedBase also closes; a merged pull request stays merged.
func (y *yard) deletedBase() {
	merge := func(n int64, status int) {
		y.s.Check(y.T, apitest.Case{Do: "PUT " + at(n) + "/merge", As: "alice", Status: status})
	}
	y.push("origin/main:refs/heads/base")
	q := y.propose("b2", "base")
	y.push(":base")
	y.s.Check(y.T, apitest.Case{Do: "GET " + at(q), Status: 200, Want: closedPull})
	y.state(q, "open", 422, cannotReopen("state cannot be changed. The base branch has been deleted."))
	merge(q, 405)
	y.push("origin/main:refs/heads/base")
	y.state(q, "open", 200, openPull)
	merge(q, 200)
	merged := y.read(q)
	y.push(":b2")
	y.s.Run(y.T, []apitest.Case{
		{Do: "GET " + at(q) + "/files", Status: 200, Want: `[{"filename": "new2"}]`},
		{Do: "GET " + at(q) + "/commits", Status: 200, Want: `[{"sha": "` + merged.Head.SHA + `"}]`},
		{Do: "GET " + at(q) + "/merge", Status: 204, Body: "-"},
	})
	if now := y.read(q); !now.Merged || now.Head.SHA != merged.Head.SHA ||
		*now.MergeCommit != *merged.MergeCommit || now.State != "closed" {
		y.Errorf("merged, without its branch: %+v", now)
	}
	y.state(q, "open", 422, cannotReopen("state cannot be changed. The pull request has been merged."))
	y.state(q, "closed", 200, `{"state": "closed", "merged": true}`)
}

// The refs of pull requests cannot be pushed to, neither with git nor through the API, and can be fetched
// by everyone with read access (decision 36).
func TestPullRefs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		clone, remote := lanes(t, s, 1)
		p := propose(t, s, "sam", "alice/plot", "b0", "main")
		for _, ref := range []string{"refs/pull/1/head", "refs/pull/1/merge", "refs/pull/2/head",
			"refs/pull/9/x"} {
			for _, spec := range []string{"+main:" + ref, ":" + ref} {
				if out, problems, err := gittest.Try(t, clone, nil, "push", "--porcelain", remote,
					spec); err == nil {
					t.Errorf("git push %s succeeds: %s%s", spec, out, problems)
				}
			}
			s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/git/refs", As: "alice",
				Send: `{"ref": "` + ref + `", "sha": "` + p.Base.SHA + `"}`, Status: 422})
			if a := s.Do(t, apitest.Case{Do: "PATCH /repos/alice/plot/git/" + ref, As: "alice",
				Send: `{"sha": "` + p.Base.SHA + `", "force": true}`}); a.Status != 422 && a.Status != 404 {
				t.Errorf("PATCH of %s: %d %s", ref, a.Status, a.Body)
			}
			if a := s.Do(t, apitest.Case{Do: "DELETE /repos/alice/plot/git/" + ref,
				As: "alice"}); a.Status != 422 && a.Status != 404 {
				t.Errorf("DELETE of %s: %d %s", ref, a.Status, a.Body)
			}
		}
		got := gittest.Run(t, clone, "ls-remote", s.Remote(t, "", "alice/plot"), "refs/pull/*")
		if want := p.Head.SHA + "\trefs/pull/1/head\n" + *p.MergeCommit + "\trefs/pull/1/merge"; got != want {
			t.Errorf("git ls-remote says %s, want %s", got, want)
		}
		gittest.Run(t, clone, "fetch", "-q", s.Remote(t, "", "alice/plot"), "refs/pull/1/head:h",
			"refs/pull/1/merge:m")
		if parents := gittest.Run(t, clone, "log", "-1", "--format=%P %T", "m"); !strings.HasPrefix(parents,
			p.Base.SHA+" "+p.Head.SHA+" ") {
			t.Errorf("the test merge has %s", parents)
		}
		// With a conflict there is no test merge to fetch.
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/plot/contents/new0", As: "alice",
			Send: `{"message": "m", "branch": "main", "content": "eQ=="}`, Status: 201})
		if p := read(t, s, "", "alice/plot", 1); *p.Mergeable || p.MergeCommit != nil {
			t.Errorf("it conflicts now, and is %+v", p)
		}
		if got := gittest.Run(t, clone, "ls-remote", remote,
			"refs/pull/*"); got != p.Head.SHA+"\trefs/pull/1/head" {
			t.Errorf("git ls-remote says %s", got)
		}
	})
}
