//go:build long

package bench

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// branches is how many heads there are to merge: each merge takes a new one.
const branches = 64

// merge measures test merges from the two SHAs to the durable merge commit, compared with the process `git
// merge-tree --write-tree` and four other processes that do nothing; and sequential merges, each on top of
// the last.
func (s *suite) merge(b *testing.B) {
	b.Run("go-distribution", func(b *testing.B) {
		source, _ := gittest.GoTree(b)
		s.mergesOf(b, source, func(i int) string {
			return fmt.Sprintf("src/cmd/go/internal/branch%d/new.go", i)
		}, "src/cmd/go/main.go")
	})
	for name, perDirectory := range map[string]int{"100000-nested": 250, "100000-flat": 0} {
		b.Run(name, func(b *testing.B) {
			source := gittest.Bare(b)
			gittest.Import(b, source, largeTree(perDirectory))
			file := func(i int) string { return fmt.Sprintf("directory-%04d/file-%06d.txt", 3*i, 750*i+1) }
			if perDirectory == 0 {
				file = func(i int) string { return fmt.Sprintf("file-%06d.txt", 1500*i) }
			}
			s.mergesOf(b, source, file, "")
		})
	}
}

// mergesOf measures merges of branches that each change one file, and of branches that also change another
// file, both.
func (s *suite) mergesOf(b *testing.B, source string, file func(i int) string, both string) {
	main := gittest.Run(b, source, "rev-parse", "main")
	s.part(b, "one-file", func(b *testing.B) { s.testMerges(b, source, changes(main, file, "")) })
	if both != "" {
		text := gittest.Run(b, source, "show", "main:"+both)
		s.part(b, "same-file", func(b *testing.B) {
			s.testMerges(b, source, changes(main, func(int) string { return both }, text))
		})
	}
	s.part(b, "one-after-the-other", func(b *testing.B) {
		rate, detail := s.mergeRow(b, source, changes(main, file, ""))
		if both != "" {
			s.atLeast(b, rate, 30, "merges/s", detail)
		} else {
			s.note(b, rate, "merges/s", detail)
		}
	})
}

// changes is a stream of branches of main: the base changes a file in its last
// line, each head a file of its own, in its first.
func changes(main string, file func(i int) string, text string) io.Reader {
	var in bytes.Buffer
	commit := func(branch, path, text string) {
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter %s %d +0000\ndata 1\nv\nfrom %s\nM 100644 inline %s\ndata %d\n%s\n",
			branch, gittest.Author, gittest.Start, main, path, len(text), text)
	}
	for i := range branches {
		commit(fmt.Sprint("head", i), file(i), fmt.Sprintf("// head %d\n%s\n", i, text))
	}
	commit("base", file(branches), text+"\n// base\n")
	in.WriteString("done\n")
	return &in
}

// mergeCopy is a copy of a repository with branches, opened with caches of its
// own.
func mergeCopy(
	b *testing.B, source string, stream []byte,
) (r *git.Repository, base git.SHA, heads []git.SHA) {
	dir := filepath.Join(b.TempDir(), "copy.git")
	gittest.Run(b, b.TempDir(), "clone", "-q", "--bare", "--shared", source, dir)
	gittest.Import(b, dir, bytes.NewReader(stream))
	for i := range branches {
		heads = append(heads, gittest.Resolve(b, dir, fmt.Sprint("head", i)))
	}
	return gittest.New(b, git.Options{}).Repository(dir),
		gittest.Resolve(b, dir, "base"), heads
}

// testMerges compares test merges of pairs that nobody merged before with git's
// processes, each in a copy of its own.
func (s *suite) testMerges(b *testing.B, source string, changes io.Reader) {
	stream, err := io.ReadAll(changes)
	testkit.NoError(b, err)
	r, base, heads := mergeCopy(b, source, stream)
	other, _, _ := mergeCopy(b, source, stream)
	run := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = other.Dir(), append(gittest.Env(), "GIT_DIR="+other.Dir())
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	ours, theirs := 0, 0
	byArbor := func() float64 {
		head := heads[ours]
		ours++
		if _, err := r.Maintain(b.Context(), time.Now()); err != nil { // as the server does after writes
			b.Fatal(err)
		}
		return timed(func() {
			if commit, m, err := r.TestMerge(b.Context(), base, head); err != nil || commit == "" {
				b.Fatal(m, err)
			}
		})
	}
	byProcess := func() float64 {
		head := heads[theirs]
		theirs++
		return timed(func() {
			run("merge-tree", "--write-tree", string(base), string(head))
			for range 4 {
				run("version")
			}
		})
	}
	byArbor()
	byProcess()
	ratio, x, y := pairs(branches-1, byArbor, byProcess)
	s.atMost(b, ratio, 1, "x-of-git", seconds(x, y))
}

// mergeRow merges branch after branch, each into what the last merge made.
func (s *suite) mergeRow(b *testing.B, source string, changes io.Reader) (rate float64, detail string) {
	stream, err := io.ReadAll(changes)
	testkit.NoError(b, err)
	r, base, heads := mergeCopy(b, source, stream)
	took := timed(func() {
		for _, head := range heads {
			if base, _, err = r.TestMerge(b.Context(), base, head); err != nil || base == "" {
				b.Fatal(base, err)
			}
			if _, err := r.Maintain(b.Context(), time.Now()); err != nil {
				b.Fatal(err)
			}
		}
	})
	return float64(len(heads)) / took, fmt.Sprintf("%d merges, without SQL", len(heads))
}
