package plant

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// shop is a plant store behind a real HTTP server. Tokens are logins.
type shop struct {
	db      *db.DB
	url     string
	client  *http.Client
	callers map[string]*account.Caller
	ended   chan error // what each handler that streamed returned
}

// open starts a shop for alice, bob and the site administrator root.
func open(t testing.TB, engine db.Engine) *shop {
	t.Helper()
	s := &shop{db: dbtest.Open(t, engine), callers: map[string]*account.Caller{}, ended: make(chan error, 1)}
	for i, login := range []string{"alice", "bob", "root"} {
		s.callers[login] = &account.Caller{ID: account.ID(i + 1), Login: login, SiteAdmin: login == "root"}
		s.write(t, `INSERT INTO accounts (id, login, login_folded, kind, created_at, updated_at)
			VALUES ($1, $2, $2, 1, 1, 1)`, int64(i+1), login)
	}
	routes := s.routes()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		routes.ServeHTTP(admission.Pace(w, r), r)
	}))
	server.Config.WriteTimeout = writeTimeout
	server.Start()
	t.Cleanup(server.Close)
	s.url = server.URL
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// writeTimeout is short, so that a list which does not extend it is cut off.
const writeTimeout = 2 * time.Second

// routes does what the server does around the handlers of this package.
func (s *shop) routes() http.Handler {
	api := NewAPI(New(s.db))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := &web.Info{ID: "test", Media: web.ParseAccept(r.Header["Accept"]), Form: Errors}
		login, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if c := s.callers[login]; c != nil {
			r = r.WithContext(account.WithCaller(r.Context(), c))
		}
		r.Body = http.MaxBytesReader(w, r.Body, web.MaxJSON)
		h := web.Handler(func(http.ResponseWriter, *http.Request) error { return errs.Absent() })
		switch id, isItem := strings.CutPrefix(r.URL.Path, "/plants/"); {
		case isItem && r.Method == http.MethodDelete:
			info.SetParam("id", id)
			h = api.Delete
		case r.URL.Path == "/plants" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			h = func(w http.ResponseWriter, r *http.Request) error {
				err := api.List(w, r)
				select {
				case s.ended <- err:
				default:
				}
				return err
			}
		case r.URL.Path == "/plants" && r.Method == http.MethodPost:
			h = api.Create
		}
		web.Handle(&web.Writer{ResponseWriter: w}, web.With(r, info), h)
	})
}

func (s *shop) write(t testing.TB, query string, args ...any) {
	t.Helper()
	err := s.db.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
	testkit.NoError(t, err)
}

// fill adds n plants of alice's, with ids step, 2*step, ...; each name is its
// id after prefix.
func (s *shop) fill(t testing.TB, n, step int, prefix string) {
	t.Helper()
	s.write(t, `INSERT INTO plants (id, owner_id, name, tag)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		SELECT i * $2, 1, CAST($3 AS TEXT) || CAST(i * $2 AS TEXT), 'tag' FROM n`, n, step, prefix)
}

// send sends a request with JSON as its type when it has a body.
func (s *shop) send(t testing.TB, login, method, path, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	testkit.NoError(t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if login != "" {
		r.Header.Set("Authorization", "Bearer "+login)
	}
	return s.do(t, r)
}

func (s *shop) do(t testing.TB, r *http.Request) *http.Response {
	t.Helper()
	res, err := s.client.Do(r)
	testkit.NoError(t, err)
	t.Cleanup(func() { res.Body.Close() })
	return res
}

// body reads an answer to its end.
func body(t testing.TB, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	testkit.NoError(t, err)
	res.Body.Close()
	return string(b)
}
