package certificate_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"arbor/internal/certificate"
)

// A link to this server must not lead to another site: people trust its name.
func TestRedirect(t *testing.T) {
	t.Parallel()
	h := certificate.Redirect([]string{"code.example.org:8443", "git.example.org"})
	for _, c := range []struct{ method, host, target, want string }{
		{"GET", "code.example.org", "/alice/garden?tab=issues&q=a%2Fb",
			"https://code.example.org:8443/alice/garden?tab=issues&q=a%2Fb"},
		{"GET", "GIT.example.org:80", "/", "https://git.example.org/"},
		{"GET", "git.example.org.", "/a%2Fb", "https://git.example.org/a%2Fb"},
		{"GET", "evil.example", "/x", "https://code.example.org:8443/x"},
		{"GET", "git.example.org@evil.example", "/x", "https://code.example.org:8443/x"},
		{"GET", "", "//evil.example/x", "https://code.example.org:8443//evil.example/x"},
		{"GET", "git.example.org", "http://evil.example/x", "https://git.example.org/x"},
		{"POST", "git.example.org", "/alice/garden.git/git-receive-pack",
			"https://git.example.org/alice/garden.git/git-receive-pack"},
		{"OPTIONS", "git.example.org", "*", "https://git.example.org/"},
	} {
		r := httptest.NewRequest(c.method, c.target, nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Location"); w.Code != http.StatusPermanentRedirect || got != c.want {
			t.Errorf("%s %s of %q: %d to %q, want %q", c.method, c.target, c.host, w.Code, got, c.want)
		}
	}
}

func FuzzRedirect(f *testing.F) {
	f.Add("code.example.org", "/a?b=c")
	f.Add("evil.example", "//evil.example")
	f.Add("", "http:\\\\evil.example")
	f.Add("a\r\nb", "/%0d%0aLocation:%20x")
	h := certificate.Redirect([]string{"code.example.org"})
	f.Fuzz(func(t *testing.T, host, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, &http.Request{Method: "GET", Host: host, URL: u, Header: http.Header{}})
		to, err := url.Parse(w.Header().Get("Location"))
		if err != nil {
			// A query may hold what url.Parse refuses. Clients stop at the slash.
			to = &url.URL{Scheme: "https", Host: "code.example.org"}
		}
		if to.Scheme != "https" || to.Host != "code.example.org" || to.User != nil {
			t.Errorf("%q of %q leads to %q", target, host, w.Header().Get("Location"))
		}
	})
}
