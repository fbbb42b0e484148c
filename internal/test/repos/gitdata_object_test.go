package repos_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// Blobs come back as they were sent, in each form, and never as a page.
func TestBlobs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/zoo", false), zoo(t))
		const at = "/repos/alice/zoo/git/blobs"
		for _, n := range []int{0, 1, 44, 45, 46, 90, 300 << 10, 3 << 20} {
			contents := strings.Repeat("<script>\x00\xff", n/10+1)[:n]
			encoded := base64.StdEncoding.EncodeToString([]byte(contents))
			sha := gitdataSent(t, s, at, `{"encoding": "base64", "content": "`+encoded+`"}`, "sha")
			var got struct {
				SHA, NodeID, URL, Content, Encoding string
				Size                                int
			}
			a := s.Check(t, apitest.Case{Do: "GET " + at + "/" + sha, As: "alice", Status: 200,
				Has: map[string]string{"Etag": `W/"` + sha + `"`}})
			a.JSON(t, &got)
			if decoded, err := base64.StdEncoding.DecodeString(got.Content); err != nil ||
				string(decoded) != contents || got.Size != n {
				t.Errorf("%d bytes come back as %d, %v", n, len(decoded), err)
			}
			raw := s.Check(t, apitest.Case{Do: "GET " + at + "/" + sha, As: "alice", Status: 200,
				Headers: map[string]string{"Accept": "application/vnd.github.raw"},
				Has: map[string]string{
					"Content-Type":           "application/vnd.github.raw; charset=utf-8",
					"X-Content-Type-Options": "nosniff",
				}})
			if string(raw.Body) != contents {
				t.Errorf("%d raw bytes come back as %d", n, len(raw.Body))
			}
			s.Check(t, apitest.Case{Do: "GET " + at + "/" + sha, As: "alice", Status: 304,
				Headers: map[string]string{"If-None-Match": a.Header.Get("Etag")}, Body: "-"})
			s.Check(t, apitest.Case{Do: "HEAD " + at + "/" + sha, As: "alice", Status: 200, Body: "-"})
		}
		tree := gittest.Run(t, zoo(t), "rev-parse", "main^{tree}")
		wrong := func(field, code string) string {
			return `{"errors": [{"resource": "Blob", "field": "` + field + `", "code": "` + code + `"}]}`
		}
		s.Run(t, []apitest.Case{
			{Name: "not there", Do: "GET " + at + "/" + strings.Repeat("a", 40), Status: 404},
			{Name: "a tree", Do: "GET " + at + "/" + tree, Status: 404},
			{Name: "short", Do: "GET " + at + "/abc", Status: 422},
			{Name: "a branch", Do: "GET " + at + "/main", Status: 422},
			{Name: "an option", Do: "GET " + at + "/--help", Status: 422},
			{Name: "no content", Do: "POST " + at, As: "alice", Send: `{}`, Status: 422,
				Want: wrong("content", "missing_field")},
			{Name: "null", Do: "POST " + at, As: "alice", Send: `{"content": null}`, Status: 422,
				Want: wrong("content", "missing_field")},
			{Name: "number", Do: "POST " + at, As: "alice", Send: `{"content": 1}`, Status: 422,
				Want: wrong("content", "invalid")},
			{Name: "encoding", Do: "POST " + at, As: "alice", Send: `{"content": "", "encoding": "rot13"}`,
				Status: 422, Want: wrong("encoding", "invalid")},
			{Name: "not base64", Do: "POST " + at, As: "alice",
				Send: `{"content": "a*b=", "encoding": "base64"}`, Status: 422,
				Want: wrong("content", "invalid")},
			{Name: "too large", Do: "POST " + at, As: "alice",
				Send: `{"content": "` + strings.Repeat("x", 40<<20) + `"}`, Status: 413},
			{Name: "unpadded", Do: "POST " + at, As: "alice",
				Send: `{"content": "aGk", "encoding": "base64"}`, Status: 201,
				Want: `{"sha": "32f95c0d1244a78b2be1bab8de17906fabb2c4a8"}`},
		})
	})
}

