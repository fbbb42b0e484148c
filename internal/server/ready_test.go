package server_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// What a probe left that was killed goes, and the file of one that is under way stays.
func TestProbesLeaveNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		old, fresh := filepath.Join(s.Dir, ".ready-1"), filepath.Join(s.Dir, ".ready-2")
		for _, name := range []string{old, fresh} {
			testkit.NoError(t, os.WriteFile(name, []byte("ready"), 0o600))
		}
		before := time.Now().Add(-2 * time.Hour)
		testkit.NoError(t, os.Chtimes(old, before, before))
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
	var last string
	testkit.Eventually(t, func() bool {
		last = string(s.Do(t, apitest.Case{Do: "GET /readyz"}).Body)
		return strings.Contains(last, text)
	}, fmt.Sprintf("GET /readyz answers %q", text), func() string { return last })
}

// untilHealthy does the same with /healthz.
func untilHealthy(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Log.AllowErrors()
	testkit.Eventually(t, func() bool {
		a := s.Do(t, apitest.Case{Do: "GET /healthz"})
		return a.Status == http.StatusOK && string(a.Body) == "ok\n"
	}, "GET /healthz is well")
}
