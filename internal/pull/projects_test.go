package pull_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/git"
	"arbor/internal/git/gittest"
	"arbor/internal/git/gittest/projects"
)

// Merges that the people of real projects made are made again by pull requests.
// What git fetches then is what `git merge` makes at home, on the same parents;
// and what conflicts at home cannot be merged here. If this failed, a project
// that moves here would get other merges than before.
func TestMergesOfRealProjects(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		count := 16
		if testing.Short() {
			count = 4
		}
		s.User(t, "alice")
		for _, project := range []string{projects.Spinnaker, projects.GoGit, projects.Desk} {
			_, name, _ := strings.Cut(project, "/")
			dir := projects.Repository(t, project)
			merges := projects.Sample(projects.Merges(t, dir), count)
			var branches strings.Builder
			for n, m := range merges {
				fmt.Fprintf(&branches, "create refs/heads/base%d %s\ncreate refs/heads/head%d %s\n", n, m.Base, n, m.Head)
			}
			gittest.Pipe(t, dir, strings.NewReader(branches.String()), "update-ref", "--stdin")
			s.Import(t, s.Repo(t, "alice/"+name, false), dir)
			home := t.TempDir()
			gittest.Run(t, home, "clone", "-q", s.Remote(t, "alice", "alice/"+name), ".")
			conflicts, recorded := 0, 0
			for n, m := range merges {
				switch remake(t, s, "alice/"+name, home, n, m) {
				case "":
					conflicts++
				case m.Tree:
					recorded++
				}
			}
			t.Logf("%s: %d merges, %d conflicts, %d as recorded", project, len(merges), conflicts, recorded)
			if recorded < len(merges)*3/4 {
				t.Error("that is not what projects look like")
			}
			truth(t, s, "alice", "alice/"+name)
		}
	})
}

// remake merges headN into baseN by a pull request and in a clone, and gives the
// tree, "" where the two conflict.
func remake(t *testing.T, s *apitest.Server, name, home string, n int, m projects.Merge) git.SHA {
	t.Helper()
	run := func(args ...string) string { return gittest.Run(t, home, args...) }
	run("checkout", "-q", "--force", "--detach", string(m.Base))
	_, _, err := gittest.Try(t, home, nil, "merge", "-q", "--no-ff", "--no-edit", string(m.Head))
	want := ""
	if err == nil {
		want = run("log", "-1", "--format=%T %P")
	} else {
		run("merge", "--abort")
	}
	made := propose(t, s, "alice", name, fmt.Sprint("head", n), fmt.Sprint("base", n))
	if made.Mergeable == nil || *made.Mergeable != (want != "") {
		t.Errorf("%s, #%d, %s into %s: git has %q, mergeable is %v", name, made.Number, m.Head, m.Base, want, made.Mergeable)
	}
	do := merging("alice", name, made.Number, "")
	if do.Status = 200; want == "" {
		do.Status = 405
	}
	s.Check(t, do)
	if want == "" {
		return ""
	}
	run("fetch", "-q")
	if got := run("log", "-1", "--format=%T %P", fmt.Sprint("origin/base", n)); got != want {
		t.Errorf("%s, #%d, %s into %s: %s; git has %s", name, made.Number, m.Head, m.Base, got, want)
	}
	tree, _, _ := strings.Cut(want, " ")
	return git.SHA(tree)
}
