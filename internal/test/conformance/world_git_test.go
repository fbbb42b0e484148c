//go:build long

package conformance

import (
	"encoding/base64"
	"fmt"
	"strings"

	"arbor/internal/app"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

const garden = "/repos/alice/garden"

// objects creates blobs, trees, commits, tags and refs of all kinds in garden.
func (w *world) objects() {
	text := w.do("alice", "POST "+garden+"/git/blobs",
		`{"content": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"}`).get("sha")
	raw := w.do("alice", "POST "+garden+"/git/blobs",
		`{"content": "AAECAwQA/w==", "encoding": "base64"}`).get("sha")
	w.do("alice", "GET "+garden+"/git/blobs/"+text)
	w.do("alice", "GET "+garden+"/git/blobs/"+raw)
	main := w.do("", "GET "+garden+"/git/ref/heads/main").get("object.sha")
	tree := w.do("alice", "POST "+garden+"/git/trees", fmt.Sprintf(`{"base_tree": %q, "tree": [
		{"path": "beds/roses.txt", "mode": "100644", "type": "blob", "sha": %q},
		{"path": "beds/run.sh", "mode": "100755", "type": "blob", "content": "#!/bin/sh\necho water\n"},
		{"path": "beds/README.md", "mode": "100644", "content": "# Beds\n\nOf roses.\n"},
		{"path": "seeds.bin", "mode": "100644", "type": "blob", "sha": %q},
		{"path": "main-bed", "mode": "120000", "type": "blob", "content": "beds/roses.txt"},
		{"path": ".gitmodules", "mode": "100644", "content": "[submodule \"vendor\"]\n\tpath = vendor\n\turl = https://example.org/vendor.git\n"},
		{"path": "vendor", "mode": "160000", "type": "commit", "sha": %q}]}`, main, text, raw, main)).get("sha")
	w.do("alice", "GET "+garden+"/git/trees/"+tree)
	w.do("alice", "GET "+garden+"/git/trees/"+tree+"?recursive=1")
	first := w.commit("Plant the beds\n\nAll of them.", tree, main)
	w.do("alice", "GET "+garden+"/git/commits/"+first)
	w.do("alice", "PATCH "+garden+"/git/refs/heads/main", fmt.Sprintf(`{"sha": %q}`, first))
	signed := w.do("alice", "POST "+garden+"/git/commits",
		fmt.Sprintf(`{"message": "Sign", "tree": %q, "parents": [%q],
		"author": {"name": "Bob", "email": "bob@example.org", "date": "2020-02-02T02:02:02Z"}, "signature": "-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----"}`, tree, first)).get("sha")
	w.do("alice", "GET "+garden+"/git/commits/"+signed)
	w.do("alice", "GET "+garden+"/commits/"+signed)
	w.do("alice", "POST "+garden+"/git/refs", fmt.Sprintf(`{"ref": "refs/heads/side", "sha": %q}`, first))
	w.do("alice", "POST "+garden+"/git/refs", fmt.Sprintf(`{"ref": "refs/heads/weeds", "sha": %q}`, first))
	w.do("alice", "DELETE "+garden+"/git/refs/heads/weeds")
	tag := w.do("alice", "POST "+garden+"/git/tags",
		fmt.Sprintf(`{"tag": "v1", "message": "Spring", "object": %q, "type": "commit",
		"tagger": {"name": "Alice", "email": "alice@example.org", "date": "2020-03-03T03:03:03Z"}}`, first)).get("sha")
	w.do("alice", "POST "+garden+"/git/refs", fmt.Sprintf(`{"ref": "refs/tags/v1", "sha": %q}`, tag))
	w.do("", "GET "+garden+"/git/tags/"+tag)
	w.do("", "GET "+garden+"/git/ref/tags/v1")
	w.do("", "GET "+garden+"/git/matching-refs/heads/")
	w.do("", "GET "+garden+"/git/matching-refs/tags/v1")
	w.do("", "GET "+garden+"/tags")
}

// commit creates a commit of a tree in garden.
func (w *world) commit(message, tree string, parents ...string) string {
	w.t.Helper()
	return w.do("alice", "POST "+garden+"/git/commits",
		fmt.Sprintf(`{"message": %q, "tree": %q, "parents": ["%s"]}`,
			message, tree, strings.Join(parents, `", "`))).get("sha")
}

// put writes a file of a repository over the API and gives its blob; sha is
// that of what it replaces.
func (w *world) put(as, repository, branch, path, text, sha string) string {
	w.t.Helper()
	was := ""
	if sha != "" {
		was = fmt.Sprintf(`, "sha": %q`, sha)
	}
	return w.do(as, "PUT /repos/"+repository+"/contents/"+path,
		fmt.Sprintf(`{"message": "Write %s", "branch": %q, "content": %q%s}`,
			path, branch, base64.StdEncoding.EncodeToString([]byte(text)), was)).get("content.sha")
}

// branch creates a branch at the tip of another.
func (w *world) branch(as, repository, name, from string) string {
	w.t.Helper()
	tip := w.do("", "GET /repos/"+repository+"/git/ref/heads/"+from).get("object.sha")
	w.do(as, "POST /repos/"+repository+"/git/refs",
		fmt.Sprintf(`{"ref": "refs/heads/%s", "sha": %q}`, name, tip))
	return tip
}

// histories: commits with merges, renames and binary files, comparisons, files
// and folders of all kinds, statuses.
func (w *world) histories() {
	blob := w.put("alice", "alice/garden", "main", "tools/spade.txt", "a spade\n", "")
	blob = w.put("alice", "alice/garden", "main", "tools/spade.txt", "a new spade\n", blob)
	w.do("alice", "DELETE "+garden+"/contents/tools/spade.txt",
		fmt.Sprintf(`{"message": "Lose the spade", "sha": %q}`, blob))
	w.put("bob", "alice/garden", "side", "tools/rake.txt", "a rake\n", "")
	w.do("alice", "POST "+garden+"/merges",
		`{"base": "main", "head": "side", "commit_message": "Bring the rake"}`)
	w.do("alice", "POST "+garden+"/merges", `{"base": "main", "head": "side"}`) // nothing to merge: 204
	tip := w.do("", "GET "+garden+"/branches/main").get("commit.sha")
	w.do("", "GET "+garden+"/branches")
	w.deployments()
	w.community()
	w.autolinks()
	w.rules()
	w.do("alice", "POST "+garden+"/branches/side/rename", `{"new_name": "aside"}`)
	w.do("alice", "POST "+garden+"/branches/aside/rename", `{"new_name": "side"}`)
	w.do("", "GET "+garden+"/commits/"+tip+"/branches-where-head")
	tree := w.do("alice", "POST "+garden+"/git/trees", fmt.Sprintf(`{"base_tree": %q, "tree": [
		{"path": "beds/roses.txt", "mode": "100644", "type": "blob", "sha": null},
		{"path": "beds/old-roses.txt", "mode": "100644", "content": "one\ntwo\nthree\nfour\nfive\nsix\nseven\nnine\n"},
		{"path": "beds/run.sh", "mode": "100755", "type": "blob", "sha": null},
		{"path": "seeds.bin", "mode": "100644", "type": "blob", "content": "now text\n"}]}`, tip)).get("sha")
	renamed := w.commit("Move the roses", tree, tip)
	w.do("alice", "PATCH "+garden+"/git/refs/heads/main", fmt.Sprintf(`{"sha": %q}`, renamed))
	w.do("", "GET "+garden+"/commits")
	w.do("", "GET "+garden+"/commits?path=beds&per_page=2")
	for _, ref := range []string{"main", renamed, tip} {
		w.do("", "GET "+garden+"/commits/"+ref)
	}
	for _, kind := range []string{"diff", "patch", "sha"} {
		w.accept("application/vnd.github."+kind, "", "GET "+garden+"/commits/main")
	}
	for _, pair := range []string{"v1...main", "main...v1", "main...main"} {
		w.do("", "GET "+garden+"/compare/"+pair)
	}
	for _, kind := range []string{"diff", "patch"} {
		w.accept("application/vnd.github."+kind, "", "GET "+garden+"/compare/v1...main")
	}
	for _, path := range []string{"beds", "beds/README.md", "beds/old-roses.txt", "vendor", "main-bed",
		"seeds.bin"} {
		w.do("", "GET "+garden+"/contents/"+path)
	}
	w.accept("application/vnd.github.object", "", "GET "+garden+"/contents/beds")
	w.accept("application/vnd.github.object", "", "GET "+garden+"/contents/beds/README.md")
	w.do("", "GET "+garden+"/readme")
	w.do("", "GET "+garden+"/readme/beds")
	w.statuses(renamed)
	w.statistics()
	w.strangers()
}

// community: a repository with all that a community expects.
func (w *world) community() {
	w.do("alice", "POST /user/repos", `{"name": "commons", "description": "For all", "homepage": "https://commons.example",
		"auto_init": true}`)
	for _, path := range []string{"CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "ISSUE_TEMPLATE.md", "PULL_REQUEST_TEMPLATE.md"} {
		w.put("alice", "alice/commons", "main", path, "text\n", "")
	}
	w.do("", "GET /repos/alice/commons/community/profile")
	w.put("alice", "alice/commons", "main", "CODEOWNERS", "* @alice @nobody\n", "")
	w.do("alice", "GET /repos/alice/commons/codeowners/errors")
	w.do("alice", "DELETE /repos/alice/commons")
}

// autolinks: one of each operation.
func (w *world) autolinks() {
	id := w.do("alice", "POST "+garden+"/autolinks", `{"key_prefix": "BED-", "url_template": "https://beds.example/<num>"}`).get("id")
	w.do("alice", "GET "+garden+"/autolinks")
	w.do("alice", "GET "+garden+"/autolinks/"+id)
	w.do("alice", "DELETE "+garden+"/autolinks/"+id)
}

// deployments: of a branch to an environment with all rules.
func (w *world) deployments() {
	id := w.do("", "GET /users/bob").get("id")
	w.do("alice", "PUT "+garden+"/environments/greenhouse", `{"wait_timer": 5, "prevent_self_review": true,
		"reviewers": [{"type": "User", "id": `+id+`}], "deployment_branch_policy": {"protected_branches": true,
		"custom_branch_policies": false}}`)
	at := garden + "/deployments/" + w.do("alice", "POST "+garden+"/deployments", `{"ref": "main",
		"environment": "greenhouse", "description": "Roses", "payload": {"bed": 1}, "required_contexts": []}`).get("id")
	status := w.do("alice", "POST "+at+"/statuses", `{"state": "success", "log_url": "https://ci.example.org/1",
		"environment_url": "https://greenhouse.example.org", "description": "They grow"}`).get("id")
	for _, path := range []string{at, at + "/statuses", at + "/statuses/" + status, garden + "/deployments",
		garden + "/environments", garden + "/environments/greenhouse"} {
		w.do("", "GET "+path)
	}
	spare := w.do("alice", "POST "+garden+"/deployments", `{"ref": "main", "required_contexts": []}`).get("id")
	w.do("alice", "DELETE "+garden+"/deployments/"+spare)
	w.do("alice", "DELETE "+garden+"/environments/production")
}

// rules: a ruleset that is only evaluated, with all that one has, an update that it judges, and a protection
// with all parts.
func (w *world) rules() {
	const rockery = "/repos/alice/rockery"
	w.do("alice", "POST /user/repos", `{"name": "rockery", "auto_init": true}`)
	id := w.do("alice", "POST "+rockery+"/rulesets", `{"name": "stones", "target": "branch", "enforcement": "evaluate",
		"bypass_actors": [{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "pull_request"}],
		"conditions": {"ref_name": {"include": ["refs/heads/main"], "exclude": ["refs/heads/side"]}},
		"rules": [{"type": "deletion"}, {"type": "commit_message_pattern", "parameters": {"operator": "starts_with", "pattern": "Fix"}}]}`).get("id")
	w.put("alice", "alice/rockery", "main", "stone.txt", "a stone\n", "")
	w.do("alice", "GET "+rockery+"/rulesets/"+id)
	suite := w.do("alice", "GET "+rockery+"/rulesets/rule-suites").get("0.id")
	w.do("alice", "GET "+rockery+"/rulesets/rule-suites/"+suite)
	mason := w.NewApp(w.t, "alice", app.Manifest{Name: "Mason", Description: "It lays stones",
		Events: []string{"check_run"}, Permissions: apitest.Permissions("checks=write"),
		Hook: app.Hook{URL: "http://127.0.0.1:1/mason", Active: true, Site: w.URL}})
	mason.Install(w.t, "alice")
	w.do("alice", "PUT "+rockery+"/branches/main/protection", fmt.Sprintf(`{"enforce_admins": true,
		"required_status_checks": {"strict": true, "contexts": [], "checks": [{"context": "build", "app_id": %d}]},
		"required_pull_request_reviews": {"required_approving_review_count": 1},
		"restrictions": {"users": ["alice"], "teams": [], "apps": ["mason"]}}`, mason.ID))
	for _, part := range []string{"", "/required_status_checks", "/restrictions"} {
		w.do("alice", "GET "+rockery+"/branches/main/protection"+part)
	}
	w.branch("alice", "alice/rockery", "side", "main")
	w.do("alice", "PUT "+rockery+"/branches/side/protection", `{"enforce_admins": null, "required_status_checks": null,
		"required_pull_request_reviews": null, "restrictions": null}`)
	w.do("alice", "DELETE "+rockery+"/git/refs/heads/side") // of no ruleset that is only evaluated
	w.do("alice", "GET "+rockery+"/rulesets/rule-suites")
	w.do("alice", "DELETE "+rockery)
}

func (w *world) statuses(sha string) {
	for n, state := range []string{"pending", "success", "failure", "error"} {
		w.do("bob", "POST "+garden+"/statuses/"+sha,
			fmt.Sprintf(`{"state": %q, "context": "ci/%d", "description": "It is so", "target_url": "https://example.org/ci"}`, state, n))
	}
	w.do("bob", "POST "+garden+"/statuses/"+sha, `{"state": "success"}`)
	w.do("", "GET "+garden+"/commits/"+sha+"/status")
	w.do("", "GET "+garden+"/commits/main/statuses")
	w.do("", "GET "+garden+"/commits/v1/status") // none
}

// strangers creates a history of authors unknown to the server.
func (w *world) strangers() {
	r := w.Repo(w.t, "alice/wild", false)
	w.Import(w.t, r, gittest.Repository(w.t, 3, 4))
	for _, path := range []string{"/commits", "/commits/main", "/branches", "/branches/main",
		"/compare/main~1...main", "/git/commits/" + w.do("",
			"GET /repos/alice/wild/commits/main").get("sha")} {
		if !strings.Contains(path, "~") {
			w.do("", "GET /repos/alice/wild"+path)
		}
	}
}

// statistics: when they are counted.
func (w *world) statistics() {
	w.do("", "GET "+garden+"/stats/contributors") // 202
	w.Settle(w.t)
	for _, kind := range []string{"contributors", "commit_activity", "code_frequency", "participation", "punch_card"} {
		w.do("", "GET "+garden+"/stats/"+kind)
	}
	w.do("", "GET "+garden+"/activity")
}
