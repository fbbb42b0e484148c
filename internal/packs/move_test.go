package packs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/packs"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A store with repositories in its data folder moves to a depot and back while people write to it: nothing that was
// acknowledged is lost, and a second node needs no disk of the first.
func TestMove(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		url := dbtest.URL(t, engine)
		away := filepath.Join(t.TempDir(), "depot")
		testkit.NoError(t, os.Mkdir(away, 0o700))
		p := pair{a: apitest.Start(t, engine, apitest.On(t, url)), depot: away}
		p.a.Users(t, "alice", "bob")
		p.garden(t)
		mustPush(t, p.a, "large", 200)
		p.a.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice", Send: `{"name": "empty"}`, Status: 201})
		// a loose object, as older versions left them
		blob := gittest.Object(t, p.a.Objects(t, 1).Dir(), git.TypeBlob, "loose")

		address, err := depot.Canonical("file://" + away)
		testkit.NoError(t, err)
		move := func(to string, repos int64) {
			t.Helper()
			_, err := p.a.Forge.Files.Move(t.Context(), file.MoveOptions{To: to, Progress: func(int64, int64) {},
				Problem: func(line string) { t.Error(line) }})
			testkit.NoError(t, err)
			moved, err := p.a.Forge.Packs.Move(t.Context(), packs.MoveOptions{Progress: func(int64, int64) {},
				Problem: func(line string) { t.Error(line) }})
			testkit.NoError(t, err)
			if moved.Repositories != repos || moved.Left != 0 {
				t.Errorf("to %q moved %+v, want %d repositories", to, moved, repos)
			}
		}
		writing := func(name string, work func()) {
			t.Helper()
			var writers errgroup.Group
			var over atomic.Bool
			var written atomic.Int64
			writers.Go(func() error {
				for n := 0; !over.Load() || n < 5; n++ {
					a := p.a.Do(t, apitest.Case{Do: fmt.Sprintf("PUT /repos/alice/garden/contents/%s-%d", name, n), As: "alice",
						Send: `{"message": "m", "content": "eA=="}`})
					if a.Status == 201 {
						written.Add(1)
						p.a.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/alice/garden/contents/%s-%d", name, n),
							Status: 200})
					}
				}
				return nil
			})
			work()
			over.Store(true)
			testkit.NoError(t, writers.Wait())
			if written.Load() == 0 {
				t.Errorf("%s: nothing was written", name)
			}
		}
		writing("away", func() { move(address, 2) })
		p.b = apitest.Start(t, engine, apitest.Depot(t, url, away))
		p.b.SetToken("alice", p.a.Token(t, "alice"))
		p.b.Check(t, apitest.Case{Do: "GET /repos/alice/garden/contents/large?ref=large", Status: 200})
		has := func(s *apitest.Server) { // nobody may see it who is not told of it
			t.Helper()
			_, err := s.Objects(t, 1).Info(t.Context(), blob)
			testkit.NoError(t, err)
		}
		has(p.b)
		put(t, p.b, "from-b", "text")
		main := tip(t, p.b, "main")
		p.b.Log.AllowErrors() // its disk does not have what lies in the data folder of the other
		writing("home", func() { move("", 2) })
		p.a.Check(t, apitest.Case{Do: "GET /repos/alice/garden/commits/" + main, Status: 200})
		for _, s := range []*apitest.Server{p.a} {
			again := filepath.Join(t.TempDir(), "again")
			gittest.Run(t, t.TempDir(), "clone", "-q", "--mirror", s.Remote(t, "alice", "alice/garden"), again)
			gittest.Run(t, again, "fsck", "--strict", "--full")
		}
		has(p.a)
	})
}
