//go:build long

package git_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Packing creates few packs of many and loses nothing: also not what no ref
// names, since a pull request or a cached answer may.
func TestPackKeepsAll(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{PackGrace: 1})
	r := g.Repository(t.TempDir() + "/r.git")
	if needs, err := r.NeedsPacking(); needs || err != nil {
		t.Errorf("without a directory: %v, %v", needs, err)
	}
	source := gittest.Repository(t, 50, 20)
	var tips []git.SHA
	for i := 49; i >= 0; i-- {
		rev := fmt.Sprintf("main~%d", i)
		tip := gittest.Resolve(t, source, rev)
		var haves []string
		for _, h := range tips {
			haves = append(haves, string(h))
		}
		push(t, r, packOf(t, source, []string{rev}, haves), tips, tip)
		tips = append(tips, tip)
	}
	for i := range 2000 { // nothing names these
		if i%200 == 0 {
			gittest.Object(t, r.Dir(), git.TypeBlob, fmt.Sprint("loose ", i))
		}
	}
	before := objects(t, r.Dir())
	if needs, err := r.NeedsPacking(); !needs || err != nil {
		t.Errorf("50 packs: %v, %v", needs, err)
	}
	testkit.NoError(t, r.Pack(t.Context()))
	if after := objects(t, r.Dir()); after != before {
		t.Errorf("objects before:\n%s\nafter:\n%s", before, after)
	}
	for _, name := range files(t, r) {
		if strings.Contains(name, "objects/packing-") || strings.Contains(name, "tmp_") {
			t.Errorf("%s is left", name)
		}
	}
	if packs := countPacks(t, r.Dir()); packs > 3 {
		t.Errorf("%d packs are left", packs)
	}
	if needs, err := r.NeedsPacking(); needs || err != nil {
		t.Errorf("packed: %v, %v", needs, err)
	}
	gittest.Run(t, r.Dir(), "fsck", "--full")
	if err := r.Pack(t.Context()); err != nil {
		t.Errorf("packing twice: %v", err)
	}
	if after := objects(t, r.Dir()); after != before {
		t.Error("packing twice lost objects")
	}
}
