package repos_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// orchard is a repository with everything that readers need: a rename, a merge, a binary and a long file,
// links, a submodule, readmes and tags. Its authors are alice, who has an account, and A U Thor, who has
// none.
type orchard struct {
	dir  string
	repo *repo.Repo
}

const aliceMail = "alice@example.org"

func gitdataPlant(t *testing.T, s *apitest.Server) *orchard {
	t.Helper()
	o := &orchard{dir: gittest.Bare(t)}
	var b bytes.Buffer
	n := 0
	commit := func(ref, who, message string, from ...int) {
		n++
		fmt.Fprintf(&b, "commit refs/heads/%s\nmark :%d\nauthor %s %d +0200\ncommitter %s %d +0000\ndata %d\n%s\n", ref, n, who,
			gittest.Start+60*n, gittest.Author, gittest.Start+60*n, len(message), message)
		for i, f := range from {
			fmt.Fprintf(&b, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], f)
		}
	}
	file := func(mode, path, content string) {
		fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", mode, path, len(content), content)
	}
	lines := strings.Repeat("a line that stays\n", 20)
	commit("main", "Alice <ALICE@example.org>", "Plant the first tree\n\nIt will grow.\n")
	file("100644", "README.md", "# Orchard\n")
	file("100644", "readme.txt", "plain\n")
	file("100644", "docs/README", "docs\n")
	file("100644", "docs/guide.md", lines)
	file("100755", "run.sh", "#!/bin/sh\n")
	file("120000", "docs/link", "../README.md")
	file("120000", "nowhere", "../../etc/passwd")
	file("120000", "tolink", "docs/link")
	file("100644", `"d\303\251j\303\240 vu?#%.txt"`, "utf-8\n")
	file("100644", "apple/seed", "seed\n")
	file("100644", ".gitmodules", "[submodule \"m\"]\n\tpath = module\n\turl = https://example.org/m.git\n")
	fmt.Fprintf(&b, "M 160000 %s module\n", strings.Repeat("1", 40))
	commit("main", gittest.Author, "Rename the guide", 1)
	fmt.Fprintln(&b, "R docs/guide.md docs/manual.md")
	file("100644", "image", "\x00\x01\x02")
	commit("side", gittest.Author, "On the side", 1)
	file("100644", "side.txt", "side\n")
	commit("main", "Alice <"+aliceMail+">", "Merge side", 2, 3)
	file("100644", "side.txt", "side\n")
	commit("main", gittest.Author, "Grow", 4)
	file("100644", "long.txt", strings.Repeat("x\n", 3001))
	file("100644", "apple/seed", "seed\nsprout\n")
	file("100644", "big.txt", strings.Repeat("0123456789abcde\n", 1<<16+1))
	commit("feature/x", gittest.Author, "A feature", 5)
	file("100644", "feature", "x\n")
	b.WriteString("tag v1.9\nfrom :1\ntagger A <a@example.org> 1700000001 +0000\ndata 3\none\n")
	b.WriteString("reset refs/tags/v1.10\nfrom :2\n\nreset refs/tags/v1.9.1\nfrom :2\n\ndone\n")
	gittest.Import(t, o.dir, &b)
	s.Users(t, "alice", "bob")
	s.Ask(t, "alice", "PATCH /user", `{"email": "Alice@Example.org"}`, 200)
	s.Email(t, "alice", aliceMail)
	o.repo = s.Repo(t, "alice/orchard", false)
	s.Repo(t, "alice/empty", false)
	s.Import(t, o.repo, o.dir)
	return o
}

// sha names a revision of the history as git has it.
func (o *orchard) sha(t *testing.T, rev string) string {
	t.Helper()
	return gittest.Run(t, o.dir, "rev-parse", rev)
}

const gitdataAt = "/repos/alice/orchard"

