//go:build long

package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testenv"
)

// beside starts a second server on the data folder and the database of one that
// runs. It is stopped before the first one is.
func (s *instance) beside(flags ...string) *instance {
	s.t.Helper()
	b := s.node()
	s.t.Cleanup(func() {
		if b.server != nil {
			b.stop()
		}
		for _, line := range b.log.errors() {
			b.t.Errorf("the second server logged an error: %s", line)
		}
	})
	b.start(flags...)
	return b
}

// atOnce runs fn n times at the same moment.
func atOnce(n int, fn func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	all.Wait()
}

// The operator sees which servers work on a store, and not those that stopped.
func TestListOfNodes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine)
		other := s.beside()
		if list := s.arbor("nodes"); strings.Count(list, "live") != 2 {
			t.Errorf("of two nodes it says %s", list)
		}
		other.stop()
		other.server = nil
		if list := s.arbor("nodes"); strings.Count(list, "live") != 1 {
			t.Errorf("of the one that is left it says %s", list)
		}
	})
}

// Two nodes are asked for the same merge, twice each, at the same moment: one of
// the four makes it, whatever the method. If two did, a base would have what
// nobody asked for; if none did, nobody could merge.
func TestTwoNodesMergeOnePullRequest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		const rounds = 9
		s, _ := proposals(t, engine, rounds)
		nodes := []*instance{s, s.beside()}
		for round := range rounds {
			method := []string{"merge", "squash", "rebase"}[round%3]
			number := round + 1
			before := refs(t, s.remote("alice", "alice/garden"))["refs/heads/main"]
			var statuses [4]int
			var texts [4]string
			atOnce(4, func(i int) {
				statuses[i], texts[i] = nodes[i%2].tryDo("PUT",
					fmt.Sprintf("/api/v3/repos/alice/garden/pulls/%d/merge", number),
					`{"merge_method": "`+method+`"}`)
			})
			sorted := slices.Clone(statuses[:])
			slices.Sort(sorted)
			if !slices.Equal(sorted, []int{200, 405, 405, 405}) {
				t.Errorf("%s #%d: the answers are %v %q", method, number, statuses, texts)
			}
			main := refs(t, s.remote("alice", "alice/garden"))["refs/heads/main"]
			if got := s.parents(main); got[0] != before {
				t.Errorf("%s #%d: main is %s of %v, not right on %s", method, number, main, got, before)
			}
			for n, node := range nodes { // the loser knows, too
				status, text := node.tryCall("GET", fmt.Sprintf("pulls/%d", number), "")
				if status != 200 || !strings.Contains(text, `"merged":true`) ||
					!strings.Contains(text, `"merge_commit_sha":"`+main+`"`) {
					t.Errorf("%s #%d: node %d tells %d %s", method, number, n, status, text)
				}
			}
		}
		whole(t, s.remote("alice", "alice/garden"))
		s.sound()
	})
}

// A team empties its queue through two nodes at once, and through four: all are
// merged, nobody presses twice, and the history has each of them.
func TestNodesMergeIntoOneBase(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n, others := 40, 3
		if !testenv.Long {
			n, others = 20, 1
		}
		s, _ := proposals(t, engine, n)
		nodes := []*instance{s}
		for range others {
			nodes = append(nodes, s.beside())
		}
		atOnce(n, func(i int) {
			if status, text := nodes[i%len(nodes)].tryCall("PUT", fmt.Sprintf("pulls/%d/merge", i+1),
				""); status != 200 {
				t.Errorf("#%d by node %d: %d %s", i+1, i%len(nodes), status, text)
			}
		})
		s.hasMerged(t, n)
	})
}

// Some merge through one node while others push to the same branch, and write to
// it by the API, through the other: every merge gets through at the first try,
// who pushes is at most told to fetch first, and nothing of anybody is lost.
func TestTwoNodesMergeAndPush(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		const n, pushes, files = 12, 5, 8
		s, dir := proposals(t, engine, n)
		b := s.beside()
		remote := b.remote("alice", "alice/garden")
		work := filepath.Join(t.TempDir(), "work")
		gittest.Run(t, "", "clone", "-q", dir, work)
		atOnce(3, func(i int) {
			switch i {
			case 0:
				for k := range n {
					if status, text := s.tryCall("PUT", fmt.Sprintf("pulls/%d/merge", k+1),
						""); status != 200 {
						t.Errorf("#%d: %d %s", k+1, status, text)
					}
				}
			case 1:
				for k := range files {
					if status, text := b.tryCall("PUT", fmt.Sprintf("contents/written%d", k),
						`{"message": "Write", "content": "YQ=="}`); status != 201 {
						t.Errorf("file %d: %d %s", k, status, text)
					}
				}
			case 2:
				pushAgain(t, work, remote, pushes)
			}
		})
		s.hasMerged(t, n)
		gittest.Run(t, work, "pull", "-q", "--rebase", remote, "main")
		subjects := gittest.Run(t, work, "log", "--format=%s")
		if pushed, written := strings.Count(subjects, "Pushed"), strings.Count(subjects,
			"Write"); pushed != pushes || written != files {
			t.Errorf("%d of %d pushes and %d of %d files are there", pushed, pushes, written, files)
		}
	})
}

