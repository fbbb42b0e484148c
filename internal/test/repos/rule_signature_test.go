package repos_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// requireSignatures protects branches of alice/garden.
func requireSignatures(t *testing.T, s *apitest.Server, branches string) {
	t.Helper()
	s.Ask(t, "alice", "POST /repos/alice/garden/rulesets", `{"name": "signed", "enforcement": "active",
		"rules": [{"type": "required_signatures"}], "conditions": {"ref_name": {"include": [`+branches+`], "exclude": []}}}`, 201)
}

// addSigningKey adds an SSH key that signs and returns its id.
func addSigningKey(t *testing.T, s *apitest.Server, as, public string) string {
	t.Helper()
	return idOf(t, s.Ask(t, as, "POST /user/ssh_signing_keys", fmt.Sprintf(`{"title": "k", "key": %q}`, public), 201))
}

// signerIn is a clone of bob's in which git signs with a key that nobody has added yet.
func signerIn(t *testing.T, s *apitest.Server) *signer {
	t.Helper()
	git := newSigner(t, s.Remote(t, "bob", "alice/garden"), "author@example.com")
	gittest.Run(t, git.dir, "fetch", "-q", "origin")
	gittest.Run(t, git.dir, "reset", "-q", "--hard", "origin/main")
	return git
}

// Only what a key of its committer signed gets into a branch that requires signatures: every new commit of a push,
// with the keys of that moment.
func TestPushesNeedSignatures(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		s.Email(t, "bob", "author@example.com")
		requireSignatures(t, s, `"~DEFAULT_BRANCH", "refs/heads/kept"`)
		git := signerIn(t, s)
		start := gittest.Run(t, git.dir, "rev-parse", "HEAD")
		push := func(what, to string, ok bool) {
			t.Helper()
			_, stderr, err := gittest.Try(t, git.dir, nil, "push", "origin", "HEAD:"+to)
			if (err == nil) != ok || !ok && !strings.Contains(string(stderr), "must have a verified signature.") {
				t.Errorf("%s: %v\n%s", what, err, stderr)
			}
		}
		push("the default branch's commits are not new", "kept", true)
		gittest.Run(t, git.dir, "commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "plain")
		push("no signature", "main", false)
		git.commit(t, "upon it")
		key := addSigningKey(t, s, "bob", git.public)
		push("an earlier commit without signature", "main", false)
		push("another branch", "topic", true)
		gittest.Run(t, git.dir, "reset", "-q", "--hard", start)
		signed := git.commit(t, "signed")
		s.Ask(t, "bob", "DELETE /user/ssh_signing_keys/"+key, "", 204)
		push("a removed key", "main", false)
		addSigningKey(t, s, "carol", git.public)
		push("a key of somebody else", "main", false)
		testkit.NoError(t, s.Accounts.RemoveEmail(t.Context(), "bob", "author@example.com"))
		addSigningKey(t, s, "bob", git.public)
		push("an address of nobody", "main", false)
		testkit.NoError(t, s.Accounts.AddEmail(t.Context(), "bob", "author@example.com"))
		push("an address that is not verified", "main", false)
		testkit.NoError(t, s.Accounts.VerifyEmail(t.Context(), "bob", "author@example.com"))

		// The signature of one commit in another.
		var c struct {
			Tree         struct{ SHA string }
			Verification struct{ Signature string }
		}
		gittest.Run(t, git.dir, "push", "-q", "origin", "HEAD:signed")
		s.Ask(t, "bob", "GET /repos/alice/garden/git/commits/"+signed, "", 200).JSON(t, &c)
		body, _ := json.Marshal(map[string]any{"message": "other", "tree": c.Tree.SHA, "parents": []string{start},
			"signature": c.Verification.Signature})
		var made struct{ SHA string }
		s.Ask(t, "bob", "POST /repos/alice/garden/git/commits", string(body), 201).JSON(t, &made)
		s.Check(t, apitest.Case{Name: "a signature over other bytes", Do: "PATCH /repos/alice/garden/git/refs/heads/main",
			As: "bob", Status: 422, Send: `{"sha": "` + made.SHA + `"}`,
			Want: `{"message": "Repository rule violations found\n\nCommit ` + made.SHA[:7] + ` must have a verified signature.\n"}`})

		push("a good one", "main", true)
		git.commit(t, "more")
		push("another one", "main", true)
		if now := s.Tip(t, "bob", "alice/garden", "main"); now != gittest.Run(t, git.dir, "rev-parse", "HEAD") {
			t.Errorf("main is at %s", now)
		}
	})
}