// A commit shows its author and its changes in the format of GitHub's clients.
func TestReadCommits(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		o := gitdataPlant(t, s)
		main, first, merge, rename := o.sha(t, "main"), o.sha(t, "main~3"), o.sha(t, "main~1"),
			o.sha(t, "main~2")
		tree := o.sha(t, "main~3^{tree}")
		signed := gittest.Object(t, s.ObjectsDir(t, o.repo)+"/..", "commit",
			"tree "+tree+"\nauthor  <> 1 +0000\ncommitter A <a@b> 99999999999999 -9999\n"+
				"encoding ISO-8859-1\ngpgsig -----BEGIN\n x\n -----END\n\ncaf\xe9")
		s.Run(t, []apitest.Case{
			{Name: "git commit", Do: "GET " + gitdataAt + "/git/commits/" + first, Status: 200,
				Want: `{"sha": "` + first + `", "node_id": "$any",
				"url": "{base}` + gitdataAt + `/git/commits/` + first + `", "html_url": "{base}/alice/orchard/commit/` + first + `",
				"author": {"name": "Alice", "email": "ALICE@example.org", "date": "2011-03-13T07:07:40Z"},
				"committer": {"name": "A U Thor", "email": "author@example.com", "date": "2011-03-13T07:07:40Z"},
				"tree": {"sha": "` + tree + `", "url": "{base}` + gitdataAt + `/git/trees/` + tree + `"}, "message": "Plant the first tree\n\nIt will grow.",
				"parents": [], "verification": {"verified": false, "reason": "unsigned", "signature": null, "payload": null, "verified_at": null}}`},
			{Name: "signed, in another encoding, by nobody",
				Do: "GET " + gitdataAt + "/git/commits/" + string(signed), Status: 200,
				Want: `{"message": "café", "author": {"name": "", "date": "1970-01-01T00:00:01Z"}, "verification": {"reason": "unknown_signature_type", "signature": "-----BEGIN\nx\n-----END",
					"payload": "tree ` + tree + `\nauthor  <> 1 +0000\ncommitter A <a@b> 99999999999999 -9999\nencoding ISO-8859-1\n\ncaf\ufffd"}}`},
			{Name: "git commit by a name", Do: "GET " + gitdataAt + "/git/commits/main", Status: 404},
			{Name: "git commit of a tree", Do: "GET " + gitdataAt + "/git/commits/" + tree, Status: 404},
			{Name: "full", Do: "GET " + gitdataAt + "/commits/" + rename, Status: 200,
				Want: `{"sha": "` + rename + `", "author": null, "committer": null,
				"url": "{base}` + gitdataAt + `/commits/` + rename + `", "html_url": "{base}/alice/orchard/commit/` + rename + `",
				"comments_url": "{base}` + gitdataAt + `/commits/` + rename + `/comments",
				"commit": {"message": "Rename the guide", "comment_count": 0, "url": "{base}` + gitdataAt + `/git/commits/` + rename + `"},
				"parents": [{"sha": "` + first + `", "url": "{base}` + gitdataAt + `/commits/` + first + `", "html_url": "{base}/alice/orchard/commit/` + first + `"}],
				"stats": {"total": 0, "additions": 0, "deletions": 0}, "files": [
				{"filename": "docs/manual.md", "previous_filename": "docs/guide.md", "status": "renamed", "additions": 0, "deletions": 0, "changes": 0,
				 "patch": "$absent", "sha": "$any", "blob_url": "{base}/alice/orchard/blob/` + rename + `/docs/manual.md",
				 "raw_url": "{base}/alice/orchard/raw/` + rename + `/docs/manual.md", "contents_url": "{base}` + gitdataAt + `/contents/docs/manual.md?ref=` + rename + `"},
				{"filename": "image", "status": "added", "patch": "$absent", "previous_filename": "$absent"}]}`},
			{Name: "the first, with its author known", Do: "GET " + gitdataAt + "/commits/" + first, Status: 200,
				Want: `{"author": {"login": "alice", "url": "{base}/users/alice"}, "committer": null, "parents": [], "stats": {"additions": 33}}`},
			{Name: "a merge, against its first parent", Do: "GET " + gitdataAt + "/commits/" + merge, Status: 200,
				Want: `{"parents": ["$any", "$any"], "files": [{"filename": "side.txt", "status": "added", "patch": "@@ -0,0 +1 @@\n+side"}]}`},
			{Name: "by branch", Do: "GET " + gitdataAt + "/commits/main", Status: 200,
				Want: `{"sha": "` + main + `", "files": [
				{"filename": "apple/seed", "patch": "@@ -1 +1,2 @@\n seed\n+sprout"}, {"filename": "big.txt", "patch": "$absent", "additions": 65537},
				{"filename": "long.txt", "patch": "$absent", "additions": 3001}]}`},
			{Name: "a page of files", Do: "GET " + gitdataAt + "/commits/main?per_page=1&page=2", Status: 200,
				Want: `{"stats": {"additions": 68539}, "files": [{"filename": "big.txt"}]}`,
				Has: map[string]string{"Link": `<{base}` + gitdataAt +
					`/commits/main?per_page=1&page=3>; rel="next", <{base}` + gitdataAt +
					`/commits/main?per_page=1&page=3>; rel="last", <{base}` + gitdataAt +
					`/commits/main?per_page=1&page=1>; rel="first", <{base}` + gitdataAt +
					`/commits/main?per_page=1&page=1>; rel="prev"`}},
			{Name: "a page far behind", Do: "GET " + gitdataAt + "/commits/main?page=9223372036854775807",
				Status: 200, Want: `{"files": []}`},
			{Name: "by branch with a slash", Do: "GET " + gitdataAt + "/commits/feature/x", Status: 200,
				Want: `{"sha": "` + o.sha(t, "feature/x") + `"}`},
			{Name: "by heads/", Do: "GET " + gitdataAt + "/commits/heads/main", Status: 200,
				Want: `{"sha": "` + main + `"}`},
			{Name: "by annotated tag", Do: "GET " + gitdataAt + "/commits/v1.9", Status: 200,
				Want: `{"sha": "` + first + `"}`},
			{Name: "by tags/", Do: "GET " + gitdataAt + "/commits/tags/v1.9", Status: 200,
				Want: `{"sha": "` + first + `"}`},
			{Name: "by HEAD", Do: "GET " + gitdataAt + "/commits/HEAD", Status: 200,
				Want: `{"sha": "` + main + `"}`},
			{Name: "abbreviated", Do: "GET " + gitdataAt + "/commits/" + strings.ToUpper(main[:8]), Status: 200,
				Want: `{"sha": "` + main + `"}`},
			{Name: "only the SHA", Do: "GET " + gitdataAt + "/commits/main",
				Headers: accept("application/vnd.github.sha"), Status: 200, Body: main,
				Has: map[string]string{"Content-Type": "application/vnd.github.sha; charset=utf-8"}},
			{Name: "only the SHA, in the interface's dialect", Do: "GET " + gitdataAt + "/commits/main",
				Headers: accept("application/vnd.service.sha"), Status: 200, Body: main,
				Has: map[string]string{"Content-Type": "text/plain; charset=utf-8"}},
			{Name: "as a diff", Do: "GET " + gitdataAt + "/commits/" + rename,
				Headers: accept("application/vnd.github.diff"), Status: 200,
				Body: gittest.Run(t, o.dir, "diff", first, rename) + "\n",
				Has: map[string]string{"Content-Type": "application/vnd.github.diff; charset=utf-8",
					"X-Content-Type-Options": "nosniff"}},
			{Name: "as a patch", Do: "GET " + gitdataAt + "/commits/" + rename,
				Headers: accept("application/vnd.github.v3.patch"), Status: 200,
				Body: string(gittest.Pipe(t, o.dir, nil, "format-patch", "--stdout", "-1", rename))},
			{Name: "the first as a patch", Do: "GET " + gitdataAt + "/commits/" + first,
				Headers: accept("application/vnd.github.patch"), Status: 200,
				Body: string(gittest.Pipe(t, o.dir, nil, "format-patch", "--stdout", "--root", first))},
			{Name: "where it is the head", Do: "GET " + gitdataAt + "/commits/" + main + "/branches-where-head",
				Status: 200, Want: `[{"name": "main", "commit": {"sha": "` + main + `", "url": "{base}` + gitdataAt +
					`/commits/` + main + `"}, "protected": false}]`},
			{Name: "where it is no head", Do: "GET " + gitdataAt + "/commits/" + first + "/branches-where-head",
				Status: 200, Body: "[]"},
		})
		etag := s.Check(t, apitest.Case{Do: "GET " + gitdataAt + "/git/commits/" + first,
			Status: 200}).Header.Get("Etag")
		if !strings.Contains(etag, first) {
			t.Errorf("the ETag %s does not contain the SHA", etag)
		}
		s.Check(t, apitest.Case{Do: "GET " + gitdataAt + "/git/commits/" + first,
			Headers: map[string]string{"If-None-Match": etag}, Status: 304})
	})
}

