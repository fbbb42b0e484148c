package fsck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Of a folder that is lost, a check says where it belongs and the two ways back, and --repair claims nothing.
// A file in its place does not end the check.
func TestLostFoldersHaveAWayBack(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Log.AllowErrors() // the server may come to the lost folder, too
		s.User(t, "alice")
		r := s.Repo(t, "alice/garden", false)
		s.Import(t, r, gittest.Repository(t, 3, 3))
		dir := filepath.Dir(s.ObjectsDir(t, r))
		aside := filepath.Join(filepath.Dir(dir), repo.GoneFolder{Folder: repo.Folder{ID: r.ID}, At: 1}.Name())
		for name, c := range map[string]struct {
			put  func() error
			want []string
		}{
			"nothing": {func() error { return nil },
				[]string{dir, "restore", "NEW/repositories/01/1.git", "arbor repo delete alice/garden"}},
			"a file": {func() error { return os.WriteFile(dir, nil, 0o600) },
				[]string{dir, "not a directory", "arbor repo delete alice/garden"}},
			"an empty folder": {func() error { return os.Mkdir(dir, 0o700) },
				[]string{dir, "it has no objects", "arbor repo delete alice/garden"}},
			"a folder set aside": {func() error { return os.Mkdir(aside, 0o700) },
				[]string{"It was set aside as " + aside}},
		} {
			testkit.NoError(t, os.Rename(dir, dir+".away"))
			testkit.NoError(t, c.put())
			for _, repair := range []bool{false, true} {
				found := look(t, s, Options{Repair: repair})
				var told *Finding
				for n, f := range found.Findings {
					if f.Repository == "alice/garden" {
						told = &found.Findings[n]
					}
				}
				if found.Sound() || told == nil || told.Repairable || told.Repaired {
					t.Errorf("%s, repair %v: %s", name, repair, found.text())
					continue
				}
				for _, want := range c.want {
					if !strings.Contains(told.Problem, want) {
						t.Errorf("%s: no %q in %q", name, want, told.Problem)
					}
				}
			}
			for _, path := range []string{dir, aside} {
				testkit.NoError(t, os.RemoveAll(path))
			}
			testkit.NoError(t, os.Rename(dir+".away", dir))
		}
		if found := look(t, s, Options{}); !found.Sound() {
			t.Error(found.text())
		}
	})
}
