package git_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/object"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// ofs is the delta d, but names its base by place: so many bytes before it.
func ofs(d entry, back int) entry {
	base := []byte{byte(back & 0x7f)}
	for back >>= 7; back > 0; back >>= 7 {
		back--
		base = append([]byte{0x80 | byte(back&0x7f)}, base...)
	}
	return entry{kind: 6, base: string(base), contents: d.contents}
}

// The API writes no object that a push may not bring.
func TestLargeObjectsAreNotWritten(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, git.Options{}).Repository(t.TempDir() + "/r.git")
	for _, o := range []git.NewObject{
		{Type: git.TypeBlob, Data: make([]byte, object.MaxBlobBytes+1)},
		{Type: git.TypeCommit, Data: make([]byte, object.MaxNewCommitBytes+1)},
		{Type: git.TypeTag, Data: make([]byte, object.MaxNewCommitBytes+1)},
		{Type: git.TypeTree, Data: make([]byte, git.MaxTreeBytes+1)},
	} {
		_, err := r.WriteObjects(t.Context(), []git.NewObject{o})
		if !errs.Is(err, errs.TooLarge) || !strings.Contains(err.Error(), string(o.SHA())) {
			t.Errorf("%s: %v", o.Type, err)
		}
	}
}

// tenfold is a tree that names another one ten times.
func tenfold(t testing.TB, sha git.SHA) entry {
	var tree strings.Builder
	for c := 'a'; c < 'k'; c++ {
		tree.WriteString("40000 " + string(c) + "\x00" + hexBytes(t, sha))
	}
	return entry{kind: 2, contents: tree.String()}
}

// A tree bomb may come in small pieces. Trees that are stored already count too,
// also on a server that has not read them yet, and for trees that the API makes.
func TestTreeBombInPieces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/r.git"
	blob := entry{kind: 3, contents: "x"}
	top := treeOf(t, "100644", "f", blob.sha())
	pushed := []entry{blob, top}
	var err error
	for level := 1; err == nil; level++ {
		if level > 8 {
			t.Fatal("a hundred million paths were taken")
		}
		r := gittest.New(t, git.Options{}).Repository(dir)
		below := top.sha()
		top = tenfold(t, below)
		var q *git.Quarantine
		if q, err = receive(t, r, top.sha(), makePack(t, 0, append(pushed, top)...)); err == nil {
			testkit.NoError(t, q.Keep(t.Context()))
		} else if level < 6 {
			t.Fatalf("level %d: %v", level, err)
		} else {
			var edits []git.TreeEdit
			for c := 'a'; c < 'k'; c++ {
				edits = append(edits, git.TreeEdit{Path: "in/" + string(c), Mode: git.ModeTree, SHA: below})
			}
			var problem *git.TreeProblem
			_, err := r.BuildTree(t.Context(), "", edits)
			if !errors.As(err, &problem) || !strings.Contains(problem.Reason, "paths") {
				t.Errorf("made by the API: %v", err)
			}
			if _, err := r.BuildTree(t.Context(), "", edits[:1]); err != nil {
				t.Errorf("one of them: %v", err)
			}
		}
		pushed = nil
	}
	says := "tree " + string(top.sha()) + " has more than 10000000 paths"
	if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v", err)
	}
}

// A tree may be stored before its sub-trees. It is counted again once they are there.
func TestTreeBombUpsideDown(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	r := g.Repository(t.TempDir() + "/r.git")
	blob := entry{kind: 3, contents: "x"}
	levels := []entry{treeOf(t, "100644", "f", blob.sha())}
	for range 8 {
		levels = append(levels, tenfold(t, levels[len(levels)-1].sha()))
	}
	store(t, r, append([]entry{blob}, levels[5:]...)...)
	edit := []git.TreeEdit{{Path: "in", Mode: git.ModeTree, SHA: levels[8].sha()}}
	if _, err := r.BuildTree(t.Context(), "", edit); err != nil {
		t.Fatal(err) // nothing below is here
	}
	_, err := receive(t, r, levels[8].sha(), makePack(t, 0, levels[:5]...))
	if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "paths") {
		t.Errorf("got %v", err)
	}
}

