package served_test

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

// of gives the statements of what do does.
func (c *counted) of(do func()) []string {
	c.mu.Lock()
	c.list = nil
	c.mu.Unlock()
	do()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list)
}

// maxTelling is how many statements more a request costs of which a hook is told.
const maxTelling = 14

// What is told costs nothing where nobody listens, and some statements where somebody does, of several events
// together.
func TestWhatTellingCosts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		count := &counted{}
		s := apitest.Start(t, engine, loopback, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: count.add})
		})
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/garden", false), gittest.Repository(t, 2, 2))
		status := "POST " + garden + "/statuses/" + shaOf(t, s, garden, "main")
		cost := func(each func(do string, list []string)) {
			t.Helper()
			for _, c := range []struct{ do, send string }{
				{"POST " + garden + "/issues", `{"title": "Peas", "labels": ["bug"], "assignees": ["alice"]}`},
				{"PATCH " + garden + "/issues/1", `{"state": "closed"}`},
				{status, `{"state": "success"}`},
				{"PATCH " + garden, `{"description": "x"}`},
				{"PATCH " + garden + "/issues/1", `{"state": "open"}`},
				{"PATCH " + garden, `{"description": "y"}`},
			} {
				each(c.do, count.of(func() {
					if a := s.Do(t, apitest.Case{Do: c.do, As: "alice", Send: c.send}); a.Status >= 300 {
						t.Fatalf("%s: status %d", c.do, a.Status)
					}
				}))
			}
		}
		plain := map[string]int{}
		cost(func(do string, list []string) {
			plain[do] = max(plain[do], len(list))
			for _, q := range list {
				if q == "SELECT 1" || strings.Contains(do, "issues") && strings.Contains(q, "INTO hook_deliveries") {
					t.Errorf("%s asks, although nobody listens: %s", do, q)
				}
			}
		})
		rest(t, s, hookOn(t, s, garden, "alice", receive(t, nil), `["*"]`))
		cost(func(do string, list []string) {
			if n := len(list) - plain[do]; n > maxTelling {
				t.Errorf("%s takes %d statements more than without a hook:\n%s", do, n, strings.Join(list, "\n"))
			}
		})
	})
}
