//go:build long

package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// packed is a repository that is made of many packs again and again.
type packed struct {
	dir     string          // on the server
	packs   []string        // files of packs, without what ends their names
	objects map[string]bool // that must stay
	begun   bool            // the server that was killed had noted in the database that it packs
}

// unpack adds many packs with deltas, packs of one object as the API writes them, and loose objects to a
// repository whose server is stopped. Its maintenance will make few packs of them.
func unpack(w *writer) bool {
	c, s, key := w.c, w.c.nodes[0], w.next()
	if c.packed == nil {
		c.packed = newPacked(c)
	}
	p := c.packed
	s.stop()
	loose := c.t.TempDir()
	var names strings.Builder
	for i := range 25 {
		copyPack(c.t, p.packs[(i+w.pieces)%len(p.packs)], filepath.Join(p.dir, "objects", "pack"))
		gittest.WriteFile(c.t, loose, fmt.Sprint(i), fmt.Sprint("loose ", key, i))
		fmt.Fprintln(&names, filepath.Join(loose, fmt.Sprint(i)))
	}
	gittest.Pipe(c.t, p.dir, strings.NewReader(names.String()), "hash-object", "-w", "--no-filters", "--stdin-paths")
	handle := gittest.New(c.t, git.Options{}).Repository(p.dir)
	for i := range 20 {
		blob := git.NewObject{Type: git.TypeBlob, Data: fmt.Appendf(nil, "%d of %s", i, key)}
		if _, err := handle.WriteObjects(c.t.Context(), []git.NewObject{blob}); err != nil {
			c.t.Fatal(err)
		}
	}
	maps.Copy(p.objects, objectsOf(c.t, p.dir))
	c.start(0)
	return true
}

func newPacked(c *world) *packed {
	source, packs := gittest.Repository(c.t, 60, 10), c.t.TempDir()
	c.nodes[0].repo("alice/packed", source)
	p := &packed{objects: map[string]bool{}}
	for i := range 30 {
		sum := gittest.Pipe(c.t, source, strings.NewReader(fmt.Sprintf("main~%d\n", i)),
			"pack-objects", "-q", "--revs", filepath.Join(packs, "pack"))
		p.packs = append(p.packs, filepath.Join(packs, "pack-"+strings.TrimSpace(string(sum))))
	}
	id := c.get("/repos/alice/packed")["id"]
	p.dir = glob(c.t, filepath.Join(c.nodes[0].data, "repositories", "*", fmt.Sprintf("%v.git", id)))[0]
	return p
}

// copyPack copies the index last: then git takes the files for a pack.
func copyPack(t testing.TB, pack, dir string) {
	t.Helper()
	for _, end := range []string{".pack", ".idx"} {
		data, err := os.ReadFile(pack + end)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(pack)+end), data, 0o600)
		}
		testkit.NoError(t, err)
	}
}

// objectsOf is the names of all objects of a repository.
func objectsOf(t testing.TB, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for sha := range strings.FieldsSeq(gittest.Run(t, dir, "cat-file", "--batch-check=%(objectname)",
		"--batch-all-objects", "--unordered")) {
		names[sha] = true
	}
	return names
}

// few reports whether the packs were made few.
func (p *packed) few(t testing.TB) bool {
	return len(glob(t, filepath.Join(p.dir, "objects", "pack", "pack-*.idx"))) < 20
}

// maintain writes a file, after which the repository's maintenance begins.
func maintain(w *writer) {
	status, _ := w.ask("alice", "PUT", "/repos/alice/packed/contents/"+w.key,
		`{"message": "Write", "content": "YQ=="}`)
	w.note("maintenance", w.key, outcomeOf(status))
	testkit.Eventually(w.c.t, func() bool { return w.c.ended() || w.c.packed.few(w.c.t) }, "few packs")
}

// killedWhilePacking kills the server while git makes a pack.
func killedWhilePacking(w *writer, kill func()) {
	unpack(w)
	w.c.stop = make(chan struct{})
	w.c.busy.Go(func() { maintain(w) })
	testkit.Eventually(w.c.t, func() bool {
		return len(glob(w.c.t, filepath.Join(w.c.packed.dir, "objects", "packing-*"))) > 0 || w.c.packed.few(w.c.t)
	}, "git begins to pack, or has packed")
	kill()
	close(w.c.stop)
	w.c.busy.Wait()
}

// checkObjects demands that each object is there, and has the next server go on at once.
func checkObjects(c *world) {
	c.t.Helper()
	after := objectsOf(c.t, c.packed.dir)
	for sha := range c.packed.objects {
		if !after[sha] {
			c.t.Errorf("%s is gone", sha)
		}
	}
	gittest.Run(c.t, c.packed.dir, "fsck", "--full", "--no-dangling")
	c.nodes[0].exec(`UPDATE packings SET due_at = 0`) // the lease of the killed server
	c.nodes[0].read(&c.packed.begun, `SELECT EXISTS (SELECT 1 FROM packings)`)
}

// checkPacked demands that the next server makes few packs, and that what was written is there. It goes on by
// itself with what the killed server had begun; between an answer and that beginning only memory knows of the
// packs, so then the next write has them packed.
func checkPacked(c *world) {
	c.t.Helper()
	if c.packed == nil {
		return
	}
	if done := c.story.of("maintenance"); len(done) > 0 && done[len(done)-1].told == acknowledged {
		if !c.packed.begun && !c.packed.few(c.t) {
			c.t.Log("killed before the packing began")
			res, text := c.nodes[0].do("alice", "POST", "/repos/alice/packed/git/blobs",
				http.Header{"Content-Type": {"application/json"}}, strings.NewReader(`{"content": "wake"}`))
			if res.StatusCode != http.StatusCreated {
				c.t.Fatalf("a blob: %d %s", res.StatusCode, text)
			}
		}
		testkit.Eventually(c.t, func() bool { return c.packed.few(c.t) }, "few packs by the next server")
	}
	c.checkTexts("maintenance", "/repos/alice/packed/contents?ref=main", "name")
	whole(c.t, c.nodes[0].remote("alice", "alice/packed"))
}
