//go:build long

package git_test

import (
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// The walk's bound is 1.5 x git's own listing, with JSON rendered meanwhile.
func TestWalkGoTree(t *testing.T) {
	dir, tree := gittest.GoTree(t)
	g := gittest.New(t, git.Options{})
	want := gittest.Pipe(t, dir, nil, "ls-tree", "-r", "-t", "-l", "-z", "--full-tree", string(tree))
	if got := listing(t, g.Repository(dir), tree, true); got != string(want) {
		t.Error("the listing of the Go distribution differs from git's")
	}
}