// Every way to a branch that requires signatures asks for them; the server signs what it commits for people.
func TestWaysWithSignatures(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		const at = "/repos/alice/garden"
		s.Email(t, "bob", "author@example.com")
		s.Bot(t, "robot", "alice", "contents=write,pull_requests=write")
		git := signerIn(t, s)
		addSigningKey(t, s, "bob", git.public)
		branch := func(name, message string, args ...string) {
			t.Helper()
			gittest.Run(t, git.dir, append([]string{"commit", "-q", "--allow-empty", "-m", message}, args...)...)
			gittest.Run(t, git.dir, "push", "-q", "origin", "HEAD:"+name)
		}
		pull := func(head string, number int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "POST " + at + "/pulls", As: "bob", Status: 201,
				Send: fmt.Sprintf(`{"title": "t", "head": %q, "base": "main"}`, head), Want: fmt.Sprintf(`{"number": %d}`, number)})
		}
		start := gittest.Run(t, git.dir, "rev-parse", "HEAD")
		branch("signed", "signed", "-S")
		branch("rebased", "rebased", "-S")
		gittest.Run(t, git.dir, "reset", "-q", "--hard", start)
		branch("plain", "plain", "--no-gpg-sign")
		for n, head := range []string{"plain", "rebased", "signed"} {
			pull(head, n+1)
		}
		s.Ask(t, "bob", "PUT "+at+"/contents/m", `{"message": "m", "content": "MQo="}`, 201) // a rebase makes new commits
		requireSignatures(t, s, `"~DEFAULT_BRANCH", "refs/heads/signed"`)
		const no = "must have a verified signature."
		refused := func(what string, a *apitest.Answer) {
			t.Helper()
			if !strings.Contains(string(a.Body), no) {
				t.Errorf("%s: %d %.600s", what, a.Status, a.Body)
			}
		}
		do := func(as, do, send string) *apitest.Answer {
			t.Helper()
			return s.Do(t, apitest.Case{Do: do, As: as, Send: send,
				Headers: map[string]string{"Accept": "application/vnd.github.v3+json"}})
		}
		main := s.Tip(t, "bob", "alice/garden", "main")
		plain := s.Tip(t, "bob", "alice/garden", "plain")
		refused("contents", do("bob", "PUT "+at+"/contents/n", `{"message": "n", "content": "MQo="}`))
		refused("another author", do("robot[bot]", "PUT "+at+"/contents/n",
			`{"message": "n", "content": "MQo=", "author": {"name": "B", "email": "author@example.com"}}`))
		refused("forced ref", do("bob", "PATCH "+at+"/git/refs/heads/main", `{"sha": "`+plain+`", "force": true}`))
		refused("merges", do("bob", "POST "+at+"/merges", `{"base": "main", "head": "plain"}`))
		refused("merge", do("bob", "PUT "+at+"/pulls/1/merge", ""))
		refused("rebase", do("bob", "PUT "+at+"/pulls/2/merge", `{"merge_method": "rebase"}`))
		if now := s.Tip(t, "bob", "alice/garden", "main"); now != main {
			t.Fatalf("main moved to %s", now)
		}

		verified := func(what, ref string) {
			t.Helper()
			s.Check(t, apitest.Case{Name: what, Do: "GET " + at + "/commits/" + ref, Status: 200,
				Want: `{"commit": {"verification": {"verified": true, "reason": "valid"}}}`})
		}
		s.Ask(t, "robot[bot]", "PUT "+at+"/contents/r", `{"message": "r", "content": "MQo="}`, 201)
		verified("an App's file", "main")
		s.Ask(t, "bob", "PUT "+at+"/pulls/3/update-branch", "", 202)
		verified("update-branch", "signed")
		s.Visit(t, "bob", "POST /alice/garden/new/main", "path", "p", "text", "p", "message", "p").Shows(t, 303)
		verified("page", "main")
		s.Ask(t, "bob", "POST /graphql", fmt.Sprintf(`{"query": "mutation($i:CreateCommitOnBranchInput!){createCommitOnBranch(input:$i){clientMutationId}}",
			"variables": {"i": {"branch": {"repositoryNameWithOwner": "alice/garden", "branchName": "main"}, "expectedHeadOid": %q,
			"message": {"headline": "h"}, "fileChanges": {"additions": [{"path": "g", "contents": "MQo="}]}}}}`,
			s.Tip(t, "bob", "alice/garden", "main")), 200)
		verified("createCommitOnBranch", "main")
		s.Ask(t, "bob", "POST "+at+"/merges", `{"base": "main", "head": "signed"}`, 201)
		verified("merges", "main")
		if a := do("bob", "PUT "+at+"/pulls/1/merge", `{"merge_method": "squash"}`); a.Status != 200 {
			t.Errorf("squash: %d %s", a.Status, a.Body)
		}
		verified("squash", "main")
	})
}

