package server_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"arbor/internal/account/token"
	"arbor/internal/scope"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// garden is a small world for the tables: alice owns a public repository with a
// history and a private one; bob is a stranger.
func garden(t *testing.T, s *apitest.Server) {
	s.Users(t, "alice", "bob")
	s.Import(t, s.Repo(t, "alice/garden", false), gittest.Repository(t, 3, 4))
	s.Repo(t, "alice/Secret", true)
	s.Repo(t, "alice/empty", false)
}

const notFound = `{"message":"Not Found","documentation_url":"{base}/docs%s"}`

// Clients written for GitHub send its media types, ours send the interface's
// own; each must be answered in its dialect (decisions 1-6).
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const path = "GET /repos/alice/garden"
		accept := func(v string) map[string]string { return map[string]string{"Accept": v} }
		types := func(service, github string) map[string]string {
			return map[string]string{"X-Service-Media-Type": service, "X-GitHub-Media-Type": github}
		}
		plain := "service.v3; format=json"
		s.Run(t, []apitest.Case{
			{Name: "no Accept", Do: path, Status: 200, Has: types(plain, "-")},
			{Name: "json", Do: path, Headers: accept("application/json"), Status: 200,
				Has: types(plain, "-")},
			{Name: "anything", Do: path, Headers: accept("text/csv, */*;q=0.1"), Status: 200,
				Has: types(plain, "-")},
			{Name: "service", Do: path, Headers: accept("application/vnd.service.v3+json"), Status: 200,
				Has: types(plain, "-")},
			{Name: "service without version", Do: path, Headers: accept("application/vnd.service+json"),
				Status: 200, Has: types(plain, "-")},
			{Name: "kind", Do: path, Headers: accept("application/vnd.service.v3.full+json"), Status: 200,
				Has: types("service.v3; param=full; format=json", "-")},
			{Name: "kind without json", Do: path, Headers: accept("application/vnd.service.v3.full"),
				Status: 200, Has: types("service.v3; param=full; format=json", "-")},
			{Name: "previews add up, in order", Do: path,
				Headers: accept("application/vnd.service.cerberus-preview, application/vnd.service.squirrel-girl-preview+json;q=0.5, application/vnd.service.cerberus-preview"),
				Status:  200, Has: types(
					"service.v3; param=cerberus-preview; param=squirrel-girl-preview; format=json", "-")},
			{Name: "unknown preview", Do: path,
				Headers: accept("application/vnd.service.unheard-preview+json"), Status: 200,
				Has: types(plain, "-")},
			{Name: "kind that a repository lacks", Do: path,
				Headers: accept("application/vnd.github.v3.diff"), Status: 200,
				Has: types("service.v3; param=diff; format=json", "github.v3; param=diff; format=json")},
			{Name: "github", Do: path, Headers: accept("application/vnd.github+json"), Status: 200,
				Has: types(plain, "github.v3; format=json")},
			{Name: "under api/v3", Do: "GET /api/v3/repos/alice/garden", Status: 200,
				Has: types(plain, "github.v3; format=json")},
			{Name: "host that begins with api.", Do: path,
				Headers: map[string]string{"Host": "api.github.localhost"}, Status: 200,
				Has: types(plain, "github.v3; format=json")},
			{Name: "csv only", Do: path, Headers: accept("text/csv"), Status: 415,
				Want: `{"message": "$any", "documentation_url": "{base}/docs#get-repos-owner-repo"}`},
			{Name: "refused with q=0", Do: path, Headers: accept("application/json;q=0"), Status: 415},
			{Name: "several headers' worth", Do: path,
				Headers: accept("text/html,application/xhtml+xml,application/json;q=0.9;charset=utf-8"),
				Status:  200},
			{Name: "a body's type is no reason to refuse", Do: "PATCH /repos/alice/garden", As: "alice",
				Send:    `{"description":"x"}`,
				Headers: map[string]string{"Content-Type": "text/plain"}, Status: 200,
				Want: `{"description": "x"}`},
		})
	})
}

