//go:build long

package bench

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// variants is how many distinct trees of the size of the Go distribution there
// are: a first read takes a new one each time.
const variants = 64

// slice is how long one side of a pair of throughputs is measured, and rounds
// how many pairs there are: short and many, since what disturbs comes and goes.
const (
	slice  = 150 * time.Millisecond
	rounds = 31
)

func (s *suite) tree(b *testing.B) {
	b.Run("go-distribution", func(b *testing.B) {
		a := s.start(b)
		a.create(b, "go")
		trees := a.pushVariants(b)
		for _, recursive := range []bool{true, false} {
			suffix, kind := "", "flat"
			if recursive {
				suffix, kind = "?recursive=1", "recursive"
			}
			path := func(tree string) string { return "/repos/alice/go/git/trees/" + tree + suffix }
			s.part(b, kind+"/first", func(b *testing.B) { s.firstRead(b, a, trees, path, recursive) })
			s.part(b, kind+"/repeated", func(b *testing.B) { s.repeatedRead(b, a, get(path(trees[0]), "")) })
			s.part(b, kind+"/repeated-with-token", func(b *testing.B) {
				s.repeatedRead(b, a, get(path(trees[0]), a.token))
			})
		}
	})
	s.treeMemory(b, "100000-flat", 0)
	s.treeMemory(b, "100000-nested", 250)
}

// pushVariants pushes the Go distribution with a branch for each variant, which
// has one more file at its root, and gives their trees.
func (a *arbor) pushVariants(b *testing.B) []string {
	source, _ := gittest.GoTree(b)
	base := gittest.Run(b, source, "rev-parse", "main")
	dir := b.TempDir()
	gittest.Run(b, dir, "clone", "-q", "--bare", "--shared", source, ".")
	var stream bytes.Buffer
	for i := range variants {
		fmt.Fprintf(&stream,
			"commit refs/heads/variant%d\ncommitter %s %d +0000\ndata 1\nv\nfrom %s\nM 100644 inline variant\ndata <<E\n%d\nE\n\n", i, gittest.Author, gittest.Start, base, i)
	}
	stream.WriteString("done\n")
	gittest.Import(b, dir, &stream)
	gittest.Run(b, dir, "push", "-q", a.remote("go"), allBranches)
	trees := make([]string, variants)
	for i := range trees {
		trees[i] = gittest.Run(b, dir, "rev-parse", fmt.Sprintf("variant%d^{tree}", i))
	}
	return trees
}

// firstRead compares a read of a tree that nobody has read before with `git
// ls-tree` in the same repository, whose output is read and dropped too.
func (s *suite) firstRead(b *testing.B, a *arbor, trees []string, path func(string) string, recursive bool) {
	const n = 25
	c, dir, next := connect(b, a.url), a.repository(b), 1
	flags := []string{"ls-tree", "-t", "-l"}
	if recursive {
		flags = append(flags, "-r")
	}
	byHTTP := func() float64 {
		ask := get(path(trees[next]), a.token)
		next++
		return timed(func() {
			if _, err := c.must(ask); err != nil {
				b.Fatal(err)
			}
		})
	}
	byProcess := func() float64 {
		cmd := exec.Command("git", append(flags, trees[0])...)
		cmd.Dir, cmd.Env = dir, append(gittest.Env(), "GIT_DIR="+dir)
		return timed(func() { drain(b, cmd) })
	}
	byHTTP() // opens the connection to the database, and git's pages
	byProcess()
	ratio, http, process := pairs(n, byHTTP, byProcess)
	s.atMost(b, ratio, 1.5, "x-of-ls-tree", seconds(http, process))
}

// drain runs a command and reads its output through a pipe.
func drain(b *testing.B, cmd *exec.Cmd) {
	out, err := cmd.StdoutPipe()
	testkit.NoError(b, err)
	testkit.NoError(b, cmd.Start())
	if _, err := io.Copy(io.Discard, out); err != nil {
		b.Fatal(err)
	}
	testkit.NoError(b, cmd.Wait())
}

// repeatedRead compares the throughput of one request over and over, on eight
// connections, with that of a handler that writes as many bytes from memory.
func (s *suite) repeatedRead(b *testing.B, a *arbor, ask []byte) { s.besideFloor(b, a, ask, 0.5) }

// besideFloor is repeatedRead with a bound of its own.
func (s *suite) besideFloor(b *testing.B, a *arbor, ask []byte, bound float64) {
	size, err := connect(b, a.url).must(ask)
	testkit.NoError(b, err)
	ours := newLoad(b, a.url, 8, repeat(ask))
	floor := newLoad(b, startFloor(b, size), 8, repeat(ask))
	ratio, x, y := ours.against(b, floor, slice)
	s.atLeast(b, ratio, bound, "x-of-memory", fmt.Sprintf("%s, %d bytes", rates(x, y), size))
}

// treeMemory measures what a tree of 100,000 entries, in directories of as many
// files or in one, adds to the server's memory with eight readers at once.
func (s *suite) treeMemory(b *testing.B, name string, perDirectory int) {
	s.part(b, name+"/memory", func(b *testing.B) {
		a := s.start(b)
		a.create(b, "large")
		dir := gittest.Bare(b)
		gittest.Import(b, dir, largeTree(perDirectory))
		gittest.Run(b, dir, "push", "-q", a.remote("large"), allBranches)
		a.stop(b)
		a = s.serve(b, a.data, a.token) // what the push needed is not meant
		if _, err := connect(b, a.url).must(get("/repos/alice/large", a.token)); err != nil {
			b.Fatal(err)
		}
		before := memory(b, a.cmd.Process.Pid, "VmRSS")
		for _, query := range []string{"?recursive=1", ""} {
			var size int64
			ask := get("/repos/alice/large/git/trees/main"+query, a.token)
			after, children := a.peak(b, func() { size = readAtOnce(b, a, 8, 3, ask) })
			s.atMost(b, after-before, 64, "MiB"+strings.ReplaceAll(query, "?", "-"),
				fmt.Sprintf("8 readers of %.1f MB over %.0f MiB at rest; git beside it %.0f MiB",
					float64(size)/1e6, before, children))
		}
	})
}

// readAtOnce has several clients read the same address concurrently, each several times.
func readAtOnce(b *testing.B, a *arbor, clients, times int, ask []byte) (size int64) {
	var g errgroup.Group
	for i := range clients {
		c := connect(b, a.url)
		g.Go(func() error {
			for range times {
				n, err := c.must(ask)
				if err != nil {
					return err
				}
				if i == 0 {
					size = n
				}
			}
			return nil
		})
	}
	testkit.NoError(b, g.Wait())
	return size
}

// largeTree is a commit of 100,000 entries: all files in the root, or with
// directories of perDirectory entries, themselves included.
func largeTree(perDirectory int) io.Reader {
	var b bytes.Buffer
	fmt.Fprintf(&b, "commit refs/heads/main\ncommitter %s %d +0000\ndata 1\nL\n", gittest.Author,
		gittest.Start)
	file := func(path string, i int) {
		fmt.Fprintf(&b, "M 100644 inline %s\ndata <<E\n%d\nE\n\n", path, i)
	}
	for i := range 100_000 {
		switch {
		case perDirectory == 0:
			file(fmt.Sprintf("file-%06d.txt", i), i)
		case i%perDirectory > 0:
			file(fmt.Sprintf("directory-%04d/file-%06d.txt", i/perDirectory, i), i)
		}
	}
	b.WriteString("done\n")
	return &b
}
