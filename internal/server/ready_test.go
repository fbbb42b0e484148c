package server_test

import (
	"os"
	"path/filepath"
	"strings"
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
		untilReadyz(t, s, "ok\n")
		if found, _ := filepath.Glob(filepath.Join(s.Dir, ".ready-*")); len(found) != 1 || found[0] != fresh {
			t.Errorf("there are %q", found)
		}
	})
}

// untilReadyz asks until the answer has the text. One is kept for a second, and on a busy machine the
// database may be slower than the probe is patient.
func untilReadyz(t *testing.T, s *apitest.Server, text string) {
	t.Helper()
	s.Log.AllowErrors()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		answer := s.Do(t, apitest.Case{Do: "GET /readyz"})
		if strings.Contains(string(answer.Body), text) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("for a minute, GET /readyz does not answer %q, but %d %s", text,
				answer.Status, answer.Body)
		}
	}
}
