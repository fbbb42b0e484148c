package repos_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// Texts with which rules refuse an update.
const (
	noUpdate   = "Cannot update this protected ref."
	noCreation = "Cannot create this ref."
	noDeletion = "Cannot delete this protected ref."
	noPull     = "Changes must be made through a pull request."
)

// fortress is alice/garden with rules that bob, who may push, tries to pass by.
type fortress struct {
	*world
	dir string // bob's clone
	tip string // of the branch topic
}

// newFortress creates the repository: main, kept and tag v1 may not be changed, no branch new/* or revert-* may be
// created. Pull request 1 leads from topic to main, 2 from kept to main, 3 from done to other and is merged, 4 from
// fine to kept.
func newFortress(t *testing.T, w *world) *fortress {
	t.Helper()
	gardenWithBob(t, w.Server)
	f := &fortress{world: w, dir: t.TempDir()}
	git := func(args ...string) { t.Helper(); gittest.Run(t, f.dir, args...) }
	gittest.Run(t, "", "clone", "-q", w.Remote(t, "bob", "alice/garden"), f.dir)
	for _, name := range []string{"topic", "kept", "done", "fine"} {
		git("checkout", "-q", "-B", name, "origin/main")
		gittest.CommitFile(t, f.dir, name+".txt", name+"\n")
	}
	git("tag", "v1", "topic")
	git("push", "-q", "origin", "topic", "kept", "done", "fine", "v1", "origin/main:refs/heads/other")
	f.tip = string(gittest.Resolve(t, f.dir, "topic"))
	for _, pair := range [][2]string{{"topic", "main"}, {"kept", "main"}, {"done", "other"}, {"fine", "kept"}} {
		w.Ask(t, "bob", "POST /repos/alice/garden/pulls",
			fmt.Sprintf(`{"title": "t", "head": %q, "base": %q}`, pair[0], pair[1]), 201)
	}
	w.Ask(t, "bob", "PUT /repos/alice/garden/pulls/3/merge", "", 200)
	w.Ask(t, "alice", "PUT /repos/alice/garden/contents/z.txt", `{"message": "behind", "content": "MQo="}`, 201)
	rules := func(name, target, include, rules string) {
		t.Helper()
		w.Ask(t, "alice", "POST /repos/alice/garden/rulesets", fmt.Sprintf(`{"name": %q, "target": %q, "enforcement": "active",
			"conditions": {"ref_name": {"include": [%s], "exclude": []}}, "rules": [%s]}`, name, target, include, rules), 201)
	}
	all := `{"type": "creation"}, {"type": "update"}, {"type": "deletion"}`
	rules("branches", "branch", `"~DEFAULT_BRANCH", "refs/heads/kept", "refs/heads/new/*", "refs/heads/revert-*"`, all)
	rules("tags", "tag", `"refs/tags/v*"`, all)
	return f
}

// refs returns all that git sees, without the refs of pull requests.
func (f *fortress) refs(t *testing.T) string {
	t.Helper()
	return gittest.Run(t, f.dir, "ls-remote", "origin", "HEAD", "refs/heads/*", "refs/tags/*")
}

// api is a way through the interface.
func (f *fortress) api(do, send string) func(t *testing.T) string {
	return func(t *testing.T) string {
		return string(f.Do(t, apitest.Case{Do: do, As: "bob", Send: send}).Body)
	}
}

// page is a way through a form of a page.
func (f *fortress) page(path string, form ...string) func(t *testing.T) string {
	return func(t *testing.T) string { return string(f.Visit(t, "bob", "POST /alice/garden"+path, form...).Body) }
}

// graphql is a way through a mutation.
func (f *fortress) graphql(mutation, input string) func(t *testing.T) string {
	var in map[string]any
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		panic(input)
	}
	kind := strings.ToUpper(mutation[:1]) + mutation[1:] + "Input"
	body, _ := json.Marshal(map[string]any{"variables": map[string]any{"i": in}, "query": fmt.Sprintf(
		`mutation($i:%s!){%s(input:$i){clientMutationId}}`, kind, mutation)})
	return f.api("POST /graphql", string(body))
}

