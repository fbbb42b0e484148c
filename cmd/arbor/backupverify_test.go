package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// The operator's commands around a rotten backup: verify names the file, the nightly command fails once and
// mends it, and both forms of the command work.
func TestVerifyCommand(t *testing.T) {
	t.Parallel()
	s := serving(t, db.SQLite)
	s.user("alice")
	s.repo("alice/garden", heavy(t, 1<<20))
	if _, said := s.exits("doctor"); !strings.Contains(said, "no backup yet") {
		t.Errorf("doctor before the first backup: %s", said)
	}
	dir := filepath.Join(t.TempDir(), "backup")
	code, said := s.exits("backup", dir)
	if code != 0 || !strings.Contains(said, "backed up the store") {
		t.Errorf("status %d: %s", code, said)
	}
	if code, said := s.exits("backup", "verify", dir); code != 0 || !strings.Contains(said, "the backup is whole") {
		t.Errorf("status %d: %s", code, said)
	}
	var largest string
	var size int64
	err := filepath.WalkDir(filepath.Join(dir, "files"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > size {
			largest, size = path, info.Size()
		}
		return err
	})
	testkit.NoError(t, err)
	f, err := os.OpenFile(largest, os.O_WRONLY, 0)
	testkit.NoError(t, err)
	if _, err := f.WriteAt([]byte("rotten"), size/2); err != nil {
		t.Fatal(err)
	}
	f.Close()
	code, said = s.exits("backup", "verify", dir)
	if code != statusUnsound || !strings.Contains(said, "PROBLEM   files/") || !strings.Contains(said, filepath.Base(largest)) {
		t.Errorf("status %d: %s", code, said)
	}
	long := []byte(`{"next":"","at":"2020-01-01T00:00:00Z"}`)
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, "verified.json"), long, 0o600))
	if code, said = s.exits("backup", "make", dir); code != statusUnsound || !strings.Contains(said, filepath.Base(largest)) {
		t.Errorf("status %d: %s", code, said)
	}
	if code, said = s.exits("backup", dir); code != 0 {
		t.Errorf("status %d: %s", code, said)
	}
	if code, said = s.exits("backup", "verify", dir); code != 0 {
		t.Errorf("status %d: %s", code, said)
	}
	if _, said := s.exits("doctor"); !strings.Contains(said, "the last whole one is 0 hours") {
		t.Errorf("doctor after a backup: %s", said)
	}
	file := filepath.Join(t.TempDir(), "b.tar")
	testkit.NoError(t, os.WriteFile(file, nil, 0o600))
	for command, want := range map[string]string{"restore": "arbor restore - < " + file, "backup": "arbor backup - > " + file,
		"backup verify": "arbor restore --data NEW - < " + file} {
		if code, said := s.exits(append(strings.Fields(command), file)...); code != 1 || !strings.Contains(said, want) {
			t.Errorf("%s of a file: status %d: %s", command, code, said)
		}
	}
}