// Addresses in answers must lead back to where the caller is (decision 7).
func TestAddresses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		host := func(h string) map[string]string { return map[string]string{"Host": h} }
		s.Run(t, []apitest.Case{
			{Name: "root", Do: "GET /repos/alice/garden", Status: 200,
				Want: `{"url": "{base}/repos/alice/garden",
				"html_url": "{base}/alice/garden", "clone_url": "{base}/alice/garden.git"}`},
			{Name: "prefix", Do: "GET /api/v3/repos/alice/garden", Status: 200,
				Want: `{"url": "{base}/api/v3/repos/alice/garden",
				"html_url": "{base}/alice/garden", "clone_url": "{base}/alice/garden.git", "owner": {"url": "{base}/api/v3/users/alice"}}`},
			{Name: "host and port", Do: "GET /repos/alice/garden",
				Headers: host("code.example.org:8443"), Status: 200,
				Want: `{"url": "http://code.example.org:8443/repos/alice/garden", "clone_url": "http://code.example.org:8443/alice/garden.git"}`},
			{Name: "api host", Do: "GET /repos/alice/garden",
				Headers: host("api.github.localhost"), Status: 200,
				Want: `{"url": "http://api.github.localhost/repos/alice/garden", "html_url": "http://github.localhost/alice/garden"}`},
			{Name: "case", Do: "GET /repos/ALICE/secret", As: "alice", Status: 200,
				Want: `{"full_name": "alice/Secret", "url": "{base}/repos/alice/Secret"}`},
			{Name: "root document", Do: "GET /", Status: 200,
				Want: `{"current_user_url": "{base}/user", "documentation_url": "{base}/docs"}`},
			{Name: "root document of the prefix", Do: "GET /api/v3/", Status: 200,
				Want: `{"current_user_url": "{base}/api/v3/user"}`},
			{Name: "root document of the prefix, bare", Do: "GET /api/v3", Status: 200},
			{Name: "a longer word is not the prefix", Do: "GET /api/v30/user", Status: 404},
			{Name: "plants are not under the prefix", Do: "GET /api/v3/plants", As: "alice", Status: 404},
			{Name: "paths are not cleaned", Do: "GET //user", As: "alice", Status: 404},
			{Name: "nor decoded twice", Do: "GET /users/%252e%252e", Status: 404},
		})
		t.Run("absolute form, as through a proxy", func(t *testing.T) {
			c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			testkit.NoError(t, err)
			defer c.Close()
			fmt.Fprintf(c, "GET http://github.localhost/api/v3/users/alice HTTP/1.1\r\nHost: github.localhost\r\nConnection: close\r\n\r\n")
			c.SetReadDeadline(time.Now().Add(testkit.Patience))
			buf := make([]byte, 8192)
			n, _ := c.Read(buf)
			for !strings.Contains(string(buf[:n]), `"url":"http://github.localhost/api/v3/users/alice"`) {
				more, err := c.Read(buf[n:])
				if n += more; err != nil {
					t.Fatalf("answered %s", buf[:n])
				}
			}
		})
	})
}

func with(headers map[string]string, name, value string) map[string]string {
	headers[name] = value
	return headers
}

