package pulls_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// many is a repository garden of alice's with a base of some files and
// branches b0, b1, ... that each add a file of their own.
func many(t *testing.T, s *apitest.Server, name string, branches int) (r *repo.Repo, dir string) {
	t.Helper()
	w := &pullWorld{}
	w.commit("main", "Begin", "", "", map[string]string{"a": "a\n", "b": "b\n", "dir/c": "c\n"})
	for n := range branches {
		w.commit(fmt.Sprint("b", n), fmt.Sprint("Add file ", n), "main", "",
			one(fmt.Sprintf("new/%d", n), fmt.Sprintln("file", n)))
	}
	return w.plant(t, s, name, false)
}

// together runs fn n times at once.
func together(n int, fn func(i int)) {
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

// merging is a request to merge.
func merging(who, name string, number int64, send string) apitest.Case {
	return apitest.Case{Do: fmt.Sprintf("PUT /repos/%s/pulls/%d/merge", name, number), As: who, Send: send}
}

// Of many concurrent merges one succeeds, the others get an error, and the base has one merge.
func TestOneOfManyMergesWins(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		many(t, s, "alice/plot", 3)
		for round, method := range []string{"merge", "squash", "rebase"} {
			p := propose(t, s, "alice", "alice/plot", fmt.Sprint("b", round), "main")
			statuses := make([]int, 8)
			together(len(statuses), func(i int) {
				c := merging("alice", "alice/plot", p.Number, `{"merge_method": "`+method+`"}`)
				c.Headers = map[string]string{"Accept": "application/vnd.github.v3+json"}
				statuses[i] = s.Do(t, c).Status
			})
			slices.Sort(statuses)
			if want := []int{200, 405, 405, 405, 405, 405, 405, 405}; !slices.Equal(statuses, want) {
				t.Errorf("%s: the answers are %v, want %v", method, statuses, want)
			}
		}
		truth(t, s, "alice", "alice/plot")
		if n := strings.Count(gittest.Run(t, s.Objects(t, 1).Dir(), "log", "--format=%H",
			s.Tip(t, "alice", "alice/plot", "main")), "\n"); n != 4 {
			t.Errorf("main has %d commits, want 5: two by the merge, one each by the others, on one", n+1)
		}
	})
}

// A team empties its queue: all pull requests that do not conflict are merged,
// and nobody has to press twice.
func TestMergesIntoOneBase(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const n = 12
		s.User(t, "alice")
		many(t, s, "alice/plot", n)
		var made []request
		for i := range n {
			made = append(made, propose(t, s, "alice", "alice/plot", fmt.Sprint("b", i), "main"))
		}
		together(n, func(i int) {
			if a := s.Do(t, merging("alice", "alice/plot", made[i].Number, "")); a.Status != 200 {
				t.Errorf("#%d: %d %s", made[i].Number, a.Status, a.Body)
			}
		})
		for _, p := range truth(t, s, "alice", "alice/plot") {
			if !p.Merged {
				t.Errorf("#%d is not merged", p.Number)
			}
		}
		for i := range n {
			s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/alice/plot/contents/new/%d", i), Status: 200})
		}
	})
}

// Merging succeeds during repeated pushes to the base, and nothing is lost.
func TestMergeWhilePushing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const n = 6
		s.Users(t, "alice", "will")
		_, dir := many(t, s, "alice/plot", n)
		var made []request
		for i := range n {
			made = append(made, propose(t, s, "alice", "alice/plot", fmt.Sprint("b", i), "main"))
		}
		work := t.TempDir()
		gittest.Run(t, work, "clone", "-q", dir, ".")
		remote := s.Remote(t, "alice", "alice/plot")
		pushed := 0
		together(2, func(i int) {
			if i == 0 {
				for _, p := range made {
					if a := s.Do(t, merging("alice", "alice/plot", p.Number, "")); a.Status != 200 {
						t.Errorf("#%d: %d %s", p.Number, a.Status, a.Body)
					}
				}
				return
			}
			for range 40 {
				if pushed == n {
					return
				}
				gittest.Run(t, work, "pull", "-q", "--rebase", remote, "main")
				gittest.Run(t, work, "commit", "-q", "--allow-empty", "-m", fmt.Sprint("pushed ", pushed))
				if _, _, err := gittest.Try(t, work, nil, "push", "-q", remote, "HEAD:main"); err == nil {
					pushed++
				} else {
					gittest.Run(t, work, "reset", "-q", "--hard", "HEAD~")
				}
			}
		})
		truth(t, s, "alice", "alice/plot")
		gittest.Run(t, work, "pull", "-q", "--rebase", remote, "main")
		subjects := gittest.Run(t, work, "log", "--format=%s")
		for i := range pushed {
			if !strings.Contains(subjects, fmt.Sprint("pushed ", i)) {
				t.Errorf("push %d is lost", i)
			}
		}
		if got := strings.Count(subjects, "Merge pull request"); got != n || pushed == 0 {
			t.Errorf("%d merges of %d, %d pushes", got, n, pushed)
		}
	})
}

