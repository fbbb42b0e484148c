package token

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/test/dbtest"
	"arbor/internal/web"
)

// bundle is one test's own server: a database and what stands on it.
type bundle struct {
	t        testing.TB
	db       *db.DB
	accounts *account.Service
	s        *Service
	log      *lockedBuffer
	mux      *http.ServeMux
	tokens   map[string]string // by login
}

// lockedBuffer is a log that a test reads while others write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newBundle(t testing.TB, engine db.Engine) *bundle {
	t.Helper()
	return bundleOn(t, dbtest.Open(t, engine))
}

func bundleOn(t testing.TB, d *db.DB) *bundle {
	b := &bundle{t: t, db: d, log: &lockedBuffer{}, mux: http.NewServeMux(), tokens: map[string]string{}}
	b.accounts, b.s = account.New(d, nil), New(d, slog.New(slog.NewTextHandler(b.log, nil)))
	for _, r := range append(account.NewAPI(b.accounts).Routes(), OAuthRoutes(b.db, b.s)...) {
		if strings.Contains(r.Pattern, "}.") {
			continue // the mux has no such patterns; whole servers are asked for it
		}
		b.mux.HandleFunc(r.Method+" "+r.Pattern, b.route(&r))
	}
	return b
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// route does what the server's middleware does around a handler.
func (b *bundle) route(to *route.Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		info := &web.Info{Site: "http://arbor.test", Prefix: "http://arbor.test/api/v3",
			Docs: "http://arbor.test/docs"}
		for _, m := range placeholder.FindAllStringSubmatch(to.Pattern, -1) {
			info.SetParam(m[1], r.PathValue(m[1]))
		}
		r = web.With(r, info)
		web.Handle(&web.Writer{ResponseWriter: w}, r, func(w http.ResponseWriter, r *http.Request) error {
			caller, given, err := b.s.Authenticate(r)
			if err != nil {
				return err
			}
			if given {
				r = r.WithContext(account.WithCaller(r.Context(), caller))
			}
			return to.Handler(w, r)
		})
	}
}

// user registers a user with a token.
func (b *bundle) user(login string) *account.Account {
	b.t.Helper()
	a, err := b.accounts.CreateUser(context.Background(),
		account.NewUser{Login: login, Admin: strings.HasPrefix(login, "site")})
	if err != nil {
		b.t.Fatal(err)
	}
	b.tokens[login], _ = b.token(login, 0)
	return a
}

func (b *bundle) token(login string, expires time.Duration) (token string, id int64) {
	b.t.Helper()
	token, id, err := b.s.CreateToken(context.Background(),
		NewToken{Login: login, Note: "test", Scopes: scope.All, Expires: expires})
	if err != nil {
		b.t.Fatal(err)
	}
	return token, id
}

// do sends a request as the user with this login; "" is anonymous.
func (b *bundle) do(login, method, target, body string, header ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	var r *http.Request
	if body == "" {
		r = httptest.NewRequest(method, target, nil)
	} else {
		r = httptest.NewRequest(method, target, strings.NewReader(body))
	}
	if login != "" {
		if b.tokens[login] == "" {
			b.t.Fatalf("%q has no token", login)
		}
		r.Header.Set("Authorization", "Bearer "+b.tokens[login])
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.mux.ServeHTTP(w, r)
	return w
}

// step is a request and the answer that it must have.
type step struct {
	login, method, target, body string
	status                      int
	want                        string // what the body must hold; "=..." all of it
}

func (b *bundle) steps(steps []step) {
	b.t.Helper()
	for _, s := range steps {
		w := b.do(s.login, s.method, s.target, s.body)
		got := w.Body.String()
		exact, all := strings.CutPrefix(s.want, "=")
		if w.Code != s.status || all && got != exact || !all && !strings.Contains(got, s.want) {
			b.t.Errorf("%s %s as %q with %s: %d %s\nwant %d %s", s.method, s.target, s.login, s.body, w.Code,
				got, s.status, s.want)
		}
	}
}

// OAuthRoutes are the routes of package oauth, which imports this one: the tests of package token_test set it.
var OAuthRoutes func(*db.DB, *Service) []route.Route

// deviceGrant is the grant_type of the device flow.
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"
