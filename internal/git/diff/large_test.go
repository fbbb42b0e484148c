package diff_test

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"arbor/internal/test/testenv"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// counter counts what is written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// A diff of 200 MB costs the server and git what a small one does: its git has
// 100 MB, and would have them if the diff were ten times as large. It is not
// parallel, since it counts all that the process allocates.
func TestLargeDiffsStream(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory of processes is limited as Linux does it")
	}
	const lines = 16 << 10 // of 64 bytes
	files := 200
	if !testenv.Long {
		files = 20
	}
	dir := gittest.Bare(t)
	stream, in := io.Pipe()
	go func() {
		w := bufio.NewWriter(in)
		fmt.Fprint(w, gittest.CommitLine("main", 0, "a"), gittest.CommitLine("main", 1, "b"))
		for f := range files {
			fmt.Fprintf(w, "M 100644 inline f%d\ndata %d\n", f, 64*lines)
			for line := range lines {
				fmt.Fprintf(w, "%31d %31d\n", f, line)
			}
		}
		fmt.Fprintln(w, "done")
		in.CloseWithError(w.Flush())
	}()
	gittest.Pipe(t, dir, stream, "-c", "fastimport.unpackLimit=0", "-c", "core.compression=1", "fast-import",
		"--quiet", "--depth=0")
	first, second := gittest.Resolve(t, dir, "main~1"), gittest.Resolve(t, dir, "main")
	small := filepath.Join(t.TempDir(), "git")
	testkit.Program(t, small, "ulimit -v 100000 && exec git \"$@\"\n")
	r := gittest.New(t, git.Options{Binary: small}).Repository(dir)
	for name, write := range map[string]func(io.Writer) error{
		"diff":  func(w io.Writer) error { return diff.Write(t.Context(), w, r, first, second) },
		"patch": func(w io.Writer) error { return diff.WritePatches(t.Context(), w, r, second, first) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var c counter
		if err := write(&c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if want := int64(files) << 20; c.n < want {
			t.Errorf("%s: %d bytes of more than %d", name, c.n, want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%s: the server took %d bytes of memory for %d", name, used, c.n)
		}
	}
}
