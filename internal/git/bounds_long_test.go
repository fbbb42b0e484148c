//go:build long

package git_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/serve"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Objects that are larger than anyone can show are refused, each by name, however
// the pack holds them, and nothing of the push stays.
func TestLargeObjectsAreRefused(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	blob := entry{kind: 3, contents: "x"}
	tree := treeOf(t, "100644", "f", blob.sha())
	person := gittest.Author + " 1300000000 +0000"
	people := "author " + person + "\ncommitter " + person + "\n\n"
	commit := func(message string) entry {
		return entry{kind: 1, contents: "tree " + string(tree.sha()) + "\n" + people + message}
	}
	fine := commit(strings.Repeat("y\n", 500_000))
	long := commit(strings.Repeat("y\n", 530_000))
	tag := entry{kind: 4, contents: "object " + string(tree.sha()) + "\ntype tree\ntag t\n" +
		"tagger " + person + "\n\n" + strings.Repeat("y\n", 530_000)}
	var parents strings.Builder
	for i := range 23_000 {
		fmt.Fprintf(&parents, "parent %040x\n", i+1)
	}
	manyParents := strings.Replace(commit("x").contents, "author", parents.String()+"author", 1)
	family := entry{kind: 1, contents: manyParents}
	var wide strings.Builder
	id := hexBytes(t, blob.sha())
	for i := range 1_000_000 {
		fmt.Fprintf(&wide, "100644 %08d\x00%s", i, id)
	}
	million := entry{kind: 2, contents: wide.String()}
	zeros := strings.Repeat("\x00", 60<<20)
	half := entry{kind: 3, contents: zeros}
	huge := entry{kind: 3, contents: strings.Repeat("\x00", 101<<20)}
	link := treeOf(t, "120000", "link", huge.sha())
	byName := deltaOf(t, half, len(huge.contents))
	byPlace := ofs(byName, len(makePack(t, 0, half))-32)
	has := func(kind string, e entry) string { return kind + " " + string(e.sha()) + " has " }
	hasHuge := has("blob", huge)
	longBytes := fmt.Sprintf("%d bytes (maximum is 1048576)", len(long.contents))
	for name, c := range map[string]struct {
		objects []entry
		tip     git.SHA
		says    string // nothing: it is taken
	}{
		"fine":           {[]entry{blob, tree, fine}, fine.sha(), ""},
		"commit":         {[]entry{blob, tree, long}, long.sha(), has("commit", long) + longBytes},
		"parents":        {[]entry{blob, tree, family}, family.sha(), has("commit", family)},
		"tag":            {[]entry{blob, tree, tag}, tag.sha(), has("tag", tag)},
		"tree":           {[]entry{blob, million}, million.sha(), has("tree", million)},
		"blob":           {[]entry{huge}, huge.sha(), hasHuge},
		"link":           {[]entry{huge, link}, link.sha(), hasHuge},
		"delta by name":  {[]entry{blob, byName, half}, blob.sha(), hasHuge},
		"delta by place": {[]entry{blob, half, byPlace}, blob.sha(), hasHuge},
	} {
		t.Run(name, func(t *testing.T) {
			r := g.Repository(t.TempDir() + "/r.git")
			q, err := receive(t, r, c.tip, makePack(t, 0, c.objects...))
			if c.says == "" {
				testkit.NoError(t, err)
				_ = q.Discard()
				return
			}
			if !errs.Is(err, errs.TooLarge) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			nothingLeft(t, r)
		})
	}
}

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
	if err := serve.Archive(t.Context(), r, &archive, tip, serve.Zip, "x/"); err != nil || archive.n < 2*size {
		t.Errorf("archive of %d bytes: %v", archive.n, err)
	}
}

// The walk's bound is 1.5 x git's own listing, with JSON rendered meanwhile.
func TestWalkGoTree(t *testing.T) {
	dir, tree := gittest.GoTree(t)
	g := gittest.New(t, git.Options{})
	want := gittest.Pipe(t, dir, nil, "ls-tree", "-r", "-t", "-l", "-z", "--full-tree", string(tree))
	if got := listing(t, g.Repository(dir), tree, true); got != string(want) {
		t.Error("the listing of the Go distribution differs from git's")
	}
}
