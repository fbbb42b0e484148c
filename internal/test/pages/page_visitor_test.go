package pages_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/account/session"

	"golang.org/x/net/html"

	"arbor/internal/test/apitest"
)

// evil is what somebody writes wherever a text is taken.
const evil = `"><img onerror=x src=x><script>alert(2)</script>'`

// inBrowser is the header of a browser's request.
var inBrowser = map[string]string{"Accept": apitest.Browser}

// page asks for a page as a browser does.
func page(t testing.TB, s *apitest.Server, as, path string, status int) *apitest.Answer {
	t.Helper()
	return s.Check(t, apitest.Case{Do: "GET " + path, As: as, Headers: inBrowser, Status: status})
}

// show returns a page that has some parts.
func show(t *testing.T, s *apitest.Server, as, path string, parts ...string) string {
	t.Helper()
	body := string(page(t, s, as, path, 200).Body)
	apitest.HasParts(t, body, parts...)
	return body
}

// post sends a form of names and values in turn.
func post(t testing.TB, s *apitest.Server, as, path string, status int, pairs ...string) *apitest.Answer {
	t.Helper()
	return s.Check(t, apitest.Case{Do: "POST " + path, As: as, Send: apitest.Form(pairs...), Status: status,
		Headers: map[string]string{"Accept": apitest.Browser, "Content-Type": apitest.FormType}})
}

// visitor is somebody with a browser, signed in by a session or not.
type visitor struct {
	t       *testing.T
	s       *apitest.Server
	session string
}

// as is somebody's browser; nobody's without a login.
func as(t *testing.T, s *apitest.Server, login string) *visitor {
	v := &visitor{t: t, s: s}
	if login != "" {
		v.session = s.Session(t, login)
	}
	return v
}

func (v *visitor) headers(more ...string) map[string]string {
	h := map[string]string{"Accept": apitest.Browser}
	if v.session != "" {
		h["Cookie"] = session.Cookie + "=" + v.session
	}
	for n := 0; n < len(more); n += 2 {
		h[more[n]] = more[n+1]
	}
	return h
}

func (v *visitor) get(path string) *apitest.Answer {
	v.t.Helper()
	return v.s.DoInBrowser(v.t, apitest.Case{Do: "GET " + path, Headers: v.headers()})
}

// want returns a page whose text has some parts.
func (v *visitor) want(path string, status int, has ...string) *apitest.Answer {
	v.t.Helper()
	a := v.get(path)
	if a.Status != status {
		v.t.Errorf("%s: status %d, want %d: %.300s", path, a.Status, status, a.Body)
		return a
	}
	shows(v.t, path, a, has...)
	return a
}

// show returns a page whose markup has some parts.
func (v *visitor) show(path string, parts ...string) string {
	v.t.Helper()
	a := v.s.Check(v.t, apitest.Case{Do: "GET " + path, Headers: v.headers(), Status: 200})
	apitest.HasParts(v.t, string(a.Body), parts...)
	return string(a.Body)
}

// post sends a form of names and values in turn.
func (v *visitor) post(path string, fields ...string) *apitest.Answer {
	v.t.Helper()
	return v.s.DoInBrowser(v.t, apitest.Case{Do: "POST " + path, Send: apitest.Form(fields...),
		Headers: v.headers("Content-Type", apitest.FormType)})
}

// led posts a form that must be taken, and returns where the browser goes.
func (v *visitor) led(path string, fields ...string) string {
	v.t.Helper()
	a := v.post(path, fields...)
	if a.Status != http.StatusSeeOther {
		_, text := inspect(v.t, path, a)
		v.t.Fatalf("%s: status %d: %s", path, a.Status, squeeze(text))
	}
	return a.Header.Get("Location")
}

// field is the value of a hidden field of a page.
func field(t *testing.T, a *apitest.Answer, name string) string {
	t.Helper()
	return first(t, string(a.Body), `name="`+name+`" value="([^"]*)"`)
}

// first is what a pattern's group finds.
func first(t testing.TB, page, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("%s is not in %s", pattern, page)
	}
	return m[1]
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// shows checks that a page has each of the texts.
func shows(t testing.TB, path string, a *apitest.Answer, parts ...string) {
	t.Helper()
	_, text := inspect(t, path, a)
	for _, part := range parts {
		if !strings.Contains(squeeze(text), squeeze(part)) {
			t.Errorf("%s has no %q: %s", path, part, squeeze(text))
		}
	}
}

// lacks checks that a page has none of the pieces of markup.
func lacks(t *testing.T, path string, a *apitest.Answer, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(string(a.Body), part) {
			t.Errorf("%s has %q", path, part)
		}
	}
}

// costsAsMuch holds that pages take at most twenty statements, and no more than two in addition when there is more
// to show.
func costsAsMuch(t *testing.T, s *apitest.Server, statements *atomic.Int64, as string, paths []string,
	more func()) {
	t.Helper()
	few := map[string]int64{}
	for _, path := range paths {
		few[path] = s.Cost(t, statements, as, path)
	}
	more()
	s.Settle(t)
	s.Settle(t) // what settling itself led to
	for _, path := range paths {
		if many := s.CostWithin(t, statements, as, path, few[path]+2); many > few[path]+2 || many > 24 {
			t.Errorf("%s: %d statements with little to show, %d with much", path, few[path], many)
		}
	}
}

// inspect reads a page as a browser does, and reports everything in it that could run or load something from
// elsewhere, and ids that it has twice; it returns the ids and the text.
func inspect(t testing.TB, path string, a *apitest.Answer) (ids []string, text string) {
	t.Helper()
	a.Harmless(t, path)
	if kind := a.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" ||
		a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: %v", path, a.Header)
	}
	template := false // what scripts fill in and put into the page
	for z := html.NewTokenizer(strings.NewReader(string(a.Body))); ; {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Errorf("%s: %v", path, z.Err())
			}
			return ids, text
		case html.TextToken:
			text += z.Token().Data
		case html.EndTagToken:
			template = template && z.Token().Data != "template"
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			template = template || token.Data == "template"
			if token.Data == "style" {
				t.Errorf("%s: %s", path, token)
			}
			for _, at := range token.Attr {
				if (at.Key == "src" || at.Key == "action") && !isOwn(at.Val) {
					t.Errorf("%s: %s", path, token)
				}
				if at.Key == "id" && !template {
					if slices.Contains(ids, at.Val) {
						t.Errorf("%s: two elements with the id %s", path, at.Val)
					}
					ids = append(ids, at.Val)
				}
			}
		}
	}
}

// isOwn reports an address of this site. The proxy's addresses of images are absolute, as in payloads.
func isOwn(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "" && u.Host == "" ||
		strings.HasPrefix(u.Host, "127.0.0.1:") && strings.HasPrefix(u.Path, "/assets/images/"))
}
