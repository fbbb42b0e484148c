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

	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// pulls measures what people wait for who work with pull requests: until one is
// made and known to merge, until it is merged, what a base with many costs who
// pushes to it, and reads.
func (s *suite) pulls(b *testing.B) {
	peaks := map[string]float64{}
	b.Run("go-distribution", func(b *testing.B) {
		source, _ := gittest.GoTree(b)
		file := func(i int) string { return fmt.Sprintf("src/cmd/go/internal/branch%d/new.go", i) }
		peaks["go"] = s.pullsOf(b, source, file, 30)
	})
	b.Run("100000-nested", func(b *testing.B) {
		source := gittest.Bare(b)
		gittest.Import(b, source, largeTree(250))
		file := func(i int) string { return fmt.Sprintf("directory-%04d/file-%06d.txt", 3*i, 750*i+1) }
		peaks["large"] = s.pullsOf(b, source, file, 0)
	})
	b.Run("1000-files", func(b *testing.B) {
		file := func(i int) string { return fmt.Sprintf("new%d.txt", i) }
		peaks["small"] = s.pullsOf(b, gittest.Repository(b, 1, 1000), file, 0)
	})
	if peaks["large"] > 0 && peaks["small"] > 0 {
		s.part(b, "memory", func(b *testing.B) {
			s.atMost(b, peaks["large"]/peaks["small"], 1.5, "x-of-1000-files", fmt.Sprintf(
				"server and git while merging: %.0f MiB at 100,000 files, %.0f at 15,000, %.0f at 1,000",
				peaks["large"], peaks["go"], peaks["small"]))
		})
	}
	s.part(b, "push-to-base-of-1000", s.pushToBase)
	b.Run("read", s.readPulls)
}

const (
	mergedInPairs = 40 // of the branches
	mergedInRow   = 20
)

// pullsOf measures creating and merging in a repository, and gives the memory
// that merging took, in MiB. perSecond bounds the merges one after the other.
func (s *suite) pullsOf(
	b *testing.B, source string, file func(i int) string, perSecond float64,
) (peak float64) {
	stream, err := io.ReadAll(changes(gittest.Run(b, source, "rev-parse", "main"), file, ""))
	testkit.NoError(b, err)
	other, base, heads := mergeCopy(b, source, stream)
	a := s.start(b)
	a.create(b, "tree")
	gittest.Run(b, other.Dir(), "push", "-q", a.remote("tree"), allBranches)
	c := connect(b, a.url)
	process := func(n int) func() float64 {
		return func() float64 {
			n++
			return timed(func() {
				for k, args := range [][]string{{"merge-tree", "--write-tree", string(base),
					string(heads[n%len(heads)])}, {"version"}, {"version"}, {"version"}, {"version"}} {
					cmd := exec.Command("git", args...)
					cmd.Dir, cmd.Env = other.Dir(), append(gittest.Env(), "GIT_DIR="+other.Dir())
					if out, err := cmd.CombinedOutput(); err != nil {
						b.Fatalf("%d: git %s: %v\n%s", k, strings.Join(args, " "), err, out)
					}
				}
			})
		}
	}
	made := 0
	create := func() float64 {
		ask := request("POST", "/repos/alice/tree/pulls", a.token,
			fmt.Sprintf(`{"title":"Change %d","body":"Why, in a line.","head":"head%d","base":"base"}`, made,
				made))
		made++
		return timed(func() {
			if _, err := c.must(ask); err != nil {
				b.Fatal(err)
			}
		})
	}
	merged := 0
	merge := func() float64 {
		merged++
		ask := request("PUT", fmt.Sprintf("/repos/alice/tree/pulls/%d/merge", merged), a.token, "")
		return timed(func() {
			if _, err := c.must(ask); err != nil {
				b.Fatal(err)
			}
		})
	}
	s.part(b, "create", func(b *testing.B) {
		create()
		if v := a.call(b, "GET", "/repos/alice/tree/pulls/1", "")["mergeable"]; v != true {
			b.Fatalf("mergeable is %v", v)
		}
		ratio, x, y := pairs(len(heads)-1, create, process(0))
		s.atMost(b, ratio, 1, "x-of-git", "until mergeable is known: "+seconds(x, y))
	})
	for made < len(heads) {
		create() // also without the part above
	}
	s.part(b, "merge", func(b *testing.B) {
		merge()
		ratio, x, y := pairs(mergedInPairs, merge, process(0))
		s.atMost(b, ratio, 4, "x-of-git", seconds(x, y))
	})
	s.part(b, "one-after-the-other", func(b *testing.B) {
		server, children := a.peak(b, func() {
			rate := mergedInRow / timed(func() {
				for range mergedInRow {
					merge()
				}
			})
			detail := fmt.Sprintf("%d merges into one base over HTTP", mergedInRow)
			if perSecond > 0 {
				s.atLeast(b, rate, perSecond, "merges/s", detail)
			} else {
				s.note(b, rate, "merges/s", detail)
			}
		})
		peak = server + children
	})
	return peak
}

