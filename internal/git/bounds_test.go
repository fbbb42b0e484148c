package git_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
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
		{Type: git.TypeBlob, Data: make([]byte, git.MaxBlobBytes+1)},
		{Type: git.TypeCommit, Data: make([]byte, git.MaxNewCommitBytes+1)},
		{Type: git.TypeTag, Data: make([]byte, git.MaxNewCommitBytes+1)},
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
			testkit.NoError(t, q.Keep())
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
