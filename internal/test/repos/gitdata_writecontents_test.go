package repos_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// One file, one commit, and never over a change that the caller has not seen.
func TestWriteContents(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		o := gitdataPlant(t, s)
		old, main := o.sha(t, "main:README.md"), o.sha(t, "main")
		put, del := "PUT "+gitdataAt+"/contents/", "DELETE "+gitdataAt+"/contents/"
		body := func(content, more string) string {
			return `{"message": "m", "content": "` + encode(content) + `"` + more + `}`
		}
		guard := func(sha string) string { return `, "sha": "` + sha + `"` }
		var made struct{ Content, Commit struct{ SHA string } }
		s.Run(t, []apitest.Case{
			{Name: "new", Do: put + "new/dir/file.txt", As: "alice", Status: 201,
				Keep: func(a *apitest.Answer) {
					a.JSON(t, &made)
				},
				Send: body("hello\n",
					`, "branch": "main", "author": {"name": "Ann", "email": "ann@example.org", "date": "2020-01-02T03:04:05+02:00"}`),
				Want: `{"content": {"name": "file.txt", "path": "new/dir/file.txt", "sha": "ce013625030ba8dba906f756967f9e9ca394464a", "size": 6, "type": "file", "content": "$absent",
					"url": "{base}` + gitdataAt + `/contents/new/dir/file.txt?ref=main", "git_url": "{base}` + gitdataAt + `/git/blobs/ce013625030ba8dba906f756967f9e9ca394464a"},
					"commit": {"message": "m", "parents": [{"sha": "` + main + `"}], "author": {"name": "Ann", "email": "ann@example.org", "date": "2020-01-02T01:04:05Z"},
					"committer": {"name": "alice", "email": "Alice@Example.org"}}}`},
			{Name: "seen at once", Do: "GET " + gitdataAt + "/contents/new/dir/file.txt", Status: 200,
				Want: `{"content": "aGVsbG8K\n"}`},
			{Name: "with its author known", Do: "GET " + gitdataAt + "/commits/main", Status: 200,
				Want: `{"author": null, "committer": {"login": "alice"}}`},
			{Name: "without the guard", Do: put + "README.md", As: "alice", Send: body("x", ""), Status: 422,
				Want: `{"message": "Invalid request.\n\n\"sha\" wasn't supplied."}`},
			{Name: "with another's guard", Do: put + "README.md", As: "alice", Send: body("x", guard(main)),
				Status: 409, Want: `{"message": "README.md does not match ` + main + `"}`},
			{Name: "guard of what is not there", Do: put + "none", As: "alice", Send: body("x", guard(old)),
				Status: 409},
			{Name: "changed", Do: put + "README.md", As: "alice", Send: body("# Changed\n", guard(old)),
				Status: 200, Want: `{"content": {"path": "README.md", "size": 10}}`},
			{Name: "the same guard again", Do: put + "README.md", As: "alice", Send: body("x", guard(old)),
				Status: 409},
			{Name: "keeps its mode", Do: put + "run.sh", As: "alice",
				Send: body("#!/bin/bash\n", guard(o.sha(t, "main:run.sh"))), Status: 200},
			{Name: "empty content", Do: put + "void", As: "alice", Send: `{"message": "m", "content": ""}`,
				Status: 201, Want: `{"content": {"size": 0}}`},
			{Name: "content in lines", Do: put + "lines", As: "alice",
				Send: `{"message": "m", "content": "aGVs\nbG8K\n"}`, Status: 201,
				Want: `{"content": {"size": 6}}`},
			{Name: "on another branch", Do: put + "side2", As: "alice",
				Send: body("x", `, "branch": "feature/x"`), Status: 201,
				Want: `{"content": {"url": "{base}` + gitdataAt + `/contents/side2?ref=feature%2Fx"}}`},
			{Name: "removed without the guard", Do: del + "apple/seed", As: "alice", Send: `{"message": "m"}`,
				Status: 422, Want: `{"errors": [{"field": "sha", "code": "missing_field"}]}`},
			{Name: "removed with another's guard", Do: del + "apple/seed", As: "alice",
				Send: `{"message": "m"` + guard(old) + `}`, Status: 409},
			{Name: "removed", Do: del + "apple/seed", As: "alice",
				Send: `{"message": "gone"` + guard(o.sha(t, "main:apple/seed")) + `}`, Status: 200,
				Want: `{"content": null, "commit": {"message": "gone"}}`},
			{Name: "with its directory", Do: "GET " + gitdataAt + "/contents/apple", Status: 404},
			{Name: "removed twice", Do: del + "apple/seed", As: "alice",
				Send: `{"message": "gone"` + guard(old) + `}`, Status: 404},
			{Name: "by a reader", Do: put + "x", As: "bob", Send: body("x", ""), Status: 403},
			{Name: "by nobody", Do: put + "x", Send: body("x", ""), Status: 401},
		})
		dir := t.TempDir()
		gittest.Run(t, dir, "clone", "-q", s.Remote(t, "", "alice/orchard"), ".")
		gittest.Run(t, dir, "fsck", "--strict", "--no-dangling")
		if mode := gittest.Run(t, dir, "ls-files", "-s", "run.sh"); !strings.HasPrefix(mode, "100755 ") {
			t.Errorf("run.sh is %s", mode)
		}
		if got := gittest.Run(t, dir, "log", "--format=%s", "--reverse",
			main+".."); got != "m\nm\nm\nm\nm\ngone" {
			t.Errorf("the log is %q", got)
		}
	})
}

