//go:build long

package siege

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

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// push is a pack as a client sends it, and the commit that it brings.
type push struct {
	pack []byte
	tip  git.SHA
}

// plant makes mallory's harmful repositories. A server that refuses such pushes may have
// them from earlier, so they are written past it.
func (w *world) plant() {
	w.t.Helper()
	w.plantRepository("control", controlCommits)
	w.plantRepository("trees", func(w *world, dir string) git.SHA { return treeBomb(w, dir, "a") })
	w.plantRepository("renames", renamedGiants)
	w.plantRepository("subst", substitutions)
	w.plantRepository("large", largeFile)
	w.pushes["trees"] = w.packed(func(w *world, dir string) git.SHA { return treeBomb(w, dir, "b") })
	w.pushes["zeros"] = w.packed(zeros)
	w.pushes["message"] = w.packed(func(w *world, dir string) git.SHA {
		return commit(w, dir, emptyTree, strings.Repeat("\x01", 4_000_000))
	})
	w.pushes["deltas"] = deltaBomb()
}

// hashed writes a blob.
func hashed(w *world, dir string, contents io.Reader) git.SHA {
	out := gittest.Pipe(w.t, dir, contents, "hash-object", "-w", "--stdin")
	return git.SHA(strings.TrimSpace(string(out)))
}

