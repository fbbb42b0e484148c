package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/errs"
)

func TestParseAccept(t *testing.T) {
	for _, c := range []struct {
		accept    string
		graduated bool
		json      bool
		kind      string
		asked     string
	}{
		{"", false, true, "", ""},
		{"application/json", false, true, "", ""},
		{"APPLICATION/JSON; charset=utf-8", false, true, "", ""},
		{"text/html", false, false, "", ""},
		{"text/html, */*;q=0.1", false, true, "", ""},
		{"*/*;q=0", false, false, "", ""},
		{"application/json;q=0.000", false, false, "", ""},
		{"application/json;q=0.001", false, true, "", ""},
		{"application/vnd.service+json", false, true, "", ""},
		{"application/vnd.service.v3+json", false, true, "", ""},
		{"application/vnd.service.full+json", false, true, "full", "full"},
		{"application/vnd.service.v3.html", false, true, "html", "html"},
		{"application/vnd.service.v3.raw+json, application/vnd.service.v3.text+json", false, true,
			"raw", "raw text"},
		{"application/vnd.service.squirrel-girl-preview", false, true, "", "squirrel-girl-preview"},
		{"application/vnd.service.cerberus-preview+json,application/vnd.service.cerberus-preview", false,
			true, "", "cerberus-preview"},
		{"application/vnd.service.the-key-preview+json;q=0", false, false, "", ""},
		{"application/vnd.service.unheard-of-preview+json", false, true, "", ""},
		{"application/vnd.github+json", true, true, "", ""},
		{"application/vnd.github.v3.star+json", true, true, "star", "star"},
		{"application/vnd.github.v3.param+json", true, true, "", ""},
		{"application/vnd.other.v3+json", false, false, "", ""},
		{"application/vnd.service.v3.diff, application/vnd.github.polaris-preview", true, true, "diff",
			"diff polaris-preview"},
		{",, ;;, application/", false, false, "", ""},
	} {
		var values []string
		if c.accept != "" {
			values = []string{c.accept}
		}
		m := ParseAccept(values)
		if m.Graduated != c.graduated || m.JSON != c.json || m.Kind != c.kind ||
			strings.Join(m.Asked, " ") != c.asked {
			t.Errorf("%q: %+v", c.accept, m)
		}
	}
}

// What is not JSON has the type that a client of GitHub asked for, and is plain
// text to all others.
func TestTextHasTheTypeThatWasAskedFor(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                  "text/plain",
		"application/vnd.service.v3.diff":   "text/plain",
		"application/vnd.github+json":       "text/plain",
		"application/vnd.github.diff":       "application/vnd.github.diff",
		"application/vnd.GitHub.v3.patch":   "application/vnd.github.v3.patch",
		"application/vnd.github.raw+json":   "application/vnd.github.raw",
		"application/vnd.github.v3.raw;q=1": "application/vnd.github.v3.raw",
		"application/vnd.github.nonsense":   "text/plain",
		"application/vnd.service.diff, application/vnd.github.patch": "text/plain",
		"text/html, application/vnd.github.sha":                      "application/vnd.github.sha",
	} {
		m := ParseAccept([]string{accept})
		if got := m.Text(); got != want+"; charset=utf-8" {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
}

// Several headers count as one (RFC 9110, 5.2).
func TestParseAcceptOfSeveralHeaders(t *testing.T) {
	m := ParseAccept([]string{"text/html", "application/vnd.service.cerberus-preview+json"})
	if !m.JSON || !m.Preview(Assignees) || m.Preview(Reactions) {
		t.Errorf("%+v", m)
	}
}

// Graduated callers have every preview without asking (decision 3).
func TestGraduatedHasAllPreviews(t *testing.T) {
	m := ParseAccept([]string{"application/vnd.github.v3+json"})
	for _, p := range previews {
		if !m.Preview(p) {
			t.Errorf("%s is off", p)
		}
	}
}

var textType = regexp.MustCompile(`^(text/plain|application/vnd\.github\.(v3\.)?[a-z]+); charset=utf-8$`)

// Whatever a client sends, the media type header that answers it stays one
// line of known words.
func FuzzParseAccept(f *testing.F) {
	f.Add("application/vnd.service.v3.full+json, application/vnd.github.cerberus-preview;q=0.5")
	f.Add("application/vnd.service.v3.\r\nX: y")
	f.Add("*/*;q=;q=0;;,")
	f.Fuzz(func(t *testing.T, accept string) {
		m := ParseAccept([]string{accept})
		header := m.Header("service")
		for _, part := range strings.Split(header, "; ")[1:] {
			name := strings.TrimPrefix(part, "param=")
			known := part == "format=json"
			for _, k := range kinds {
				known = known || name == k
			}
			for _, p := range previews {
				known = known || name == p
			}
			if !known {
				t.Fatalf("%q led to %q", accept, header)
			}
		}
		if len(m.Asked) > len(kinds)+len(previews) {
			t.Fatalf("%d names", len(m.Asked))
		}
		if text := m.Text(); !textType.MatchString(text) {
			t.Fatalf("%q led to the content type %q", accept, text)
		}
	})
}

// A client without a preview learns which media type it is missing (decision 6).
func TestRequirePreview(t *testing.T) {
	for accept, on := range map[string]bool{
		"": false, "application/json": false, "application/vnd.service.v3+json": false,
		"application/vnd.service.cerberus-preview":     false,
		"application/vnd.service.the-key-preview+json": true,
		"application/vnd.service.v3.the-key-preview":   true,
		"application/vnd.github+json":                  true,
	} {
		r := With(httptest.NewRequest(http.MethodPut, "/", nil), &Info{Media: ParseAccept([]string{accept})})
		err := RequirePreview(r, Locking, "Locking is")
		if (err == nil) != on {
			t.Errorf("%q: %v", accept, err)
		}
		if err != nil && (!errs.Is(err, errs.UnsupportedMedia) ||
			!strings.Contains(err.Error(), "application/vnd.service.the-key-preview+json")) {
			t.Errorf("%q: %v", accept, err)
		}
	}
}
