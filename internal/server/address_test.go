package server_test

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"arbor/internal/server"
	"arbor/internal/test/apitest"
)

// Caches keep names and SHAs that stand in the addresses of requests. They must not keep
// the addresses: strangers could fill the memory with a few thousand long ones.
func TestCachesDoNotKeepAddresses(t *testing.T) {
	const requests, pad = 500, 60 << 10
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/alice/garden/contents/file", As: "alice",
				Send: `{"message": "m", "content": "eA=="}`, Status: 201},
			// Now there may be objects that no ref leads to, so each SHA is looked for.
			{Do: "POST /repos/alice/garden/git/blobs", As: "alice", Send: `{"content": "y"}`, Status: 201},
		})
		for name, path := range map[string]string{
			"labels":    "/repos/alice/garden/issues?labels=name%d",
			"creators":  "/repos/alice/garden/issues?creator=name%d",
			"assignees": "/repos/alice/garden/issues?assignee=name%d",
			"searches":  "/search/issues?q=repo:alice/garden+label:name%d",
			"blobs":     "/repos/alice/garden/git/blobs/%040x?x=x",
			"commits":   "/repos/alice/garden/commits/%040x?x=x",
			"missing":   "/repos/alice/name%d?x=x",
			"accounts":  "/users/name%d?x=x",
		} {
			ask := func(n int) {
				address := fmt.Sprintf(path, n) + "&pad=" + strings.Repeat("x", pad)
				s.Handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", address, nil))
			}
			ask(0)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for n := range requests {
				ask(n + 1)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > requests*pad/4 {
				t.Errorf("%s: %d requests of %d bytes keep %d bytes", name, requests, pad, kept)
			}
		}
	}, func(o *server.Options) { o.Log = slog.New(slog.DiscardHandler) }) // a test's log keeps methods
}
