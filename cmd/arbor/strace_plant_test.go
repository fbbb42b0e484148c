//go:build long

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
)

// What many write at once shares a sync, and nobody is told before it: each
// plant's page is written to the database's log, the log synced, and then only
// the answer sent.
func TestPlantsAreDurableBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	needProgram(t, "strace", "whether plants are synced")
	trace := filepath.Join(t.TempDir(), "trace")
	s := newInstance(t, db.SQLite)
	s.wrapper = []string{"strace", "-f", "-y", "-s", "5000", "-o", trace, "-e",
		"trace=fsync,fdatasync,pwrite64,write,writev,sendto"}
	s.start()
	s.user("alice")
	const clients, each = 8, 10
	name := func(id int) string { return fmt.Sprintf("lasting-%05d.", id) }
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for i := range each {
				id := client*each + i
				res, _ := s.do("", "POST", "/plants", http.Header{"Content-Type": {"application/json"},
					"Authorization": {"Bearer " + s.tokens["alice"]}},
					strings.NewReader(fmt.Sprintf(`{"id":%d,"name":%q}`, id, name(id))))
				if res.StatusCode != http.StatusOK {
					t.Errorf("plant %d: status %d", id, res.StatusCode)
				}
			}
		})
	}
	wg.Wait()
	s.stop()
	calls := readTrace(t, trace)
	log := filepath.Join(s.data, "arbor.db-wal")
	for id := range clients * each {
		answer := slices.IndexFunc(calls, func(c call) bool {
			return c.name == "write" && strings.Contains(c.path, "socket:") &&
				strings.Contains(c.text, name(id))
		})
		written := slices.IndexFunc(calls, func(c call) bool {
			return c.name == "pwrite64" && c.path == log && strings.Contains(c.text, name(id))
		})
		if answer < 0 || written < 0 {
			t.Fatalf("plant %d: answered by call %d, in the log by call %d", id, answer, written)
		}
		if !slices.ContainsFunc(calls, func(c call) bool {
			return c.syncs(log) && c.began > calls[written].ended && c.ended < calls[answer].began
		}) {
			t.Errorf("plant %d: no sync of the log between %v and the answer %v", id, calls[written],
				calls[answer])
		}
	}
}
