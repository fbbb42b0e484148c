package repos_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// What keeps a repository that was found does not keep the address of the request, which
// may have 64 KB.
func TestFoundKeepsNoAddress(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	gone := make(chan struct{})
	find := func() {
		bytes := []byte("/alice/garden?" + strings.Repeat("x", 60<<10))
		runtime.AddCleanup(&bytes[0], func(gone chan struct{}) { close(gone) }, gone)
		address := unsafe.String(&bytes[0], len(bytes))
		if _, err := s.Repos.Find(t.Context(), nil, address[1:6], address[7:13]); err != nil {
			t.Fatal(err)
		}
	}
	find()
	for end := time.Now().Add(testkit.Patience); time.Now().Before(end); runtime.GC() {
		select {
		case <-gone:
			if kept := s.Repos.Caches()[1]; kept.Name != "repositories" || kept.Entries == 0 {
				t.Errorf("nothing that was found is kept: %+v", kept)
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
	t.Error("the address is kept")
}
