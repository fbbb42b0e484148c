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
	"arbor/internal/web"
)

// counted are the statements of requests.
type counted struct {
	mu   sync.Mutex
	list []string
}

func (c *counted) add(ctx context.Context, query string) {
	if !web.IsRequest(ctx) {
		return // a worker's
	}
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

// maxTelling is how many statements follow when an issue is filed that a hook hears of twice, with the three of the
// answer.
const maxTelling = 18

// What is told costs nothing where nobody listens, and some statements where somebody does, for several events
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
		does := func(do, send string) []string {
			t.Helper()
			return count.of(func() {
				if a := s.Do(t, apitest.Case{Do: do, As: "alice", Send: send}); a.Status >= 300 {
					t.Fatalf("%s: status %d", do, a.Status)
				}
			})
		}
		// The least of some tries: a request that takes long asks some things twice.
		files := func() (list []string) {
			t.Helper()
			for range 8 {
				one := does("POST "+garden+"/issues",
					`{"title": "Peas", "labels": ["bug"], "assignees": ["alice"]}`)
				if list == nil || len(one) < len(list) {
					list = one
				}
			}
			return list
		}
		plain := files()
		quiet := plain
		for _, c := range [][2]string{{"PATCH " + garden + "/issues/1", `{"state": "closed"}`},
			{"POST " + garden + "/statuses/" + shaOf(t, s, garden, "main"), `{"state": "success"}`},
			{"PATCH " + garden, `{"description": "x"}`}} {
			quiet = append(quiet, does(c[0], c[1])...)
		}
		for n, q := range quiet {
			if q == "SELECT 1" || n < len(plain) && strings.Contains(q, "INTO hook_deliveries") {
				t.Errorf("it is asked although nobody listens: %s", q)
			}
		}
		rest(t, s, hookOn(t, s, garden, "alice", receive(t, nil), `["*"]`))
		told := files()
		from := slices.IndexFunc(told, func(q string) bool { return strings.Contains(q, "INTO hook_deliveries") })
		if n := len(told) - from; from < 0 || n > maxTelling {
			t.Errorf("%d statements for what is told:\n%s", n, strings.Join(told, "\n"))
		}
	})
}
