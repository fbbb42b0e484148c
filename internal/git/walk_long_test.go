//go:build long

package git_test

import (
	"fmt"
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

func BenchmarkWalkGoTree(b *testing.B) {
	dir, tree := gittest.GoTree(b)
	g := gittest.New(b, git.Options{})
	b.Run("git", func(b *testing.B) {
		for b.Loop() {
			gittest.Pipe(b, dir, nil, "ls-tree", "-r", "-t", "-l", "-z", "--full-tree", string(tree))
		}
	})
	for _, recursive := range []bool{true, false} {
		b.Run(fmt.Sprintf("recursive=%v", recursive), func(b *testing.B) {
			b.ReportAllocs()
			r := g.Repository(dir)
			for b.Loop() {
				n := 0
				err := r.WalkTree(b.Context(), tree, recursive, func(*git.WalkEntry) error {
					n++
					return nil
				})
				if err != nil || n == 0 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
