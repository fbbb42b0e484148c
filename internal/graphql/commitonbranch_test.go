package graphql_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

const commitOn = `mutation($i:CreateCommitOnBranchInput!){createCommitOnBranch(input:$i){
	commit{oid message parents(first:2){nodes{oid}}} ref{name target{oid}}}}`

// onBranch is the input of createCommitOnBranch; files are added by path, or deleted where the contents begin
// with a "-".
func onBranch(branch map[string]any, tip string, files ...string) map[string]any {
	additions, deletions := []any{}, []any{}
	for _, f := range files {
		path, contents, _ := strings.Cut(f, "=")
		if contents == "-" {
			deletions = append(deletions, map[string]any{"path": path})
			continue
		}
		additions = append(additions, map[string]any{"path": path,
			"contents": base64.StdEncoding.EncodeToString([]byte(contents))})
	}
	return map[string]any{"branch": branch, "expectedHeadOid": tip,
		"message": map[string]any{"headline": "Sow",
			"body": "In rows"},
		"fileChanges": map[string]any{"additions": additions, "deletions": deletions}}
}

// Several files are changed with one commit, all or none, and only where the caller knows what they are
// changed from.
func TestCommitOnBranch(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := cellar(t, s)
		byName := map[string]any{"repositoryNameWithOwner": "alice/cellar", "branchName": "main"}
		byID := map[string]any{"id": ids["ref"]}
		check := func(as, want string, input map[string]any) {
			t.Helper()
			a := ask{as: as, query: commitOn, variables: map[string]any{"i": input}, want: want}
			a.check(t, s)
		}
		tip := ids["sha"]
		check("", `{"data": {"createCommitOnBranch": {"commit": {"message": "Sow\n\nIn rows",
			"parents": {"nodes": [{"oid": "`+tip+`"}]}},
			"ref": {"name": "main"}}}}`, onBranch(byName, tip, "beds/one=peas", "beds/two=\x00\xff", "a=-"))
		refused := func(kind, message string) string {
			return fmt.Sprintf(`{"data": {"createCommitOnBranch": null}, "errors": [{"type": %q, "message": %q}]}`, kind,
				message)
		}
		now := member(t, s, "alice", "/repos/alice/cellar/commits/main", "sha")
		check("", refused("STALE_DATA", fmt.Sprintf(
			"Expected branch to point to %q but it points to %q. Pull and try again.", tip, now)),
			onBranch(byName, tip, "late=x"))
		for path, want := range map[string]string{
			"beds=x":          `path "beds" is not a file`,
			"nowhere=-":       `path "nowhere" is not there`,
			"../up=x":         `path "../up" has a "." or ".." part`,
			".git/config=x":   `path ".git/config" has a part that means ".git"`,
			"beds/one/more=x": `path "beds/one/more" needs a directory where a blob is`,
			".gitmodules=[submodule \"-x\"]\n\turl = -upload": `would be refused by git`,
		} {
			got := run(t, s, "alice", commitOn, map[string]any{"i": onBranch(byName, now, "fine=x", path)})
			text, _ := json.Marshal(want)
			if !strings.Contains(got, `"UNPROCESSABLE"`) ||
				!strings.Contains(got, strings.Trim(string(text), `"`)) {
				t.Errorf("%s: %s, want %s", path, got, text)
			}
		}
		check("", refused("UNPROCESSABLE", "expectedHeadOid must be a full SHA of 40 hexadecimal digits"),
			onBranch(byName, now[:7]))
		check("", refused("UNPROCESSABLE", `path "twice" is named twice`),
			onBranch(byName, now, "twice=x", "twice=-"))
		check("", refused("UNPROCESSABLE",
			"A branch is named by its id, or by repositoryNameWithOwner and branchName."),
			onBranch(map[string]any{"branchName": "main"}, now))
		check("", refused("NOT_FOUND", "Branch nowhere not found"),
			onBranch(map[string]any{"repositoryNameWithOwner": "alice/cellar", "branchName": "nowhere"}, now))
		files := make([]string, 1001)
		for n := range files {
			files[n] = fmt.Sprint("many/", n, "=x")
		}
		check("", refused("UNPROCESSABLE", "one commit changes at most 1000 files here"),
			onBranch(byName, now, files...))
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/cellar/commits/main", As: "alice", Status: 200,
				Want: `{"sha": "` + now + `", "author": {"login": "alice"}}`},
			{Do: "GET /repos/alice/cellar/contents/beds/one", As: "alice", Status: 200,
				Want: `{"content": "cGVhcw==\n"}`},
			{Do: "GET /repos/alice/cellar/contents/beds/two", As: "alice", Status: 200,
				Want: `{"content": "AP8=\n"}`},
			{Do: "GET /repos/alice/cellar/contents/a", As: "alice", Status: 404},
			{Do: "GET /repos/alice/cellar/contents/fine", As: "alice", Status: 404},
		})
		check("", `{"data": {"createCommitOnBranch": {"ref": {"name": "SECRET"}}}}`,
			onBranch(byID, ids["head"]))
	})
}