// git is a way of git over SSH.
func (f *fortress) git(env []string, args ...string) func(t *testing.T) string {
	return func(t *testing.T) string {
		args := append([]string{"push", "-q", "ssh://git@" + f.address + "/alice/garden.git"}, args...)
		out, err := try(t, f.dir, env, "git", args...)
		if err == nil {
			t.Errorf("git %v succeeds", args)
		}
		return out
	}
}

func (f *fortress) nodeID(t *testing.T, path string) string {
	t.Helper()
	var is struct {
		NodeID string `json:"node_id"`
	}
	f.Ask(t, "bob", "GET /repos/alice/garden"+path, "", 200).JSON(t, &is)
	return is.NodeID
}

// Whatever moves a ref meets the rules: the ref stays, and the answer says which rule refuses it.
func TestNoWayLeadsPastRules(t *testing.T) {
	t.Parallel()
	needSSH(t)
	each(t, func(t *testing.T, w *world) {
		f := newFortress(t, w)
		deploy := w.openSSHWith(t, "deploy", func(public string) {
			w.Ask(t, "alice", "POST /repos/alice/garden/keys", fmt.Sprintf(`{"title": "d", "key": %q}`, public), 201)
		})
		bob := w.openSSH(t, "bob")
		w.Bot(t, "robot", "alice", "contents=write,pull_requests=write")
		id, main, kept := f.nodeID(t, ""), f.nodeID(t, "/git/ref/heads/main"), f.nodeID(t, "/git/ref/heads/kept")
		pull := f.nodeID(t, "/pulls/1")
		head := w.Tip(t, "bob", "alice/garden", "main")
		keptTip := w.Tip(t, "bob", "alice/garden", "kept")
		comment := idOf(t, w.Ask(t, "alice", "POST /repos/alice/garden/pulls/2/comments", fmt.Sprintf(
			`{"body": "%s", "path": "kept.txt", "line": 1, "side": "RIGHT", "commit_id": %q}`,
			"```suggestion\\nbetter\\n```", keptTip), 201))
		const a, base = "d00491fd7e5bb6fa28c517a0bb32b8b506539d4d", "/repos/alice/garden"
		bot := func(do, send string) func(t *testing.T) string {
			return func(t *testing.T) string {
				return string(f.Do(t, apitest.Case{Do: do, As: "robot[bot]", Send: send}).Body)
			}
		}
		before := f.refs(t)
		for _, way := range []struct {
			name, want string
			try        func(t *testing.T) string
		}{
			{"SSH", noUpdate, f.git(bob, "topic:kept", "--force")},
			{"SSH, new branch", noCreation, f.git(bob, "topic:refs/heads/new/one")},
			{"SSH, deletion", noDeletion, f.git(bob, ":kept")},
			{"SSH, tag moves", noUpdate, f.git(bob, "fine:refs/tags/v1", "--force")},
			{"SSH, tag goes", noDeletion, f.git(bob, ":refs/tags/v1")},
			{"SSH, atomic with what is allowed", noUpdate, f.git(bob, "--atomic", "--force", "fine:other", "topic:main")},
			{"deploy key", noUpdate, f.git(deploy, "topic:main", "--force")},
			{"installation", noUpdate, bot("PATCH "+base+"/git/refs/heads/main", `{"sha": "`+f.tip+`", "force": true}`)},
			{"installation's commit", noUpdate, bot("PUT "+base+"/contents/c", `{"message": "c", "content": "Mwo="}`)},
			{"deleted ref", noDeletion, f.api("DELETE "+base+"/git/refs/heads/kept", "")},
			{"deleted tag", noDeletion, f.api("DELETE "+base+"/git/refs/tags/v1", "")},
			{"new ref", noCreation, f.api("POST "+base+"/git/refs", `{"ref": "refs/heads/new/one", "sha": "`+f.tip+`"}`)},
			{"new tag by a release", noCreation, f.api("POST "+base+"/releases", `{"tag_name": "v2", "target_commitish": "topic"}`)},
			{"update-branch", noUpdate, f.api("PUT "+base+"/pulls/2/update-branch", "")},
			{"merge", noUpdate, f.api("PUT "+base+"/pulls/1/merge", "")},
			{"squash", noUpdate, f.api("PUT "+base+"/pulls/1/merge", `{"merge_method": "squash"}`)},
			{"rebase", noUpdate, f.api("PUT "+base+"/pulls/4/merge", `{"merge_method": "rebase"}`)},
			{"rename away", noDeletion, f.api("POST "+base+"/branches/kept/rename", `{"new_name": "mine"}`)},
			{"rename into a pattern", noCreation, f.api("POST "+base+"/branches/topic/rename", `{"new_name": "new/one"}`)},
			{"page: rename away", noDeletion, f.page("/branches/rename", "name", "kept", "new_name", "mine")},
			{"page: rename into a pattern", noCreation, f.page("/branches/rename", "name", "topic", "new_name", "new/one")},
			{"page: new branch", noCreation, f.page("/branches", "name", "new/one", "from", "topic")},
			{"page: deleted branch", noDeletion, f.page("/branches/delete", "name", "kept")},
			{"page: new file", noUpdate, f.page("/new/main", "path", "n", "text", "n", "message", "n")},
			{"page: edit", noUpdate, f.page("/edit/main/a.txt", "blob", a, "path", "a.txt", "text", "n")},
			{"page: delete", noUpdate, f.page("/delete/main/a.txt", "blob", a)},
			{"page: new branch of an edit", noCreation, f.page("/edit/main/a.txt", "blob", a, "path", "a.txt", "text", "n",
				"branch", "new/one")},
			{"page: merge", noUpdate, f.page("/pull/1/merge", "method", "merge", "sha", f.tip)},
			{"page: suggestion", noUpdate, f.page("/pull/2/suggestions", "comment", comment, "sha", keptTip)},
			{"page: revert", noCreation, f.page("/pull/3/revert")},
			{"GraphQL createRef", noCreation, f.graphql("createRef",
				`{"repositoryId": "`+id+`", "name": "refs/heads/new/one", "oid": "`+f.tip+`"}`)},
			{"GraphQL updateRef", noUpdate, f.graphql("updateRef",
				`{"refId": "`+main+`", "oid": "`+f.tip+`", "force": true}`)},
			{"GraphQL deleteRef", noDeletion, f.graphql("deleteRef", `{"refId": "`+kept+`"}`)},
			{"GraphQL mergeBranch", noUpdate, f.graphql("mergeBranch",
				`{"repositoryId": "`+id+`", "base": "main", "head": "topic"}`)},
			{"GraphQL mergePullRequest", noUpdate, f.graphql("mergePullRequest", `{"pullRequestId": "`+pull+`"}`)},
			{"GraphQL updatePullRequestBranch", noUpdate, f.graphql("updatePullRequestBranch",
				`{"pullRequestId": "`+f.nodeID(t, "/pulls/2")+`"}`)},
			{"GraphQL revertPullRequest", noCreation, f.graphql("revertPullRequest",
				`{"pullRequestId": "`+f.nodeID(t, "/pulls/3")+`"}`)},
			{"GraphQL createCommitOnBranch", noUpdate, f.graphql("createCommitOnBranch",
				`{"branch": {"id": "`+main+`"}, "expectedHeadOid": "`+head+`", "message": {"headline": "h"},
					"fileChanges": {"additions": [{"path": "n", "contents": "Mwo="}]}}`)},
		} {
			if answer := way.try(t); !strings.Contains(answer, way.want) {
				t.Errorf("%s: the answer lacks %q:\n%.1500s", way.name, way.want, answer)
			}
			if now := f.refs(t); now != before {
				t.Fatalf("%s: refs moved from\n%s\nto\n%s", way.name, before, now)
			}
		}
	})
}

