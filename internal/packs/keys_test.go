package packs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/packs"
	"arbor/internal/repo"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// What others put below packs/ neither breaks a verification nor counts as a pack, and no sweep removes it.
func TestKeysOfOthers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := newPair(t, engine)
		p.garden(t)
		mustPush(t, p.a, "large", 200)
		pack := p.objects(t)[0]
		name := filepath.Base(pack)
		add := func(key string) {
			t.Helper()
			path := filepath.Join(p.depot, filepath.FromSlash(key))
			testkit.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			testkit.NoError(t, os.Link(pack, path))
		}
		others := []string{"packs/x", "packs/" + name, "packs/old/" + name, "packs/ab/x", "packs/ab/" + name[2:],
			"packs/ab/deep/ab" + name[2:], "packs/ab/ab" + name[2:] + ".bak", "packs/ab/AB" + strings.ToUpper(name[2:]),
			"packs/" + name[:2] + "/old/" + name}
		for _, key := range others {
			add(key)
		}
		left := []string{"packs/ab/ab" + strings.Repeat("0", 30), "packs/ab/.tmp-" + name}
		for _, key := range left {
			add(key)
		}
		verify := func() (foreign, problems []string) {
			t.Helper()
			_, err := p.a.Forge.Packs.Verify(t.Context(), packs.Verification{Progress: func(int64, int64) {},
				Problem: func(_ []repo.ID, problem string) { problems = append(problems, problem) },
				Left:    func(key string) { foreign = append(foreign, key) }, Bundle: func(string) {}})
			testkit.NoError(t, err)
			slices.Sort(foreign)
			return foreign, problems
		}
		want := slices.Sorted(slices.Values(slices.Concat(others, left)))
		if foreign, problems := verify(); !slices.Equal(foreign, want) || problems != nil {
			t.Errorf("left over are %q, want %q; problems are %q", foreign, want, problems)
		}
		p.sweep(t, 0)
		slices.Sort(others)
		if foreign, problems := verify(); !slices.Equal(foreign, others) || problems != nil {
			t.Errorf("after a sweep %q are left, want %q; problems are %q", foreign, others, problems)
		}
		testkit.NoError(t, os.Remove(pack))
		if _, problems := verify(); len(problems) != 1 || !strings.Contains(problems[0], "is missing") {
			t.Errorf("of a pack that lies elsewhere it is said %q", problems)
		}
	})
}