// What cannot be a change of a file is refused with a reason, and nothing is
// written.
func TestBadInputOfWriteContents(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		o := gitdataPlant(t, s)
		put := "PUT " + gitdataAt + "/contents/"
		good := `{"message": "m", "content": "eA=="}`
		var cases []apitest.Case
		for path, status := range map[string]int{"..": 422, "a/../b": 422, "/etc": 422, "a//b": 422,
			".git/config": 422, "a/.GIT/x": 422, "git~1": 422, ".git%20/x": 422,
			".g%E2%80%8Cit/x": 422, "README.md/x": 422, "module/x": 422, "docs": 422, "module": 422, "": 422,
			"a%00b": 404, "%FF": 404, strings.Repeat("x", 5000): 422} {
			cases = append(cases, apitest.Case{Name: fmt.Sprintf("path %.20s", path), Do: put + path,
				As: "alice", Send: good, Status: status})
		}
		for body, status := range map[string]int{
			`{"content": "eA=="}`: 422, `{"message": "", "content": "eA=="}`: 422, `{"message": "m"}`: 422,
			`{"message": "m", "content": null}`: 422, `{"message": "m", "content": 7}`: 422,
			`{"message": "m", "content": "%%%"}`: 422, `{"message": "a\u0000b", "content": "eA=="}`: 422,
			`{"message": "m", "content": "eA==", "sha": "main"}`:     422,
			`{"message": "m", "content": "eA==", "branch": "none"}`:  404,
			`{"message": "m", "content": "eA==", "branch": "--all"}`: 404,
			`{"message": "m", "content": "eA==", "branch": "v1.9"}`:  404,
			`{"message": "m", "content": "eA==", "branch": 7}`:       422, `{"message": "m", "content": "eA==", "author": {"name": "A\n", "email": "a@b"}}`: 201,
			`{"message": "m", "content": "eA==", "author": {"name": "<", "email": "a@b"}}`:                   422,
			`{"message": "m", "content": "eA==", "committer": {"name": "A", "email": "a@b", "date": "now"}}`: 422,
			`{"message": "m", "content": "eA==", "committer": "me"}`:                                         422, `[]`: 400, ``: 400,
		} {
			cases = append(cases, apitest.Case{Name: body, Do: put + "file" + fmt.Sprint(len(cases)),
				As: "alice", Send: body, Status: status})
		}
		cases = append(cases,
			apitest.Case{Name: "options in .gitmodules", Do: put + "sub/.gitmodules", As: "alice",
				Send: `{"message": "m", "content": "` +
					encode("[submodule \"a\"]\n\tpath = a\n\turl = --upload-pack=x\n") + `"}`, Status: 422},
			apitest.Case{Name: "remove a directory", Do: "DELETE " + gitdataAt + "/contents/docs", As: "alice",
				Send: `{"message": "m", "sha": "` + o.sha(t, "main:docs") + `"}`, Status: 422},
			apitest.Case{Name: "remove from an empty repository", Do: "DELETE /repos/alice/empty/contents/x",
				As: "alice", Send: `{"message": "m", "sha": "` + o.sha(t, "main:docs") + `"}`, Status: 409},
		)
		s.Run(t, cases)
	})
}