func accept(media string) map[string]string { return map[string]string{"Accept": media} }

// A list of commits is what git's own log says, page by page, and names the
// people whom the server knows, from the moment that it knows them.
// Somebody who polls may ask when a commit or tag was made, also of an answer that
// was kept (decision 27).
func TestCommitsAreDated(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		dir := zoo(t)
		s.Import(t, s.Repo(t, "alice/zoo", false), dir)
		commit := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main"))
		tag := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "v1"))
		for path, want := range map[string]string{
			"commits/main":          "Tue, 14 Nov 2023 22:13:20 GMT",
			"git/commits/" + commit: "Tue, 14 Nov 2023 22:13:20 GMT",
			"git/tags/" + tag:       "Tue, 14 Nov 2023 22:13:21 GMT", "branches": "-",
		} {
			for range 2 {
				s.Check(t, apitest.Case{Do: "GET /repos/alice/zoo/" + path, Status: 200,
					Has: map[string]string{"Last-Modified": want}})
			}
		}
	})
}

func TestListCommits(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		o := gitdataPlant(t, s)
		list := func(query string) string {
			var got []struct{ SHA string }
			s.Check(t, apitest.Case{Do: "GET " + gitdataAt + "/commits" + query, Status: 200}).JSON(t, &got)
			shas := make([]string, len(got))
			for i, c := range got {
				shas[i] = c.SHA
			}
			return strings.Join(shas, "\n")
		}
		for query, args := range map[string][]string{
			"": {"main"}, "?sha=feature/x": {"feature/x"}, "?sha=v1.9": {"v1.9"},
			"?sha=" + o.sha(t, "main~1"): {"main~1"}, "?sha=HEAD": {"main"},
			"?path=apple": {"main", "--", "apple"}, "?path=apple/seed": {"main", "--", "apple/seed"},
			"?path=docs/":                        {"main", "--", "docs"},
			"?author=alice":                      {"--author=<" + aliceMail, "-i", "main"},
			"?author=" + aliceMail:               {"--author=<" + aliceMail, "-i", "main"},
			"?author=author@example.com":         {"--author=author@example.com", "main"},
			"?since=2011-03-13T07:09:40Z":        {"--max-age=1300000180", "main"},
			"?until=2011-03-13T07:09:40Z":        {"--min-age=1300000180", "main"},
			"?since=2011-03-13T08:09:40%2B01:00": {"--max-age=1300000180", "main"},
			"?since=2011-03-14":                  {"--max-age=1300060800", "main"},
			"?path=side.txt&author=alice&committer=author@example.com": {"--author=<" + aliceMail, "-i",
				"main", "--", "side.txt"},
			"?per_page=2&page=2": {"--skip=2", "--max-count=2", "main"},
			"?page=99":           {"--max-count=0", "main"},
			"?path=no/such/file": {"--max-count=0", "main"}, "?path=app*": {"--max-count=0", "main"},
			"?path=:(glob)app*": {"--max-count=0", "main"},
			"?path=--all":       {"--max-count=0", "main"}, "?author=nobody": {"--max-count=0", "main"}, "?author=.*@.*": {"--max-count=0", "main"},
			"?author=ali": {"--max-count=0", "main"}, "?author=bob": {"--max-count=0", "main"},
			"?author=--all@x":   {"--max-count=0", "main"},
			"?author=%3Cx%3E@y": {"--max-count=0", "main"}, "?since=9999-01-01T00:00:00Z": {"--max-count=0",
				"main"}, "?until=0001-01-01T00:00:00Z": {"--max-count=0", "main"},
		} {
			if got, want := list(query), gittest.Run(t, o.dir,
				append([]string{"rev-list"}, args...)...); got != want {
				t.Errorf("%s gives\n%s\nwant\n%s", query, got, want)
			}
		}
		links := `<{base}` + gitdataAt + `/commits?per_page=2&page=3>; rel="next", <{base}` + gitdataAt +
			`/commits?per_page=2&page=3>; rel="last", <{base}` + gitdataAt +
			`/commits?per_page=2&page=1>; rel="first", <{base}` + gitdataAt +
			`/commits?per_page=2&page=1>; rel="prev"`
		for range 2 { // the second time from the cache
			s.Check(t, apitest.Case{Do: "GET " + gitdataAt + "/commits?per_page=2&page=2", Status: 200,
				Has: map[string]string{"Link": links}})
		}
		s.Check(t, apitest.Case{Do: "GET " + gitdataAt + "/commits?author=author@example.com&per_page=1",
			Status: 200, Want: `[{"author": null, "stats": "$absent", "files": "$absent"}]`})
		s.Email(t, "bob", "author@example.com")
		s.Check(t, apitest.Case{Name: "known from now on",
			Do: "GET " + gitdataAt + "/commits?author=author@example.com&per_page=1", Status: 200,
			Want: `[{"author": {"login": "bob"}, "committer": {"login": "bob"}}]`})
	})
}

