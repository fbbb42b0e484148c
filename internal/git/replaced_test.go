package git

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// node is git on a node of its own, which sets replaced packs aside at once.
func node(t testing.TB) *Git {
	t.Helper()
	g, err := New(t.Context(), Options{PackGrace: 1, Log: slog.New(slog.DiscardHandler)})
	testkit.NoError(t, err)
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func blobOf(text string) NewObject { return NewObject{Type: TypeBlob, Data: []byte(text)} }

// write writes each text as an object in a pack of its own, and gives its names.
func write(t testing.TB, r *Repository, texts ...string) (packs []packFile) {
	t.Helper()
	for _, text := range texts {
		if _, err := r.WriteObjects(t.Context(), []NewObject{blobOf(text)}); err != nil {
			t.Fatal(err)
		}
	}
	packs, err := r.packs()
	testkit.NoError(t, err)
	return packs
}

// must returns the result of a call that may not fail.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		testkit.NoError(t, err)
		return v
	}
}

// One node was asleep, so each of two nodes takes a pack for a copy of the other one.
// One of the two packs stays.
func TestTwoCopiesAreNotBothRemoved(t *testing.T) {
	t.Parallel()
	a, b := node(t), node(t)
	dir := filepath.Join(t.TempDir(), "r.git")
	ours, theirs := a.Repository(dir), b.Repository(dir)
	write(t, ours, "one", "two")
	one, two := string(blobOf("one").SHA()), string(blobOf("two").SHA())
	made := must[string](t)(ours.packObjects(t.Context(), bytes.NewBufferString(one+"\n"+two+"\n")))
	// The same objects in another order are another pack.
	other := must[string](t)(ours.packObjects(t.Context(), bytes.NewBufferString(two+"\n"+one+"\n")))
	if made == other {
		other = secondName(t, ours, made)
	}
	ours.git.state(dir).replaced.add(made, other)
	theirs.git.state(dir).replaced.add(other, made)
	for _, r := range []*Repository{ours, theirs} {
		testkit.NoError(t, r.setAsideReplaced(t.Context(), time.Now()))
	}
	left := must[[]packFile](t)(node(t).Repository(dir).packs())
	if !slices.ContainsFunc(left, func(p packFile) bool { return p.name == max(made, other) }) ||
		slices.ContainsFunc(left, func(p packFile) bool { return p.name == min(made, other) }) {
		t.Errorf("of %s and %s there are %v", made, other, left)
	}
}

// secondName returns a pack's files another name, too.
func secondName(t testing.TB, r *Repository, name string) string {
	t.Helper()
	to := "pack-" + strings.Repeat("f", 40)
	for _, ext := range []string{".pack", ".rev", ".idx"} {
		from, to := r.path("objects", "pack", name+ext), r.path("objects", "pack", to+ext)
		testkit.NoError(t, os.Link(from, to))
	}
	return to
}

// When one pack holds all objects of the others, it alone stays. Packing again copies
// nothing.
func TestPackingTheSameObjectsEnds(t *testing.T) {
	t.Parallel()
	r := node(t).Repository(filepath.Join(t.TempDir(), "r.git"))
	for i := range 30 {
		write(t, r, fmt.Sprint("object ", i))
	}
	for round := range 6 {
		testkit.NoError(t, r.Pack(t.Context()))
		packs := must[[]packFile](t)(r.packs())
		if round > 2 && len(packs) != 1 {
			t.Errorf("round %d: %v", round, packs)
		}
		if round == 2 {
			secondName(t, r, packs[0].name)
		}
	}
}

// A new pack must replace nothing when any of its bytes was damaged.
func TestDamagedPackReplacesNothing(t *testing.T) {
	t.Parallel()
	r := node(t).Repository(filepath.Join(t.TempDir(), "r.git"))
	packs := write(t, r, "first", "second", strings.Repeat("third ", 100))
	var list bytes.Buffer
	for _, p := range packs {
		list.WriteString(p.name + ".pack\n")
	}
	made := must[string](t)(r.packObjects(t.Context(), &list, "--stdin-packs"))
	path := r.path("objects", "pack", made)
	check := func(name string) error { return r.verifyPack(t.Context(), name) }
	if err := check(made); err != nil {
		t.Fatalf("a whole pack is refused: %v", err)
	}
	for _, ext := range []string{".pack", ".idx"} {
		whole := must[[]byte](t)(os.ReadFile(path + ext))
		testkit.NoError(t, os.Chmod(path+ext, 0o644))
		place := func(contents []byte) {
			testkit.NoError(t, os.WriteFile(path+ext, contents, 0o644))
		}
		for at := 5; at < len(whole); at += len(whole)/12 + 1 {
			damaged := slices.Clone(whole)
			damaged[at] ^= 0x10
			place(damaged)
			if r.replace(packs, made, check) == nil {
				t.Errorf("%s with another byte at %d of %d replaces others", ext, at, len(whole))
			}
		}
		place(whole[:len(whole)-3])
		if r.replace(packs, made, check) == nil {
			t.Errorf("%s that is cut off replaces others", ext)
		}
		if n, _ := r.git.state(r.dir).replaced.waiting(0); n != 0 {
			t.Errorf("%d packs are to go", n)
		}
		place(whole)
	}
	if err := r.replace(packs, made, check); err != nil {
		t.Errorf("a whole pack replaces nothing: %v", err)
	}
}

// A pack of 8 GiB or more is never copied again, so no packing reads more than a
// few times that.
func TestFullPacksStay(t *testing.T) {
	t.Parallel()
	packs := []packFile{{"pack-a", 1 << 20}, {"pack-b", 1 << 20}, {"pack-c", fullPack}, {"pack-d", fullPack}}
	if got := toCombine(packs); !slices.Equal(got, packs[:2]) {
		t.Errorf("%v are combined", got)
	}
}
