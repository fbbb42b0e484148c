//go:build long

package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"arbor/internal/test/gittest"
)

// Both refspecs of a push of everything.
const (
	allBranches = "refs/heads/*:refs/heads/*"
	allTags     = "refs/tags/*:refs/tags/*"
)

// push compares `git push` over HTTP, with a token in the address, with a push
// of the same to a bare repository by path.
func (s *suite) push(b *testing.B) {
	s.part(b, "go-distribution", func(b *testing.B) {
		source, _ := gittest.GoTree(b)
		s.comparePush(b, source, 5, 1.5)
	})
	s.part(b, "2000-commits", func(b *testing.B) {
		s.comparePush(b, gittest.Repository(b, 2000, 200), 15, 1.5)
	})
	s.part(b, "300-refs", func(b *testing.B) {
		s.comparePush(b, manyRefs(b), 15, 2)
	})
}

// comparePush pushes everything in source into fresh repositories.
func (s *suite) comparePush(b *testing.B, source string, n int, bound float64) {
	a := s.start(b)
	count := 0
	byHTTP := func() float64 {
		count++
		name := fmt.Sprint("repo", count)
		a.create(b, name)
		return timedPush(b, source, a.remote(name))
	}
	byPath := func() float64 {
		bare := gittest.Bare(b)
		defer os.RemoveAll(bare)
		return timedPush(b, source, bare)
	}
	ratio, http, path := pairs(n, byHTTP, byPath)
	s.atMost(b, ratio, bound, "x-of-path", seconds(http, path))
}

// timedPush starts with nothing left to write from what was before: both ways
// sync their objects.
func timedPush(b *testing.B, source, to string) float64 {
	syscall.Sync()
	return timed(func() { gittest.Run(b, source, "push", "-q", to, allBranches, allTags) })
}

// manyRefs creates 150 branches, 75 tags and 75 annotated tags over as many
// commits.
func manyRefs(b *testing.B) string {
	dir := gittest.Repository(b, 300, 100)
	commits := bytes.Fields(gittest.Pipe(b, dir, nil, "rev-list", "main"))
	var updates bytes.Buffer
	for i := range 150 {
		fmt.Fprintf(&updates, "create refs/heads/topic/%03d %s\n", i, commits[i])
	}
	for i := range 75 {
		fmt.Fprintf(&updates, "create refs/tags/light-%03d %s\n", i, commits[2*i])
		gittest.Run(b, dir, "tag", "-a", "-m", "A release", fmt.Sprintf("v1.%d", i), string(commits[3*i]))
	}
	gittest.Pipe(b, dir, &updates, "update-ref", "--stdin")
	return dir
}

// clone compares `git clone` over HTTP with `git clone --no-local` by path,
// both of the repository as the server keeps it. Bare clones: a checkout would
// cost both the same and only hide the difference.
func (s *suite) clone(b *testing.B) {
	s.part(b, "go-distribution", func(b *testing.B) {
		source, _ := gittest.GoTree(b)
		s.compareClone(b, source, 5)
	})
	s.part(b, "2000-commits", func(b *testing.B) {
		s.compareClone(b, gittest.Repository(b, 2000, 200), 15)
	})
	s.part(b, "300-refs", func(b *testing.B) {
		s.compareClone(b, manyRefs(b), 15)
	})
}

func (s *suite) compareClone(b *testing.B, source string, n int) {
	a := s.start(b)
	a.create(b, "source")
	gittest.Run(b, source, "push", "-q", a.remote("source"), allBranches, allTags)
	clone := func(from string) func() float64 {
		return func() float64 {
			dir := filepath.Join(b.TempDir(), "clone")
			defer os.RemoveAll(dir)
			syscall.Sync()
			return timed(func() {
				gittest.Run(b, b.TempDir(), "clone", "-q", "--bare", "--no-local", from, dir)
			})
		}
	}
	ratio, http, path := pairs(n, clone(a.remote("source")), clone(source))
	s.atMost(b, ratio, 1.25, "x-of-path", seconds(http, path))
}
