package openapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/openapi"
	"arbor/internal/test/testkit"
)

func checker(t *testing.T) *openapi.Checker {
	t.Helper()
	c, err := openapi.Default(func(_, _ string) string { return "anyone" })
	testkit.NoError(t, err)
	return c
}

// Somebody who copies an example from the documentation must be able to rely on it.
func TestExamplesAreAsDescribed(t *testing.T) {
	t.Parallel()
	wrong := checker(t).Examples()
	slices.Sort(wrong)
	for _, w := range wrong {
		t.Error(w)
	}
}

const small = `{"openapi": "3.1.1", "paths": {
	"/things/{name}": {
		"get": {
			"parameters": [{"name": "sort", "in": "query", "schema": {"enum": ["up", "down"]}}],
			"responses": {
				"200": {"headers": {"ETag": {}}, "content": {
					"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}, "example": {"id": 1}},
					"text/plain": {"schema": {"type": "string"}}}},
				"404": {"$ref": "#/components/responses/Absent"}}},
		"patch": {
			"requestBody": {"content": {"application/json": {"schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}}}},
			"responses": {"204": {}}}}},
	"components": {
		"responses": {"Absent": {"content": {"application/json": {"schema": {"type": "object", "required": ["message"]}}}}},
		"schemas": {"Thing": {"type": "object", "required": ["id"], "additionalProperties": false, "properties": {
			"id": {"type": "integer"}, "url": {"type": "string", "format": "uri-template"}}}}}}`

// The checker is what keeps the description true, so it must see each way in
// which an answer can differ, and nothing else.
func TestExchange(t *testing.T) {
	t.Parallel()
	c, err := openapi.New([]byte(small))
	testkit.NoError(t, err)
	const json, plain = "application/json; charset=utf-8", "text/plain"
	for _, test := range []struct {
		name   string
		method string
		query  string
		sent   string
		status int
		header map[string]string
		body   string
		want   string // a part of what is wrong; "" is nothing
	}{
		{"as described", "GET", "sort=up&other=1", "", 200,
			map[string]string{"Content-Type": json, "ETag": "x"}, `{"id": 1, "url": "http://a/b{?x,y}"}`, ""},
		{"text", "GET", "", "", 200, map[string]string{"Content-Type": plain}, "x", ""},
		{"no body", "HEAD", "", "", 200, map[string]string{"Content-Type": json}, "", ""},
		{"a new field", "GET", "", "", 200, map[string]string{"Content-Type": json}, `{"id": 1, "new": 1}`,
			"'new' not allowed"},
		{"a field gone", "GET", "", "", 200, map[string]string{"Content-Type": json}, `{}`,
			"missing property 'id'"},
		{"another type", "GET", "", "", 200, map[string]string{"Content-Type": json}, `{"id": "1"}`,
			"/id: got string, want integer"},
		{"another form", "GET", "", "", 200, map[string]string{"Content-Type": json},
			`{"id": 1, "url": "http://a/{b"}`, "/url: "},
		{"no JSON", "GET", "", "", 200, map[string]string{"Content-Type": json}, `{`, "not as described"},
		{"another media type", "GET", "", "", 200, map[string]string{"Content-Type": "text/html"}, "x",
			`media type "text/html"`},
		{"another status", "GET", "", "", 201, nil, "", "status 201 is not described"},
		{"a header", "GET", "", "", 200, map[string]string{"Content-Type": json, "Link": "x"}, `{"id": 1}`,
			"header Link of status 200"},
		{"a value", "GET", "sort=side", "", 200, map[string]string{"Content-Type": json},
			`{"id": 1}`, `"side"`},
		{"a shared answer", "GET", "", "", 404, map[string]string{"Content-Type": json}, `{}`,
			"missing property 'message'"},
		{"a body taken", "PATCH", "", `{"id": 1, "x": 2}`, 204, nil, "", ""},
		{"POST for PATCH", "POST", "", `{"id": "x"}`, 204, nil, "", "the request was taken"},
		{"a body without a field", "PATCH", "", `{}`, 204, nil, "", "the request was taken"},
		{"a body where none is", "PATCH", "", `{"id": 1}`, 204, nil, "x", "none is described"},
		{"no such method", "DELETE", "", "", 405, map[string]string{"Allow": "GET"}, "x", ""},
	} {
		e := &openapi.Exchange{Method: test.method, Pattern: "/things/{name...}", Query: test.query,
			Sent: []byte(test.sent), Status: test.status,
			Header: http.Header{}, Body: []byte(test.body)}
		for name, value := range test.header {
			e.Header.Set(name, value)
		}
		got := strings.Join(c.Exchange(e), "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	for _, test := range []struct{ method, in, name, want string }{
		{"GET", "query", "sort", ""}, {"HEAD", "query", "page", "query parameter page"},
		{"PATCH", "body", "id", ""},
		{"POST", "body", "name", "body's field name"}, {"DELETE", "query", "x", ""},
	} {
		if got := c.Asked(test.method, "/things/{name}", test.in, test.name); test.want == "" && got != "" ||
			!strings.Contains(got, test.want) {
			t.Errorf("%s asks the %s for %s: %q, want %q", test.method, test.in, test.name, got, test.want)
		}
	}
}

// Who sees a server from outside knows paths and no patterns.
func TestMatch(t *testing.T) {
	t.Parallel()
	c := checker(t)
	for path, want := range map[string]string{
		"/":                           "/",
		"/api/v3":                     "/",
		"/api/v3/users/alice":         "/users/{username}",
		"/plants/7":                   "/plants/{id}",
		"/repos/a/b":                  "/repos/{owner}/{repo}",
		"/repos/a/b/issues/7":         "/repos/{owner}/{repo}/issues/{number}",
		"/repos/a/b/issues/comments":  "/repos/{owner}/{repo}/issues/comments",
		"/repos/a/b/git/trees/x/y":    "/repos/{owner}/{repo}/git/trees/{sha}",
		"/repos/a/b/commits/x/y":      "/repos/{owner}/{repo}/commits/{ref}",
		"/repos/a/b/commits/x/status": "/repos/{owner}/{repo}/commits/{ref}/status",
		"/repos/a/b/commits/x/branches-where-head": "/repos/{owner}/{repo}/commits/{sha}/branches-where-head",
		"/alice/garden/raw/main/x":                 "/{owner}/{repo}/raw/{path}",
		"/nothing":                                 "",
		"/repos/a":                                 "",
		"/api/v30/users/alice":                     "",
	} {
		if got := c.Match(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}
