// Tests of languages and licenses against a whole server.
package repos_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/license"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// commit is a history of one commit with these files.
func commit(files map[string]string) string {
	var b strings.Builder
	b.WriteString("commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n")
	for path, text := range files {
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	return b.String()
}

// People choose a repository by what its code is and what it lets them do. Both follow the
// default branch, and private ones tell nobody.
func TestLanguagesAndLicense(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		settle := func() {
			t.Helper()
			s.Settle(t)
		}
		rust := "use std::io;\n" + strings.Repeat("/", 287)
		r := s.Repo(t, "alice/garden", false)
		dir := gittest.Bare(t)
		gittest.Import(t, dir, strings.NewReader(commit(map[string]string{
			"main.go": strings.Repeat("x", 100), "sub/b.go": strings.Repeat("y", 50),
			"a.h": "class A { public: A(); };\n", "a.cc": "A",
			"vendor/big.go": strings.Repeat("z", 1000), "page.html": "<p>",
			"data.json": strings.Repeat("1", 900), "README.md": "# " + strings.Repeat("r", 900),
			"Makefile": "all:\n", "sub/LICENSE": license.ByKey("isc").Text(),
			"COPYING": license.ByKey("gpl-3.0").Text(), "LICENSE.md": license.ByKey("mit").Text(),
		})))
		s.Import(t, r, dir)
		settle()
		const about = `{"language": "Go", "license": {"key": "mit", "spdx_id": "MIT", "name": "MIT License", "url": "{base}/licenses/mit"}}`
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/garden/languages", Status: 200,
				Body: `{"Go":150,"C++":27,"Makefile":5,"HTML":3}`},
			{Do: "GET /repos/alice/garden", Status: 200, Want: about},
			{Do: "GET /users/alice/repos", Status: 200, Want: "[" + about + "]"},
			{Do: "GET /repos/alice/garden/license", Status: 200,
				Want: `{"path": "LICENSE.md", "encoding": "base64", "license": {"key": "mit"}}`},
			{Do: "GET /repos/alice/garden/license", Status: 200,
				Headers: map[string]string{"Accept": "application/vnd.github.raw"},
				Body:    license.ByKey("mit").Text()},
			{Do: "PUT /repos/alice/garden/contents/x.rs", As: "alice",
				Send: `{"message": "Rust", "content": "` + base64.StdEncoding.EncodeToString([]byte(rust)) +
					`"}`, Status: 201},
			{Do: "PUT /repos/alice/garden/contents/LICENSE", As: "alice",
				Send: `{"message": "Own words", "content": "eHh4"}`, Status: 201},
		})
		settle()
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/garden/languages", Status: 200,
				Body: `{"Rust":300,"Go":150,"C++":27,"Makefile":5,"HTML":3}`},
			{Do: "GET /repos/alice/garden", Status: 200,
				Want: `{"language": "Rust", "license": {"key": "other", "spdx_id": "NOASSERTION", "url": null}}`},
			{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202},
			{Do: "POST /repos/alice/garden/git/refs", As: "alice",
				Send:   `{"ref": "refs/heads/old", "sha": "` + gittest.Run(t, dir, "rev-parse", "main") + `"}`,
				Status: 201},
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"default_branch": "old"}`, Status: 200},
		})
		settle()
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/garden", Status: 200, Want: about},
			{Do: "GET /repos/bob/garden", Status: 200, Want: `{"language": "Rust"}`},
			{Do: "POST /user/repos", As: "alice", Send: `{"name": "empty"}`, Status: 201},
			{Do: "GET /repos/alice/empty", Status: 200,
				Want: `{"language": null, "license": null, "topics": []}`},
			{Do: "GET /repos/alice/empty/languages", Status: 200, Body: `{}`},
			{Do: "GET /repos/alice/empty/license", Status: 409},
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200},
			{Do: "GET /repos/alice/garden/languages", As: "bob", Status: 404},
			{Do: "GET /repos/alice/garden/license", As: "bob", Status: 404},
			{Do: "GET /licenses?per_page=2", Status: 200,
				Want: `[{"key": "agpl-3.0"}, {"key": "apache-2.0"}]`},
			{Do: "GET /licenses/MIT", Status: 200,
				Want: `{"key": "mit", "conditions": ["include-copyright"], "featured": true}`},
			{Do: "GET /licenses/other", Status: 404},
			{Do: "GET /licenses/..%2fapi", Status: 404},
		})
	})
}

// Topics are what owners say that a repository is about.
func TestTopics(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		const put = "PUT /repos/alice/garden/topics"
		many := `"a` + strings.Repeat(`","a`, 20) + `"`
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/garden/topics", Status: 200, Body: `{"names":[]}`},
			{Do: put, As: "alice", Send: `{"names": ["Soil", "peas-2", "soil"]}`, Status: 200,
				Body: `{"names":["soil","peas-2"]}`},
			{Do: put, As: "bob", Send: `{"names": []}`, Status: 403},
			{Do: put, As: "alice", Send: `{}`, Status: 422},
			{Do: put, As: "alice", Send: `{"names": null}`, Status: 422},
			{Do: put, As: "alice", Send: `{"names": ["a b"]}`, Status: 422,
				Want: `{"errors": [{"field": "names"}]}`},
			{Do: put, As: "alice", Send: `{"names": ["-a"]}`, Status: 422},
			{Do: put, As: "alice", Send: `{"names": [""]}`, Status: 422},
			{Do: put, As: "alice", Send: `{"names": ["é"]}`, Status: 422},
			{Do: put, As: "alice", Send: `{"names": [` + many + `]}`, Status: 422},
			{Do: put, As: "alice", Send: `{"names": ["` + strings.Repeat("a", 51) + `"]}`, Status: 422},
			{Do: "GET /repos/alice/garden/topics?per_page=1&page=2", Status: 200,
				Body: `{"names":["peas-2"]}`},
			{Do: "GET /repos/alice/garden", Status: 200, Want: `{"topics": ["soil", "peas-2"]}`},
			{Do: put, As: "alice", Send: `{"names": []}`, Status: 200, Body: `{"names":[]}`},
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"archived": true}`, Status: 200},
			{Do: put, As: "alice", Send: `{"names": ["a"]}`, Status: 403},
		})
	})
}

// What is pushed cannot keep the server busy: a look has an end, however long the paths are.
func TestLooksAreBounded(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	long := map[string]string{"a.go": "x", "z.rs": "x"} // the paths between use up what is looked at
	for n := range 1150 {
		long[fmt.Sprintf("%s%04d", strings.Repeat(strings.Repeat("m", 200)+"/", 19), n)] = "x"
	}
	r, dir := s.Repo(t, "alice/paths", false), gittest.Bare(t)
	gittest.Import(t, dir, strings.NewReader(commit(long)))
	s.Import(t, r, dir)
	s.Settle(t)
	s.Run(t, []apitest.Case{
		{Do: "GET /repos/alice/paths/languages", Status: 200, Body: `{"Go":1}`},
	})
}