// A branch that goes after its pull request is merged stays if a rule keeps it. The merge happens.
func TestRulesKeepBranchesOfMergedPulls(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		s.Ask(t, "bob", "POST /repos/alice/garden/git/refs", `{"ref": "refs/heads/kept", "sha": "`+
			s.Tip(t, "bob", "alice/garden", "main")+`"}`, 201)
		s.Ask(t, "bob", "PUT /repos/alice/garden/contents/k", `{"message": "k", "content": "MQo=", "branch": "kept"}`, 201)
		s.Ask(t, "bob", "POST /repos/alice/garden/pulls", `{"title": "t", "head": "kept", "base": "main"}`, 201)
		s.Ask(t, "alice", "POST /repos/alice/garden/rulesets", `{"name": "k", "enforcement": "active", "rules": [{"type": "deletion"}],
			"conditions": {"ref_name": {"include": ["refs/heads/kept"], "exclude": []}}}`, 201)
		s.Ask(t, "alice", "PATCH /repos/alice/garden", `{"delete_branch_on_merge": true}`, 200)
		s.Ask(t, "bob", "PUT /repos/alice/garden/pulls/1/merge", "", 200)
		s.Ask(t, "bob", "GET /repos/alice/garden/git/ref/heads/kept", "", 200)
		if a := s.Visit(t, "bob", "POST /alice/garden/pull/1/branch"); !strings.Contains(string(a.Body), noDeletion) {
			t.Errorf("page: %d %s", a.Status, a.Body)
		}
		s.Ask(t, "bob", "GET /repos/alice/garden/git/ref/heads/kept", "", 200)
	})
}