// Branches and tags are listed as GitHub's clients expect them, and a push is
// seen at once.
func TestBranchesAndTags(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		o := gitdataPlant(t, s)
		first, rename, main := o.sha(t, "main~3"), o.sha(t, "v1.10"), o.sha(t, "main")
		tag := func(name, sha string) string {
			return `{"name": "` + name + `", "commit": {"sha": "` + sha + `", "url": "{base}` +
				gitdataAt + `/commits/` + sha +
				`"}, "zipball_url": "$any", "tarball_url": "$any", "node_id": "$any"}`
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + gitdataAt + "/branches", Status: 200,
				Want: `[{"name": "feature/x", "protected": false}, {"name": "main", "commit": {"sha": "` +
					main + `"}}, {"name": "side"}]`},
			{Do: "GET " + gitdataAt + "/branches?per_page=1&page=2", Status: 200, Want: `[{"name": "main"}]`,
				Has: map[string]string{"Link": `<{base}` + gitdataAt +
					`/branches?per_page=1&page=3>; rel="next", <{base}` + gitdataAt +
					`/branches?per_page=1&page=3>; rel="last", <{base}` + gitdataAt +
					`/branches?per_page=1&page=1>; rel="first", <{base}` + gitdataAt +
					`/branches?per_page=1&page=1>; rel="prev"`}},
			{Do: "GET " + gitdataAt + "/branches?page=9223372036854775807", Status: 200, Body: "[]"},
			{Do: "GET " + gitdataAt + "/branches?protected=true", Status: 200, Body: "[]"},
			{Do: "GET " + gitdataAt + "/branches?protected=false", Status: 200, Want: `["$any", "$any", "$any"]`},
			{Do: "GET " + gitdataAt + "/branches?protected=maybe", Status: 422},
			{Do: "GET " + gitdataAt + "/branches/feature/x", Status: 200,
				Want: `{"name": "feature/x", "protected": false, "commit": {"sha": "` + o.sha(t,
					"feature/x") + `", "commit": {"message": "A feature"}, "author": null},
				"_links": {"self": "{base}` + gitdataAt + `/branches/feature/x", "html": "{base}/alice/orchard/tree/feature/x"}, "protection": {"enabled": false, "required_status_checks": {"enforcement_level": "off", "contexts": [], "checks": []}}}`},
			{Do: "GET " + gitdataAt + "/branches/feature%2Fx", Status: 200, Want: `{"name": "feature/x"}`},
			{Do: "GET " + gitdataAt + "/branches/v1.9", Status: 404, Want: `{"message": "Branch not found"}`},
			{Do: "GET " + gitdataAt + "/tags", Status: 200, Want: "[" + tag("v1.10", rename) + "," + tag("v1.9.1",
				rename) + "," + tag("v1.9", first) + "]"},
			{Do: "GET /repos/alice/empty/branches", Status: 200, Body: "[]"},
			{Do: "GET /repos/alice/empty/tags", Status: 200, Body: "[]"},
		})
		gittest.Run(t, o.dir, "push", "-q", s.Remote(t, "alice", "alice/orchard"), "main~1:refs/heads/side")
		s.Check(t, apitest.Case{Do: "GET " + gitdataAt + "/branches/side", Status: 200,
			Want: `{"commit": {"sha": "` + o.sha(t, "main~1") + `"}}`})
		s.Check(t, apitest.Case{Do: "GET " + gitdataAt + "/commits/side", Status: 200,
			Want: `{"sha": "` + o.sha(t, "main~1") + `"}`})
	})
}

