package apitest

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/html"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// Browser is what a browser says that it takes.
const Browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// Visit sends a browser's request as a user, or anonymously: METHOD PATH, a POST with a form's names and
// values in turn. A page in the answer must be harmless.
func (s *Server) Visit(t testing.TB, as, do string, form ...string) *Answer {
	t.Helper()
	c := Case{Do: do, As: as, Headers: map[string]string{"Accept": Browser}}
	if strings.HasPrefix(do, "POST") {
		c.Headers["Content-Type"], c.Send = FormType, Form(form...)
	}
	return s.DoInBrowser(t, c)
}

// DoInBrowser is Do for a page, which must be harmless.
func (s *Server) DoInBrowser(t testing.TB, c Case) *Answer {
	t.Helper()
	a := s.Do(t, c)
	if strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") && a.Status/100 != 3 {
		a.Harmless(t, c.Do)
	}
	return a
}

// Shows checks the status of a page, and that texts are in what it shows; one that begins with "!" must not
// be.
func (a *Answer) Shows(t testing.TB, status int, texts ...string) *Answer {
	t.Helper()
	if a.Status != status {
		t.Errorf("%s: status %d, want %d: %.600s", a.Do, a.Status, status, a.Body)
		return a
	}
	shown := a.shown()
	for _, text := range texts {
		if unwanted, not := strings.CutPrefix(text, "!"); not {
			if strings.Contains(shown, unwanted) || strings.Contains(string(a.Body), unwanted) {
				t.Errorf("%s: %q is in\n%s", a.Do, unwanted, shown)
			}
		} else if !strings.Contains(shown, text) && !strings.Contains(string(a.Body), text) {
			t.Errorf("%s: %q is not in\n%s", a.Do, text, shown)
		}
	}
	return a
}

// Leads checks that a form was accepted, and where it redirects to.
func (a *Answer) Leads(t testing.TB, to string) {
	t.Helper()
	if got := a.Header.Get("Location"); a.Status != 303 || got != to {
		t.Errorf("%s: status %d to %q, want 303 to %q: %.600s", a.Do, a.Status, got, to, a.Body)
	}
}

// shown is the text of a page and of its fields, with one space between words.
func (a *Answer) shown() string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(string(a.Body))); ; {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.TextToken:
			b.WriteString(z.Token().Data + " ")
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, at := range z.Token().Attr {
				if at.Key == "value" || at.Key == "title" {
					b.WriteString(at.Val + " ")
				}
			}
		}
	}
}

// Harmless reports everything in a page that could run or load something of another site, and a policy that
// lets it.
func (a *Answer) Harmless(t testing.TB, what string) {
	t.Helper()
	policy := a.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("%s: policy %q", what, policy)
	}
	z := html.NewTokenizer(strings.NewReader(string(a.Body)))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			if z.Err() != io.EOF {
				t.Errorf("%s: %v", what, z.Err())
			}
			return
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		token := z.Token()
		own := false
		for _, at := range token.Attr {
			own = own || at.Key == "src" && (strings.HasPrefix(at.Val, "/assets/") ||
				token.Data == "iframe" && strings.HasPrefix(at.Val, "/") && !strings.HasPrefix(at.Val, "//"))
			if strings.HasPrefix(at.Key, "on") || at.Key == "style" || at.Key == "srcset" ||
				strings.HasPrefix(strings.ToLower(strings.TrimSpace(at.Val)), "javascript:") {
				t.Errorf("%s: %s", what, token)
			}
		}
		if slices.Contains([]string{"object", "embed", "base"}, token.Data) ||
			(token.Data == "script" || token.Data == "iframe") && !own {
			t.Errorf("%s: %s", what, token)
		}
	}
}

// StartCounted is Start with a count of the statements that requests ask the database, workers left out.
func StartCounted(t testing.TB, engine db.Engine) (*Server, *atomic.Int64) {
	t.Helper()
	var statements atomic.Int64
	s := Start(t, engine, func(o *server.Options) {
		o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
			Trace: func(ctx context.Context, query string) {
				if i := web.From(ctx); i.ID != "" && !i.ForHook && !testkit.IsState(query) {
					statements.Add(1)
				}
			}})
	})
	return s, &statements
}

// Cost is CostWithin the 20 statements that a page may take.
func (s *Server) Cost(t testing.TB, statements *atomic.Int64, as, path string) int64 {
	t.Helper()
	return s.CostWithin(t, statements, as, path, 20)
}

// CostWithin returns the number of statements of a page: the least of several visits, and of many visits while it
// is more than most, since a visit that takes longer than a request relies on one moment asks some things twice.
func (s *Server) CostWithin(t testing.TB, statements *atomic.Int64, as, path string, most int64) int64 {
	t.Helper()
	least := int64(1 << 30)
	for n := 0; n < 8 || n < 300 && least > most; n++ {
		statements.Store(0)
		s.Visit(t, as, "GET "+path).Shows(t, 200)
		least = min(least, statements.Load())
	}
	return least
}
