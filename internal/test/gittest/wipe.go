package gittest

import (
	"os"
	"path/filepath"
	"testing"

	"arbor/internal/test/testkit"
)

// Wipe removes all repositories from a data folder, as an operator may while the server runs. The server may write
// into a folder while it is removed: such a folder is not empty in the end, and is removed again.
func Wipe(t testing.TB, data string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(data, "repositories", "*", "*.git"))
	testkit.NoError(t, err)
	for _, dir := range found {
		testkit.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, "nobody writes into "+dir)
	}
}
