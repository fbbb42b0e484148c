package backup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/backup"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// stored is a file of a backup, by its digest.
func stored(dir, sum string) string { return filepath.Join(dir, "files", sum[:2], sum) }

// flip changes one byte of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	testkit.NoError(t, err)
	text[len(text)/2] ^= 1
	testkit.NoError(t, os.WriteFile(path, text, 0o600))
}

// problems verifies a backup.
func problems(t *testing.T, dir string) (list []string) {
	t.Helper()
	_, err := backup.Verify(t.Context(), dir,
		backup.Verification{Problem: func(line string) { list = append(list, line) }})
	testkit.NoError(t, err)
	return list
}

// sinceRead says when the last backup was that read a part of the one before.
func sinceRead(t *testing.T, dir string, ago time.Duration) {
	t.Helper()
	text := fmt.Sprintf(`{"next":"","at":%q}`, time.Now().Add(-ago).UTC().Format(time.RFC3339))
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, "verified.json"), []byte(text), 0o600))
}

// largest is the file of a backup with the most bytes, which is not that of the database's rows.
func largest(m *backup.Manifest) (f backup.File) {
	for _, other := range m.Files {
		if other.Size > f.Size {
			f = other
		}
	}
	return f
}

// A byte that flips in a backup is found by verifying it, with the name of the file, and so is a file that is
// missing; a whole one has no problem. Otherwise the restore alone would notice.
func TestVerify(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	fixture.New(t, s).Build(t, "guild", "saved", false)
	dir := filepath.Join(t.TempDir(), "backup")
	m := save(t, s, dir)
	if found := problems(t, dir); len(found) > 0 {
		t.Errorf("a whole backup: %q", found)
	}
	altered, missing := largest(m), m.Files[0]
	flip(t, stored(dir, altered.SHA256))
	flip(t, stored(dir, m.Tables.SHA256))
	testkit.NoError(t, os.Remove(stored(dir, missing.SHA256)))
	found := strings.Join(problems(t, dir), "\n")
	for _, want := range []string{altered.SHA256 + " (" + altered.Path, m.Tables.SHA256 + " (tables): it does not match",
		"it is missing"} {
		if !strings.Contains(found, want) {
			t.Errorf("no %q in:\n%s", want, found)
		}
	}
	if strings.Count(found, "\n") != 2 {
		t.Errorf("there are other problems:\n%s", found)
	}
	flip(t, filepath.Join(dir, "manifest.json"))
	if _, err := backup.Verify(t.Context(), dir, backup.Verification{}); err == nil {
		t.Error("an altered manifest was taken")
	}
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := backup.Verify(t.Context(), dir, backup.Verification{}); err == nil {
			t.Error("there is a backup where none is")
		}
	}
}

// The nightly backup reads so much of the one before that all was read in a month. What is bad it names,
// keeps, and copies again, so that the new backup is whole.
func TestNightlyVerification(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		fixture.New(t, s).Build(t, "guild", "saved", false)
		dir := filepath.Join(t.TempDir(), "backup")
		m := save(t, s, dir)
		bad := largest(m)
		again := func() (found []string) {
			t.Helper()
			from := backup.Source{DB: s.DB, Folder: s.Dir, Problem: func(line string) { found = append(found, line) }}
			if _, err := backup.ToFolder(t.Context(), from, dir); err != nil {
				t.Fatal(err)
			}
			return found
		}
		flip(t, stored(dir, bad.SHA256))
		sinceRead(t, dir, 0)
		if found := again(); len(found) > 0 {
			t.Errorf("a backup right after another one read the files again: %q", found)
		}
		sinceRead(t, dir, 31*24*time.Hour)
		if found := again(); len(found) != 1 || !strings.Contains(found[0], bad.SHA256) {
			t.Errorf("of the file that is altered was told: %q", found)
		}
		if kept, _ := filepath.Glob(filepath.Join(dir, "rotten", bad.SHA256+"-*")); len(kept) != 1 {
			t.Errorf("the altered file was not kept: %q", kept)
		}
		if found := problems(t, dir); len(found) > 0 {
			t.Errorf("the new backup is not whole: %q", found)
		}
		testkit.NoError(t, os.Truncate(stored(dir, bad.SHA256), 1))
		sinceRead(t, dir, 0)
		if found := again(); len(found) != 1 || !strings.Contains(found[0], bad.SHA256) {
			t.Errorf("of the file that is cut off was told: %q", found)
		}
		if found := problems(t, dir); len(found) > 0 {
			t.Errorf("the new backup is not whole: %q", found)
		}
	})
}

// A month of nights reads everything, and each night a part.
func TestNightsReadEverything(t *testing.T) {
	t.Parallel()
	files := map[string]int64{}
	for n := range 300 {
		files[fmt.Sprintf("%064x", n*n*7919)] = int64(n * 100)
	}
	read, most := backup.Nights(files, 31)
	if len(read) != len(files) {
		t.Errorf("of %d files %d were read", len(files), len(read))
	}
	if most > len(files)/5 {
		t.Errorf("in one night %d files of %d were read", most, len(files))
	}
}

// Only a backup that came to its end counts as the last one.
func TestLastBackup(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		last := func() (at db.Time) {
			t.Helper()
			err := s.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
				at, err = repo.LastBackup(tx)
				return err
			})
			testkit.NoError(t, err)
			return at
		}
		from := backup.Source{DB: s.DB, Folder: s.Dir}
		testkit.NoError(t, os.MkdirAll(filepath.Join(s.Dir, "acme", "x"), 0o700))
		if _, err := backup.ToStream(t.Context(), from, failing{}); err == nil || last() != 0 {
			t.Errorf("after a backup that failed (%v) the last one is of %v", err, last())
		}
		m := save(t, s, filepath.Join(t.TempDir(), "backup"))
		if last().Time().UnixMicro() != m.At.UnixMicro() {
			t.Errorf("the last backup is of %v, and that was made of %v", last().Time(), m.At)
		}
	})
}

// failing is a stream that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }
