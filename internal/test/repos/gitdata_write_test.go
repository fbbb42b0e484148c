package repos_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// sent posts a body and gives the field of the answer, which must be a 201
// whose Location is its url.
func gitdataSent(t *testing.T, s *apitest.Server, path, body, field string) string {
	t.Helper()
	a := s.Check(t, apitest.Case{Do: "POST " + path, As: "alice", Send: body, Status: 201})
	var made map[string]any
	a.JSON(t, &made)
	if made["url"] != a.Header.Get("Location") {
		t.Errorf("%s: Location is %q, url %q", path, a.Header.Get("Location"), made["url"])
	}
	location := strings.TrimPrefix(a.Header.Get("Location"), s.URL)
	got := s.Check(t, apitest.Case{Do: "GET " + location, As: "alice", Status: 200})
	if !strings.Contains(string(got.Body), made[field].(string)) {
		t.Errorf("%s leads to %s", path, got.Body)
	}
	return made[field].(string)
}

// A client without a clone builds a commit out of blobs, a tree and a ref, and
// git finds all of it sound and as it was sent.
func TestCommitWithoutAClone(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/zoo", false)
		s.Import(t, r, zoo(t))
		const at = "/repos/alice/zoo/git"
		clone := filepath.Join(t.TempDir(), "clone")
		gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "alice", "alice/zoo"), clone)
		tip := gittest.Run(t, clone, "rev-parse", "HEAD")

		blob := gitdataSent(t, s, at+"/blobs", `{"content": "aGVsbG8KAP8=\n", "encoding": "base64"}`, "sha")
		text := gitdataSent(t, s, at+"/blobs", `{"content": "grüß dich\u0000", "encoding": "utf-8"}`, "sha")
		tree := gitdataSent(t, s, at+"/trees", fmt.Sprintf(`{"base_tree": %q, "tree": [
			{"path": "data.bin", "mode": "100644", "type": "blob", "sha": %q},
			{"path": "a/new/text", "mode": "100755", "sha": %q},
			{"path": "empty", "mode": "100644", "sha": null},
			{"path": "a.b/deep", "mode": "040000", "sha": null},
			{"path": "inline", "mode": "100644", "content": "inline\n"}]}`, tip, blob, text), "sha")
		commit := gitdataSent(t, s, at+"/commits",
			fmt.Sprintf(`{"message": "By hand\n\nwithout a clone", "tree": %q, "parents": [%q],
			"author": {"name": "Ünal", "email": "u@example.org", "date": "2024-02-29T23:59:59+05:30"}}`, tree, tip), "sha")
		s.Check(t, apitest.Case{Do: "PATCH " + at + "/refs/heads/main", As: "alice",
			Send: `{"sha": "` + commit + `"}`, Status: 200,
			Want: `{"ref": "refs/heads/main", "url": "{base}/repos/alice/zoo/git/refs/heads/main", "object": {"type": "commit", "sha": "` + commit + `", "url": "{base}/repos/alice/zoo/git/commits/` + commit + `"}}`})
		tag := gitdataSent(t, s, at+"/tags",
			fmt.Sprintf(`{"tag": "v2", "message": "two", "object": %q, "type": "commit"}`, commit), "sha")
		s.Check(t, apitest.Case{Do: "POST " + at + "/refs", As: "alice",
			Send: `{"ref": "refs/tags/v2", "sha": "` + tag + `"}`, Status: 201,
			Want: `{"ref": "refs/tags/v2", "node_id": "$any", "object": {"type": "tag", "sha": "` + tag +
				`"}}`, Has: map[string]string{"Location": "{base}" + at + "/refs/tags/v2"}})

		gittest.Run(t, clone, "pull", "-q", "--tags", "origin", "main")
		gittest.Run(t, clone, "fsck", "--strict", "--full")
		gittest.Run(t, s.Objects(t, r.ID).Dir(), "fsck", "--strict", "--full")
		if got := gittest.Run(t, clone, "log", "-1", "--format=%an <%ae> %ad%n%cn <%ce> %cd%n%B",
			"--date=iso-strict"); got !=
			"Ünal <u@example.org> 2024-02-29T23:59:59+05:30\nÜnal <u@example.org> 2024-02-29T23:59:59+05:30\nBy hand\n\nwithout a clone" {
			t.Errorf("the commit reads %q", got)
		}
		got := gittest.Run(t, clone, "diff", "--name-status", "--no-renames", tip, "HEAD")
		if got != "D\ta.b/deep/er/file\nA\ta/new/text\nA\tdata.bin\nD\tempty\nA\tinline" {
			t.Errorf("the commit changes\n%s", got)
		}
		if got := gittest.Run(t, clone, "cat-file", "-p", "HEAD:data.bin"); got != "hello\n\x00\xff" {
			t.Errorf("the blob reads %q", got)
		}
		if got := gittest.Run(t, clone, "for-each-ref", "--format=%(objecttype) %(taggername)",
			"refs/tags/v2"); got != "tag alice" {
			t.Errorf("the tag is %q", got)
		}
	})
}