// A fork's rules hold when it takes over what its parent got.
func TestRulesHoldWhenForksAreSynced(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		s.Ask(t, "alice", "POST /repos/alice/garden/forks", `{"name": "fork"}`, 202)
		s.Ask(t, "carol", "POST /repos/alice/garden/forks", "", 202)
		s.Grant(t, s.Access(t, "carol", "carol/garden").Repo, "bob", account.Push)
		s.Ask(t, "bob", "PUT /repos/alice/garden/contents/b", `{"message": "b", "content": "MQo="}`, 201)
		tip := s.Tip(t, "bob", "carol/garden", "main")
		id := idOf(t, s.Ask(t, "carol", "POST /repos/carol/garden/rulesets", `{"name": "k", "enforcement": "active",
			"rules": [{"type": "update"}], "conditions": {"ref_name": {"include": ["~ALL"], "exclude": []}}}`, 201))
		const sync = "POST /repos/carol/garden/merge-upstream"
		s.Check(t, apitest.Case{Do: sync, As: "bob", Send: `{"branch": "main"}`, Status: 422,
			Want: `{"message": "Repository rule violations found\n\n` + noUpdate + `\n"}`})
		if now := s.Tip(t, "bob", "carol/garden", "main"); now != tip {
			t.Errorf("main moved to %s", now)
		}
		s.Ask(t, "carol", "PUT /repos/carol/garden/rulesets/"+id, `{"rules": [{"type": "update",
			"parameters": {"update_allows_fetch_and_merge": true}}]}`, 200)
		s.Ask(t, "bob", sync, `{"branch": "main"}`, 200)
	})
}

// A protection follows the rename of its branch, so only administrators may rename it: else the name could be taken
// again without its protection.
func TestRenamesTakeNoProtectionAway(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		tip := s.Tip(t, "bob", "alice/garden", "main")
		s.Ask(t, "bob", "POST /repos/alice/garden/git/refs", `{"ref": "refs/heads/stable", "sha": "`+tip+`"}`, 201)
		s.Ask(t, "alice", "PUT /repos/alice/garden/branches/stable/protection", `{"required_status_checks": null,
			"enforce_admins": true, "required_pull_request_reviews": {}, "restrictions": null, "allow_deletions": true}`, 200)
		s.Ask(t, "bob", "POST /repos/alice/garden/branches/stable/rename", `{"new_name": "mine"}`, 403)
		s.Ask(t, "bob", "GET /repos/alice/garden/git/ref/heads/stable", "", 200)
		s.Ask(t, "bob", "GET /repos/alice/garden/git/ref/heads/mine", "", 404)
		s.Ask(t, "alice", "POST /repos/alice/garden/branches/stable/rename", `{"new_name": "solid"}`, 201)
		s.Ask(t, "alice", "GET /repos/alice/garden/branches/solid/protection", "", 200)
		// Rules that look at commits were asked for another default branch.
		s.Ask(t, "alice", "POST /repos/alice/garden/rulesets", `{"name": "k", "enforcement": "active", "rules": [{"type": "pull_request",
			"parameters": {"required_approving_review_count": 0, "dismiss_stale_reviews_on_push": false,
				"require_code_owner_review": false, "require_last_push_approval": false,
				"required_review_thread_resolution": false}}, {"type": "required_linear_history"}],
			"conditions": {"ref_name": {"include": ["~ALL"], "exclude": []}}}`, 201)
		s.Ask(t, "alice", "POST /repos/alice/garden/branches/main/rename", `{"new_name": "trunk"}`, 422)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/t", As: "bob", Status: 409,
			Send: `{"message": "t", "content": "MQo="}`})
	})
}

