package server_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"arbor/internal/apitest"
)

// What a probe left that was killed goes, and the file of one that is under way stays.
func TestProbesLeaveNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		old, fresh := filepath.Join(s.Dir, ".ready-1"), filepath.Join(s.Dir, ".ready-2")
		for _, name := range []string{old, fresh} {
			if err := os.WriteFile(name, []byte("ready"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(old, before, before); err != nil {
			t.Fatal(err)
		}
		s.Check(t, apitest.Case{Do: "GET /readyz", Status: 200})
		if found, _ := filepath.Glob(filepath.Join(s.Dir, ".ready-*")); len(found) != 1 || found[0] != fresh {
			t.Errorf("there are %q", found)
		}
	})
}
