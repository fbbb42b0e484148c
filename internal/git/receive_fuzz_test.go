package git_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// Limits of the fuzzed repository: small, so that many inputs are over them.
const (
	fuzzedObjects = 6
	fuzzedBytes   = 2000
)

// Somebody who may push can send any bytes for a pack. They must not fill the disk,
// get past a limit, or be answered as a fault of the server. sealed inputs get
// the checksum that fits them, so that git looks beyond it.
//
// What the header alone refuses takes microseconds; the rest costs processes
// of git, so this test counts what was read to hold that it never starts them.
func FuzzReceive(f *testing.F) {
	g := gittest.New(f, git.Options{MaxPackObjects: fuzzedObjects, MaxPackBytes: fuzzedBytes})
	blob := entry{kind: 3, contents: "hello"}
	tree := treeOf(f, "100644", "f", blob.sha())
	commit := commitOf(tree.sha())
	addFuzzedPacks(f, blob, tree, commit)
	r := g.Repository(f.TempDir() + "/r.git")
	f.Fuzz(func(t *testing.T, pack []byte, sealed bool) {
		if sealed {
			sum := sha1.Sum(pack)
			pack = append(pack[:len(pack):len(pack)], sum[:]...)
		}
		in := &counted{r: bytes.NewReader(pack)}
		q, err := r.Receive(t.Context(), git.ReceiveOptions{Pack: in, Commands: creates(commit.sha())})
		checkVerdict(t, pack, in.n, err)
		if err == nil {
			object, _, err := q.Peeled(commit.sha())
			if err != nil || object.Type != git.TypeCommit {
				t.Errorf("an accepted tip is %v, %v", object, err)
			}
			if err := q.Discard(); err != nil {
				t.Error(err)
			}
		}
		nothingLeft(t, r)
	})
}

// checkVerdict holds what Receive said against the pack's header and length.
func checkVerdict(t *testing.T, pack []byte, read int, err error) {
	t.Helper()
	kind := errs.KindOf(err)
	if err != nil && kind != errs.Invalid && kind != errs.TooLarge {
		t.Fatalf("kind %d: %v", kind, err)
	}
	if len(pack) < 12 || !bytes.HasPrefix(pack, []byte("PACK\x00\x00\x00")) || pack[7] != 2 && pack[7] != 3 {
		if kind != errs.Invalid || read > 12 {
			t.Errorf("no header of a pack: %v after %d bytes", err, read)
		}
		return
	}
	switch count := binary.BigEndian.Uint32(pack[8:]); {
	case count > fuzzedObjects && (kind != errs.TooLarge || read > 12):
		t.Errorf("%d objects: %v after %d bytes", count, err, read)
	case count > 0 && len(pack) > fuzzedBytes && kind != errs.TooLarge:
		t.Errorf("%d bytes: %v", len(pack), err)
	case err != nil && kind == errs.TooLarge && count <= fuzzedObjects && len(pack) <= fuzzedBytes:
		t.Errorf("%d objects in %d bytes: %v", count, len(pack), err)
	}
}

// addFuzzedPacks adds packs that are good, damaged, over a limit, or end in one
// of git's own checks. They are given without their checksums.
func addFuzzedPacks(f *testing.F, blob, tree, commit entry) {
	add := func(count int, entries ...entry) {
		pack := makePack(f, count, entries...)
		f.Add(pack[:len(pack)-sha1.Size], true)
	}
	add(0, blob, tree, commit)
	add(0)
	add(1<<32-1, blob)
	add(fuzzedObjects+1, blob)
	add(fuzzedObjects, blob, tree, commit)
	add(0, tree, commit)                                                     // no blob
	add(0, blob, tree, commit, entry{kind: 5, contents: "x"})                // no such type
	add(0, blob, tree, commit, entry{kind: 3, size: 1 << 60, contents: "x"}) // a huge claim
	// within git's bound of memory
	add(0, blob, tree, commit, entry{kind: 2, size: 1 << 29, contents: "x"})
	add(0, blob, tree, commit, entry{kind: 3, contents: strings.Repeat("y", 9)}) // more than the tip needs
	copies := "\x05\x80\x80\x80\x80\x20" + strings.Repeat("\x90\x05", 100)       // gigabytes, says the delta
	add(0, blob, tree, commit, entry{kind: 7, base: hexBytes(f, blob.sha()), contents: copies})
	add(0, entry{kind: 7, base: strings.Repeat("\x12", 20), contents: "\x05\x05\x90\x05"})
	good := makePack(f, 0, blob, tree, commit)
	f.Add(good, false)
	f.Add(good[:len(good)-1], false)
	f.Add(append(good[:len(good):len(good)], "\nmore"...), false) // git ignores it
	f.Add(append(good[:len(good):len(good)], make([]byte, fuzzedBytes)...), false)
	for _, head := range []string{"", "PACK", "PACK\x00\x00\x00\x02\x00\x00\x00",
		"PACK\x00\x00\x00\x09\x00\x00\x00\x01x", "PACK\x00\x00\x01\x02\x00\x00\x00\x01x",
		"KCAP\x00\x00\x00\x02\x00\x00\x00\x01x"} {
		f.Add([]byte(head), false)
	}
}

// counted counts the bytes that were read.
type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}
