package server_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
	"arbor/internal/web"
)

// statements are those that requests ran since the last look.
type statements struct {
	mu   sync.Mutex
	list []string
}

func (s *statements) trace(ctx context.Context, query string) {
	if !web.IsRequest(ctx) {
		return // a worker's
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, query)
}

// take gives the statements since the last look, without those that ask whether anything
// has changed: caches under these numbers are not by name.
func (s *statements) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.DeleteFunc(s.list, func(query string) bool {
		return strings.Contains(query, "FROM generations WHERE topic") && len(query) < 100
	})
	s.list = nil
	return list
}

// The time of an answer must not tell whether an invisible repository exists. So each
// route runs the very same statements for a private repository, for its former name, and
// for a name that never was, the first time and again.
func TestInvisibleTakesThePathOfAbsent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		ran := &statements{}
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: ran.trace})
		})
		w := newWalker(t, s)
		w.Build(t, "guild", "nightshade", true)
		w.Build(t, "guild", "hemlock", true)
		w.OK(t, "owner", "PATCH /repos/guild/hemlock", `{"name":"aconite"}`)
		if err := s.Server.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		h := w.Homes[len(w.Homes)-2]
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if !onRepo(&r) || r.Method != http.MethodGet && r.Group != route.Git {
				continue
			}
			path := h.Address(t, r.Pattern, nil)
			for _, login := range []string{"", "stranger"} {
				w.compare(t, ran, &r, path, login)
			}
		}
	})
}

// compare fails the test where a route's statements for a name differ from those for an
// absent name.
func (w *walker) compare(t *testing.T, ran *statements, r *route.Route, path, login string) {
	t.Helper()
	same := map[string]string{}
	for _, name := range []string{"nowhere", "nightshade", "hemlock", "aconite"} {
		c := apitest.Case{Do: r.Method + " " + strings.Replace(path, "nightshade", name, 1),
			Headers: fixture.Headers(r)}
		w.ask(t, login, c) // the token is known from here on
		ran.take()
		for range 2 {
			w.ask(t, login, c)
			same[name] += strings.Join(ran.take(), "\n") + "\nagain:\n"
		}
		if same[name] != same["nowhere"] {
			t.Errorf("%s %s as %q: for %s it runs\n%s\nfor nowhere\n%s",
				r.Method, r.Pattern, login, name, same[name], same["nowhere"])
			return
		}
	}
}
