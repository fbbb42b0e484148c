package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/backup"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

func files(t *testing.T, dir string) map[string]fs.FileInfo {
	t.Helper()
	found := map[string]fs.FileInfo{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else if d.Name() != "verified.json" { // each backup says in it what of the one before it has read
			found[path] = info
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has the mode %o", path, info.Mode().Perm())
		}
		return err
	})
	testkit.NoError(t, err)
	return found
}

func save(t *testing.T, s *apitest.Server, dir string) *backup.Manifest {
	t.Helper()
	m, err := backup.ToFolder(t.Context(), backup.Source{DB: s.DB, Folder: s.Dir}, dir)
	testkit.NoError(t, err)
	return m
}

// A second backup adds what is new and nothing else; one that fails leaves the earlier one
// as it was; and everything is its owner's alone.
func TestLaterBackups(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		fixture.New(t, s).Build(t, "guild", "saved", false)
		s.Settle(t)
		dir := filepath.Join(t.TempDir(), "backup")
		save(t, s, dir)
		before := files(t, dir)
		m := save(t, s, dir)
		after := files(t, dir)
		for path, info := range after {
			if old := before[path]; old == nil && !strings.HasSuffix(path, m.Tables.SHA256) &&
				!strings.HasSuffix(path, "manifest.json") ||
				old != nil && !strings.HasSuffix(path, "manifest.json") && !os.SameFile(old, info) {
				t.Errorf("%s was written again", path)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		stopped := backup.Source{DB: s.DB, Folder: s.Dir, Progress: func(part string, done, all int64) {
			if done == all && part == "repositories" {
				cancel()
			}
		}}
		if _, err := backup.ToFolder(ctx, stopped, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("a backup that was stopped: %v", err)
		}
		for path, info := range after {
			if now, err := os.Stat(path); err != nil || !os.SameFile(now, info) {
				t.Errorf("%s changed: %v", path, err)
			}
		}
	})
}

// What is deleted after the snapshot stays for the backup, however eager the sweep is, and
// goes afterwards.
func TestDeletedDuringABackup(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := fixture.New(t, s)
		w.Build(t, "owner", "saved", false)
		gone := 0
		from := backup.Source{DB: s.DB, Folder: s.Dir, Progress: func(part string, done, _ int64) {
			if part != "repositories" || done > 0 {
				return
			}
			s.Run(t, []apitest.Case{{As: "owner", Do: "DELETE /repos/owner/saved", Status: 204}})
			s.Repos.Wait()
			if err := s.Forge.Maintenance.Sweep(context.Background(), 0); err != nil {
				t.Error(err)
			}
			gone++
		}}
		dir := filepath.Join(t.TempDir(), "backup")
		if _, err := backup.ToFolder(t.Context(), from, dir); err != nil || gone != 1 {
			t.Fatal(err)
		}
		to := backup.Destination{Database: db.Options{URL: dbtest.URL(t, s.Engine)}, Folder: t.TempDir()}
		if err := backup.FromFolder(t.Context(), dir, to); err != nil {
			t.Error(err)
		}
		// Each of the world's repositories has an asset, an attachment and an object of Git LFS, which its fork has, too.
		var gones, left []string
		testkit.Eventually(t, func() bool { // a worker may be reading one
			testkit.NoError(t, s.Forge.Maintenance.Sweep(t.Context(), 0))
			gones, _ = filepath.Glob(filepath.Join(s.Dir, "repositories", "*", "gone-*"))
			left, _ = filepath.Glob(filepath.Join(s.Dir, "files", "*", "*"))
			return len(gones) == 0 && len(left) == 4*len(w.Homes)-3
		}, "what was deleted is gone", func() string { return fmt.Sprint(gones, len(left), " files") })
		if saved, _ := filepath.Glob(filepath.Join(to.Folder, "files", "*", "*")); len(saved) != 4*len(w.Homes) {
			t.Errorf("of the files of %d repositories %d were saved", len(w.Homes), len(saved))
		}
	})
}

// Whatever is wrong with a backup is found before the store is touched.
func TestDamagedBackups(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	fixture.New(t, s).Build(t, "guild", "saved", false)
	whole := filepath.Join(t.TempDir(), "backup")
	m := save(t, s, whole)
	manifest := filepath.Join(whole, "manifest.json")
	text, err := os.ReadFile(manifest)
	testkit.NoError(t, err)
	object := filepath.Join(whole, "files", m.Files[0].SHA256[:2], m.Files[0].SHA256)
	tables := filepath.Join(whole, "files", m.Tables.SHA256[:2], m.Tables.SHA256)
	for name, path := range map[string]string{"object": object, "tables": tables, "manifest": manifest} {
		was, err := os.ReadFile(path)
		testkit.NoError(t, err)
		altered := bytes.Clone(was)
		altered[len(altered)/2] ^= 1
		for kind, contents := range map[string][]byte{"cut short": was[:len(was)-1], "altered": altered,
			"missing": nil} {
			testkit.NoError(t, os.WriteFile(path, contents, 0o600))
			if contents == nil {
				os.Remove(path)
			}
			refused(t, whole, name+" "+kind)
		}
		testkit.NoError(t, os.WriteFile(path, was, 0o600))
	}
	for from, to := range map[string]string{
		`"path":"repositories/`:   `"path":"../repositories/`,
		`"format":1`:              `"format":2`,
		`"migrations":[{"number"`: `"migrations":[{"number":0,"checksum":""},{"number"`,
		`objects/pack/`:           `hooks/`,
	} {
		testkit.NoError(t, os.WriteFile(manifest, backup.Sealed(strings.ReplaceAll(string(text), from, to)),
			0o600))
		refused(t, whole, to)
	}
}

func refused(t *testing.T, dir, what string) {
	t.Helper()
	folder := t.TempDir()
	to := backup.Destination{Database: db.Options{URL: filepath.Join(folder, "arbor.db")}, Folder: folder}
	if err := backup.FromFolder(t.Context(), dir, to); err == nil {
		t.Errorf("%s: it was restored", what)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%s: the store was touched: %v %v", what, left, err)
	}
}

// Whatever a manifest says, its files stay in the data folder.
func FuzzManifest(f *testing.F) {
	f.Add(`{"format":1,"at":"2026-01-01T00:00:00Z","newest":"2026-01-01T00:00:00Z","migrations":[],"tables":{"path":"tables","size":0,"sha256":""},"files":[{"path":"repositories/01/1.git/HEAD","size":1,"sha256":""}]}`)
	f.Add(`{"format":1,"files":[{"path":"repositories/01/1.git/../../../x","size":1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := backup.ParseManifest(backup.Sealed(text))
		if err != nil {
			return
		}
		for _, file := range m.Files {
			if !filepath.IsLocal(file.Path) || !strings.HasPrefix(file.Path, "repositories/") &&
				!strings.HasPrefix(file.Path, "acme/") && !strings.HasPrefix(file.Path, "ssh/") {
				t.Errorf("%q", file.Path)
			}
		}
	})
}