// Somebody who calls must be known in each form that clients use, and a wrong token
// is refused also where none is needed (decisions 10, 11).
func TestCredentials(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		value := s.Token(t, "alice")
		auth := func(v string) map[string]string { return map[string]string{"Authorization": v} }
		basic := func(user, password string) map[string]string {
			r := &http.Request{Header: http.Header{}}
			r.SetBasicAuth(user, password)
			return auth(r.Header.Get("Authorization"))
		}
		me := `{"login": "alice"}`
		bad := `{"message": "Bad credentials", "documentation_url": "$any"}`
		challenge := map[string]string{"WWW-Authenticate": `Basic realm="Arbor", charset="UTF-8"`}
		s.Run(t, []apitest.Case{
			{Name: "bearer", Do: "GET /user", Headers: auth("Bearer " + value), Status: 200, Want: me},
			{Name: "bearer in small letters", Do: "GET /user", Headers: auth("bearer " + value),
				Status: 200, Want: me},
			{Name: "token", Do: "GET /user", Headers: auth("token " + value), Status: 200, Want: me},
			{Name: "basic password", Do: "GET /user", Headers: basic("alice", value), Status: 200, Want: me},
			{Name: "basic user name", Do: "GET /user", Headers: basic(value, ""), Status: 200, Want: me},
			{Name: "basic oauth", Do: "GET /user", Headers: basic(value, "x-oauth-basic"),
				Status: 200, Want: me},
			{Name: "none where one is needed", Do: "GET /user", Status: 401,
				Want: `{"message": "Requires authentication"}`, Has: challenge},
			{Name: "wrong", Do: "GET /user", Headers: auth("Bearer arb_wrong"), Status: 401, Want: bad,
				Has: challenge},
			{Name: "wrong where none is needed", Do: "GET /users/alice",
				Headers: auth("Bearer " + value + "x"), Status: 401, Want: bad},
			{Name: "unknown scheme", Do: "GET /users/alice", Headers: auth("Digest x"),
				Status: 401, Want: bad},
			{Name: "not in the address", Do: "GET /user?access_token=" + value, Status: 401},
			{Name: "plants take bearer", Do: "GET /plants", Headers: auth("Bearer " + value),
				Status: 200, Body: "[]"},
			{Name: "plants take nothing else", Do: "GET /plants", Headers: basic("alice", value), Status: 401,
				Want: `{"error": 40100, "message": "$any"}`},
			{Name: "plants want one", Do: "GET /plants", Status: 401, Want: `{"error": 40100}`,
				Has: map[string]string{"WWW-Authenticate": "Bearer"}},
			{Name: "unsafe, before anything is looked up", Do: "DELETE /repos/nobody/nothing", Status: 401,
				Want: `{"message": "Requires authentication"}`},
			{Name: "a form on another site cannot use what the browser remembers", Do: "PATCH /user",
				Send: `{}`, Status: 403,
				Headers: with(basic("alice", value), "Sec-Fetch-Site", "cross-site"),
				Want:    `{"message": "A request from another site must send its token as Bearer."}`},
			{Name: "a script with its own token can", Do: "PATCH /user", Send: `{}`, Status: 200,
				Headers: with(auth("Bearer "+value), "Sec-Fetch-Site", "cross-site")},
			{Name: "its own site can", Do: "PATCH /user", Send: `{}`, Status: 200,
				Headers: with(basic("alice", value), "Sec-Fetch-Site", "same-origin")},
			{Name: "html_url of a private repository, to its owner's token", Do: "GET /alice/Secret",
				As: "alice", Status: 200,
				Has: map[string]string{"Cache-Control": "private, max-age=0, must-revalidate"}},
			{Name: "and to nobody else's", Do: "GET /alice/Secret", As: "bob", Status: 404},
			{Name: "authenticated answers are private", Do: "GET /users/alice", As: "alice", Status: 200,
				Has: map[string]string{"Cache-Control": "private, max-age=0, must-revalidate",
					"Vary": "Accept, Accept-Encoding, Authorization"}},
			{Name: "anonymous answers are public", Do: "GET /users/alice", Status: 200,
				Has: map[string]string{"Cache-Control": "public, max-age=0, must-revalidate"}},
		})
		if strings.Contains(s.Log.Text(), value) {
			t.Error("the log shows a token")
		}
		t.Run("revoked at once", func(t *testing.T) {
			testkit.NoError(t, s.Forge.Tokens.RevokeToken(t.Context(), value))
			s.Check(t, apitest.Case{Do: "GET /user", Headers: auth("Bearer " + value),
				Status: 401, Want: bad})
		})
		t.Run("expired", func(t *testing.T) {
			short, _, err := s.Forge.Tokens.CreateToken(t.Context(),
				token.NewToken{Login: "bob", Scopes: scope.All, Expires: 50 * time.Millisecond})
			testkit.NoError(t, err)
			time.Sleep(60 * time.Millisecond)
			s.Check(t, apitest.Case{Do: "GET /user", Headers: auth("Bearer " + short),
				Status: 401, Want: bad})
		})
	})
}