// Files and directories of all kinds can be read unchanged.
func TestContents(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		o := gitdataPlant(t, s)
		readme := o.sha(t, "main:README.md")
		odd := "d%C3%A9j%C3%A0%20vu%3F%23%25.txt"
		s.Run(t, []apitest.Case{
			{Name: "file", Do: "GET " + gitdataAt + "/contents/README.md", Status: 200,
				Want: `{"name": "README.md", "path": "README.md", "sha": "` + readme + `", "size": 10,
				"url": "{base}` + gitdataAt + `/contents/README.md?ref=main", "html_url": "{base}/alice/orchard/blob/main/README.md", "git_url": "{base}` + gitdataAt + `/git/blobs/` + readme + `",
				"download_url": "{base}/alice/orchard/raw/main/README.md", "type": "file", "content": "IyBPcmNoYXJkCg==\n", "encoding": "base64",
				"_links": {"self": "{base}` + gitdataAt + `/contents/README.md?ref=main", "git": "{base}` + gitdataAt + `/git/blobs/` + readme + `", "html": "{base}/alice/orchard/blob/main/README.md"}}`},
			{Name: "at a revision", Do: "GET " + gitdataAt + "/contents/apple/seed?ref=main~1", Status: 404},
			{Name: "at a tag", Do: "GET " + gitdataAt + "/contents/apple/seed?ref=v1.9", Status: 200,
				Want: `{"size": 5, "url": "{base}` + gitdataAt + `/contents/apple/seed?ref=v1.9"}`},
			{Name: "at a branch with a slash", Do: "GET " + gitdataAt + "/contents/feature?ref=feature%2Fx",
				Status: 200, Want: `{"url": "{base}` + gitdataAt +
					`/contents/feature?ref=feature%2Fx", "html_url": "{base}/alice/orchard/blob/feature/x/feature"}`},
			{Name: "at a SHA", Do: "GET " + gitdataAt + "/contents/apple/seed?ref=" + o.sha(t, "main~3"),
				Status: 200, Want: `{"size": 5}`},
			{Name: "at no abbreviation", Do: "GET " + gitdataAt + "/contents/apple/seed?ref=" + o.sha(t,
				"main~3")[:10], Status: 404},
			{Name: "odd name", Do: "GET " + gitdataAt + "/contents/" + odd, Status: 200,
				Want: `{"path": "déjà vu?#%.txt", "url": "{base}` + gitdataAt + `/contents/` + odd + `?ref=main"}`},
			{Name: "directory", Do: "GET " + gitdataAt + "/contents/docs", Status: 200,
				Want: `[{"name": "README", "path": "docs/README", "type": "file", "size": 5, "content": "$absent"},
				{"name": "link", "type": "symlink", "size": 12}, {"name": "manual.md", "download_url": "{base}/alice/orchard/raw/main/docs/manual.md"}]`},
			{Name: "directory with a slash", Do: "GET " + gitdataAt + "/contents/docs/", Status: 200,
				Want: `["$any", "$any", "$any"]`},
			{Name: "root", Do: "GET " + gitdataAt + "/contents", Status: 200, Keep: func(a *apitest.Answer) {
				var entries []struct{ Name, Type string }
				a.JSON(t, &entries)
				var got []string
				for _, e := range entries {
					got = append(got, e.Name+" "+e.Type)
				}
				want := ".gitmodules file, README.md file, apple dir, big.txt file, docs dir, déjà vu?#%.txt file, image file, long.txt file, module file, nowhere symlink, readme.txt file, run.sh file, side.txt file, tolink symlink"
				if strings.Join(got, ", ") != want {
					t.Errorf("the root has %q", got)
				}
			}},
			{Name: "root with a slash", Do: "GET " + gitdataAt + "/contents/?ref=v1.9", Status: 200},
			{Name: "directory as an object", Do: "GET " + gitdataAt + "/contents/apple",
				Headers: accept("application/vnd.github.object+json"), Status: 200,
				Want: `{"type": "dir", "name": "apple", "path": "apple", "sha": "` + o.sha(t,
					"main:apple") + `", "download_url": null, "entries": [{"path": "apple/seed"}]}`},
			{Name: "root as an object", Do: "GET " + gitdataAt + "/contents",
				Headers: accept("application/vnd.github.object"), Status: 200,
				Want: `{"type": "dir", "name": "", "path": ""}`},
			{Name: "link to a file", Do: "GET " + gitdataAt + "/contents/docs/link", Status: 200,
				Want: `{"type": "file", "path": "docs/link", "content": "IyBPcmNoYXJkCg==\n"}`},
			{Name: "link to a link", Do: "GET " + gitdataAt + "/contents/tolink", Status: 200,
				Want: `{"type": "file", "content": "IyBPcmNoYXJkCg==\n"}`},
			{Name: "link out of the repository", Do: "GET " + gitdataAt + "/contents/nowhere", Status: 200,
				Want: `{"type": "symlink", "target": "../../etc/passwd", "content": "$absent"}`},
			{Name: "submodule", Do: "GET " + gitdataAt + "/contents/module", Status: 200,
				Want: `{"type": "submodule", "submodule_git_url": "https://example.org/m.git", "size": 0, "download_url": null, "sha": "` + strings.Repeat("1", 40) + `"}`},
			{Name: "large", Do: "GET " + gitdataAt + "/contents/big.txt", Status: 200,
				Want: `{"size": 1048592, "encoding": "none", "content": ""}`},
			{Name: "large and raw", Do: "GET " + gitdataAt + "/contents/big.txt",
				Headers: accept("application/vnd.github.raw+json"), Status: 200,
				Body: strings.Repeat("0123456789abcde\n", 1<<16+1)},
			{Name: "raw", Do: "GET " + gitdataAt + "/contents/README.md",
				Headers: accept("application/vnd.github.v3.raw+json"), Status: 200, Body: "# Orchard\n",
				Has: map[string]string{"Content-Type": "application/vnd.github.v3.raw; charset=utf-8",
					"X-Content-Type-Options": "nosniff", "Content-Length": "10",
					"Content-Security-Policy": "default-src 'none'; sandbox"}},
			{Name: "raw link", Do: "GET " + gitdataAt + "/contents/docs/link",
				Headers: accept("application/vnd.github.raw"), Status: 200, Body: "# Orchard\n"},
			{Name: "raw link out of the repository", Do: "GET " + gitdataAt + "/contents/nowhere",
				Headers: accept("application/vnd.github.raw"), Status: 200, Body: "../../etc/passwd"},
			{Name: "raw, asked for again", Do: "GET " + gitdataAt + "/contents/README.md",
				Headers: map[string]string{"Accept": "application/vnd.github.raw",
					"If-None-Match": `W/"` + readme + `"`}, Status: 304},
			{Name: "raw head", Do: "HEAD " + gitdataAt + "/contents/big.txt",
				Headers: accept("application/vnd.github.raw"), Status: 200, Body: "-"},
			{Name: "raw directory", Do: "GET " + gitdataAt + "/contents/apple",
				Headers: accept("application/vnd.github.raw"), Status: 200, Want: `["$any"]`},
			{Name: "readme", Do: "GET " + gitdataAt + "/readme", Status: 200,
				Want: `{"path": "README.md", "content": "$any", "encoding": "base64"}`},
			{Name: "readme raw", Do: "GET " + gitdataAt + "/readme", Headers: accept("application/vnd.github.raw"),
				Status: 200, Body: "# Orchard\n"},
			{Name: "readme of a directory", Do: "GET " + gitdataAt + "/readme/docs?ref=v1.9", Status: 200,
				Want: `{"path": "docs/README", "url": "{base}` + gitdataAt + `/contents/docs/README?ref=v1.9"}`},
			{Name: "no readme", Do: "GET " + gitdataAt + "/readme/apple", Status: 404},
			{Name: "no such directory", Do: "GET " + gitdataAt + "/readme/nothing", Status: 404},
		})
		body := s.Check(t, apitest.Case{Do: "GET " + gitdataAt + "/contents/docs/manual.md", Status: 200}).Body
		if want := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a line that stays\n", 20)))[:60] +
			`\n`; !strings.Contains(string(body), want) {
			t.Errorf("content is not in lines of 60: %s", body)
		}
	})
}

