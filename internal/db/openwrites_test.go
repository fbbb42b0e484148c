package db_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// Opening a database writes nothing: on a full disk the commands that make room would not work, nor a server
// start.
func TestOpeningWritesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "arbor.db")
	open := func() {
		t.Helper()
		d, err := db.Open(t.Context(), db.Options{URL: path})
		if err == nil {
			err = d.Close()
		}
		testkit.NoError(t, err)
	}
	open()
	before := time.Now().Add(-time.Hour).Truncate(time.Second)
	testkit.NoError(t, os.Chtimes(path, before, before))
	open()
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Equal(before) {
		t.Errorf("the file was written at %v: %v", info.ModTime(), err)
	}
}
