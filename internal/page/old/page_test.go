package old

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/db/dbtest"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// site is the pages of a database with people and repositories.
type site struct {
	pages    *Pages
	db       *db.DB
	accounts *account.Service
	repos    *repo.Service
}

func open(t *testing.T, engine db.Engine) *site {
	t.Helper()
	d := dbtest.Open(t, engine)
	g, err := git.New(t.Context(), git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := forge.New(d, g, slog.New(slog.DiscardHandler), t.TempDir())
	s := &site{db: d, accounts: f.Accounts, repos: f.Repos}
	s.pages = New(d, s.repos, Sources{Git: gitdata.NewAPI(d, s.repos, 0)})
	if _, err := s.accounts.CreateUser(t.Context(), account.NewUser{Login: "Alice", Name: "<b>Alice</b>"}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) create(t *testing.T, n repo.NewRepo) *repo.Repo {
	t.Helper()
	r, err := s.repos.Create(t.Context(), nil, n)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// get asks for a page as a browser does.
func (s *site) get(path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	info := &web.Info{ID: "id", Site: "http://arbor.test", Prefix: "http://arbor.test"}
	segments := strings.SplitN(r.URL.Path[1:], "/", 2)
	info.SetParam("owner", segments[0])
	info.SetParam("repo", segments[1])
	h := s.pages.Repo
	w := httptest.NewRecorder()
	web.Handle(&web.Writer{ResponseWriter: w}, web.With(r, info), h)
	return w
}

func text(s string) *string { return &s }

// TestPages shows what everyone may see, harmlessly, and nothing else.
func TestPages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := open(t, engine)
		garden := s.create(t, repo.NewRepo{Owner: "alice", Name: "Garden", Homepage: text("javascript:alert(1)"),
			Description: text(`"><script>alert(1)</script>`)})
		s.create(t, repo.NewRepo{Owner: "alice", Name: "secret", Private: true, Description: text("hidden")})
		s.move(t, garden.ID, "refs/heads/main", "refs/heads/<i>", "refs/tags/v9", "refs/tags/v10", "refs/pull/1/head")
		for _, test := range []struct {
			path   string
			status int
			has    []string
		}{
			{"/alice/garden", 200, []string{"git clone http://arbor.test/Alice/Garden.git", "&#34;&gt;&lt;script&gt;",
				"<code>main</code>", "&lt;i&gt;", ">v10<", `href="/Alice/Garden/tree/main"`, `href="/Alice/Garden/archive/refs/heads/main.zip"`}},
			{"/alice/secret", 404, []string{"Not Found"}},
			{"/alice/nothing", 404, []string{"Not Found"}},
		} {
			w := s.get(test.path)
			body := w.Body.String()
			if w.Code != test.status {
				t.Errorf("%s: status %d, want %d", test.path, w.Code, test.status)
			}
			for _, part := range test.has {
				if !strings.Contains(body, part) {
					t.Errorf("%s has no %q: %s", test.path, part, body)
				}
			}
			for _, part := range []string{"<script", "javascript:", "secret", "hidden", "<b>", "<i>", "refs/pull"} {
				if strings.Contains(body, part) && !strings.Contains(test.path, part) {
					t.Errorf("%s has %q: %s", test.path, part, body)
				}
			}
			checkHeaders(t, test.path, w)
		}
		if a, b := s.get("/alice/secret").Body.String(), s.get("/alice/nothing").Body.String(); a != b {
			t.Errorf("a private repository shows: %q, %q", a, b)
		}
	})
}

// move creates refs; the pages need no objects behind them.
func (s *site) move(t *testing.T, repoID repo.ID, names ...string) {
	t.Helper()
	slices.Sort(names)
	updates := make([]repo.RefUpdate, len(names))
	for i, n := range names {
		updates[i] = repo.RefUpdate{Name: n, Old: git.ZeroSHA, New: git.SHA(fmt.Sprintf("%040x", i+1))}
	}
	refused, err := s.repos.MoveRefs(t.Context(), repo.Push{RepoID: repoID, Updates: updates, Atomic: true})
	if err != nil || slices.ContainsFunc(refused, func(err error) bool { return err != nil }) {
		t.Fatal(err, refused)
	}
}

// checkHeaders: what a page may do is bounded by its policy, whose one
// stylesheet must be the one in the page.
func checkHeaders(t *testing.T, path string, w *httptest.ResponseRecorder) {
	t.Helper()
	h := w.Header()
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(w.Body.String())
	if style == nil {
		t.Errorf("%s: no style", path)
		return
	}
	sum := sha256.Sum256([]byte(style[1]))
	policy := h.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("%s: policy %q has no %s", path, policy, part)
		}
	}
	if strings.Contains(policy, "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" ||
		h.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%s: headers %v", path, h)
	}
}

// TestPrograms: who does not ask for HTML gets the API's errors, and nobody a
// page that they have already.
func TestPrograms(t *testing.T) {
	t.Parallel()
	s := open(t, db.SQLite)
	w := s.get("/alice/x", "Accept", "application/vnd.github.v3+json")
	if w.Code != 404 || !strings.HasPrefix(w.Body.String(), `{"message":"Not Found"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s.create(t, repo.NewRepo{Owner: "alice", Name: "garden"})
	tag := s.get("/alice/garden").Header().Get("Etag")
	if w := s.get("/alice/garden", "If-None-Match", tag); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, name := range []string{"garden", "nothing"} {
		w := s.get("/alice/" + name + ".git")
		if w.Code != 302 || w.Header().Get("Location") != "http://arbor.test/alice/"+name {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	}
	if w := s.get("//evil.example/x.git"); !strings.HasPrefix(w.Header().Get("Location"), "http://arbor.test/") {
		t.Errorf("redirects to %v", w.Header())
	}
}

// TestRefs: the default branch and the newest versions are what people look for.
func TestRefs(t *testing.T) {
	t.Parallel()
	var refs git.Refs
	for i := range 50 {
		refs.List = append(refs.List, git.Ref{Name: fmt.Sprintf("refs/heads/b%02d", i), SHA: git.SHA(fmt.Sprintf("%040x", i))})
	}
	for _, v := range []string{"1.10.0", "1.2.0", "1.9.9", "2.0", "old"} {
		refs.List = append(refs.List, git.Ref{Name: "refs/tags/v" + v, SHA: git.ZeroSHA, Peeled: git.SHA(strings.Repeat("a", 40))})
	}
	b := branches(refs, "b40")
	if b.Total != 50 || len(b.Shown) != maxRefs || b.Shown[0].Name != "b40" || b.Shown[19].Name != "b18" || b.Hidden() != 30 {
		t.Errorf("branches %+v", b)
	}
	var names []string
	for _, item := range tags(refs).Shown {
		names = append(names, item.Name)
	}
	if want := "vold v2.0 v1.10.0 v1.9.9 v1.2.0"; strings.Join(names, " ") != want {
		t.Errorf("tags %v, want %s", names, want)
	}
	if branches(git.Refs{}, "main") != nil || tags(git.Refs{}) != nil {
		t.Error("an empty repository has a list")
	}
}