const emptyTree = git.SHA("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

// plantRepository makes mallory/NAME and puts what fn makes into it, beside the server.
func (w *world) plantRepository(name string, fn func(w *world, dir string) git.SHA) {
	w.t.Helper()
	seed := gittest.Repository(w.t, 1, 1)
	w.arbor("repo", "create", "mallory/"+name, "--import", seed)
	dir := gittest.Bare(w.t)
	gittest.Object(w.t, dir, git.TypeTree, "")
	tip := fn(w, dir)
	w.tips[name] = tip
	w.tips[name+"^"] = git.SHA(gittest.Run(w.t, dir, "rev-parse", string(tip)+"^@"))
	pack := gittest.Pipe(w.t, dir, strings.NewReader(string(tip)+"\n"), "-c", "core.bigFileThreshold=4g",
		"pack-objects", "-q", "--revs", "--stdout",
		"--window=0")
	d, err := db.Open(w.t.Context(), db.Options{URL: w.databaseURL()})
	if err != nil {
		w.t.Fatal(err)
	}
	defer d.Close()
	var id int64
	err = d.Write(w.t.Context(), func(tx *db.Tx) error {
		if err := tx.QueryRow(`SELECT id FROM repos WHERE name = $1`, name).Scan(&id); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE refs SET sha = $2 WHERE repo_id = $1 AND name = 'refs/heads/main'`, id,
			string(tip))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	found, _ := filepath.Glob(filepath.Join(w.data, "repositories", "*", fmt.Sprintf("%d.git", id)))
	if len(found) != 1 {
		w.t.Fatalf("the folder of repository %d: %q", id, found)
	}
	gittest.Pipe(w.t, found[0], bytes.NewReader(pack), "-c", "core.bigFileThreshold=1m",
		"index-pack", "--stdin")
}

func (w *world) databaseURL() string {
	if w.database != "" {
		return w.database
	}
	return filepath.Join(w.data, "arbor.db")
}

// packed is what fn makes as a push brings it.
func (w *world) packed(fn func(w *world, dir string) git.SHA) *push {
	w.t.Helper()
	dir := gittest.Bare(w.t)
	gittest.Object(w.t, dir, git.TypeTree, "")
	tip := fn(w, dir)
	in := strings.NewReader(string(tip) + "\n")
	pack := gittest.Pipe(w.t, dir, in, "pack-objects", "-q", "--revs", "--stdout", "--window=0")
	return &push{tip: tip, pack: pack}
}

func commit(w *world, dir string, tree git.SHA, message string, parents ...git.SHA) git.SHA {
	text := "tree " + string(tree) + "\n"
	for _, p := range parents {
		text += "parent " + string(p) + "\n"
	}
	text += fmt.Sprintf("author %s %d +0000\ncommitter %[1]s %[2]d +0000\n\n", gittest.Author, gittest.Start)
	return gittest.Object(w.t, dir, git.TypeCommit, text+message)
}

// entry is a line of a tree.
func entry(mode, name string, sha git.SHA) string {
	raw, _ := hex.DecodeString(string(sha))
	return mode + " " + name + "\x00" + string(raw)
}

// controlCommits are 100 commits with messages of 4 MB that JSON makes six times as long; in a
// short run 10.
func controlCommits(w *world, dir string) git.SHA {
	commits := 100
	if *siegeFor == 0 {
		commits = 10
	}
	var tip git.SHA
	for n := range commits {
		message := fmt.Sprintf("%d\n\n%s", n, strings.Repeat("\x01", 4_000_000))
		if tip == "" {
			tip = commit(w, dir, emptyTree, message)
		} else {
			tip = commit(w, dir, emptyTree, message, tip)
		}
	}
	return tip
}

// treeBomb is a history of two commits, the second of which has 10^10 paths in a
// dozen objects.
func treeBomb(w *world, dir, text string) git.SHA {
	first := commit(w, dir, emptyTree, "nothing")
	below, mode := gittest.Object(w.t, dir, git.TypeBlob, text), "100644"
	for range 10 {
		var tree strings.Builder
		for k := range 10 {
			tree.WriteString(entry(mode, fmt.Sprintf("d%d", k), below))
		}
		below, mode = gittest.Object(w.t, dir, git.TypeTree, tree.String()), "40000"
	}
	return commit(w, dir, below, "everything", first)
}

// renamedGiants are commits between which six large blobs of much the same contents
// change their names; in a short run two.
func renamedGiants(w *world, dir string) git.SHA {
	blobs := 6
	if *siegeFor == 0 {
		blobs = 2
	}
	tree := func(prefix string) git.SHA {
		var text strings.Builder
		for k := range blobs {
			blob := bytes.Repeat([]byte{0}, 30<<20)
			copy(blob, fmt.Sprint(prefix, k))
			sha := hashed(w, dir, bytes.NewReader(blob))
			text.WriteString(entry("100644", fmt.Sprint(prefix, k), sha))
		}
		return gittest.Object(w.t, dir, git.TypeTree, text.String())
	}
	return commit(w, dir, tree("b"), "b", commit(w, dir, tree("a"), "a"))
}

// substitutions are files that an archive may fill in.
func substitutions(w *world, dir string) git.SHA {
	attributes := gittest.Object(w.t, dir, git.TypeBlob, "* export-subst\n")
	body := gittest.Object(w.t, dir, git.TypeBlob, strings.Repeat("$Format:%B$", 15_000))
	signed := gittest.Object(w.t, dir, git.TypeBlob, strings.Repeat("$Format:%G?$", 1000))
	tree := gittest.Object(w.t, dir, git.TypeTree,
		entry("100644", ".gitattributes", attributes)+
			entry("100644", "body", body)+entry("100644", "signed", signed))
	return commit(w, dir, tree, strings.Repeat("long ", 12_000))
}

// largeFile is a file of 20 MB that does not compress.
func largeFile(w *world, dir string) git.SHA {
	var blob bytes.Buffer
	sum := sha1.Sum([]byte("large"))
	for blob.Len() < 20<<20 {
		sum = sha1.Sum(sum[:])
		blob.Write(sum[:])
	}
	sha := gittest.Object(w.t, dir, git.TypeBlob, blob.String())
	return commit(w, dir, gittest.Object(w.t, dir, git.TypeTree, entry("100644", "file", sha)), "large")
}

// zeros is a blob of 900 MB in 900 KB; in a short run it is as much smaller as it can
// be to be refused.
func zeros(w *world, dir string) git.SHA {
	size := int64(900 << 20)
	if *siegeFor == 0 {
		size = 110 << 20
	}
	sha := hashed(w, dir, io.LimitReader(zeroReader{}, size))
	return commit(w, dir, gittest.Object(w.t, dir, git.TypeTree, entry("100644", "zeros", sha)), "zeros")
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// deltaBomb is a pack whose small deltas each make a blob of some 500 MB out of
// one of 16 MB. Its tip is no object of it: nobody gets as far as to look for it.
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
