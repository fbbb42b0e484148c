// Package projects provides tests with the histories of public projects: merges that
// people made, with the renames, conflicts and criss-crosses that no author of
// tests would think of. They come as packs with a Go module, so nothing is
// fetched when a test runs. Only tests import it, and few of them: the packs
// become a part of their programs.
package projects

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	fixtures "github.com/go-git/go-git-fixtures/v5"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// The projects with the most merges, by their addresses on GitHub.
const (
	Spinnaker = "spinnaker/spinnaker"    // 376 merges of two
	GoGit     = "src-d/go-git"           // 43
	Desk      = "jamesob/desk"           // 35
	Storable  = "tyba/storable"          // 19
	Rumprun   = "rumpkernel/rumprun-xen" // 15
)

// All lists the projects.
func All() []string { return []string{Spinnaker, GoGit, Desk, Storable, Rumprun} }

// Repository creates a bare repository of a project, with all of its commits. Each
// that no other builds on is a branch tipN.
func Repository(tb testing.TB, project string) (dir string) {
	tb.Helper()
	found := fixtures.ByURL("https://github.com/" + project + ".git").ByTag("packfile")
	if len(found) != 1 {
		tb.Fatalf("there are %d packs of %s", len(found), project)
	}
	pack := found[0].Packfile()
	defer pack.Close()
	dir = gittest.Bare(tb)
	gittest.Pipe(tb, dir, pack, "index-pack", "--stdin")
	names := map[string]bool{}
	var commits strings.Builder
	for line := range strings.Lines(gittest.Run(tb, dir, "cat-file", "--batch-all-objects",
		"--batch-check=%(objectname) %(objecttype)")) {
		if sha, ok := strings.CutSuffix(strings.TrimSpace(line), " commit"); ok {
			fmt.Fprintln(&commits, sha)
			names[sha] = true
		}
	}
	parents := gittest.Pipe(tb, dir, strings.NewReader(commits.String()), "log", "--no-walk", "--stdin",
		"--format=%P")
	for _, sha := range bytes.Fields(parents) {
		delete(names, string(sha))
	}
	var branches strings.Builder
	for sha := range names {
		fmt.Fprintf(&branches, "create refs/heads/tip-%s %s\n", sha[:12], sha)
	}
	gittest.Pipe(tb, dir, strings.NewReader(branches.String()), "update-ref", "--stdin")
	gittest.Run(tb, dir, "fsck", "--connectivity-only")
	return dir
}

// Merge is a commit with two parents.
type Merge struct {
	SHA, Base, Head git.SHA // Base is the first parent
	Tree            git.SHA // as it was recorded, no matter who resolved the conflicts
}

// Merges lists the merges of a repository, the oldest first.
func Merges(tb testing.TB, dir string) (list []Merge) {
	tb.Helper()
	out := gittest.Run(tb, dir, "log", "--all", "--topo-order", "--reverse", "--min-parents=2",
		"--max-parents=2", "--format=%H %P %T")
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		list = append(list, Merge{git.SHA(f[0]), git.SHA(f[1]), git.SHA(f[2]), git.SHA(f[3])})
	}
	return list
}

// Sample returns about n merges spread over a list; all when n is 0.
func Sample(list []Merge, n int) []Merge {
	if n == 0 || n >= len(list) {
		return list
	}
	var some []Merge
	for i := range n {
		some = append(some, list[i*len(list)/n])
	}
	return slices.Clip(some)
}