// An approval of what a pull request changes in one branch is none for another branch.
func TestAnotherBaseDismissesApprovals(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		s.Users(t, "dave")
		s.Grant(t, s.Access(t, "alice", "alice/garden").Repo, "dave", account.Push)
		branch := func(name, from string) {
			s.Ask(t, "bob", "POST /repos/alice/garden/git/refs", `{"ref": "refs/heads/`+name+`", "sha": "`+
				s.Tip(t, "bob", "alice/garden", from)+`"}`, 201)
			s.Ask(t, "bob", "PUT /repos/alice/garden/contents/"+name, `{"message": "m", "content": "MQo=", "branch": "`+name+`"}`, 201)
		}
		branch("evil", "main")
		branch("harmless", "evil")
		s.Ask(t, "alice", "PUT "+protection, `{"required_status_checks": null, "enforce_admins": true, "restrictions": null,
			"required_pull_request_reviews": {"required_approving_review_count": 1, "dismiss_stale_reviews": true}}`, 200)
		const pull = "/repos/alice/garden/pulls/1"
		s.Ask(t, "bob", "POST /repos/alice/garden/pulls", `{"title": "t", "head": "harmless", "base": "evil"}`, 201)
		s.Ask(t, "dave", "POST "+pull+"/reviews", `{"event": "APPROVE"}`, 200) // who sees one harmless file
		s.Ask(t, "bob", "PATCH "+pull, `{"base": "main"}`, 200)
		a := s.Ask(t, "bob", "PUT "+pull+"/merge", "", 405)
		if !strings.Contains(string(a.Body), "At least 1 approving review") {
			t.Errorf("merge: %s", a.Body)
		}
		s.Check(t, apitest.Case{Do: "GET " + pull + "/reviews", As: "bob", Status: 200, Want: `[{"state": "DISMISSED"}]`})
	})
}

// A deploy key is none of the people who may push, even if one of them added it.
func TestDeployKeysAreNotTheirOwners(t *testing.T) {
	t.Parallel()
	needSSH(t)
	each(t, func(t *testing.T, w *world) {
		f := newFortress(t, w)
		w.Ask(t, "alice", "PUT /repos/alice/garden/branches/other/protection", `{"required_status_checks": null,
			"enforce_admins": true, "required_pull_request_reviews": null, "restrictions": {"users": ["alice"], "teams": []}}`, 200)
		deploy := w.openSSHWith(t, "deploy", func(public string) {
			w.Ask(t, "alice", "POST /repos/alice/garden/keys", fmt.Sprintf(`{"title": "d", "key": %q}`, public), 201)
		})
		before := f.refs(t)
		answer := f.git(deploy, "origin/main:other", "--force")(t)
		if !strings.Contains(answer, "Rules of alice/garden refuse to update refs/heads/other") || f.refs(t) != before {
			t.Errorf("pushed: %s", answer)
		}
	})
}

// Names that look like a protected one are other names, and do not reach it.
func TestNamesLikeProtectedOnesAreOthers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		s.Ask(t, "alice", "PUT "+protection, `{"required_status_checks": null, "enforce_admins": true, "restrictions": null,
			"required_pull_request_reviews": {}}`, 200)
		tip := s.Tip(t, "bob", "alice/garden", "main")
		for _, name := range []string{"Main", "MAIN", "refs/heads/main", "heads/main", "main\u200b", "m\u0430in", "ma\u0131n"} {
			s.Do(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/x", As: "bob",
				Send: `{"message": "x", "content": "Mwo=", "branch": "` + name + `"}`})
			s.Do(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "bob",
				Send: `{"ref": "refs/heads/` + name + `", "sha": "` + tip + `"}`})
			s.Do(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/x", As: "bob",
				Send: `{"message": "x", "content": "Mwo=", "branch": "` + name + `"}`})
			if now := s.Tip(t, "alice", "alice/garden", "main"); now != tip {
				t.Fatalf("%q moved main to %s", name, now)
			}
		}
	})
}
