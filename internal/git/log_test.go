package git_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// Walks give what git gives, within bounds, and nothing in a path or an
// address is more than text.
func TestLog(t *testing.T) {
	t.Parallel()
	dir := gittest.Repository(t, 50, 7)
	r := gittest.New(t, git.Options{}).Repository(dir)
	head := gittest.Resolve(t, dir, "main")
	all := strings.Fields(gittest.Run(t, dir, "rev-list", "main"))
	path := strings.Fields(gittest.Run(t, dir, "rev-list", "main", "--", "dir3"))
	page, total, more, err := r.Log(t.Context(),
		git.LogOptions{From: []git.SHA{head}, Skip: 10, Max: 5, Count: 100})
	if err != nil || total != 50 || more || len(page) != 5 || string(page[0]) != all[10] {
		t.Errorf("a page: %v, %d, %v, %v", page, total, more, err)
	}
	page, total, more, err = r.Log(t.Context(), git.LogOptions{From: []git.SHA{head}, Max: 5, Count: 20})
	if err != nil || total != 25 || !more || len(page) != 5 {
		t.Errorf("a bounded page: %v, %d, %v, %v", page, total, more, err)
	}
	for _, c := range []struct {
		name string
		o    git.LogOptions
		want int
	}{
		{"path", git.LogOptions{Path: "dir3"}, len(path)},
		{"glob", git.LogOptions{Path: "dir*"}, 0}, {"magic", git.LogOptions{Path: ":(glob)dir*"}, 0},
		{"option", git.LogOptions{Path: "--all"}, 0},
		{"author", git.LogOptions{Author: []string{"AUTHOR@example.com"}}, 50},
		{"part of an address", git.LogOptions{Author: []string{"author@example.co"}}, 0},
		{"expression", git.LogOptions{Author: []string{".*"}}, 0},
		{"committer", git.LogOptions{Committer: []string{"author@example.com"},
			Author: []string{"Author@Example.com"}}, 50},
		{"two authors", git.LogOptions{Author: []string{"x@example.com", "author@example.com"},
			Committer: []string{"author@example.com"}}, 50},
		{"another committer", git.LogOptions{Author: []string{"author@example.com"},
			Committer: []string{"x@example.com"}}, 0},
		{"since", git.LogOptions{Since: gittest.Start + 60*40}, 10},
		{"until", git.LogOptions{Until: gittest.Start + 60*9}, 10},
	} {
		c.o.From, c.o.Max = []git.SHA{head}, 100
		page, _, _, err := r.Log(t.Context(), c.o)
		if err != nil || len(page) != c.want {
			t.Errorf("%s: %d commits, want %d (%v)", c.name, len(page), c.want, err)
		}
	}
	for _, path := range []string{"/etc", "..", "a/../b", "a//b", "a/", ".", "x/.GIT/y", "a\x00b",
		strings.Repeat("a", git.MaxPath+1)} {
		if _, _, _, err := r.Log(t.Context(),
			git.LogOptions{From: []git.SHA{head}, Max: 1, Path: path}); !errs.Is(err, errs.Invalid) {
			t.Errorf("path %.20q: %v", path, err)
		}
	}
}

// Abbreviations lead to commits alone, and to one only.
func TestFindCommit(t *testing.T) {
	t.Parallel()
	dir := gittest.Repository(t, 800, 3)
	r := gittest.New(t, git.Options{}).Repository(dir)
	seen := map[string]int{}
	all := strings.Fields(gittest.Run(t, dir, "rev-list", "main"))
	for _, sha := range all {
		seen[sha[:4]]++
	}
	ambiguous := false
	for _, sha := range all[:200] {
		got, err := r.FindCommit(t.Context(), strings.ToUpper(sha[:12]))
		if err != nil || string(got) != sha {
			t.Fatalf("%s: %s, %v", sha[:12], got, err)
		}
	}
	for prefix, n := range seen {
		if n > 1 {
			ambiguous = true
			if _, err := r.FindCommit(t.Context(), prefix); !errs.Is(err, errs.Invalid) {
				t.Errorf("%s, which begins %d commits: %v", prefix, n, err)
			}
		}
	}
	if !ambiguous {
		t.Error("the history has no ambiguous abbreviation")
	}
	tree := gittest.Run(t, dir, "rev-parse", "main^{tree}")
	for _, prefix := range []string{"abc", "", "HEAD", "main", tree[:20], "ffffffffffff", all[0]} {
		if _, err := r.FindCommit(t.Context(), prefix); !errs.Is(err, errs.NotFound) {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	commits, err := r.Commits(t.Context(), shas(all))
	if err != nil || len(commits) != len(all) || string(commits[700].SHA) != all[700] ||
		commits[700].Message != "Commit 99\n" {
		t.Errorf("%d commits, %v", len(commits), err)
	}
	if _, err := r.Commits(t.Context(), []git.SHA{shas(all)[0], git.SHA(tree)}); !errs.Is(err, errs.Invalid) {
		t.Errorf("a tree among commits: %v", err)
	}
	if _, err := r.Commits(t.Context(),
		[]git.SHA{"0000000000000000000000000000000000000001", shas(all)[0]}); !errs.Is(err, errs.NotFound) {
		t.Errorf("a missing commit: %v", err)
	}
}

func shas(list []string) []git.SHA {
	out := make([]git.SHA, len(list))
	for i, s := range list {
		out[i] = git.SHA(s)
	}
	return out
}

// A reviewer sees the commits of the branch alone, the oldest first, and learns
// how many there are where not all are shown (decision 39).
func TestPullCommits(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	list := []treeCommit{{files: side{"a": "100644 a"}}, {files: side{"a": "100644 b"}, before: []int{0}}}
	for i := range 253 {
		list = append(list, treeCommit{files: side{"a": fmt.Sprint("100644 ", i)}, at: -i,
			before: []int{max(0, i+1) * min(i, 1)}})
	}
	shas := commitTrees(t, dir, list)
	r := gittest.New(t, git.Options{}).Repository(dir)
	page, total, err := r.PullCommits(t.Context(), shas[1], shas[len(shas)-1])
	if err != nil || total != 253 || len(page) != git.MaxPullCommits || page[0] != shas[2] ||
		page[249] != shas[251] {
		t.Errorf("%d of %d commits from %v, %v", len(page), total, page[:1], err)
	}
	for _, same := range []git.SHA{shas[1], shas[0]} {
		if page, total, err := r.PullCommits(t.Context(), shas[1], same); err != nil || total != 0 ||
			len(page) != 0 {
			t.Errorf("nothing to pull: %v of %d, %v", page, total, err)
		}
	}
}