// Comparing two revisions answers what the one has that the other lacks.
func TestCompare(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		o := gitdataPlant(t, s)
		main, side, first, feature := o.sha(t, "main"), o.sha(t, "side"), o.sha(t, "main~3"),
			o.sha(t, "feature/x")
		compare := "GET " + gitdataAt + "/compare/"
		s.Run(t, []apitest.Case{
			{Name: "ahead", Do: compare + "side...main", Status: 200,
				Want: `{"status": "ahead", "ahead_by": 3, "behind_by": 0, "total_commits": 3,
				"url": "{base}` + gitdataAt + `/compare/side...main", "html_url": "{base}/alice/orchard/compare/side...main", "permalink_url": "{base}/alice/orchard/compare/alice:` + side[:7] + `...alice:` + main[:7] + `",
				"diff_url": "{base}/alice/orchard/compare/side...main.diff", "patch_url": "{base}/alice/orchard/compare/side...main.patch",
				"base_commit": {"sha": "` + side + `"}, "merge_base_commit": {"sha": "` + side + `"},
				"commits": [{"sha": "` + o.sha(t, "main~2") + `"}, {"sha": "` + o.sha(t, "main~1") + `", "author": {"login": "alice"}}, {"sha": "` + main + `"}],
				"files": [{"filename": "apple/seed"}, {"filename": "big.txt"}, {"filename": "docs/manual.md", "status": "renamed"}, {"filename": "image"}, {"filename": "long.txt"}]}`},
			{Name: "behind", Do: compare + "main...side", Status: 200,
				Want: `{"status": "behind", "ahead_by": 0, "behind_by": 3, "commits": [], "files": []}`},
			{Name: "identical", Do: compare + "main...HEAD", Status: 200,
				Want: `{"status": "identical", "ahead_by": 0, "behind_by": 0, "commits": [], "files": []}`},
			{Name: "diverged", Do: compare + "v1.10...side", Status: 200,
				Want: `{"status": "diverged", "ahead_by": 1, "behind_by": 1, "merge_base_commit": {"sha": "` +
					first + `"}, "files": [{"filename": "side.txt"}]}`},
			{Name: "two dots", Do: compare + "v1.10..side", Status: 200,
				Want: `{"status": "diverged", "files": [{"filename": "docs/guide.md", "status": "renamed"}, {"filename": "image", "status": "removed"}, {"filename": "side.txt"}]}`},
			{Name: "a page", Do: compare + "side...main?per_page=2&page=2", Status: 200,
				Want: `{"total_commits": 3, "commits": [{"sha": "` + main + `"}], "files": []}`},
			{Name: "slashes", Do: compare + "main...feature/x", Status: 200,
				Want: `{"status": "ahead", "commits": [{"sha": "` + feature + `"}]}`},
			{Name: "escaped slashes", Do: compare + "feature%2Fx...main", Status: 200,
				Want: `{"status": "behind"}`},
			{Name: "owner", Do: compare + "alice:side...ALICE:main", Status: 200, Want: `{"ahead_by": 3}`},
			{Name: "SHAs, one abbreviated", Do: compare + side + "..." + main[:9], Status: 200,
				Want: `{"ahead_by": 3}`},
			{Name: "diff", Do: compare + "v1.10...side", Headers: accept("application/vnd.github.diff"),
				Status: 200, Body: gittest.Run(t, o.dir, "diff", "v1.10...side") + "\n"},
			{Name: "patch", Do: compare + "v1.10...side", Headers: accept("application/vnd.github.patch"),
				Status: 200, Body: string(gittest.Pipe(t, o.dir, nil, "format-patch", "--stdout",
					"v1.10..side"))},
			{Name: "another owner", Do: compare + "bob:main...main", Status: 404},
			{Name: "nothing to compare", Do: compare + "main", Status: 404},
			{Name: "an empty side", Do: compare + "main...", Status: 404},
			{Name: "no such branch", Do: compare + "main...none", Status: 404},
			{Name: "an option", Do: compare + "--all...main", Status: 404},
		})
	})
}

