//go:build long && linux

package load

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

const emptyTree = git.SHA("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

// history writes the objects of a history into the bare repository dir, which has the empty tree, and
// returns its last commit.
type history func(t testing.TB, dir string) git.SHA

// push is a pack as a client sends it, and the commit that it brings.
type push struct {
	pack []byte
	tip  git.SHA
}

// plant creates mallory's harmful repositories. They are written directly to the store, because the server
// rejects such pushes but may have older ones.
func (w *world) plant() {
	w.t.Helper()
	for name, h := range map[string]history{"control": controlCommits, "trees": treeBomb("a"),
		"renames": renamedGiants, "subst": substitutions} {
		w.plantRepository(name, h)
	}
	for name, h := range map[string]history{"trees": treeBomb("b"), "zeros": zeros, "message": longMessage} {
		_, p := pack(w.t, h)
		w.pushes[name] = p
	}
	w.pushes["deltas"] = deltaBomb()
}

// pack creates a history in a new repository, and a pack of it.
func pack(t testing.TB, h history) (dir string, p *push) {
	t.Helper()
	dir = gittest.Bare(t)
	gittest.Object(t, dir, git.TypeTree, "")
	tip := h(t, dir)
	return dir, &push{tip: tip, pack: gittest.Pipe(t, dir, strings.NewReader(string(tip)+"\n"),
		"pack-objects", "-q", "--revs", "--stdout", "--window=0")}
}

// plantRepository creates mallory/NAME and writes a history to it.
func (w *world) plantRepository(name string, h history) {
	w.t.Helper()
	w.arbor("repo", "create", "mallory/"+name, "--import", gittest.Repository(w.t, 1, 1))
	dir, p := pack(w.t, h)
	w.tips[name] = p.tip
	w.tips[name+"^"] = git.SHA(gittest.Run(w.t, dir, "rev-parse", string(p.tip)+"^@"))
	url := w.database
	if url == "" {
		url = filepath.Join(w.data, "arbor.db")
	}
	d, err := db.Open(w.t.Context(), db.Options{URL: url})
	testkit.NoError(w.t, err)
	defer d.Close()
	var id int64
	err = d.Write(w.t.Context(), func(tx *db.Tx) error {
		if err := tx.QueryRow(`SELECT id FROM repos WHERE name = $1`, name).Scan(&id); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE refs SET sha = $2 WHERE repo_id = $1 AND name = 'refs/heads/main'`, id,
			string(p.tip))
		return err
	})
	testkit.NoError(w.t, err)
	found, _ := filepath.Glob(filepath.Join(w.data, "repositories", "*", fmt.Sprintf("%d.git", id)))
	if len(found) != 1 {
		w.t.Fatalf("the folder of repository %d: %q", id, found)
	}
	gittest.Pipe(w.t, found[0], bytes.NewReader(p.pack), "-c", "core.bigFileThreshold=1m", "index-pack", "--stdin")
}

func commit(t testing.TB, dir string, tree git.SHA, message string, parents ...git.SHA) git.SHA {
	text := "tree " + string(tree) + "\n"
	for _, p := range parents {
		text += "parent " + string(p) + "\n"
	}
	text += fmt.Sprintf("author %s %d +0000\ncommitter %[1]s %[2]d +0000\n\n", gittest.Author, gittest.Start)
	return gittest.Object(t, dir, git.TypeCommit, text+message)
}

// entry is a line of a tree.
func entry(mode, name string, sha git.SHA) string {
	raw, _ := hex.DecodeString(string(sha))
	return mode + " " + name + "\x00" + string(raw)
}

// lesser is how much of something is planted: less for a short siege.
func lesser(whole, short int) int {
	if *runFor == 0 {
		return short
	}
	return whole
}

// controlCommits have messages of 4 MB that JSON makes six times as long.
func controlCommits(t testing.TB, dir string) (tip git.SHA) {
	var parents []git.SHA
	for n := range lesser(100, 10) {
		tip = commit(t, dir, emptyTree, fmt.Sprintf("%d\n\n%s", n, strings.Repeat("\x01", 4_000_000)), parents...)
		parents = []git.SHA{tip}
	}
	return tip
}

func longMessage(t testing.TB, dir string) git.SHA {
	return commit(t, dir, emptyTree, strings.Repeat("\x01", 4_000_000))
}

// treeBomb is a history of two commits; the second has 10^10 paths in a dozen objects.
func treeBomb(text string) history {
	return func(t testing.TB, dir string) git.SHA {
		first := commit(t, dir, emptyTree, "nothing")
		below, mode := gittest.Object(t, dir, git.TypeBlob, text), "100644"
		for range 10 {
			var tree strings.Builder
			for k := range 10 {
				tree.WriteString(entry(mode, fmt.Sprintf("d%d", k), below))
			}
			below, mode = gittest.Object(t, dir, git.TypeTree, tree.String()), "40000"
		}
		return commit(t, dir, below, "everything", first)
	}
}

// renamedGiants are commits between which large blobs of much the same contents change their names.
func renamedGiants(t testing.TB, dir string) git.SHA {
	tree := func(prefix string) git.SHA {
		var text strings.Builder
		for k := range lesser(6, 2) {
			blob := bytes.Repeat([]byte{0}, 30<<20)
			copy(blob, fmt.Sprint(prefix, k))
			sha := gittest.Object(t, dir, git.TypeBlob, string(blob))
			text.WriteString(entry("100644", fmt.Sprint(prefix, k), sha))
		}
		return gittest.Object(t, dir, git.TypeTree, text.String())
	}
	return commit(t, dir, tree("b"), "b", commit(t, dir, tree("a"), "a"))
}

// substitutions are files that an archive may fill in.
func substitutions(t testing.TB, dir string) git.SHA {
	var tree string
	for _, f := range []struct{ name, text string }{{".gitattributes", "* export-subst\n"},
		{"body", strings.Repeat("$Format:%B$", 15_000)}, {"signed", strings.Repeat("$Format:%G?$", 1000)}} {
		tree += entry("100644", f.name, gittest.Object(t, dir, git.TypeBlob, f.text))
	}
	return commit(t, dir, gittest.Object(t, dir, git.TypeTree, tree), strings.Repeat("long ", 12_000))
}

// zeros is a blob of 900 MB in 900 KB; for a short siege it is only large enough to be refused.
func zeros(t testing.TB, dir string) git.SHA {
	blank := io.LimitReader(zeroReader{}, int64(lesser(900, 110))<<20)
	out := gittest.Pipe(t, dir, blank, "hash-object", "-w", "--stdin")
	blob := git.SHA(strings.TrimSpace(string(out)))
	return commit(t, dir, gittest.Object(t, dir, git.TypeTree, entry("100644", "zeros", blob)), "zeros")
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// deltaBomb is a pack whose small deltas each make a blob of some 500 MB out of one of 16 MB. It has no
// object for its tip: nobody gets as far as to look for it.
func deltaBomb() *push {
	var pack bytes.Buffer
	const deltas = 20
	pack.WriteString("PACK")
	binary.Write(&pack, binary.BigEndian, [2]uint32{2, 1 + deltas})
	base := make([]byte, 16<<20-1)
	at := pack.Len()
	packEntry(&pack, 3, len(base), nil, base)
	for n := range deltas {
		delta := binary.AppendUvarint(nil, uint64(len(base)))
		const copies = 32
		delta = binary.AppendUvarint(delta, copies*uint64(len(base))+1)
		for range copies {
			delta = append(delta, 0x80|0x70, 0xff, 0xff, 0xff) // copy 0xffffff bytes from 0
		}
		delta = append(delta, 1, byte(n)) // and one byte more
		packEntry(&pack, 6, len(delta), offset(pack.Len()-at), delta)
	}
	sum := sha1.Sum(pack.Bytes())
	pack.Write(sum[:])
	return &push{pack: pack.Bytes(), tip: git.SHA(strings.Repeat("ab", 20))}
}

// packEntry appends an object to a pack.
func packEntry(pack *bytes.Buffer, kind, size int, base, contents []byte) {
	b := byte(kind<<4 | size&15)
	for size >>= 4; size > 0; size >>= 7 {
		pack.WriteByte(b | 0x80)
		b = byte(size & 0x7f)
	}
	pack.WriteByte(b)
	pack.Write(base)
	z := zlib.NewWriter(pack)
	z.Write(contents)
	z.Close()
}

// offset is the way back to a delta's base, as packs write it.
func offset(n int) []byte {
	list := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		list = append([]byte{byte(n&0x7f) | 0x80}, list...)
	}
	return list
}