// Other small pushes that could cost git much memory.
func TestSmallPushesThatCostMuch(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{Memory: 256 << 20})
	blob := entry{kind: 3, contents: "x"}
	tags := []entry{blob}
	for i := range 5000 {
		below := tags[len(tags)-1]
		kind := map[byte]string{3: "blob", 4: "tag"}[below.kind]
		contents := fmt.Sprintf("object %s\ntype %s\ntag t\ntagger %s 1300000000 +0000\n\n%d\n",
			below.sha(), kind, gittest.Author, i)
		tags = append(tags, entry{kind: 4, contents: contents})
	}
	chain := []entry{blob}
	base := entry{kind: 3, contents: strings.Repeat("a\n", 1000)}
	chain = append(chain, base)
	for i := range 5000 {
		next := entry{kind: 3, contents: base.contents[:1000] + fmt.Sprint(i)}
		added := next.contents[1000:]
		d := binary.AppendUvarint(nil, uint64(len(base.contents)))
		d = binary.AppendUvarint(d, uint64(len(next.contents)))
		d = append(append(d, 0xb0, 1000&0xff, 1000>>8, byte(len(added))), added...)
		chain = append(chain, entry{kind: 7, base: hexBytes(t, base.sha()), contents: string(d)})
		base = next
	}
	modules := entry{kind: 3, contents: strings.Repeat("[submodule \"a\"]\n\tpath = a\n", 2<<20)}
	attributes := entry{kind: 3, contents: strings.Repeat("a a\n", 12<<20)}
	withModules := treeOf(t, "100644", ".gitmodules", modules.sha())
	withAttributes := treeOf(t, "100644", ".gitattributes", attributes.sha())
	for name, c := range map[string]struct {
		tip     git.SHA
		objects []entry
		count   int
	}{
		"tags":        {tags[len(tags)-1].sha(), tags, 0},
		"deltas":      {blob.sha(), chain, 0},
		"modules":     {withModules.sha(), []entry{modules, withModules}, 0},
		"attributes":  {withAttributes.sha(), []entry{attributes, withAttributes}, 0},
		"wrong size":  {blob.sha(), []entry{blob, {kind: 3, size: 90 << 20, contents: "short"}}, 0},
		"wrong tree":  {blob.sha(), []entry{blob, {kind: 2, size: 3 << 30, contents: "short"}}, 0},
		"wrong count": {blob.sha(), []entry{blob}, 9_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			r := g.Repository(t.TempDir() + "/r.git")
			peak := peakOf(r.Dir(), func() {
				q, err := receive(t, r, c.tip, makePack(t, c.count, c.objects...))
				if err == nil {
					_ = q.Discard()
				} else if k := errs.KindOf(err); k != errs.Invalid && k != errs.TooLarge {
					t.Errorf("got %v", err)
				}
			})
			if peak > 128<<20+slack {
				t.Errorf("git took %d bytes", peak)
			}
		})
	}
}

// A pack of few bytes may hold trees nested without end, or one that names
// itself a billion times over. A push of them is refused. Listing those that are
// stored from before ends soon, with a clear error or when the reader has enough.
func TestTreesWithoutEnd(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	blob := entry{kind: 3, contents: "hello"}
	deep := []entry{blob, treeOf(t, "100644", "f", blob.sha())}
	for range 10000 {
		deep = append(deep, treeOf(t, "40000", "d", deep[len(deep)-1].sha()))
	}
	wide := []entry{blob, treeOf(t, "100644", "f", blob.sha())}
	for range 10 {
		wide = append(wide, tenfold(t, wide[len(wide)-1].sha()))
	}
	long := entry{kind: 2, contents: "100644 " + strings.Repeat("x",
		git.MaxPath+1) + "\x00" + hexBytes(t, blob.sha())}
	for name, objects := range map[string][]entry{"deep": deep, "wide": wide, "long": {blob, long}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := g.Repository(t.TempDir() + "/r.git")
			top := objects[len(objects)-1].sha()
			pack := makePack(t, 0, objects...)
			_, err := receive(t, r, top, pack)
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "tree ") {
				t.Errorf("pushed: %v", err)
			}
			store(t, r, objects...)
			n := 0
			err = r.WalkTree(t.Context(), top, true, func(*git.WalkEntry) error {
				if n++; n == 100_000 {
					return git.ErrStop
				}
				return nil
			})
			if name == "wide" && (err != nil || n != 100_000) ||
				name != "wide" && !errs.Is(err, errs.Invalid) {
				t.Errorf("%d entries, %v", n, err)
			}
			if name == "long" {
				err := r.WalkTree(t.Context(), top, false, func(*git.WalkEntry) error { return nil })
				if !errs.Is(err, errs.Invalid) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// A merge of tree bombs merges each tree once. Pull requests make it in the background.
func TestMergeOfTreeBombs(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, git.Options{}).Repository(t.TempDir() + "/r.git")
	blob := entry{kind: 3, contents: "x"}
	var objects []entry
	var commits []git.SHA
	for i, names := range []string{"f", "fg", "fh"} {
		var leaf strings.Builder
		for _, c := range names {
			leaf.WriteString("100644 " + string(c) + "\x00" + hexBytes(t, blob.sha()))
		}
		top := entry{kind: 2, contents: leaf.String()}
		objects = append(objects, top)
		for range 10 {
			top = tenfold(t, top.sha())
			objects = append(objects, top)
		}
		var parents []git.SHA
		if i > 0 {
			parents = commits[:1]
		}
		commit := commitOf(top.sha(), parents...)
		objects, commits = append(objects, commit), append(commits, commit.sha())
	}
	store(t, r, append(objects, blob)...)
	m, err := r.MergeTree(t.Context(), commits[1], commits[2])
	if err != nil || m.Conflict {
		t.Fatal(m, err)
	}
	merged := entry{kind: 2}
	for _, c := range "fgh" {
		merged.contents += "100644 " + string(c) + "\x00" + hexBytes(t, blob.sha())
	}
	for range 10 {
		merged = tenfold(t, merged.sha())
	}
	if m.Tree != merged.sha() {
		t.Errorf("merged to %s, not %s", m.Tree, merged.sha())
	}
}
