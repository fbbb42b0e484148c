package git_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/git/serve"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// onLinux skips a test where processes have no cages.
func onLinux(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are limited as Linux does it")
	}
}

// deltaOf is a blob that copies the beginning of its base until it has so many bytes.
func deltaOf(t testing.TB, base entry, result int) entry {
	t.Helper()
	d := binary.AppendUvarint(nil, uint64(len(base.contents)))
	d = binary.AppendUvarint(d, uint64(result))
	for result > 0 {
		n := min(result, len(base.contents), 0xfffffe)
		d = append(d, 0x80|0x10|0x20|0x40, byte(n), byte(n>>8), byte(n>>16))
		result -= n
	}
	return entry{kind: 7, base: hexBytes(t, base.sha()), contents: string(d)}
}

// store puts a pack into a repository as it would have been stored before there
// were bounds.
func store(t testing.TB, r *git.Repository, entries ...entry) {
	t.Helper()
	testkit.NoError(t, r.Init())
	gittest.Pipe(t, r.Dir(), bytes.NewReader(makePack(t, 0, entries...)), "index-pack", "--stdin")
}

// noise is text that does not compress and makes no deltas.
func noise(size int, seed byte) string {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return string(b)
}

// counter counts what is written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// memoryOf is the most memory that a process that runs in a directory has held, in bytes.
func memoryOf(dir string) (peak int64) {
	self, _ := os.Executable()
	list, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range list {
		if cwd, err := os.Readlink(link); err != nil || cwd != dir {
			continue
		}
		if exe, err := os.Readlink(filepath.Join(filepath.Dir(link), "exe")); err != nil || exe == self {
			continue // not git yet: the new process has our own memory
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "status"))
		_, rest, _ := strings.Cut(string(status), "VmHWM:")
		var kilobytes int64
		_, _ = fmt.Sscan(rest, &kilobytes)
		peak = max(peak, kilobytes<<10)
	}
	return peak
}

// peakOf is the most memory that a process in a directory held while fn ran, in
// bytes. It looks every two milliseconds.
func peakOf(dir string, fn func()) (peak int64) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				peak = max(peak, memoryOf(dir))
			}
		}
	}()
	fn()
	close(stop)
	<-done
	return peak
}

// slack is what a process holds beside its data: its program and mapped packs.
const slack = 24 << 20

// A pack of some kilobytes that unpacks to a gigabyte does not cost a gigabyte: git
// ends at the limit of its cage, and the client reads why.
func TestDeltaBomb(t *testing.T) {
	onLinux(t)
	t.Parallel()
	base := entry{kind: 3, contents: strings.Repeat("a\n", 20<<20)}
	bomb := []entry{base}
	for i := range 20 {
		bomb = append(bomb, deltaOf(t, base, len(base.contents)+1000*(i+1)))
	}
	for name, pack := range map[string][]byte{
		"held":     makePack(t, 0, bomb...),
		"streamed": makePack(t, 0, append(bomb, entry{kind: 3, contents: noise(300<<10, 1)})...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t, git.Options{Memory: 128 << 20})
			r := g.Repository(t.TempDir() + "/r.git")
			var err error
			peak := peakOf(r.Dir(), func() {
				_, err = receive(t, r, base.sha(), pack)
			})
			const says = "git needs more than 64 MiB of memory"
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v", err)
			}
			if peak > 64<<20+slack {
				t.Errorf("git took %d bytes", peak)
			}
			nothingLeft(t, r)
		})
	}
}