// A pull request says which of its commits lack a signature before somebody tries to merge it, and what to do. With a
// squash it can be merged, since the server signs that commit. The signatures cost no statement for each commit.
func TestPullsTellOfMissingSignatures(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		gardenWithBob(t, s)
		const at = "/repos/alice/garden"
		s.Email(t, "bob", "author@example.com")
		git := signerIn(t, s)
		pull := func(name string, commits int, args ...string) {
			t.Helper()
			gittest.Run(t, git.dir, "reset", "-q", "--hard", "origin/main")
			for n := range commits {
				gittest.Run(t, git.dir, append([]string{"commit", "-q", "--allow-empty", "-m",
					fmt.Sprint(name, n)}, args...)...)
			}
			gittest.Run(t, git.dir, "push", "-q", "origin", "HEAD:"+name)
			s.Ask(t, "bob", "POST "+at+"/pulls", `{"title": "t", "head": "`+name+`", "base": "main"}`, 201)
		}
		pull("two", 2, "--no-gpg-sign")
		pull("many", 30, "--no-gpg-sign")
		pull("signed", 1, "-S")
		requireSignatures(t, s, `"~DEFAULT_BRANCH"`)
		states := func(want ...string) {
			t.Helper()
			var nodes []string
			for n, state := range want {
				s.Check(t, apitest.Case{Do: fmt.Sprintf("GET %s/pulls/%d", at, n+1), As: "bob", Status: 200,
					Want: `{"mergeable_state": "` + state + `"}`})
				nodes = append(nodes, `{"mergeStateStatus": "`+strings.ToUpper(state)+`"}`)
			}
			s.Check(t, apitest.Case{Do: "POST /graphql", As: "bob", Status: 200,
				Send: `{"query": "{repository(owner: \"alice\", name: \"garden\") {pullRequests(first: 5) {nodes {mergeStateStatus}}}}"}`,
				Want: `{"data": {"repository": {"pullRequests": {"nodes": [` + strings.Join(nodes, ", ") + `]}}}}`})
		}
		oldest := gittest.Run(t, git.dir, "rev-parse", "origin/two~1")[:7]
		states("clean", "clean", "clean")
		s.Visit(t, "bob", "GET /alice/garden/pull/1").Shows(t, 200,
			"2 commits must have verified signatures, the oldest of them "+oldest+". Squash and merge makes one commit")

		s.Ask(t, "alice", "PATCH "+at, `{"allow_squash_merge": false}`, 200)
		states("blocked", "blocked", "blocked")
		few := s.CostWithin(t, statements, "bob", "/alice/garden/pull/1", 40)
		if many := s.CostWithin(t, statements, "bob", "/alice/garden/pull/2", few); many > few || few > 40 {
			t.Errorf("2 commits take %d statements, 30 take %d", few, many)
		}
		s.Visit(t, "bob", "GET /alice/garden/pull/3").Shows(t, 200, "block the merge",
			"must have a verified signature. Sign them")
		addSigningKey(t, s, "bob", git.public)
		states("blocked", "blocked", "clean")
		s.Ask(t, "bob", "PUT "+at+"/pulls/3/merge", "", 200)
	})
}