// A commit needs push access, whether the branch is given by id or by names. Hidden repositories are told as
// absent.
func TestCommitOnBranchNeedsPush(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := cellar(t, s)
		s.Bot(t, "reader", "alice", "contents=read")
		s.Bot(t, "writer", "alice", "contents=write")
		byName := map[string]any{"repositoryNameWithOwner": "alice/cellar", "branchName": "main"}
		tip := ids["sha"]
		try := func(what, as string, branch map[string]any, may bool) {
			t.Helper()
			got := run(t, s, as, commitOn, map[string]any{"i": onBranch(branch, tip, "x="+what)})
			if strings.Contains(got, `"errors"`) == may {
				t.Errorf("%s: %s", what, got)
			}
			if may {
				tip = member(t, s, "alice", "/repos/alice/cellar/commits/main", "sha")
			}
		}
		r := s.Access(t, "alice", "alice/cellar").Repo
		try("a stranger by name", "bob", byName, false)
		try("a stranger by id", "bob", map[string]any{"id": ids["ref"]}, false)
		s.Grant(t, r, "bob", account.Pull)
		try("may read", "bob", byName, false)
		s.Grant(t, r, "bob", account.Push)
		try("may push", "bob", byName, true)
		try("an App that reads", "reader[bot]", byName, false)
		try("an App that writes", "writer[bot]", byName, true)
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/cellar", As: "alice", Send: `{"archived": true}`,
			Status: 200})
		try("archived", "alice", byName, false)
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/cellar", As: "alice", Send: `{"archived": false}`,
			Status: 200})
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/cellar/collaborators/bob", As: "alice", Status: 204})
		try("no longer", "bob", byName, false)
	})
}

// What is executable stays so.
func TestCommitOnBranchKeepsModes(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	ids := cellar(t, s)
	blob := member(t, s, "alice", "/repos/alice/cellar/contents/a", "sha")
	sent := func(do, body string) string {
		t.Helper()
		a := s.Do(t, apitest.Case{Do: do, As: "alice", Send: body})
		var made struct{ SHA string }
		if err := json.Unmarshal(a.Body, &made); err != nil || a.Status >= 300 {
			t.Fatal(do, a.Status, err)
		}
		return made.SHA
	}
	tree := sent("POST /repos/alice/cellar/git/trees",
		fmt.Sprintf(`{"tree": [{"path": "run", "mode": "100755", "type": "blob", "sha": %q}]}`, blob))
	commit := sent("POST /repos/alice/cellar/git/commits",
		fmt.Sprintf(`{"message": "x", "tree": %q, "parents": [%q]}`, tree, ids["sha"]))
	sent("PATCH /repos/alice/cellar/git/refs/heads/main", fmt.Sprintf(`{"sha": %q}`, commit))
	byName := map[string]any{"repositoryNameWithOwner": "alice/cellar", "branchName": "main"}
	if got := run(t, s, "alice", commitOn, map[string]any{"i": onBranch(byName, commit,
		"run=echo")}); strings.Contains(got, "errors") {
		t.Fatal(got)
	}
	s.Check(t, apitest.Case{Do: "GET /repos/alice/cellar/git/trees/main", As: "alice", Status: 200,
		Want: `{"tree": [{"path": "run", "mode": "100755"}]}`})
}
