package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"

	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/apidoc"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// described is what the drift tests read of a document.
type described struct {
	Servers    []struct{ URL string }
	Paths      map[string]map[string]describedOperation
	Components struct {
		Parameters map[string]describedParameter
	}
}

type describedOperation struct {
	ID         string `json:"operationId"`
	Summary    string
	Tags       []string
	Parameters []describedParameter
	Responses  map[string]json.RawMessage
	Security   *[]map[string][]string
}

type describedParameter struct {
	Ref      string `json:"$ref"`
	Name     string
	In       string
	Required bool
	Multi    bool `json:"x-multi-segment"`
}

func (d *described) parameter(p describedParameter) describedParameter {
	if p.Ref != "" {
		return d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
	}
	return p
}

func describe(t *testing.T, s *apitest.Server, load func(apidoc.Rights) ([]byte, error)) *described {
	t.Helper()
	text, err := load(s.Server.Rights())
	testkit.NoError(t, err)
	var d described
	testkit.NoError(t, json.Unmarshal(text, &d))
	return &d
}

var placeholders = regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)

// A route that nobody described is one that nobody finds. So each has an operation, and they agree on the id
// and the placeholders. A document with an operation that has no route is not served.
func TestEachRouteIsDescribed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	documents := map[route.Group]*described{
		route.API: describe(t, s, apidoc.CodeHosting), route.Plants: describe(t, s, apidoc.Plants),
	}
	for _, r := range s.Server.Routes() {
		d := documents[r.Group]
		if d == nil {
			continue
		}
		path, method := strings.ReplaceAll(r.Pattern, "...}", "}"), strings.ToLower(r.Method)
		op, ok := d.Paths[path][method]
		if !ok {
			t.Errorf("%s %s is not described", r.Method, r.Pattern)
			continue
		}
		checkOperation(t, d, &r, &op)
	}
}

func checkOperation(t *testing.T, d *described, r *route.Route, op *describedOperation) {
	t.Helper()
	at := r.Method + " " + r.Pattern
	if op.ID != server.Operation(r) || op.Summary == "" || len(op.Tags) != 1 {
		t.Errorf("%s: id %q, summary %q, tags %q", at, op.ID, op.Summary, op.Tags)
	}
	mustSignIn := r.Right == route.SignedIn || r.Group == route.API && r.Method != http.MethodGet
	if r.Group == route.API && mustSignIn && op.Security == nil {
		t.Errorf("%s: it needs credentials, and its security does not say so", at)
	}
	want, got := map[string]bool{}, map[string]bool{}
	for _, m := range placeholders.FindAllStringSubmatch(r.Pattern, -1) {
		want[m[1]] = m[2] != ""
	}
	for _, p := range op.Parameters {
		if p = d.parameter(p); p.In == "path" {
			got[p.Name] = p.Multi
			if !p.Required {
				t.Errorf("%s: the placeholder %s must be required", at, p.Name)
			}
		}
	}
	if !maps.Equal(want, got) {
		t.Errorf("%s: placeholders are %v (true: may hold slashes), described are %v", at, want, got)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(op.Responses)), func(s string) bool {
		return s[0] == '2' || s == "302"
	}) {
		t.Errorf("%s: no answer is a success", at)
	}
}

// The documents are for programs on other sites too, with the address that the
// reader used; a client that has them already is spared the body (decisions 7, 22, 27).
func TestDocumentsAreServed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	for _, path := range []string{"/openapi/code-hosting.json", "/openapi/plants.json"} {
		a := s.Check(t, apitest.Case{Do: "GET " + path, Status: 200, Want: `{"openapi": "3.1.1"}`,
			Has: map[string]string{"Content-Type": "application/json; charset=utf-8",
				"Access-Control-Allow-Origin": "*"}})
		var d described
		a.JSON(t, &d)
		if len(d.Servers) == 0 || d.Servers[0].URL != s.URL || strings.Contains(string(a.Body), apidoc.Site) {
			t.Errorf("%s: servers are %v", path, d.Servers)
		}
		tag := a.Header.Get("ETag")
		s.Check(t, apitest.Case{Do: "GET " + path, Status: 304, Body: "-",
			Headers: map[string]string{"If-None-Match": tag}})
		s.Check(t, apitest.Case{Do: "HEAD " + path, Status: 200, Body: "-"})
		other := s.Check(t, apitest.Case{Do: "GET " + path, Status: 200,
			Headers: map[string]string{"Host": "forge.test", "If-None-Match": tag}})
		if !strings.Contains(string(other.Body), `"http://forge.test`) {
			t.Errorf("%s: the address is not that of the request", path)
		}
	}
}

