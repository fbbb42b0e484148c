package backup_test

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/backup"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/migration"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// What is exported of a backup is what is exported of the store, and the objects of other repositories are not
// copied.
func TestOneRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		f := fixture.New(t, s)
		f.Build(t, "guild", "saved", true)
		f.Build(t, "guild", "other", false)
		testkit.NoError(t, s.Server.Settle(t.Context()))
		saved := filepath.Join(t.TempDir(), "backup")
		whole := save(t, s, saved)
		want := exported(t, s.DB, s.Server.Forge())

		dir := t.TempDir()
		to := backup.Destination{Database: db.Options{URL: filepath.Join(dir, "arbor.db")}, Folder: dir}
		testkit.NoError(t, backup.OneRepository(t.Context(), saved, to, "Guild", "Saved"))
		copied := 0
		testkit.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if !d.IsDir() && !strings.HasPrefix(d.Name(), "arbor.db") {
				copied++
			}
			return err
		}))
		if copied == 0 || copied > len(whole.Files)*2/3 {
			t.Errorf("%d of %d files of the backup were copied", copied, len(whole.Files))
		}
		d, err := db.Open(t.Context(), to.Database)
		testkit.NoError(t, err)
		defer d.Close()
		g, err := git.New(t.Context(), git.Options{})
		testkit.NoError(t, err)
		defer g.Close()
		got := exported(t, d, forge.New(d, g, slog.New(slog.DiscardHandler), dir))
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s:\n%s\nwant\n%s", name, got[name], text)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d files were exported, not %d", len(got), len(want))
		}

		to.Folder = t.TempDir()
		to.Database.URL = filepath.Join(to.Folder, "arbor.db")
		err = backup.OneRepository(t.Context(), saved, to, "guild", "none")
		if err == nil || err.Error() != "the backup holds no repository guild/none" {
			t.Errorf("a repository that is not in the backup: %v", err)
		}
	})
}

// exported returns the files of an export of guild/saved, without the bundle, which git packs anew, and
// repository.json, which says when it was made.
func exported(t *testing.T, d *db.DB, f *forge.Forge) map[string]string {
	t.Helper()
	found, err := f.Repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, "guild", "saved")
	testkit.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "export")
	to, err := migration.NewFolder(dir)
	testkit.NoError(t, err)
	_, err = migration.New(d, f, slog.New(slog.DiscardHandler)).Export(t.Context(), found.Access.OnArchived(), to,
		migration.ExportOptions{Address: "https://code.example.org", Progress: func(string, int64, int64) {}})
	testkit.NoError(t, err)
	files := map[string]string{}
	testkit.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".bundle") || d.Name() == "repository.json" {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(text)
		return err
	}))
	return files
}
