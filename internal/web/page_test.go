package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func pageRequest(t testing.TB, query string) *http.Request {
	t.Helper()
	r := httptest.NewRequest("GET", "/issues", nil)
	r.URL.RawQuery = query
	return With(r, &Info{Prefix: "http://host"})
}

func TestReadPage(t *testing.T) {
	for query, want := range map[string]Page{
		"":                              {1, 30},
		"page=3":                        {3, 30},
		"per_page=100&page=2":           {2, 100},
		"per_page=101":                  {1, 100},
		"per_page=0&page=0":             {1, 30},
		"per_page=-5&page=-1":           {1, 30},
		"per_page=ten&page=1.5":         {1, 30},
		"per_page=+5&page=%205":         {1, 30},
		"per_page=99999999999999999999": {1, 100},
	} {
		if got := ReadPage(pageRequest(t, query)); got != want {
			t.Errorf("%q: %+v, want %+v", query, got, want)
		}
	}
	if p := ReadPage(pageRequest(t, "page=99999999999999999999&per_page=100")); p.Offset() < 0 {
		t.Errorf("a page beyond counting begins at %d", p.Offset())
	}
}

func TestLink(t *testing.T) {
	for _, c := range []struct {
		query string
		total int64
		want  string
	}{
		{"", 0, ""},
		{"", 30, ""},
		{"", 31, `<http://host/issues?page=2>; rel="next", <http://host/issues?page=2>; rel="last"`},
		{"page=2&per_page=10", 30,
			`<http://host/issues?page=3&per_page=10>; rel="next", <http://host/issues?page=3&per_page=10>; rel="last", <http://host/issues?page=1&per_page=10>; rel="first", <http://host/issues?page=1&per_page=10>; rel="prev"`},
		{"per_page=10&page=3", 30,
			`<http://host/issues?per_page=10&page=1>; rel="first", <http://host/issues?per_page=10&page=2>; rel="prev"`},
		{"page=9", 31, `<http://host/issues?page=2>; rel="last", <http://host/issues?page=1>; rel="first", <http://host/issues?page=2>; rel="prev"`},
		{"page=2", 0, `<http://host/issues?page=1>; rel="last", <http://host/issues?page=1>; rel="first", <http://host/issues?page=1>; rel="prev"`},
		{"labels=a,b%20c&state=all", 31,
			`<http://host/issues?labels=a,b%20c&state=all&page=2>; rel="next", <http://host/issues?labels=a,b%20c&state=all&page=2>; rel="last"`},
	} {
		w, r := httptest.NewRecorder(), pageRequest(t, c.query)
		Link(w, r, ReadPage(r), c.total)
		if got := w.Header().Get("Link"); got != c.want {
			t.Errorf("%q of %d:\n%s, want\n%s", c.query, c.total, got, c.want)
		}
	}
}

var linkForm = regexp.MustCompile(`^<([^<>"\s]+)>; rel="(next|last|first|prev)"$`)

// Whatever query a client sends, the Link header must parse, and lead to the
// same list: the same parameters, another page.
func FuzzLink(f *testing.F) {
	f.Add("page=2&per_page=10&labels=a,b", int64(100))
	f.Add("a=>;rel=\"next\"&b=\r\n&page=%zz", int64(1000))
	f.Add("page=1&page=2&;x", int64(31))
	f.Fuzz(func(t *testing.T, query string, total int64) {
		if total < 0 {
			return
		}
		r := pageRequest(t, query)
		w := httptest.NewRecorder()
		Link(w, r, ReadPage(r), total)
		header := w.Header().Get("Link")
		if header == "" {
			return
		}
		for _, part := range strings.Split(header, `", `) {
			m := linkForm.FindStringSubmatch(strings.TrimSuffix(part, `"`) + `"`)
			if m == nil {
				t.Fatalf("%q: cannot read %q", query, part)
			}
			u, err := url.Parse(m[1])
			if err != nil {
				t.Fatalf("%q: %v", query, err)
			}
			got, sent := u.Query(), r.URL.Query()
			if n, err := strconv.ParseInt(got.Get("page"), 10, 64); err != nil || n < 1 ||
				len(got["page"]) != 1 {
				t.Fatalf("%q: page %q", query, got["page"])
			}
			got.Del("page")
			sent.Del("page")
			if got.Encode() != sent.Encode() {
				t.Fatalf("%q became %q: %q, was %q", query, m[1], got.Encode(), sent.Encode())
			}
		}
	})
}