// Pages show every operation, and each documentation_url leads to one of them. Examples have the address of the
// server.
func TestReference(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	index := s.Visit(t, "", "GET /docs")
	index.Shows(t, 200, `id="get-repos-owner-repo"`, `id="get-plants"`, `href="/openapi/plants.json"`)
	link := regexp.MustCompile(`href="(/docs/[a-z-]+)#([^"]+)"`)
	pages := map[string]string{}
	for _, m := range link.FindAllStringSubmatch(string(index.Body), -1) {
		if pages[m[1]] == "" {
			pages[m[1]] = string(s.Visit(t, "", "GET "+m[1]).Shows(t, 200, "Responses").Body)
		}
		if !strings.Contains(pages[m[1]], `id="`+m[2]+`"`) {
			t.Errorf("%s does not describe %s", m[1], m[2])
		}
	}
	for _, r := range s.Server.Routes() {
		if id := `id="` + server.Operation(&r) + `"`; (r.Group == route.API || r.Group == route.Plants) &&
			!strings.Contains(string(index.Body), id) {
			t.Errorf("the page lacks %s", id)
		}
	}
	s.Visit(t, "", "GET /docs/issues").Shows(t, 200, "Create an issue", "title", "required", s.URL, "!"+apidoc.Site)
	s.Visit(t, "", "GET /docs/nothing").Shows(t, 404)
}

// What is large goes compressed to those who take it, and plain to all others,
// the same either way and under one tag, which is weak for that reason.
func TestDocsAreCompressed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	for _, path := range []string{"/openapi/code-hosting.json", "/openapi/plants.json"} {
		plain := s.Check(t, apitest.Case{Do: "GET " + path, Status: 200, Has: map[string]string{
			"Vary": "Accept, Accept-Encoding, Authorization", "Content-Encoding": ""}})
		tag := plain.Header.Get("ETag")
		if got := plain.Header.Get("Content-Length"); got != strconv.Itoa(len(plain.Body)) ||
			!strings.HasPrefix(tag, "W/") {
			t.Errorf("%s: length %s of %d, tag %s", path, got, len(plain.Body), tag)
		}
		accepts := map[string]string{"Accept-Encoding": "br;q=1.0, gzip;q=0.8, *;q=0.1"}
		zipped := s.Check(t, apitest.Case{Do: "GET " + path, Status: 200, Headers: accepts,
			Has: map[string]string{
				"Vary": "Accept, Accept-Encoding, Authorization", "Content-Encoding": "gzip", "ETag": tag,
				"Content-Type":            plain.Header.Get("Content-Type"),
				"Content-Security-Policy": plain.Header.Get("Content-Security-Policy")}})
		if len(zipped.Body)*3 > len(plain.Body) {
			t.Errorf("%s: %d bytes of %d", path, len(zipped.Body), len(plain.Body))
		}
		z, err := gzip.NewReader(bytes.NewReader(zipped.Body))
		testkit.NoError(t, err)
		if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, plain.Body) {
			t.Errorf("%s: what is compressed is something else: %v", path, err)
		}
		for _, accept := range []string{"gzip", "identity"} {
			want := strconv.Itoa(len(plain.Body))
			if accept == "gzip" {
				want = strconv.Itoa(len(zipped.Body))
			}
			s.Run(t, []apitest.Case{
				{Do: "HEAD " + path, Status: 200, Body: "-",
					Headers: map[string]string{"Accept-Encoding": accept}, Has: map[string]string{
						"Content-Length": want, "ETag": tag}},
				{Do: "GET " + path, Status: 304, Body: "-",
					Headers: map[string]string{"Accept-Encoding": accept, "If-None-Match": tag},
					Has:     map[string]string{"Vary": "Accept, Accept-Encoding, Authorization", "Content-Encoding": "", "ETag": tag}},
			})
		}
		s.Check(t, apitest.Case{Do: "GET " + path, Status: 200,
			Headers: map[string]string{"Accept-Encoding": "gzip;q=0, *"},
			Has:     map[string]string{"Content-Encoding": ""}})
	}
}
