package accounts_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
)

// counted are the statements of requests.
type counted struct {
	mu   sync.Mutex
	list []string
}

func (c *counted) add(_ context.Context, query string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, strings.Join(strings.Fields(query), " "))
}

// of returns the statements that do causes.
func (c *counted) of(do func()) []string {
	c.mu.Lock()
	c.list = nil
	c.mu.Unlock()
	do()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list)
}

// maxTelling is how many statements more it takes to file an issue that a hook hears of twice.
const maxTelling = 13

// Events cost nothing without webhooks, and a few statements with some, for several events together.
func TestWhatTellingCosts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		count := &counted{}
		s := apitest.Start(t, engine, loopback, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: count.add})
		})
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/garden", false), gittest.Repository(t, 2, 2))
		does := func(do, send string) []string {
			t.Helper()
			return count.of(func() {
				if a := s.Do(t, apitest.Case{Do: do, As: "alice", Send: send}); a.Status >= 300 {
					t.Fatalf("%s: status %d", do, a.Status)
				}
			})
		}
		// The least of some tries, and of many while it is more than enough: workers ask for something, too.
		files := func(enough int) (list []string) {
			t.Helper()
			for n := 0; n < 8 || n < 200 && len(list) > enough; n++ {
				one := does("POST "+garden+"/issues",
					`{"title": "Peas", "labels": ["bug"], "assignees": ["alice"]}`)
				if list == nil || len(one) < len(list) {
					list = one
				}
			}
			return list
		}
		plain := files(1000)
		quiet := plain
		for _, c := range [][2]string{{"PATCH " + garden + "/issues/1", `{"state": "closed"}`},
			{"POST " + garden + "/statuses/" + s.Tip(t, "alice", "alice/garden", "main"),
				`{"state": "success"}`},
			{"PATCH " + garden, `{"description": "x"}`}} {
			quiet = append(quiet, does(c[0], c[1])...)
		}
		for n, q := range quiet {
			if q == "SELECT 1" || n < len(plain) && strings.Contains(q, "INTO hook_deliveries") {
				t.Errorf("it is asked although nobody listens: %s", q)
			}
		}
		rest(t, s, hookOn(t, s, garden, "alice", receive(t, nil), `["*"]`))
		told := files(len(plain) + maxTelling)
		if n := len(told) - len(plain); n > maxTelling {
			t.Errorf("%d statements more for what is told:\n%s", n, strings.Join(told, "\n"))
		}
	})
}