// pushAgain pushes commits to main one by one, as people do: fetching first when
// they are told to.
func pushAgain(t *testing.T, work, remote string, pushes int) {
	for pushed, tries := 0, 0; pushed < pushes; tries++ {
		for _, args := range [][]string{{"pull", "-q", "--rebase", remote, "main"},
			{"commit", "-q", "--allow-empty", "-m", "Pushed"}} {
			if r := try(t, work, args...); r.err != nil {
				t.Errorf("git %q: %s", args, r.out)
				return
			}
		}
		r := try(t, work, "push", "-q", remote, "HEAD:main")
		switch {
		case r.err == nil:
			pushed++
			continue
		case tries > 200 || !strings.Contains(r.out, "fetch first"):
			t.Errorf("push %d, try %d: %s", pushed, tries, r.out)
			return
		}
		if r := try(t, work, "reset", "-q", "--hard", "HEAD~"); r.err != nil {
			t.Error(r.out)
			return
		}
	}
}

// hasMerged checks that pull requests #1 to #n are merged, each once and whole.
func (s *instance) hasMerged(t *testing.T, n int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "merged.git")
	gittest.Run(t, "", "clone", "-q", "--mirror", s.remote("alice", "alice/garden"), dir)
	gittest.Run(t, dir, "fsck", "--strict", "--full")
	log := gittest.Run(t, dir, "log", "--merges", "--format=%s", "main")
	files := gittest.Run(t, dir, "ls-tree", "--name-only", "main")
	var missing bytes.Buffer
	for i := range n {
		if strings.Count(log, fmt.Sprintf("Merge pull request #%d from alice/h%d", i+1, i)) != 1 ||
			!slices.Contains(strings.Fields(files), fmt.Sprint("new", i)) {
			fmt.Fprintf(&missing, " #%d", i+1)
		}
		if status, _ := s.tryCall("GET", fmt.Sprintf("pulls/%d/merge", i+1), ""); status != 204 {
			t.Errorf("#%d: the merge check says %d", i+1, status)
		}
	}
	if missing.Len() > 0 {
		t.Errorf("not merged, or twice:%s\n%s\n%s", &missing, log, files)
	}
}

// proposals serves alice's repository garden with so many pull requests, each of
// a branch h0, h1, ... with a file of its own, and gives where it came from.
func proposals(t *testing.T, engine db.Engine, n int) (s *instance, dir string) {
	t.Helper()
	s = serving(t, engine)
	s.user("alice")
	dir = gittest.Repository(t, 2, 5)
	var in bytes.Buffer
	main := gittest.Run(t, dir, "rev-parse", "main")
	for i := range n {
		fmt.Fprintf(&in, "commit refs/heads/h%d\ncommitter %s %d +0000\ndata 1\nh\nfrom %s\nM 100644 inline new%d\ndata 1\nx\n", i, gittest.Author, gittest.Start, main, i)
	}
	in.WriteString("done\n")
	gittest.Import(t, dir, &in)
	s.repo("alice/garden", dir)
	for i := range n {
		if status, text := s.tryCall("POST", "pulls",
			fmt.Sprintf(`{"title": "h%d", "head": "h%d", "base": "main"}`, i, i)); status != 201 {
			t.Fatalf("%d %s", status, text)
		}
	}
	return s, dir
}

// tryCall sends a request of alice's about garden; the status is 0 when no whole
// answer came.
func (s *instance) tryCall(method, path, body string) (status int, text string) {
	return s.tryDo(method, "/repos/alice/garden/"+path, body)
}

// parents of a commit, as the API tells them.
func (s *instance) parents(sha string) (list []string) {
	status, text := s.tryCall("GET", "git/commits/"+sha, "")
	var c struct{ Parents []struct{ SHA string } }
	if err := json.Unmarshal([]byte(text), &c); status != 200 || err != nil {
		s.t.Fatalf("%s: %d %s", sha, status, text)
	}
	for _, p := range c.Parents {
		list = append(list, p.SHA)
	}
	return list
}
