//go:build long

package git_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A process may read packs that are larger than its cage, since git maps them.
func TestPacksLargerThanCages(t *testing.T) {
	onLinux(t)
	t.Parallel()
	g := gittest.New(t, git.Options{Memory: 64 << 20})
	r := g.Repository(t.TempDir() + "/r.git")
	var stream strings.Builder
	stream.WriteString(gittest.CommitLine("main", 0, "c"))
	const size = 24 << 20
	for i := range 2 {
		stream.WriteString(gittest.FileLines(fmt.Sprint("f", i), noise(size, byte(i))))
	}
	testkit.NoError(t, r.Init())
	gittest.ImportStored(t, r.Dir(), strings.NewReader(stream.String()))
	blob := gittest.Resolve(t, r.Dir(), "main:f1")
	err := r.ReadBlob(t.Context(), blob, 1<<30, func(n int64, in io.Reader) error {
		got, err := io.Copy(io.Discard, in)
		if got != size {
			t.Errorf("%d bytes of %d", got, size)
		}
		if peak := memoryOf(r.Dir()); peak < size {
			t.Errorf("git held %d bytes at most: the pack was not mapped, and nothing is shown", peak)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	tip := gittest.Resolve(t, r.Dir(), "main")
	to := g.Repository(t.TempDir() + "/copy.git")
	if err := to.CopyHistories(t.Context(), r, []git.SHA{tip}); err != nil {
		t.Error(err)
	}
	var archive counter
	if err := r.Archive(t.Context(), &archive, tip, git.Zip, "x/"); err != nil || archive.n < 2*size {
		t.Errorf("archive of %d bytes: %v", archive.n, err)
	}
}
