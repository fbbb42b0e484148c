package pages_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/imageproxy"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"

	"golang.org/x/net/html"
)

// badge is an SVG as badges are.
const badge = `<?xml version="1.0"?>
<!-- a badge --><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>`

// dot is a PNG of one pixel, and huge the same with a header that says it is 60,000 pixels wide and high.
func dot(t testing.TB) (small, huge []byte) {
	var b bytes.Buffer
	testkit.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))))
	huge = bytes.Clone(b.Bytes())
	binary.BigEndian.PutUint32(huge[16:], 60_000)
	binary.BigEndian.PutUint32(huge[20:], 60_000)
	return b.Bytes(), huge
}

// otherHost has images, good and bad ones. It fails the test if a request tells who asks.
func otherHost(t *testing.T) *httptest.Server {
	small, huge := dot(t)
	mux := http.NewServeMux()
	answer := func(path, kind string, body []byte, headers ...string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			for _, name := range []string{"Cookie", "Authorization", "Referer", "X-Forwarded-For", "Forwarded"} {
				if r.Header.Get(name) != "" {
					t.Errorf("%s: %s is %q", path, name, r.Header.Get(name))
				}
			}
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Set-Cookie", "spy=1")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			for n := 0; n < len(headers); n += 2 {
				w.Header().Set(headers[n], headers[n+1])
			}
			_, _ = w.Write(body)
		})
	}
	answer("/dot.png", "text/html", small)
	answer("/badge", "image/svg+xml", []byte(badge))
	answer("/page", "image/png", []byte("<html><script>alert(1)</script></html>"))
	answer("/late-page", "image/png", []byte(strings.Repeat(" ", 600)+"<html>"))
	answer("/huge.png", "image/png", huge)
	answer("/entities", "image/svg+xml", []byte(`<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>`))
	answer("/zipped", "image/png", small, "Content-Encoding", "gzip")
	answer("/long", "image/png", append(bytes.Clone(small), make([]byte, 5<<20)...))
	mux.Handle("/moved", http.RedirectHandler("/dot.png", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.Handle("/inward", http.RedirectHandler("http://169.254.169.254/latest/meta-data", http.StatusFound))
	mux.Handle("/scheme", http.RedirectHandler("file:///etc/passwd", http.StatusFound))
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		_, err := w.Write(small)
		for err == nil && r.Context().Err() == nil {
			_, err = w.Write(make([]byte, 64<<10))
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// images are the addresses of images in HTML, by their own ones.
func images(t *testing.T, body string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for z := html.NewTokenizer(strings.NewReader(body)); z.Next() != html.ErrorToken; {
		token := z.Token()
		at := map[string]string{}
		for _, a := range token.Attr {
			at[a.Key] = a.Val
		}
		if token.Data == "img" && at["data-canonical-src"] != "" {
			found[at["data-canonical-src"]] = at["src"]
		}
	}
	return found
}

// Readers see images of other hosts, and these hosts hear nothing of them. Images that are none, bombs, and those
// that lead inward or do not end are not shown.
func TestImagesOfOtherHosts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		host := otherHost(t)
		s.Users(t, "alice")
		s.Repo(t, "alice/garden", false)
		var text strings.Builder
		names := strings.Fields("dot.png badge moved page late-page huge.png entities zipped long loop inward scheme endless")
		for _, name := range names {
			fmt.Fprintf(&text, "![%s](%s/%s)\n", name, host.URL, name)
		}
		for _, address := range []string{"http://10.0.0.1/a.png", "http://192.168.1.1/", "http://localhost:1/"} {
			fmt.Fprintf(&text, "![inner](%s)\n", address)
		}
		shown := renderings(t, s, text.String())
		for what, body := range shown {
			found := images(t, body)
			if len(found) != len(names)+3 {
				t.Fatalf("%s: %d images in %.3000s", what, len(found), body)
			}
			for address, at := range found {
				if !strings.HasPrefix(at, s.URL+"/assets/images/") {
					t.Errorf("%s: %s is shown from %s", what, address, at)
				}
			}
		}
		found := images(t, shown["issue"])
		get := func(name string) *apitest.Answer {
			return s.Do(t, apitest.Case{Do: "GET " + strings.TrimPrefix(found[host.URL+"/"+name], s.URL), As: "alice",
				Headers: map[string]string{"Cookie": "a=b", "Referer": s.URL + "/alice/garden"}})
		}
		for name, kind := range map[string]string{"dot.png": "image/png", "moved": "image/png", "badge": "image/svg+xml"} {
			a := get(name)
			if h := a.Header; a.Status != 200 || h.Get("Content-Type") != kind || h.Get("Set-Cookie") != "" ||
				!strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") ||
				strings.Contains(h.Get("Content-Security-Policy"), "script") || h.Get("X-Content-Type-Options") != "nosniff" ||
				!strings.Contains(h.Get("Cache-Control"), "max-age=3600") {
				t.Errorf("%s: %d %v", name, a.Status, h)
			}
		}
		for _, name := range names[3 : len(names)-1] {
			if a := get(name); a.Status != 404 {
				t.Errorf("%s: %d %.200s", name, a.Status, a.Body)
			}
		}
		for address, at := range found {
			if strings.Contains(address, host.URL) {
				continue
			}
			if a := s.Do(t, apitest.Case{Do: "GET " + strings.TrimPrefix(at, s.URL)}); a.Status != 404 {
				t.Errorf("%s: %d", address, a.Status)
			}
		}
		breaksOff(t, found[host.URL+"/endless"])
		forged(t, s, found[host.URL+"/dot.png"])
	})
}

