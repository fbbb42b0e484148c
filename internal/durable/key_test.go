package durable

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// All nodes with a data folder sign alike, and so does the server after a restart.
func TestKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	first, err := Key(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Key(dir)
	if err != nil || !bytes.Equal(first, again) || len(first) != keySize {
		t.Errorf("%x, then %x (%v)", first, again, err)
	}
	info, err := os.Stat(filepath.Join(dir, "key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Key(dir); err == nil {
		t.Error("a key of five bytes is used")
	}
}
