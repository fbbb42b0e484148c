package git_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// entry is one object of a hand-made pack.
type entry struct {
	kind     byte   // 1 commit, 2 tree, 3 blob, 4 tag, 7 delta on base
	size     int64  // what the entry claims; the contents' when 0
	base     string // 20 bytes, of a delta
	contents string
}

// sha is the name of an object that is no delta.
func (e entry) sha() git.SHA {
	names := []string{"", "commit", "tree", "blob", "tag"}
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00%s", names[e.kind], len(e.contents), e.contents)
	return git.SHA(fmt.Sprintf("%x", h.Sum(nil)))
}

// makePack writes a pack of the entries, with a count of its own if not 0.
func makePack(t testing.TB, count int, entries ...entry) []byte {
	t.Helper()
	if count == 0 {
		count = len(entries)
	}
	b := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(count))
	var z bytes.Buffer
	w := zlib.NewWriter(&z) // one for all: making it costs more than what it packs
	for _, e := range entries {
		size := e.size
		if size == 0 {
			size = int64(len(e.contents))
		}
		c := e.kind<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			b = append(b, c|0x80)
			c = byte(size & 0x7f)
		}
		b = append(append(b, c), e.base...)
		z.Reset()
		w.Reset(&z)
		_, _ = io.WriteString(w, e.contents)
		_ = w.Close()
		b = append(b, z.Bytes()...)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

// commitOf is a commit of a tree, with more header lines if wanted.
func commitOf(tree git.SHA, parents ...git.SHA) entry {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s 1300000000 +0000\ncommitter %s 1300000000 +0000\n\nmessage\n", gittest.Author,
		gittest.Author)
	return entry{kind: 1, contents: b.String()}
}

// treeOf is a tree of one entry.
func treeOf(t testing.TB, mode, name string, sha git.SHA) entry {
	return entry{kind: 2, contents: mode + " " + name + "\x00" + hexBytes(t, sha)}
}

// packOf is what `git push` would send: what wants reach and haves do not.
func packOf(t testing.TB, dir string, wants, haves []string) []byte {
	t.Helper()
	in := strings.Join(wants, "\n") + "\n"
	for _, h := range haves {
		in += "^" + h + "\n"
	}
	return gittest.Pipe(t, dir, strings.NewReader(in), "pack-objects", "--revs", "--thin", "--stdout", "-q")
}

// files lists what a repository's directory of objects holds.
func files(t testing.TB, r *git.Repository) []string {
	t.Helper()
	var all []string
	_ = filepath.WalkDir(filepath.Join(r.Dir(), "objects"),
		func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() || err == nil && strings.HasPrefix(d.Name(), "incoming-") {
				all = append(all, path)
			}
			return nil
		})
	return all
}

// pids are the live git processes whose directory is dir.
func pids(t testing.TB, dir string) (all []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	for _, e := range entries {
		if cwd, err := os.Readlink("/proc/" + e.Name() + "/cwd"); err == nil && cwd == dir {
			if pid, err := strconv.Atoi(e.Name()); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// processes counts them: what a cancelled request must not leave behind.
func processes(t testing.TB, dir string) int {
	t.Helper()
	return len(pids(t, dir))
}

// nothingLeft holds that a repository has no file of objects.
func nothingLeft(t testing.TB, r *git.Repository) {
	t.Helper()
	if left := files(t, r); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