// One large file may be another one renamed. git would take gigabytes to compare them.
func TestDiffOfLargeFiles(t *testing.T) {
	onLinux(t)
	t.Parallel()
	g := gittest.New(t, git.Options{Memory: 256 << 20})
	r := g.Repository(t.TempDir() + "/r.git")
	one := entry{kind: 3, contents: strings.Repeat("a\n", 12<<20)}
	two := entry{kind: 3, contents: one.contents[:len(one.contents)-1000]}
	before, after := treeOf(t, "100644", "a", one.sha()), treeOf(t, "100644", "b", two.sha())
	store(t, r, one, two, before, after)
	peak := peakOf(r.Dir(), func() {
		options := diff.Options{Max: 10, Lines: 100, Bytes: 1000, Sum: 1000}
		_, err := diff.Compare(t.Context(), r, before.sha(), after.sha(), options)
		if err != nil && !errs.Is(err, errs.Invalid) {
			t.Errorf("got %v", err)
		}
	})
	if peak > 32<<20+slack {
		t.Errorf("git took %d bytes", peak)
	}
}

// limitsOf reads the limit of data of each process in a directory.
func limitsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	list, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	for _, p := range list {
		if cwd, err := os.Readlink("/proc/" + p.Name() + "/cwd"); err != nil || cwd != dir {
			continue
		}
		command, _ := os.ReadFile("/proc/" + p.Name() + "/cmdline")
		limits, _ := os.ReadFile("/proc/" + p.Name() + "/limits")
		for line := range strings.Lines(string(limits)) {
			if rest, ok := strings.CutPrefix(line, "Max data size"); ok {
				found[strings.Join(strings.Split(string(command), "\x00")[:2], " ")] = strings.Fields(rest)[0]
			}
		}
	}
	return found
}

// Processes that git starts by itself are in its cage, too.
func TestChildrenInherit(t *testing.T) {
	onLinux(t)
	t.Parallel()
	g := gittest.New(t, git.Options{})
	r := g.Repository(t.TempDir() + "/r.git")
	testkit.NoError(t, r.Init())
	importFile(t, r.Dir(), "f", noise(4<<20, 1))
	tip := gittest.Resolve(t, r.Dir(), "main")
	in := strings.NewReader("0032want " + string(tip) + "\n00000009done\n")
	stuck, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		refs := func(context.Context) (git.Refs, error) {
			main := git.Ref{Name: "refs/heads/main", SHA: tip}
			return git.Refs{Head: main.Name, List: []git.Ref{main}, Generation: 1}, nil
		}
		err := serve.UploadPack(t.Context(), gittest.Opened(r), serve.Request{In: in, Out: out, Refs: refs})
		_ = out.Close()
		done <- err
	}()
	first := make([]byte, 100<<10)
	if _, err := io.ReadFull(stuck, first); err != nil {
		t.Fatal(err)
	}
	limits := limitsOf(t, r.Dir())
	if len(limits) < 2 {
		t.Errorf("processes: %v", limits)
	}
	for command, limit := range limits {
		if limit == "unlimited" {
			t.Errorf("%s has no limit", command)
		}
	}
	_, _ = io.Copy(io.Discard, stuck)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// An object that is too large for a pooled process gets a process of its own, or is
// refused. Other readers do not notice.
func TestPooledProcessOutgrows(t *testing.T) {
	onLinux(t)
	t.Parallel()
	base := entry{kind: 3, contents: strings.Repeat("a\n", 8<<20)}
	small := entry{kind: 3, contents: "small"}
	for name, c := range map[string]struct {
		memory int64
		ok     bool
	}{"read": {1 << 30, true}, "refused": {64 << 20, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t, git.Options{Memory: c.memory, ProcessesPerDir: 1})
			r := g.Repository(t.TempDir() + "/r.git")
			huge := deltaOf(t, base, len(base.contents)+1000)
			store(t, r, small, base, huge)
			sha := entry{kind: 3, contents: base.contents + base.contents[:1000]}.sha()
			for range 3 {
				_, contents, err := r.Contents(t.Context(), sha, 64<<20)
				isWhole := err == nil && len(contents) == len(base.contents)+1000
				if c.ok && !isWhole || !c.ok && !errs.Is(err, errs.Invalid) {
					t.Errorf("%d bytes, %v", len(contents), err)
				}
				err = r.ReadBlob(t.Context(), sha, 64<<20, func(n int64, in io.Reader) error {
					_, err := io.Copy(io.Discard, in)
					return err
				})
				if c.ok && err != nil || !c.ok && !errs.Is(err, errs.Invalid) {
					t.Errorf("streamed: %v", err)
				}
				_, contents, err = r.Contents(t.Context(), small.sha(), 100)
				if err != nil || string(contents) != "small" {
					t.Errorf("small: %q, %v", contents, err)
				}
			}
		})
	}
}

