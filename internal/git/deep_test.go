package git_test

import (
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

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
