package git_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

func TestContents(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{ProcessesPerDir: 1})
	dir := gittest.Bare(t)
	r := g.Repository(dir)
	text := strings.Repeat("hello\n", 1000)
	small, large := gittest.Object(t, dir, git.TypeBlob, text),
		gittest.Object(t, dir, git.TypeBlob, strings.Repeat(text, 1000))
	for range 2 { // what is refused must not leave its bytes to the next reader
		if o, got, err := r.Contents(t.Context(), small, int64(len(text))); err != nil ||
			string(got) != text || o.Size != int64(len(text)) {
			t.Errorf("%v, %d bytes, %v", o, len(got), err)
		}
		for _, sha := range []git.SHA{small, large} {
			if o, _, err := r.Contents(t.Context(), sha, 10); !errs.Is(err, errs.TooLarge) || o.SHA != sha {
				t.Errorf("over the limit: %v, %v", o, err)
			}
		}
		if _, _, err := r.Contents(t.Context(), git.ZeroSHA, 10); !errs.Is(err, errs.NotFound) {
			t.Errorf("missing: %v", err)
		}
	}
	if _, err := r.Commit(t.Context(), small); !errs.Is(err, errs.Invalid) {
		t.Errorf("a blob as commit: %v", err)
	}
}

// A request that panics costs one answer and not one of the few processes.
func TestPanicsGiveProcessesBack(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{Processes: 1, ReadTimeout: testkit.Patience})
	dir := gittest.Bare(t)
	r := g.Repository(dir)
	blob := gittest.Object(t, dir, git.TypeBlob, "text")
	for range 2 {
		func() {
			defer func() { _ = recover() }()
			_ = git.WithProcess(t.Context(), r, func() { panic("a defect") })
			t.Error("nothing panicked")
		}()
		if _, err := r.Info(t.Context(), blob); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInfos(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	dir := gittest.Repository(t, 1, 3000)
	var shas []git.SHA
	for line := range strings.SplitSeq(gittest.Run(t, dir, "cat-file", "--batch-check=%(objectname)",
		"--batch-all-objects"), "\n") {
		shas = append(shas, git.SHA(line))
	}
	for _, n := range []int{0, 1, 64, 65, len(shas)} {
		infos, err := g.Repository(dir).Infos(t.Context(), shas[:n])
		if err != nil || len(infos) != n {
			t.Fatalf("%d of %d, %v", len(infos), n, err)
		}
		for i, o := range infos {
			if o.SHA != shas[i] || o.Size == 0 {
				t.Errorf("%d: %+v", i, o)
			}
		}
	}
	shas[100] = git.ZeroSHA
	if _, err := g.Repository(dir).Infos(t.Context(), shas); !errs.Is(err, errs.NotFound) {
		t.Errorf("one is missing: %v", err)
	}
	if _, err := g.Repository(dir).Infos(t.Context(), append(shas, "x")); !errs.Is(err, errs.Invalid) {
		t.Errorf("one is no SHA: %v", err)
	}
}

// However many readers there are, processes are few, and all end.
func TestPoolBounds(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{Processes: 3, ProcessesPerDir: 2, IdleTime: 50 * time.Millisecond})
	var dirs []string
	for range 4 {
		dirs = append(dirs, gittest.Repository(t, 2, 10))
	}
	tip := gittest.Resolve(t, dirs[0], "main")
	for _, c := range []struct {
		dirs []string
		most int
	}{{dirs[:1], 2}, {dirs, 3}} {
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				for range 100 {
					_, err := g.Repository(c.dirs[i%len(c.dirs)]).Commit(t.Context(), tip)
					// Without those that are ending: a busy machine may have any number of them.
					if busy, idle, _ := g.Pool(); err != nil || busy+idle > c.most {
						t.Errorf("%d processes for %d repositories, %v", busy+idle, len(c.dirs), err)
					}
				}
			})
		}
		wg.Wait()
	}
	testkit.Eventually(t, func() bool {
		n := 0
		for _, dir := range dirs {
			n += processes(t, dir)
		}
		return n == 0
	}, "the end of idle processes")
}

// A process that the system killed costs one replacement, not an error.
func TestPoolReplacesDead(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{ProcessesPerDir: 1})
	dir := gittest.Repository(t, 1, 3)
	tip := gittest.Resolve(t, dir, "main")
	r := g.Repository(dir)
	for range 3 {
		if _, err := r.Info(t.Context(), tip); err != nil {
			t.Fatal(err)
		}
		for _, pid := range pids(t, dir) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	g.Remove(dir, func() {})
	testkit.Eventually(t, func() bool { return processes(t, dir) == 0 }, "the end of forgotten processes")
}

func TestPoolCancelAndClose(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{ProcessesPerDir: 1})
	dir := gittest.Bare(t)
	r := g.Repository(dir)
	large := gittest.Object(t, dir, git.TypeBlob, strings.Repeat("x", 32<<20))
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
		_, got, err := r.Contents(ctx, large, 64<<20)
		if err == nil && len(got) != 32<<20 {
			t.Errorf("%d bytes", len(got))
		}
		cancel()
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Info(gone, large); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if o, err := r.Info(t.Context(), large); err != nil || o.Size != 32<<20 {
		t.Errorf("after cancelled reads: %v, %v", o, err)
	}
	testkit.NoError(t, g.Close())
	if n := processes(t, dir); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if _, err := r.Info(t.Context(), large); !errs.Is(err, errs.Unavailable) {
		t.Errorf("after Close: %v", err)
	}
}

// A process that is always busy must end one day, too: it may hold packs open that
// another node has replaced, and only its end frees their space.
func TestOldProcessesEnd(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{ProcessAge: 1})
	dir := gittest.Repository(t, 1, 1)
	r := g.Repository(dir)
	tip := gittest.Resolve(t, dir, "main")
	before := g.Started()
	for range 3 {
		if _, err := r.Info(t.Context(), tip); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.Started() - before; n != 3 {
		t.Errorf("3 reads took %d processes", n)
	}
}
