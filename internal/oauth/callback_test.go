package oauth

import (
	"net/url"
	"strings"
	"testing"
)

// A code never goes to a host that was not registered, whatever an App or a stranger writes.
func FuzzCallback(f *testing.F) {
	for _, x := range [][2]string{{"https://a.example/cb", "https://a.example/cb"}, {"http://127.0.0.1/cb",
		"http://127.0.0.1:8/cb"},
		{"http://[::1]:1/cb?x", "http://[::1]:2/cb?x"}, {"http://localhost", "http://localhost.evil.example"},
		{"http://localhost/", "http://localhost:1@evil.example/"}, {"https://a.example",
			"https://a.example\\@evil.example"}} {
		f.Add(x[0], x[1])
	}
	f.Fuzz(func(t *testing.T, registered, asked string) {
		if checkCallback(registered) != nil {
			return
		}
		a := &About{Callbacks: []string{registered}}
		to, ok := a.callback(asked)
		if !ok {
			return
		}
		was, err := url.Parse(registered)
		now, also := url.Parse(to)
		if err != nil || also != nil {
			t.Fatalf("%q leads to %q: %v %v", registered, to, err, also)
		}
		if now.Scheme != was.Scheme || now.Hostname() != was.Hostname() || now.Path != was.Path ||
			now.RawQuery != was.RawQuery ||
			now.User != nil || now.Fragment != "" || now.Port() != was.Port() && was.Hostname() != "127.0.0.1" &&
			was.Hostname() != "::1" && was.Hostname() != "localhost" {
			t.Errorf("%q is taken for %q", asked, registered)
		}
		with := withQuery(to, url.Values{"code": {"a b"}})
		if u, err := url.Parse(with); err != nil || u.Host != now.Host || !strings.HasSuffix(u.RawQuery, "code=a+b") {
			t.Errorf("%q becomes %q", to, with)
		}
		if strings.ContainsAny(SiteOf(to), " ;,'\"") {
			t.Errorf("%q is the source %q", to, SiteOf(to))
		}
	})
}

// Forms that programs send end in values or an error.
func FuzzForm(f *testing.F) {
	f.Add("client_id=a&code=b")
	f.Add("client_id=a&client_id=b")
	f.Add("%zz=\x00;")
	f.Fuzz(func(t *testing.T, body string) {
		v, err := parseForm(body)
		if err != nil {
			return
		}
		for _, name := range sent {
			if len(v[name]) > 1 || strings.Contains(v.Get(name), "\x00") {
				t.Errorf("%q gives %v", body, v)
			}
		}
	})
}
