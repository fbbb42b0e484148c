package repos_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"arbor/internal/fsck"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// sound looks through the store, whose counters, indexes and files must be right.
func sound(t *testing.T, s *apitest.Server) {
	t.Helper()
	r, err := fsck.Run(t.Context(), fsck.Options{DB: s.DB, Git: s.Git, Folder: s.Dir, Full: true,
		Log: slog.New(slog.DiscardHandler)})
	testkit.NoError(t, err)
	for _, f := range r.Findings {
		if !f.Warning {
			t.Errorf("%s %s: %s", f.Part, f.Repository, f.Problem)
		}
	}
}

// storedFiles are those of attachments and assets.
func storedFiles(t *testing.T, s *apitest.Server) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.Dir, "files", "*", "*"))
	testkit.NoError(t, err)
	return found
}

// leaves waits until so many files are left.
func leaves(t *testing.T, s *apitest.Server, want int) {
	t.Helper()
	testkit.Eventually(t, func() bool { return len(storedFiles(t, s)) == want }, "the files that are left")
}
