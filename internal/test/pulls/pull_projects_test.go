package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/gittest/projects"
	"arbor/internal/test/testenv"
)

// Merges that the people of real projects made are made again by pull requests.
// What git fetches then is what `git merge` makes at home, on the same parents;
// and what conflicts at home cannot be merged here. If this failed, a project
// that moves here would get other merges than before. Each engine gets every second
// merge: how two commits merge is git's and the trees' matter, not that of the rows.
func TestMergesOfRealProjects(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		count := 16
		if !testenv.Long {
			count = 4
		}
		s.User(t, "alice")
		for _, project := range []string{projects.Spinnaker, projects.GoGit, projects.Desk} {
			_, name, _ := strings.Cut(project, "/")
			dir := projects.Repository(t, project)
			merges := everySecond(projects.Sample(projects.Merges(t, dir), count), s.Engine == db.PostgreSQL)
			var branches strings.Builder
			for n, m := range merges {
				fmt.Fprintf(&branches, "create refs/heads/base%d %s\ncreate refs/heads/head%d %s\n", n,
					m.Base, n, m.Head)
			}
			gittest.Pipe(t, dir, strings.NewReader(branches.String()), "update-ref", "--stdin")
			s.Import(t, s.Repo(t, "alice/"+name, false), dir)
			home := t.TempDir()
			gittest.Run(t, home, "clone", "-q", s.Remote(t, "alice", "alice/"+name), ".")
			wants := make([]string, len(merges))
			for n, m := range merges {
				wants[n] = remake(t, s, "alice/"+name, home, n, m)
			}
			conflicts, recorded := compareMerges(t, home, merges, wants)
			t.Logf("%s: %d merges, %d conflicts, %d as recorded", project, len(merges), conflicts, recorded)
			if recorded < len(merges)*3/4 {
				t.Error("that is not what projects look like")
			}
			truth(t, s, "alice", "alice/"+name)
		}
	})
}

// everySecond returns the merges of even places, or those of odd ones.
func everySecond(merges []projects.Merge, odd bool) (some []projects.Merge) {
	for n, m := range merges {
		if (n%2 == 1) == odd {
			some = append(some, m)
		}
	}
	return some
}

// remake merges headN into baseN by a pull request and in a clone. It gives the tree and the parents that the
// clone has, "" where the two conflict.
func remake(t *testing.T, s *apitest.Server, name, home string, n int, m projects.Merge) (want string) {
	t.Helper()
	run := func(args ...string) string { return gittest.Run(t, home, args...) }
	run("checkout", "-q", "--force", "--detach", string(m.Base))
	_, _, err := gittest.Try(t, home, nil, "merge", "-q", "--no-ff", "--no-edit", string(m.Head))
	if err == nil {
		want = run("log", "-1", "--format=%T %P")
	} else {
		run("merge", "--abort")
	}
	made := propose(t, s, "alice", name, fmt.Sprint("head", n), fmt.Sprint("base", n))
	if made.Mergeable == nil || *made.Mergeable != (want != "") {
		t.Errorf("%s, #%d, %s into %s: git has %q, mergeable is %v", name, made.Number, m.Head, m.Base, want,
			made.Mergeable)
	}
	do := merging("alice", name, made.Number, "")
	if do.Status = 200; want == "" {
		do.Status = 405
	}
	s.Check(t, do)
	return want
}

// compareMerges fetches what the pull requests made and compares it with what the clone made. It counts the
// merges that conflict, and those whose tree is the one that people recorded.
func compareMerges(
	t *testing.T, home string, merges []projects.Merge, wants []string,
) (conflicts, recorded int) {
	t.Helper()
	gittest.Run(t, home, "fetch", "-q")
	for n, m := range merges {
		want := wants[n]
		if want == "" {
			conflicts++
			continue
		}
		if got := gittest.Run(t, home, "log", "-1", "--format=%T %P",
			fmt.Sprint("origin/base", n)); got != want {
			t.Errorf("%s into %s: %s; git has %s", m.Head, m.Base, got, want)
		}
		if tree, _, _ := strings.Cut(want, " "); git.SHA(tree) == m.Tree {
			recorded++
		}
	}
	return conflicts, recorded
}