// Each way of getting a request wrong has its own answer (decisions 15-20).
func TestErrors(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		edit := "PATCH /repos/alice/garden"
		field := func(name, code string) string {
			return fmt.Sprintf(`{"message": "Validation Failed", "errors": [{"resource": "Repository", "field": %q, "code": %q}],
				"documentation_url": "{base}/docs#patch-repos-owner-repo"}`, name, code)
		}
		parsing := `{"message": "Problems parsing JSON", "documentation_url": "{base}/docs#patch-repos-owner-repo"}`
		cases := []apitest.Case{
			{Name: "unknown address", Do: "GET /user/nothing", Status: 404, Body: fmt.Sprintf(notFound, "")},
			{Name: "unknown address, with a body", Do: "POST /user/codespaces", As: "alice", Send: "{}",
				Status: 404},
			{Name: "method", Do: "DELETE /user", Status: 405,
				Has:  map[string]string{"Allow": "GET, HEAD, OPTIONS, PATCH"},
				Want: `{"message": "$any", "documentation_url": "$any"}`},
			{Name: "method before credentials", Do: "PUT /repos/alice/Secret", Status: 405},
			{Name: "POST is taken as PATCH", Do: "POST /repos/alice/garden", As: "alice",
				Send: `{"description": "by post"}`, Status: 200, Want: `{"description": "by post"}`},
			{Name: "not JSON", Do: edit, As: "alice", Send: `{"name"`, Status: 400, Want: parsing},
			{Name: "no body", Do: edit, As: "alice", Status: 400},
			{Name: "two values", Do: edit, As: "alice", Send: `{} {}`, Status: 400, Want: parsing},
			{Name: "not UTF-8", Do: edit, As: "alice", Send: "{\"name\": \"\xff\"}", Status: 400,
				Want: parsing},
			{Name: "not an object", Do: edit, As: "alice", Send: `["name"]`, Status: 400,
				Want: `{"message": "Body should be a JSON object"}`},
			{Name: "null", Do: edit, As: "alice", Send: `null`, Status: 400,
				Want: `{"message": "Body should be a JSON object"}`},
			{Name: "nested without end", Do: edit, As: "alice", Send: strings.Repeat("[", 200_000),
				Status: 400, Want: parsing},
			{Name: "wrong type", Do: edit, As: "alice", Send: `{"private": "yes"}`, Status: 422,
				Want: field("private", "invalid")},
			{Name: "wrong type of text", Do: edit, As: "alice", Send: `{"description": 7}`, Status: 422,
				Want: field("description", "invalid")},
			{Name: "NUL", Do: edit, As: "alice", Send: `{"description": "a\u0000b"}`, Status: 422,
				Want: field("description", "invalid")},
			{Name: "too long", Do: edit, As: "alice", Send: `{"description": "` + strings.Repeat("é",
				351) + `"}`, Status: 422, Want: field("description", "custom")},
			{Name: "as long as may be", Do: edit, As: "alice",
				Send: `{"description": "` + strings.Repeat("é", 350) + `"}`, Status: 200},
			{Name: "keys match exactly", Do: edit, As: "alice", Send: `{"Description": 7, "PRIVATE": 1}`,
				Status: 200},
			{Name: "the last of a repeated key", Do: edit, As: "alice",
				Send: `{"description": 7, "description": "last"}`, Status: 200,
				Want: `{"description": "last"}`},
			{Name: "unknown fields", Do: edit, As: "alice", Send: `{"colour": {"deep": [1]}}`, Status: 200},
			{Name: "empty text is none", Do: edit, As: "alice", Send: `{"description": ""}`, Status: 200,
				Want: `{"description": null}`},
			{Name: "too large", Do: edit, As: "alice", Send: `{"description": "` + strings.Repeat("x",
				1<<20) + `"}`, Status: 413, Want: `{"message": "$any"}`},
			{Name: "missing field", Do: "POST /user/repos", As: "alice", Send: `{}`, Status: 422,
				Want: `{"errors": [{"resource": "Repository", "field": "name", "code": "missing_field"}]}`},
			{Name: "credentials before the body", Do: edit, Send: `{"name"`, Status: 401},
			{Name: "the repository before the body", Do: "PATCH /repos/alice/none", As: "alice",
				Send: `{"name"`, Status: 404},
			{Name: "invisible before the body", Do: "PATCH /repos/alice/Secret", As: "bob", Send: `{"name"`,
				Status: 404, Body: fmt.Sprintf(notFound, "#patch-repos-owner-repo")},
			{Name: "the right before the body", Do: edit, As: "bob", Send: `{"name"`, Status: 403,
				Want: `{"message": "Must have maintain access to Repository."}`},
			{Name: "sort", Do: "GET /users/alice/repos?sort=foo", Status: 422,
				Want: `{"errors": [{"field": "sort", "code": "invalid", "value": "foo"}]}`},
			{Name: "direction", Do: "GET /users/alice/repos?direction=foo", Status: 422,
				Want: `{"errors": [{"field": "direction"}]}`},
			{Name: "type", Do: "GET /user/repos?type=foo", As: "alice", Status: 422,
				Want: `{"errors": [{"field": "type"}]}`},
			{Name: "empty repository", Do: "GET /repos/alice/empty/git/trees/main", Status: 409,
				Want: `{"message": "Git Repository is empty."}`},
			{Name: "unwanted payload", Do: "DELETE /repos/alice/garden/collaborators/bob", As: "alice",
				Send: "null", Status: 204, Body: "-"},
			{Name: "no payload", Do: "PUT /repos/alice/garden/collaborators/bob", As: "alice", Status: 204},
			{Name: "empty payload", Do: "PUT /repos/alice/garden/collaborators/bob", As: "alice", Send: "{}",
				Status: 204},
			{Name: "null payload", Do: "PUT /repos/alice/garden/collaborators/bob", As: "alice", Send: "null",
				Status: 204},
		}
		for i := range cases {
			if cases[i].Status >= 400 && cases[i].Has == nil && cases[i].Status != 404 {
				cases[i].Has = map[string]string{"Etag": "-"}
			}
		}
		s.Run(t, cases)
	})
}