// A commit or tag that git would not take, or that names what is not here, is
// refused with the field that is wrong.
func TestBadCommitsAndTags(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/zoo", false), zoo(t))
		dir := zoo(t)
		tree, commit := gittest.Run(t, dir, "rev-parse", "main^{tree}"),
			gittest.Run(t, dir, "rev-parse", "main")
		none := strings.Repeat("a", 40)
		bad := func(name, kind, body, field string) apitest.Case {
			resource := map[string]string{"commits": "Commit", "tags": "Tag"}[kind]
			return apitest.Case{Name: kind + ": " + name, Do: "POST /repos/alice/zoo/git/" + kind,
				As: "alice", Send: body, Status: 422,
				Want: `{"errors": [{"resource": "` + resource + `", "field": "` + field +
					`", "code": "$any"}]}`}
		}
		with := func(rest string) string { return `{"message": "m", "tree": "` + tree + `", ` + rest + `}` }
		tag := func(rest string) string {
			return `{"tag": "v9", "message": "m", "object": "` + commit + `", ` + rest + `}`
		}
		s.Run(t, []apitest.Case{
			bad("no message", "commits", `{"tree": "`+tree+`"}`, "message"),
			bad("empty message", "commits", `{"message": "", "tree": "`+tree+`"}`, "message"),
			bad("NUL", "commits", `{"message": "a\u0000b", "tree": "`+tree+`"}`, "message"),
			bad("no tree", "commits", `{"message": "m"}`, "tree"),
			bad("tree that is none", "commits", `{"message": "m", "tree": "`+commit+`"}`, "tree"),
			bad("missing tree", "commits", `{"message": "m", "tree": "`+none+`"}`, "tree"),
			bad("branch as tree", "commits", `{"message": "m", "tree": "main"}`, "tree"),
			bad("missing parent", "commits", with(`"parents": ["`+commit+`", "`+none+`"]`), "parents[1]"),
			bad("tree as parent", "commits", with(`"parents": ["`+tree+`"]`), "parents[0]"),
			bad("option as parent", "commits", with(`"parents": ["--all"]`), "parents[0]"),
			bad("parents are no list", "commits", with(`"parents": "`+commit+`"`), "parents"),
			bad("author is text", "commits", with(`"author": "me"`), "author"),
			bad("author without name", "commits", with(`"author": {"email": "a@b"}`), "author.name"),
			bad("author without email", "commits", with(`"author": {"name": "a"}`), "author.email"),
			bad("newline in a name", "commits",
				with(`"author": {"name": "a\nparent `+none+`", "email": "a@b"}`), "author"),
			bad("bracket in an address", "commits",
				with(`"committer": {"name": "a", "email": "a@b> 1 +0000"}`), "committer"),
			bad("date", "commits", with(`"author": {"name": "a", "email": "a@b", "date": "yesterday"}`),
				"author.date"),
			bad("date long ago", "commits",
				with(`"author": {"name": "a", "email": "a@b", "date": "1234-05-06T07:08:09Z"}`),
				"author.date"),
			bad("signature with NUL", "commits", with(`"signature": "a\u0000"`), "signature"),
			bad("no tag", "tags", `{"message": "m", "object": "`+commit+`", "type": "commit"}`, "tag"),
			bad("no type", "tags", tag(`"x": 1`), "type"),
			bad("other type", "tags", tag(`"type": "tree"`), "object"),
			bad("unknown type", "tags", tag(`"type": "ship"`), "type"),
			bad("missing object", "tags", `{"tag": "v9", "message": "m", "type": "blob", "object": "`+none+
				`"}`, "object"),
			bad("bad name", "tags", `{"tag": "a..b", "message": "m", "type": "commit", "object": "`+
				commit+`"}`, "tag"),
			bad("newline in the name", "tags",
				`{"tag": "a\nb", "message": "m", "type": "commit", "object": "`+commit+`"}`, "tag"),
			bad("SHA as name", "tags", `{"tag": "`+none+`", "message": "m", "type": "commit", "object": "`+
				commit+`"}`, "tag"),
		})
		signature := `-----BEGIN PGP SIGNATURE-----\n\niQ\n=x\n-----END PGP SIGNATURE-----\n`
		s.Run(t, []apitest.Case{
			{Name: "signed", Do: "POST /repos/alice/zoo/git/commits", As: "alice", Status: 201,
				Send: with(`"author": {"name": "A", "email": "a@b", "date": "2020-01-01T00:00:00Z"}, "signature": "` + signature + `"`),
				Want: `{"message": "m", "verification": {"verified": false, "payload": "tree ` + tree +
					`\nauthor A <a@b> 1577836800 +0000\ncommitter A <a@b> 1577836800 +0000\n\nm", "signature": "` + strings.TrimSuffix(signature, `\n`) + `"}, "parents": []}`},
			{Name: "tag of a tag", Do: "POST /repos/alice/zoo/git/tags", As: "alice", Status: 201,
				Send: `{"tag": "again", "message": "m", "type": "tag", "object": "` + gittest.Run(t, dir,
					"rev-parse", "v1") +
					`", "tagger": {"name": "T", "email": "t@x", "date": "2020-01-01T00:00:00Z"}}`,
				Want: `{"tag": "again", "message": "m", "tagger": {"name": "T", "email": "t@x", "date": "2020-01-01T00:00:00Z"}, "object": {"type": "tag"}, "verification": {"verified": false, "reason": "unsigned"}}`},
			{Name: "a commit is no tag", Do: "GET /repos/alice/zoo/git/tags/" + commit, Status: 404},
			{Name: "a tag by name", Do: "GET /repos/alice/zoo/git/tags/v1", Status: 422},
		})
	})
}