// Nothing that a caller puts into an address breaks the server, leads out of
// the tree or becomes an option of git.
func TestBadInputOfReads(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		o := gitdataPlant(t, s)
		other := s.Repo(t, "bob/other", false)
		dir := gittest.Repository(t, 1, 1)
		s.Import(t, other, dir)
		foreign := gittest.Run(t, dir, "rev-parse", "main")
		for _, path := range []string{"..", "../x", "docs/../README.md", "docs/./README", "/README.md",
			"docs//README", ".git/config", "docs/.GIT", "docs/README/x", "module/x", "docs/link/x", "none",
			"\\", "a\x00b", "\xff", ":(top)docs", "--help", strings.Repeat("a/", 9000) + "a", "README.md\n"} {
			escaped := strings.ReplaceAll(url.PathEscape(path), "%2F", "/")
			for _, do := range []string{"/contents/" + escaped, "/contents/" + url.PathEscape(path),
				"/readme/" + escaped, "/commits?path=" + url.QueryEscape(path)} {
				a := s.Do(t, apitest.Case{Do: "GET " + gitdataAt + do})
				list := strings.HasPrefix(do, "/commits") && a.Status == 200 && string(a.Body) == "[]"
				if a.Status != 404 && a.Status != 422 && !list {
					t.Errorf("%.80s: status %d %.200s", do, a.Status, a.Body)
				}
			}
		}
		for _, rev := range []string{"none", "--all", "-1", "main~1", "main^{tree}", "main:README.md",
			"^main", "@", "refs/heads/none", ":/Grow", "a..b", "\x00", "\xff", strings.Repeat("f", 40),
			strings.Repeat("0", 40), "ffff", foreign, foreign[:10], o.sha(t, "main^{tree}"),
			o.sha(t, "main:README.md"), strings.Repeat("x", 5000), " ", "main\n"} {
			p, q := url.PathEscape(rev), url.QueryEscape(rev)
			for do, want := range map[string][]int{
				"/commits/" + p: {422, 404}, "/commits?sha=" + q: {404}, "/git/commits/" + p: {404},
				"/branches/" + p: {404}, "/compare/main..." + p: {404}, "/compare/" + p + "...main": {404},
				"/commits/" + p + "/branches-where-head": {422, 404},
			} {
				a := s.Do(t, apitest.Case{Do: "GET " + gitdataAt + do})
				if a.Status != want[0] && a.Status != want[len(want)-1] {
					t.Errorf("%.80s: status %d %.200s", do, a.Status, a.Body)
				}
			}
			// A tree's SHA is as good as a commit's for contents.
			if a := s.Do(t, apitest.Case{Do: "GET " + gitdataAt + "/contents?ref=" + q}); a.Status != 404 &&
				rev != o.sha(t, "main^{tree}") {
				t.Errorf("contents of %.80q: status %d", rev, a.Status)
			}
		}
		var cases []apitest.Case
		for _, query := range []string{"since=yesterday", "until=1", "since=2011-13-01T00:00:00Z",
			"since=--all", "since=%00", "author=a%00b@c", "author=%FF@x", "committer=a%0Ab@c"} {
			cases = append(cases, apitest.Case{Do: "GET " + gitdataAt + "/commits?" + query, Status: 422,
				Want: `{"message": "Validation Failed"}`})
		}
		for _, path := range []string{"/commits", "/commits/main", "/git/commits/" + strings.Repeat("1", 40),
			"/contents", "/contents/x", "/readme", "/compare/a...b", "/compare/x", "/commits/HEAD"} {
			cases = append(cases, apitest.Case{Name: "empty: " + path, Do: "GET /repos/alice/empty" + path,
				Status: 409, Want: `{"message": "Git Repository is empty."}`})
		}
		s.Run(t, cases)
	})
}
