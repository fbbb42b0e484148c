//go:build long

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// A server that is killed while it imports from another one goes on when it starts again, and nothing comes twice.
func TestKilledImportJob(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		source, s := newInstance(t, db.SQLite), newInstance(t, engine)
		source.user("alice")
		source.arbor("import", madeExport(t), "--to", "alice/source")
		source.start()
		s.user("alice")
		start := func() { t.Helper(); s.start("--allow-hook-networks", "127.0.0.0/8") }
		start()
		begin := func(name string) {
			t.Helper()
			if status, text := s.tryDo("POST", "/api/v3/user/repos", fmt.Sprintf(`{"name":%q}`, name)); status != 201 {
				t.Fatal(status, text)
			}
			body := fmt.Sprintf(`{"vcs_url":%q,"vcs_password":%q}`, source.url+"/alice/source", source.tokens["alice"])
			if status, text := s.tryDo("PUT", "/api/v3/repos/alice/"+name+"/import", body); status != 201 {
				t.Fatal(status, text)
			}
		}
		ended := func(name string) (text string, is bool) {
			_, text = s.tryDo("GET", "/api/v3/repos/alice/"+name+"/import", "")
			return text, strings.Contains(text, `"status":"complete"`) || strings.Contains(text, `"status":"error"`)
		}
		await := func(name string) {
			t.Helper()
			var text string
			testkit.Eventually(t, func() (is bool) {
				text, is = ended(name)
				return is
			}, "the import ends")
			if !strings.Contains(text, `"status":"complete"`) {
				t.Fatal(text)
			}
		}
		begun := time.Now()
		begin("whole")
		await("whole")
		took := time.Since(begun)
		random := seeded(t)
		begin("killed")
		time.Sleep(time.Duration(random.Int64N(int64(took / 2))))
		s.kill()
		start()
		if text, is := ended("killed"); is {
			t.Logf("it ended before the server was killed: %s", text)
		}
		await("killed")
		s.stop()
		if want, got := exported(t, s, "alice/whole"), exported(t, s, "alice/killed"); got != want {
			t.Fatalf("it is\n%.3000s\nwant\n%.3000s", got, want)
		}
		s.sound()
	})
}