// Each way of asking for a tree that cannot be has its own answer, which names
// the entry (decision 44); and nothing of it may be written.
func TestBadTrees(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/zoo", false), zoo(t))
		other := s.Repo(t, "alice/other", true)
		source := gittest.Repository(t, 2, 3)
		s.Import(t, other, source)
		foreign := gittest.Run(t, source, "rev-parse", "main:dir0/file0.txt")
		foreignTree := gittest.Run(t, source, "rev-parse", "main^{tree}")
		dir := zoo(t)
		base := gittest.Run(t, dir, "rev-parse", "main^{tree}")
		blob := gittest.Run(t, dir, "rev-parse", "main:plain.txt")
		tag := gittest.Run(t, dir, "rev-parse", "v1")
		// as base_tree it is none all the same
		s.Check(t, apitest.Case{Do: "GET /repos/alice/zoo/git/trees/" + tag, Status: 200})
		file := func(path string) string {
			quoted, _ := json.Marshal(path)
			return `{"tree": [{"path": "ok", "mode": "100644", "content": ""}, {"path": ` + string(quoted) +
				`, "mode": "100644", "content": "x"}]}`
		}
		on := func(entries string) string {
			return `{"base_tree": "` + base + `", "tree": [` + entries + `]}`
		}
		const at = "tree[1]"
		cases := []struct{ name, body, field string }{
			{"no tree", `{}`, "tree"},
			{"null tree", `{"tree": null}`, "tree"},
			{"empty tree", `{"tree": []}`, "tree"},
			{"tree of another type", `{"tree": {"path": "x"}}`, "tree"},
			{"entry of another type", `{"tree": [7]}`, "tree[0]"},
			{"entry is null", `{"tree": [null]}`, "tree[0]"},
			{"no path", `{"tree": [{"mode": "100644", "content": "x"}]}`, "tree[0].path"},
			{"no mode", `{"tree": [{"path": "x", "content": "x"}]}`, "tree[0].mode"},
			{"nothing", `{"tree": [{"path": "x", "mode": "100644"}]}`, "tree[0].sha"},
			{"unknown mode", `{"tree": [{"path": "x", "mode": "100600", "content": "x"}]}`, "tree[0].mode"},
			{"mode without zero", `{"tree": [{"path": "x", "mode": "40000", "sha": "` + base + `"}]}`,
				"tree[0].mode"},
			{"mode as number", `{"tree": [{"path": "x", "mode": 100644, "content": "x"}]}`, "tree[0].mode"},
			{"type against mode",
				`{"tree": [{"path": "x", "mode": "100644", "type": "tree", "content": "x"}]}`,
				"tree[0].type"},
			{"both", `{"tree": [{"path": "x", "mode": "100644", "sha": "` + blob + `", "content": "x"}]}`,
				"tree[0]"},
			{"removed and written",
				`{"tree": [{"path": "x", "mode": "100644", "sha": null, "content": "x"}]}`, "tree[0]"},
			{"content of a directory", `{"tree": [{"path": "x", "mode": "040000", "content": "x"}]}`,
				"tree[0].content"},
			{"content is a number", `{"tree": [{"path": "x", "mode": "100644", "content": 1}]}`,
				"tree[0].content"},
			{"sha is a number", `{"tree": [{"path": "x", "mode": "100644", "sha": 1}]}`, "tree[0].sha"},
			{"short sha", `{"tree": [{"path": "x", "mode": "100644", "sha": "` + blob[:12] + `"}]}`,
				"tree[0].sha"},
			{"null sha as text", `{"tree": [{"path": "x", "mode": "160000", "sha": "` + strings.Repeat("0",
				40) + `"}]}`, "tree[0].sha"},
			{"an option as sha", `{"tree": [{"path": "x", "mode": "100644", "sha": "--output=/tmp/x"}]}`,
				"tree[0].sha"},
			{"commit of a submodule as blob",
				on(`{"path": "m", "mode": "160000", "sha": "` + strings.Repeat("1",
					40) + `"}, {"path": "x", "mode": "100755", "sha": "` + strings.Repeat("1", 40) + `"}`),
				at + ".sha"},
			{"missing object", `{"tree": [{"path": "x", "mode": "100644", "sha": "` + strings.Repeat("a",
				40) + `"}]}`, "tree[0].sha"},
			{"object of another repository", `{"tree": [{"path": "x", "mode": "100644", "sha": "` + foreign +
				`"}]}`, "tree[0].sha"},
			{"tree of another repository",
				`{"tree": [{"path": "x", "mode": "040000", "sha": "` + foreignTree + `"}]}`, "tree[0].sha"},
			{"tree as blob", `{"tree": [{"path": "x", "mode": "100644", "sha": "` + base + `"}]}`,
				"tree[0].sha"},
			{"blob as tree", `{"tree": [{"path": "x", "mode": "040000", "sha": "` + blob + `"}]}`,
				"tree[0].sha"},
			{"blob as submodule", `{"tree": [{"path": "x", "mode": "160000", "sha": "` + blob + `"}]}`,
				"tree[0].sha"},
			{"tree as submodule", `{"tree": [{"path": "x", "mode": "160000", "sha": "` + base + `"}]}`,
				"tree[0].sha"},
			{"empty base", `{"base_tree": "", "tree": [{"path": "x", "mode": "100644", "content": "x"}]}`,
				"base_tree"},
			{"base of another repository",
				`{"base_tree": "` + foreignTree +
					`", "tree": [{"path": "x", "mode": "100644", "content": "x"}]}`, "base_tree"},
			{"base is a blob", `{"base_tree": "` + blob +
				`", "tree": [{"path": "x", "mode": "100644", "content": "x"}]}`, "base_tree"},
			{"base is a tag", `{"base_tree": "` + tag +
				`", "tree": [{"path": "x", "mode": "100644", "content": "x"}]}`, "base_tree"},
			{"base is a branch",
				`{"base_tree": "main", "tree": [{"path": "x", "mode": "100644", "content": "x"}]}`,
				"base_tree"},
			{"base is an option",
				`{"base_tree": "--all", "tree": [{"path": "x", "mode": "100644", "content": "x"}]}`,
				"base_tree"},
			{"base is a number",
				`{"base_tree": 7, "tree": [{"path": "x", "mode": "100644", "content": "x"}]}`, "base_tree"},
			{"removed without base", `{"tree": [{"path": "x", "mode": "100644", "sha": null}]}`,
				"tree[0].path"},
			{"removed and not there",
				on(`{"path": "plain.txt", "mode": "100644", "sha": null}, {"path": "none", "mode": "100644", "sha": null}`), at + ".path"},
			{"removed in no directory", on(`{"path": "plain.txt/x", "mode": "100644", "sha": null}`),
				"tree[0].path"},
			{"file as directory",
				on(`{"path": "ok", "mode": "100644", "content": ""}, {"path": "plain.txt/x", "mode": "100644", "content": "x"}`), at + ".path"},
			{"submodule as directory", on(`{"path": "module/x", "mode": "100644", "content": "x"}`),
				"tree[0].path"},
			{"link as directory", on(`{"path": "link/x", "mode": "100644", "content": "x"}`), "tree[0].path"},
			{"both at once", `{"tree": [{"path": "x", "mode": "100644", "content": "x"}, {"path": "x/y", "mode": "100644", "content": "x"}]}`, at + ".path"},
			{"hostile submodules",
				`{"tree": [{"path": ".gitmodules", "mode": "100644", "content": "[submodule \"../../x\"]\n path = x\n url = -u./payload\n"}]}`, "tree[0].content"},
			{"submodules as a link", `{"tree": [{"path": ".GitModules", "mode": "120000", "content": "x"}]}`,
				"tree[0].path"},
			{"submodules as a folder",
				`{"tree": [{"path": ".gitmodules/x", "mode": "100644", "content": "x"}]}`, "tree[0].path"},
			{"lines too long for git",
				`{"tree": [{"path": "a/.gitattributes", "mode": "100644", "content": "` + strings.Repeat("a",
					4000) + `"}]}`, "tree[0].content"},
		}
		for _, path := range []string{"", "/etc/passwd", "a//b", "a/", "/", ".", "..", "./a", "a/./b", "a/..",
			"../../x", "a\x00b", ".git", ".GIT", "a/.Git/config", "git~1", "GIT~1/x", ".git ", ".git.",
			".git . .", ".git::$INDEX_ALLOCATION", ".git:x/y", "git~1::$DATA", "a\\.git", "a\\.git\\config",
			".git\\config",
			".g\u200cit", "\u200d.git", ".git\ufeff", ".gi\u206dT/x", ".g\u202ait",
			strings.Repeat("x/", 600) + "y", strings.Repeat("y", 5000)} {
			cases = append(cases, struct{ name, body, field string }{fmt.Sprintf("path %.40q", path),
				file(path), at + ".path"})
		}
		before := countObjects(t, s)
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				a := s.Check(t, apitest.Case{Do: "POST /repos/alice/zoo/git/trees", As: "alice",
					Send: c.body, Status: 422,
					Want: `{"message": "Validation Failed", "errors": [{"resource": "Tree", "field": "` +
						c.field + `", "code": "$any"}]}`})
				var body struct {
					Errors []struct{ Message, Code string }
				}
				a.JSON(t, &body)
				if m := body.Errors[0].Message; body.Errors[0].Code != "missing_field" &&
					!strings.Contains(m, strings.TrimSuffix(strings.Split(c.field, ".")[0], "]")) &&
					c.field != "base_tree" {
					t.Errorf("the message %q does not name the entry", m)
				}
			})
		}
		if after := countObjects(t, s); after != before {
			t.Errorf("refused trees left objects: %s before, %s after", before, after)
		}
	})
}