// If the head moves while the pull request is created, closed or merged, the API agrees with the branches
// afterwards.
func TestHeadMovesMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const n = 8
		s.Users(t, "alice", "bob")
		many(t, s, "alice/plot", n)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/forks", As: "bob", Status: 202})
		for i := range n {
			from, branch := "alice", fmt.Sprint("b", i)
			if i%2 == 1 {
				from = "bob"
			}
			together(3, func(k int) {
				switch k {
				case 0:
					a := s.Do(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "bob",
						Send: `{"title": "x", "head": "` + from + ":" + branch + `", "base": "main"}`})
					if a.Status != 201 {
						t.Errorf("create: %d %s", a.Status, a.Body)
					}
				default:
					for m := range 3 {
						file := fmt.Sprintf("more-%d-%d-%d", i, k, m)
						s.Do(t, apitest.Case{Do: "PUT /repos/" + from + "/plot/contents/" + file,
							As: from, Send: `{"message": "m", "branch": "` + branch +
								`", "content": "YQ=="}`})
					}
				}
			})
		}
		for _, p := range truth(t, s, "alice", "alice/plot") {
			owner, _, _ := strings.Cut(p.Head.Repo.FullName, "/")
			if now := s.Tip(t, "alice", owner+"/plot", p.Head.Ref); now != p.Head.SHA {
				t.Errorf("#%d: %s:%s is at %s, the API says %s", p.Number, owner, p.Head.Ref, now, p.Head.SHA)
			}
		}
	})
}

// A branch is deleted while somebody proposes it, or to merge into it: the pull
// request is closed or was never made.
func TestBranchGoesMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const n = 8
		s.User(t, "alice")
		many(t, s, "alice/plot", 2*n)
		for i := range n {
			head, base := fmt.Sprint("b", i), fmt.Sprint("b", n+i)
			lost := []string{head, base}[i%2]
			together(2, func(k int) {
				if k == 0 {
					a := s.Do(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "alice",
						Send: `{"title": "x", "head": "` + head + `", "base": "` + base + `"}`})
					if a.Status != 201 && a.Status != 422 {
						t.Errorf("create: %d %s", a.Status, a.Body)
					}
					return
				}
				s.Ask(t, "alice", "DELETE /repos/alice/plot/git/refs/heads/"+lost, "", 204)
			})
		}
		for _, p := range truth(t, s, "alice", "alice/plot") {
			if p.State == "open" {
				t.Errorf("#%d is open without one of its branches: %+v", p.Number, p)
			}
		}
	})
}

// Two pull requests of one head, and closing during a merge: each ends in one state, which the API reports.
func TestOneHeadTwoBases(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		many(t, s, "alice/plot", 8)
		for i := range 4 {
			head := fmt.Sprint("b", i)
			first, second := propose(t, s, "alice", "alice/plot", head, "main"),
				propose(t, s, "alice", "alice/plot", head, fmt.Sprint("b", 4+i))
			var merged, closed, other *apitest.Answer
			together(3, func(k int) {
				switch k {
				case 0:
					merged = s.Do(t, merging("alice", "alice/plot", first.Number, ""))
				case 1:
					closed = s.Do(t, apitest.Case{Do: fmt.Sprintf("PATCH /repos/alice/plot/pulls/%d",
						first.Number), As: "alice", Send: `{"state": "closed"}`})
				case 2:
					other = s.Do(t, merging("alice", "alice/plot", second.Number, ""))
				}
			})
			if closed.Status != 200 || other.Status != 200 || merged.Status != 200 && merged.Status != 405 {
				t.Errorf("closing %d, merging %d, the other %d", closed.Status, merged.Status, other.Status)
			}
			if p := read(t, s, "alice", "alice/plot", first.Number); p.Merged != (merged.Status == 200) ||
				p.State != "closed" {
				t.Errorf("merging answered %d, and it is %+v", merged.Status, p)
			}
		}
		truth(t, s, "alice", "alice/plot")
	})
}

// Merges in a fork move the heads of what it asks its parent, while the parent's
// own branches are proposed to the fork: nobody waits for the other for ever.
func TestForkAndParentMergeAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const n = 4
		s.Users(t, "alice", "bob")
		plot, _ := many(t, s, "alice/plot", 2*n+1)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/forks", As: "bob", Status: 202})
		s.Check(t, apitest.Case{Do: "PUT /repos/bob/plot/contents/ahead", As: "bob",
			Send: `{"message": "m", "branch": "b8", "content": "YQ=="}`, Status: 201})
		s.Grant(t, plot, "bob", account.Push)
		up, down := propose(t, s, "bob", "alice/plot", "bob:b8", "main"),
			propose(t, s, "bob", "bob/plot", "alice:b8", "main")
		var inFork, inParent []request
		for i := range n {
			inFork = append(inFork, propose(t, s, "bob", "bob/plot", fmt.Sprint("b", i), "b8"))
			inParent = append(inParent, propose(t, s, "bob", "alice/plot", fmt.Sprint("b", n+i), "b8"))
		}
		together(2*n, func(i int) {
			name, list := "bob/plot", inFork
			if i%2 == 1 {
				name, list = "alice/plot", inParent
			}
			if a := s.Do(t, merging("bob", name, list[i/2].Number, "")); a.Status != 200 {
				t.Errorf("%s#%d: %d %s", name, list[i/2].Number, a.Status, a.Body)
			}
		})
		truth(t, s, "bob", "alice/plot")
		truth(t, s, "bob", "bob/plot")
		if p := read(t, s, "bob", "alice/plot", up.Number); p.Head.SHA != s.Tip(t, "alice", "bob/plot", "b8") ||
			p.Commits != 2+2*n {
			t.Errorf("the parent sees %+v", p)
		}
		if p := read(t, s, "bob", "bob/plot", down.Number); p.Head.SHA != s.Tip(t, "alice", "alice/plot", "b8") ||
			p.Commits != 1+2*n {
			t.Errorf("the fork sees %+v", p)
		}
	})
}
