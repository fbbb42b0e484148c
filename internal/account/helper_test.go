package account

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/route"
	"arbor/internal/test/dbtest"
	"arbor/internal/web"
)

// bundle is one test's own server: a database and what stands on it.
type bundle struct {
	t      testing.TB
	db     *db.DB
	s      *Service
	mux    *http.ServeMux
	tokens map[string]string // by login
}

func newBundle(t testing.TB, engine db.Engine) *bundle {
	t.Helper()
	return bundleOn(t, dbtest.Open(t, engine))
}

func bundleOn(t testing.TB, d *db.DB) *bundle {
	b := &bundle{t: t, db: d, mux: http.NewServeMux(), tokens: map[string]string{}}
	b.s = New(d, nil)
	for _, r := range NewAPI(b.s).Routes() {
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
			value, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if !given {
				return to.Handler(w, r)
			}
			var caller *Caller
			err := b.db.Read(r.Context(), func(tx *db.Tx) (err error) {
				caller, _, err = CallerOfToken(tx, sha256.Sum256([]byte(value)))
				return err
			})
			if errs.Is(err, errs.NotFound) {
				err = BadCredentials()
			}
			if err != nil {
				return err
			}
			return to.Handler(w, r.WithContext(WithCaller(r.Context(), caller)))
		})
	}
}

// user registers a user with a token.
func (b *bundle) user(login string) *Account {
	b.t.Helper()
	a, err := b.s.CreateUser(context.Background(),
		NewUser{Login: login, Admin: strings.HasPrefix(login, "site")})
	if err != nil {
		b.t.Fatal(err)
	}
	b.tokens[login] = "token of " + login
	digest := sha256.Sum256([]byte(b.tokens[login]))
	err = b.db.Write(context.Background(), func(tx *db.Tx) error {
		return tx.Run(`INSERT INTO tokens (account_id, digest, hint, note, permission, created_at)
			VALUES ($1, $2, '', '', 0, $3)`, a.ID, digest[:], tx.Now)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func (b *bundle) org(login, owner string) *Account {
	b.t.Helper()
	a, err := b.s.CreateOrg(context.Background(), login, owner)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
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
