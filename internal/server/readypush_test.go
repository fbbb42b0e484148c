package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"arbor/internal/durable"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A balancer hears of it when pushes break off, since a folder of repositories cannot be written: of one of
// them, too, until that works again.
func TestReadyzTriesWhatPushesDo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		root := filepath.Join(s.Dir, "repositories")
		for _, shard := range []string{"01", "7f", "ff"} {
			testkit.NoError(t, os.MkdirAll(filepath.Join(root, shard), 0o700))
		}
		// Files left by a killed probe do no harm.
		testkit.NoError(t, os.Mkdir(filepath.Join(root, durable.TryName), 0o700))
		untilReadyz(t, s, "ok\n")
		for _, name := range []string{"7f", ""} {
			dir := filepath.Join(root, name)
			away := filepath.Join(s.Dir, "away")
			// Root may write everywhere, so what stands in the way is a link to nowhere.
			testkit.NoError(t, errors.Join(os.Rename(dir, away), os.Symlink(filepath.Join(s.Dir, "none"), dir)))
			for range 4 { // as often as there are folders
				untilReadyz(t, s, "the data folder cannot be written")
			}
			testkit.NoError(t, errors.Join(os.Remove(dir), os.Rename(away, dir)))
			untilReadyz(t, s, "ok\n")
		}
		if _, err := os.Stat(filepath.Join(root, durable.TryName)); err == nil {
			t.Error("a probe left something")
		}
	})
}
