//go:build unix && !solaris && !aix

package seed_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"arbor/internal/db"
	"arbor/internal/seed"
	"arbor/internal/test/testkit"
)

// Two servers that are started at once with a seed do not empty what the other
// one fills.
func TestOneProcessFills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	to := seed.Store{DataDir: dir, Database: db.Options{URL: filepath.Join(dir, "arbor.db")}}
	s := parse(t, []byte("users: [{login: alice}]\n"))
	other, err := os.Create(filepath.Join(dir, "seeding"))
	testkit.NoError(t, err)
	defer other.Close()
	testkit.NoError(t, syscall.Flock(int(other.Fd()), syscall.LOCK_EX))
	if err := seed.Fill(t.Context(), s, to); !errors.Is(err, seed.ErrFilling) {
		t.Errorf("while another process fills: %v", err)
	}
	if held, err := seed.Held(t.Context(), s, to.Database); held || err != nil {
		t.Errorf("the store is touched: %v, %v", held, err)
	}
	testkit.NoError(t, syscall.Flock(int(other.Fd()), syscall.LOCK_UN))
	if err := seed.Fill(t.Context(), s, to); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(other.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock's file is left: %v", err)
	}
}