// A repository without any commit gets its first one this way, on the default
// branch or on the one that the caller names.
func TestWriteContentsIntoEmptyRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/one", false)
		s.Repo(t, "alice/two", false)
		put := func(repo, branch string, status int) {
			s.Check(t, apitest.Case{Do: "PUT /repos/alice/" + repo + "/contents/a/b", As: "alice",
				Send: `{"message": "first", "content": "eA=="` + branch + `}`, Status: status})
		}
		put("two", `, "branch": "a..b"`, 422)
		put("one", "", 201)
		put("two", `, "branch": "trunk"`, 201)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/one/commits", Status: 200,
			Want: `[{"commit": {"message": "first"}, "parents": [], "author": {"login": "alice"}}]`})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/two", Status: 200, Want: `{"default_branch": "trunk"}`})
	})
}

// Of many who write at once each one's commit is there, or an error that says
// that it is not.
func TestConcurrentWriteContents(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/busy", false)
		s.User(t, "bob")
		s.Grant(t, r, "bob", account.Push)
		const n = 12
		statuses := make([]int, 2*n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { // each a file of its own
				statuses[i] = s.Do(t, apitest.Case{Do: fmt.Sprintf("PUT /repos/alice/busy/contents/own%d", i),
					As: "alice", Send: `{"message": "m", "content": "eA=="}`}).Status
			})
			wg.Go(func() { // all the same file
				statuses[n+i] = s.Do(t, apitest.Case{Do: "PUT /repos/alice/busy/contents/shared",
					As: "bob", Send: fmt.Sprintf(`{"message": "m", "content": "%s"}`,
						encode(fmt.Sprint(i)))}).Status
			})
		}
		wg.Wait()
		created := 0
		for i, status := range statuses {
			switch {
			case status == 201:
				created++
			case i < n || status != 422:
				t.Errorf("writer %d: status %d", i, status)
			}
		}
		if created != n+1 {
			t.Errorf("%d were told that their file is there, want %d", created, n+1)
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/busy/commits?per_page=100", Status: 200,
			Keep: func(a *apitest.Answer) {
				var list []struct{ SHA string }
				if a.JSON(t, &list); len(list) != created {
					t.Errorf("%d commits, want %d", len(list), created)
				}
			}})
	})
}

// Addresses in payloads lead to what they say.
func TestRawAndCompareAddresses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		o := gitdataPlant(t, s)
		s.Repo(t, "alice/closed", true)
		closed := s.Repo(t, "bob/closed", true)
		s.Import(t, closed, o.dir)
		s.Run(t, []apitest.Case{
			{Do: "GET /alice/orchard/raw/main/README.md", Status: 200, Body: "# Orchard\n",
				Has: map[string]string{"Content-Type": "text/plain; charset=utf-8",
					"X-Content-Type-Options": "nosniff"}},
			{Do: "GET /alice/orchard/raw/feature/x/feature", Status: 200, Body: "x\n"},
			{Do: "GET /alice/orchard/raw/" + o.sha(t, "v1.9^{}") + "/apple/seed", Status: 200,
				Body: "seed\n"},
			{Do: "GET /alice/orchard/raw/main/docs", Status: 404},
			{Do: "GET /alice/orchard/raw/main/../README.md", Status: 404},
			{Do: "GET /alice/orchard/raw/none/README.md", Status: 404},
			{Do: "GET /alice/orchard/raw/main", Status: 404},
			{Do: "GET /bob/closed/raw/main/README.md", Status: 404},
			{Do: "GET /bob/closed/raw/main/README.md", As: "bob", Status: 200},
			{Do: "GET /alice/orchard/compare/v1.10...side.diff", Status: 200,
				Body: gittest.Run(t, o.dir, "diff", "v1.10...side") + "\n"},
			{Do: "GET /alice/orchard/compare/v1.10...side.patch", Status: 200,
				Body: string(gittest.Pipe(t, o.dir, nil, "format-patch", "--stdout", "v1.10..side"))},
			{Name: "the page of it", Do: "GET /alice/orchard/compare/v1.10...side", Status: 200},
			{Do: "GET /bob/closed/compare/v1.10...side.diff", Status: 404},
		})
	})
}