func countObjects(t *testing.T, s *apitest.Server) string {
	t.Helper()
	found, err := s.Repos.Find(t.Context(), nil, "alice", "zoo")
	testkit.NoError(t, err)
	return gittest.Run(t, s.Objects(t, found.ID).Dir(), "count-objects", "-v")
}

// What looks odd and is allowed must be taken, and be what git makes of it.
func TestOddTrees(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/zoo", false)
		s.Import(t, r, zoo(t))
		dir := zoo(t)
		base := gittest.Run(t, dir, "rev-parse", "main^{tree}")
		sub := gittest.Run(t, dir, "rev-parse", "main:a")
		blob := gittest.Run(t, dir, "rev-parse", "main:plain.txt")
		tree := func(body, want string) string {
			t.Helper()
			sha := gitdataSent(t, s, "/repos/alice/zoo/git/trees", body, "sha")
			got := strings.ReplaceAll(gittest.Run(t, s.Objects(t, r.ID).Dir(), "ls-tree", "-r", "--name-only",
				sha), "\n", " ")
			if got != want {
				t.Errorf("%s\nbecomes %q, want %q", body, got, want)
			}
			return sha
		}
		one := func(path, mode, rest string) string {
			quoted, _ := json.Marshal(path)
			return `{"path": ` + string(quoted) + `, "mode": "` + mode + `", ` + rest + `}`
		}
		list := func(entries ...string) string { return `{"tree": [` + strings.Join(entries, ",") + `]}` }
		tree(list(one("a", "100644", `"content": "1"`), one("a", "100644", `"content": "2"`)), "a")
		tree(list(one("d/x", "100644", `"content": "x"`), one("d", "040000", `"sha": "`+sub+`"`)),
			"d/file d/x")
		tree(list(one("d", "040000", `"sha": "`+sub+`"`), one("d/file", "100644", `"sha": null`),
			one("e", "100644", `"content": ""`)), "e")
		tree(list(one("m", "160000", `"sha": "`+strings.Repeat("c", 40)+`"`),
			one("l", "120000", `"content": "../../etc/passwd"`)), "l m")
		tree(list(one(".gitignore", "100644", `"content": "x"`), one(".github/x", "100644", `"content": "x"`),
			one("git", "100644", `"content": "x"`), one("git~2", "100644", `"content": "x"`),
			one("...", "100644", `"content": "x"`), one("a\\b", "100644", `"content": "x"`),
			one(".gitmodules", "100644",
				`"content": "[submodule \"x\"]\n\tpath = x\n\turl = https://example.org/x\n"`)),
			`... .github/x .gitignore .gitmodules "a\\b" git git~2`)
		tree(list(one("-rf", "100644", `"content": "x"`), one("--output=x", "100644", `"content": "x"`),
			one(":(glob)*", "100644", `"content": "x"`)), "--output=x -rf :(glob)*")
		on := func(entries ...string) string {
			return `{"base_tree": "` + base + `", "tree": [` + strings.Join(entries, ",") + `]}`
		}
		var all []string
		for _, name := range strings.Split(gittest.Run(t, dir, "-c", "core.quotepath=off", "ls-tree", "-z",
			"--name-only", "main"), "\x00") {
			if name != "" && !strings.Contains(name, "latin") {
				all = append(all, one(name, "100644", `"sha": null`))
			}
		}
		tree(on(all...), `"latin\351"`)
		tree(on(append(all[:len(all):len(all)], one("plain.txt/x", "100644", `"sha": "`+blob+`"`),
			one("a/y", "100644", `"sha": "`+blob+`"`))...), `a/y "latin\351" plain.txt/x`)
		same := on(one("plain.txt", "100644", `"sha": "`+strings.ToUpper(blob)+`"`))
		if sha := gitdataSent(t, s, "/repos/alice/zoo/git/trees", same, "sha"); sha != base {
			t.Errorf("an edit that changes nothing makes %s of %s", sha, base)
		}
		s.Check(t, apitest.Case{Do: "POST /repos/alice/zoo/git/trees", As: "alice", Status: 201,
			Send: `{"base_tree": "` + sub + `", "tree": [{"path": "file", "mode": "100644", "sha": null}]}`,
			Want: `{"sha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "tree": [], "truncated": false}`})
		gittest.Run(t, s.Objects(t, r.ID).Dir(), "fsck", "--strict", "--full", "--no-dangling")
	})
}