// Tools that poll and browsers need HEAD, 304 and CORS to work everywhere
// (decisions 20, 22, 27).
func TestHeaders(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		for _, path := range []string{"/", "/users/alice", "/users/alice/repos", "/repos/alice/garden",
			"/repos/alice/garden/git/trees/main", "/rate_limit"} {
			first := s.Check(t, apitest.Case{Do: "GET " + path, Status: 200,
				Has: map[string]string{"Access-Control-Allow-Origin": "*"}})
			etag := first.Header.Get("Etag")
			if etag == "" || first.Header.Get("X-Request-Id") == "" ||
				!strings.Contains(first.Header.Get("Access-Control-Expose-Headers"), "Link") {
				t.Errorf("%s: headers %v", path, first.Header)
			}
			head := s.Check(t, apitest.Case{Do: "HEAD " + path, Status: 200, Body: "-",
				Has: map[string]string{"Etag": etag}})
			if head.Header.Get("Content-Length") != fmt.Sprint(len(first.Body)) {
				t.Errorf("HEAD %s: Content-Length %q, body of %d", path, head.Header.Get("Content-Length"),
					len(first.Body))
			}
			for _, match := range []string{etag, "*", `"other", ` + etag, strings.TrimPrefix(etag, "W/")} {
				s.Check(t, apitest.Case{Name: path, Do: "GET " + path,
					Headers: map[string]string{"If-None-Match": match}, Status: 304, Body: "-",
					Has: map[string]string{"Etag": etag}})
			}
			s.Check(t, apitest.Case{Do: "GET " + path, Headers: map[string]string{"If-None-Match": `"other"`},
				Status: 200})
		}
		preflight := map[string]string{"Origin": "https://elsewhere.example",
			"Access-Control-Request-Method": "PATCH"}
		s.Run(t, []apitest.Case{
			{Name: "preflight", Do: "OPTIONS /repos/alice/garden", Headers: preflight, Status: 204,
				Has: map[string]string{
					"Access-Control-Allow-Origin":      "*",
					"Access-Control-Allow-Methods":     "DELETE, GET, HEAD, OPTIONS, PATCH",
					"Access-Control-Allow-Credentials": "-"}},
			{Name: "preflight of the plant store", Do: "OPTIONS /plants", Headers: preflight, Status: 204},
			{Name: "dated", Do: "GET /repos/alice/garden", Status: 200, Keep: func(a *apitest.Answer) {
				if _, err := http.ParseTime(a.Header.Get("Last-Modified")); err != nil {
					t.Errorf("Last-Modified: %v", err)
				}
			}},
			{Name: "health", Do: "GET /healthz", Status: 200, Body: "ok\n"},
		})
	})
}

// An operator who sets a limit wants it kept, and clients want to know where
// they stand (decision 21).
func TestRateLimit(t *testing.T) {
	t.Parallel()
	limited := func(o *server.Options) { o.RateLimit = 3 }
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		left := func(n string) map[string]string {
			return map[string]string{"X-RateLimit-Limit": "3", "X-RateLimit-Remaining": n}
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /users/alice", As: "alice", Status: 200, Has: left("2")},
			{Name: "nothing new costs as much", Do: "GET /users/alice", As: "alice",
				Headers: map[string]string{"If-None-Match": "*"}, Status: 304, Body: "-", Has: left("1")},
			{Name: "asking costs nothing", Do: "GET /rate_limit", As: "alice", Status: 200, Has: left("1"),
				Want: `{"rate": {"limit": 3, "remaining": 1, "used": 2},
					"resources": {"core": {"remaining": 1}}}`},
			{Name: "git's routes count", Do: "GET /alice/garden.git/info/refs?service=git-upload-pack",
				As: "alice", Status: 200, Has: left("0")},
			{Name: "used up", Do: "GET /users/alice", As: "alice", Status: 403, Has: left("0"),
				Want: `{"message": "API rate limit exceeded"}`},
			{Name: "it still answers", Do: "GET /rate_limit", As: "alice", Status: 200,
				Want: `{"rate": {"remaining": 0}}`},
			{Name: "others are not touched", Do: "GET /users/alice", As: "bob", Status: 200, Has: left("2")},
			{Name: "without a token", Do: "GET /users/alice", Status: 200, Has: left("2")},
			{Name: "nothing new without one", Do: "GET /users/alice",
				Headers: map[string]string{"If-None-Match": "*"}, Status: 304, Body: "-", Has: left("1")},
		})
	}, limited)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Run(t, []apitest.Case{{Name: "off by default", Do: "GET /rate_limit", Status: 200,
			Has: map[string]string{"X-RateLimit-Limit": "-"}, Want: `{"rate": {"used": 0}}`}})
	})
}