// waiting is how many pull requests wait for one base.
const waiting = 1000

// manyHeads is a stream of branches of main with a file of their own each, and of
// the branch other, which is where main is.
func manyHeads(main string, n int) io.Reader {
	var in bytes.Buffer
	for i := range n {
		fmt.Fprintf(&in, "commit refs/heads/head%d\ncommitter %s %d +0000\ndata 1\nv\nfrom %s\nM 100644 inline new%d\ndata <<E\n%d\nE\n\n",
			i, gittest.Author, gittest.Start, main, i, i)
	}
	fmt.Fprintf(&in, "reset refs/heads/other\nfrom %s\n\ndone\n", main)
	return &in
}

// proposed serves a repository with so many open pull requests into main.
func (s *suite) proposed(b *testing.B, n int) (a *arbor, dir string) {
	dir = gittest.Repository(b, 100, 500)
	gittest.Import(b, dir, manyHeads(gittest.Run(b, dir, "rev-parse", "main"), n))
	a = s.start(b)
	a.create(b, "busy")
	gittest.Run(b, dir, "push", "-q", a.remote("busy"), allBranches)
	c := connect(b, a.url)
	took := timed(func() {
		for i := range n {
			ask := request("POST", "/repos/alice/busy/pulls", a.token,
				fmt.Sprintf(`{"title":"Change number %d","body":"It is better so.","head":"head%d","base":"main"}`, i, i))
			if _, err := c.must(ask); err != nil {
				b.Fatal(err)
			}
		}
	})
	s.note(b, float64(n)/took, "pulls/s", fmt.Sprintf("to make %d pull requests, one after the other", n))
	return a, dir
}

// pushToBase compares pushes to a base with many open pull requests with pushes
// to a branch without, in the same repository.
func (s *suite) pushToBase(b *testing.B) {
	a, dir := s.proposed(b, waiting)
	work := b.TempDir()
	gittest.Run(b, work, "clone", "-q", "--branch", "main", dir, ".")
	push := func(branch string) func() float64 {
		gittest.Run(b, work, "checkout", "-q", "-b", "at-"+branch, "origin/main")
		n := 0
		return func() float64 {
			n++
			gittest.Run(b, work, "checkout", "-q", "at-"+branch)
			gittest.Run(b, work, "commit", "-q", "--allow-empty", "-m", fmt.Sprint(branch, n))
			return timed(func() {
				gittest.Run(b, work, "push", "-q", a.remote("busy"), "HEAD:refs/heads/"+branch)
			})
		}
	}
	busy, quiet := push("main"), push("other")
	busy()
	quiet()
	time.Sleep(5 * time.Second) // what the pull requests left to do is not meant
	var differences []float64
	_, x, y := pairs(20, func() float64 { t := busy(); differences = append(differences, t); return t },
		func() float64 { t := quiet(); differences = append(differences, -t); return t })
	var each []float64
	for n := 0; n < len(differences); n += 2 {
		each = append(each, 1000*(differences[n]+differences[n+1]))
	}
	s.atMost(b, median(each), 5, "ms-more", "a push to a base of 1,000: "+seconds(x, y))
}

// readPulls compares repeated reads with a handler that writes as many bytes, and checks that a list starts
// no git process.
func (s *suite) readPulls(b *testing.B) {
	a, _ := s.proposed(b, 60)
	for name, path := range map[string]string{"list": "pulls?per_page=30", "single": "pulls/7",
		"files": "pulls/7/files", "commits": "pulls/7/commits"} {
		s.part(b, name, func(b *testing.B) {
			s.besideFloor(b, a, get("/repos/alice/busy/"+path, a.token), 0.3)
		})
	}
	s.part(b, "list-without-git", func(b *testing.B) {
		a.stop(b)
		*a = *s.serve(b, a.data, a.token)
		before := len(children(a.cmd.Process.Pid))
		if _, err := connect(b, a.url).must(get("/repos/alice/busy/pulls?per_page=30", a.token)); err != nil {
			b.Fatal(err)
		}
		s.atMost(b, float64(len(children(a.cmd.Process.Pid))-before), 0, "processes",
			"after the first list of a server that just started")
	})
}