// breaksOff checks that an image that does not end breaks off after five megabytes.
func breaksOff(t *testing.T, address string) {
	t.Helper()
	a, err := http.Get(address)
	testkit.NoError(t, err)
	defer a.Body.Close()
	n, err := io.Copy(io.Discard, a.Body)
	if a.StatusCode != 200 || err == nil || n > 5<<20+1 {
		t.Errorf("status %d, %d bytes, %v", a.StatusCode, n, err)
	}
}

// forged checks that nobody signs addresses but the server.
func forged(t *testing.T, s *apitest.Server, address string) {
	t.Helper()
	path := strings.TrimPrefix(address, s.URL)
	at := strings.LastIndexByte(path, '/')
	other := base64.RawURLEncoding.EncodeToString([]byte("http://example.org/x.png"))
	last := "A" // of another digest
	if path[at-1] == 'A' {
		last = "Q"
	}
	for _, forged := range []string{path[:at+1] + other, path[:at] + "/", path[:at-1] + last + path[at:], path + "A",
		"/assets/images/x/" + other, "/assets/images//" + other} {
		if a := s.Do(t, apitest.Case{Do: "GET " + forged}); a.Status != 404 {
			t.Errorf("%s: %d", forged, a.Status)
		}
	}
}

// renderings are what the server makes of a text in each place that shows one.
func renderings(t *testing.T, s *apitest.Server, text string) map[string]string {
	t.Helper()
	quoted, err := json.Marshal(text)
	testkit.NoError(t, err)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
		Send: `{"title": "Images", "body": ` + string(quoted) + `}`})
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/README.md", As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"message": "m", "content": %q}`, base64.StdEncoding.EncodeToString([]byte(text)))})
	var issue struct {
		HTML string `json:"body_html"`
	}
	in := map[string]string{"Accept": "application/vnd.github.html+json"}
	s.Do(t, apitest.Case{Do: "GET /repos/alice/garden/issues/1", As: "alice", Headers: in}).JSON(t, &issue)
	body := func(c apitest.Case) string { return string(s.Do(t, c).Body) }
	return map[string]string{"issue": issue.HTML,
		"readme": body(apitest.Case{Do: "GET /repos/alice/garden/readme", As: "alice",
			Headers: map[string]string{"Accept": "application/vnd.github.html"}}),
		"markdown": body(apitest.Case{Do: "POST /markdown", As: "alice", Send: `{"text": ` + string(quoted) + `}`}),
		"page":     string(s.Visit(t, "alice", "GET /alice/garden/issues/1").Body),
		"home":     string(s.Visit(t, "alice", "GET /alice/garden").Body),
	}
}

// Of thousands of images in a text a few are fetched, and the rest are links.
func TestManyImages(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice")
	s.Repo(t, "alice/garden", false)
	var text strings.Builder
	for n := range 1500 {
		fmt.Fprintf(&text, "![n](https://example.org/%d)\n", n)
	}
	for what, body := range renderings(t, s, text.String()) {
		found, links := len(images(t, body)), strings.Count(body, `href="https://example.org/`)
		if found != imageproxy.MaxImages || found+links != 1500 {
			t.Errorf("%s: %d images, %d links", what, found, links)
		}
	}
}

// Without the proxy, images of other hosts are links, and nothing is fetched. Those of this site are images.
func TestNoImageProxy(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.ImageKey = nil })
	s.Users(t, "alice")
	s.Repo(t, "alice/garden", false)
	text := "![a & c](https://example.org/x?a&b) [![badge](https://example.org/y)](https://example.org/z) ![](https://example.org/w) " +
		"![own](" + s.URL + "/alice/garden/raw/main/a.png) ![bad](http://[::1:x) ![p](https://u:p@example.org/p)"
	for what, body := range renderings(t, s, text) {
		for _, want := range []string{`<a href="https://example.org/x?a&amp;b" rel="nofollow">a &amp; c</a>`,
			`<a href="https://example.org/z" rel="nofollow">badge</a>`, `>https://example.org/w</a>`,
			`<img src="` + s.URL + `/alice/garden/raw/main/a.png" alt="own">`} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: %s is not in %.600s", what, want, body)
			}
		}
		if strings.Count(body, "<img src=\"http") != 1 {
			t.Errorf("%s: %.600s", what, body)
		}
	}
	s.Check(t, apitest.Case{Do: "GET /assets/images/x/aHR0cDovL2EvYg", Status: 404})
}