// A process that computes without end is ended, and its request refused.
func TestProcessorTime(t *testing.T) {
	onLinux(t)
	t.Parallel()
	dir := gittest.Repository(t, 1, 1)
	endless := gittest.Wrapped(t, "archive", "while :; do :; done")
	r := gittest.New(t, git.Options{ReadTimeout: time.Second, Binary: endless}).Repository(dir)
	err := serve.Archive(t.Context(), r, io.Discard, gittest.Resolve(t, dir, "main"), serve.Zip, "x/")
	if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "processor time") {
		t.Errorf("got %v", err)
	}
}

// ledger is an Admit that counts the memory that was not given back, and the most that one process asked for.
type ledger struct {
	mu        sync.Mutex
	out, most int64
	calls     int
	refuses   error
}

func (l *ledger) admit(_ context.Context, n int64) (func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses != nil {
		return nil, l.refuses
	}
	l.out += n
	l.most = max(l.most, n)
	l.calls++
	return sync.OnceFunc(func() { l.mu.Lock(); l.out -= n; l.mu.Unlock() }), nil
}

// The memory of each process is asked for before it starts and given back in the
// end, however it ends. Without it no process starts.
func TestAdmit(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	dir := gittest.Repository(t, 20, 20)
	g := gittest.New(t, git.Options{Admit: l.admit})
	r := g.Repository(dir)
	tip := gittest.Resolve(t, dir, "main")
	tree := gittest.Resolve(t, dir, "main^{tree}")
	blob := gittest.Resolve(t, dir, "main:dir1/file1.txt")
	other := g.Repository(t.TempDir() + "/r.git")
	stopped := func([]byte) (int, error) { return 0, errors.New("enough") }
	for name, do := range map[string]func() error{
		"info": func() error { _, err := r.Info(t.Context(), tip); return err },
		"missing": func() error {
			_, err := r.Info(t.Context(), git.SHA(strings.Repeat("1", 40)))
			return err
		},
		"log": func() error {
			_, _, _, err := r.Log(t.Context(), git.LogOptions{From: []git.SHA{tip}, Max: 5})
			return err
		},
		"walk": func() error {
			return r.WalkTree(t.Context(), tree, true, func(*git.WalkEntry) error { return git.ErrStop })
		},
		"diff": func() error {
			_, err := diff.Compare(t.Context(), r, git.EmptyTree, tree, diff.Options{Max: 1})
			return err
		},
		"no tree": func() error {
			return r.WalkTree(t.Context(), blob, true, func(*git.WalkEntry) error { return nil })
		},
		"archive": func() error { return serve.Archive(t.Context(), r, writerFunc(stopped), tip, serve.TarGz, "x/") },
		"copy":    func() error { return git.CopyObjects(t.Context(), r, other, tip, nil, admitAll) },
		"pack":    func() error { return r.Pack(t.Context()) },
	} {
		l.calls, l.refuses = 0, nil
		_ = do()
		if l.calls == 0 && name != "pack" || l.out != 0 {
			t.Errorf("%s: asked %d times, %d bytes are out", name, l.calls, l.out)
		}
		full := errs.New(errs.Unavailable, "full")
		before := g.Started()
		if l.refuses = full; name != "pack" {
			if err := do(); !errors.Is(err, full) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if n := g.Started() - before; n != 0 {
			t.Errorf("%s: %d processes were started all the same", name, n)
		}
	}
}
