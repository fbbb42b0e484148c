package repos_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// A ruleset has GitHub's form, and what is not enforced is refused.
func TestRulesets(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		const path = "/repos/alice/garden/rulesets"
		made := s.Ask(t, "alice", "POST "+path, `{"name": "Releases", "target": "branch", "enforcement": "active",
			"conditions": {"ref_name": {"include": ["refs/heads/release/*", "~DEFAULT_BRANCH"], "exclude": ["refs/heads/release/old"]}},
			"bypass_actors": [{"actor_id": 5, "actor_type": "RepositoryRole"}],
			"rules": [{"type": "deletion"}, {"type": "pull_request", "parameters": {"required_approving_review_count": 1,
				"dismiss_stale_reviews_on_push": false, "require_code_owner_review": false, "require_last_push_approval": false,
				"required_review_thread_resolution": true}}]}`, 201)
		id := idOf(t, made)
		refused := func(body string) apitest.Case {
			return apitest.Case{Name: body, Do: "POST " + path, As: "alice", Send: body, Status: 422}
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + path, As: "carol", Status: 200, Want: `[{"name": "Releases", "target": "branch",
				"source_type": "Repository", "source": "alice/garden", "enforcement": "active", "rules": "$absent"}]`},
			{Do: "GET " + path + "/" + id, As: "carol", Status: 200, Want: `{"bypass_actors": "$absent",
				"conditions": {"ref_name": {"include": ["refs/heads/release/*", "~DEFAULT_BRANCH"], "exclude": ["refs/heads/release/old"]}},
				"rules": [{"type": "deletion", "parameters": "$absent"}, {"type": "pull_request",
					"parameters": {"required_approving_review_count": 1, "required_review_thread_resolution": true}}]}`},
			{Do: "GET " + path + "/" + id, As: "alice", Status: 200,
				Want: `{"bypass_actors": [{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"}]}`},
			{Do: "GET /repos/alice/garden/rules/branches/release/1", As: "carol", Status: 200,
				Want: `[{"type": "deletion", "ruleset_source": "alice/garden"}, {"type": "pull_request"}]`},
			{Do: "GET /repos/alice/garden/rules/branches/release/old", Status: 200, Body: `[]`},
			{Do: "GET /repos/alice/garden/branches?protected=true", Status: 200,
				Want: `[{"name": "main", "protected": true, "protection": {"enabled": false}}]`},
			{Do: "GET /repos/alice/garden/branches?protected=false", Status: 200, Body: `[]`},
			{Do: "GET /repos/alice/garden/branches/main", Status: 200,
				Want: `{"protected": true, "protection_url": "{base}/repos/alice/garden/branches/main/protection"}`},
			{Name: "same name", Do: "POST " + path, As: "alice", Send: `{"name": "Releases", "enforcement": "active"}`, Status: 422},
			{Do: "PUT " + path + "/" + id, As: "bob", Send: `{"enforcement": "disabled"}`, Status: 403},
			{Do: "PUT " + path + "/" + id, As: "alice", Send: `{"enforcement": "disabled"}`, Status: 200,
				Want: `{"name": "Releases", "enforcement": "disabled", "rules": [{"type": "deletion"}, {"type": "pull_request"}]}`},
			{Do: "GET /repos/alice/garden/branches?protected=true", Status: 200, Body: `[]`},
			{Do: "DELETE " + path + "/" + id, As: "alice", Status: 204},
			{Do: "GET " + path + "/" + id, As: "alice", Status: 404},
			{Do: "DELETE " + path + "/" + id, As: "alice", Status: 404},
			refused(`{"name": "a"}`),
			refused(`{"name": "a", "enforcement": "active", "rules": [{"type": "workflows"}]}`),
			refused(`{"name": "a", "enforcement": "active", "rules": [{"type": "push_restrictions"}]}`),
			refused(`{"name": "a", "enforcement": "active", "rules": [{"type": "deletion"}, {"type": "deletion"}]}`),
			refused(`{"name": "a", "enforcement": "active", "rules": [{"type": "pull_request", "parameters": {"unknown": 1}}]}`),
			refused(`{"name": "a", "enforcement": "active", "rules": [{"type": "commit_message_pattern", "parameters": {"operator": "regex", "pattern": "("}}]}`),
			refused(`{"name": "a", "enforcement": "active", "conditions": {"ref_name": {"include": ["main"], "exclude": []}}}`),
			refused(`{"name": "a", "enforcement": "active", "conditions": {"repository_name": {"include": ["x"], "exclude": []}}}`),
			refused(`{"name": "a", "enforcement": "active", "bypass_actors": [{"actor_id": 1, "actor_type": "Team"}]}`),
			refused(`{"name": "a", "enforcement": "active", "target": "tag", "rules": [{"type": "pull_request"}]}`),
			refused(`{"name": "a", "enforcement": "active", "target": "push", "rules": [{"type": "deletion"}]}`),
		})
	})
}

// Each rule about commits and refs refuses what it is about, and nothing else.
func TestRulesAboutCommits(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		dir := t.TempDir()
		gittest.Run(t, "", "clone", "-q", s.Remote(t, "bob", "alice/garden"), dir)
		start := gittest.Run(t, dir, "rev-parse", "HEAD")
		for n, c := range []struct{ rule, target, good, bad, reason string }{
			{`{"type": "commit_message_pattern", "parameters": {"operator": "regex", "pattern": "^good"}}`, "branch", "good", "bad", "message must match"},
			{`{"type": "commit_author_email_pattern", "parameters": {"operator": "ends_with", "pattern": "@example.com"}}`, "branch", "", "author", "author's e-mail"},
			{`{"type": "committer_email_pattern", "parameters": {"operator": "contains", "pattern": "nobody", "negate": true}}`, "branch", "", "committer", "committer's e-mail"},
			{`{"type": "file_path_restriction", "parameters": {"restricted_file_paths": ["secret*"]}}`, "push", "open", "secret", "may not be changed"},
			{`{"type": "file_extension_restriction", "parameters": {"restricted_file_extensions": ["*.exe"]}}`, "push", "a.txt", "a.EXE", "extension"},
			{`{"type": "max_file_path_length", "parameters": {"max_file_path_length": 5}}`, "push", "a", "abcdef", "more than 5"},
			{`{"type": "max_file_size", "parameters": {"max_file_size": 1}}`, "push", "small", "large", "larger than 1 MB"},
			{`{"type": "required_linear_history"}`, "branch", "", "merge", "linear history"},
			{`{"type": "branch_name_pattern", "parameters": {"operator": "starts_with", "pattern": "t"}}`, "branch", "", "x", "name of the branch"},
			{`{"type": "creation"}`, "branch", "-", "", "Cannot create"},
		} {
			gittest.Run(t, dir, "reset", "-q", "--hard", start)
			conditions := `"conditions": {"ref_name": {"include": ["~ALL"], "exclude": ["~DEFAULT_BRANCH"]}},`
			if c.target == "push" {
				conditions = ""
			}
			made := s.Ask(t, "alice", "POST /repos/alice/garden/rulesets", `{"name": "r", "enforcement": "active", "target": "`+
				c.target+`", `+conditions+` "rules": [`+c.rule+`]}`, 201)
			branch := fmt.Sprint("t", n)
			commit := func(what string) {
				name, text, message := "f", "x\n", "good"
				switch {
				case strings.Contains(c.rule, "file"):
					name = what
				case what == "bad":
					message = what
				}
				if what == "large" {
					text = strings.Repeat("x", 1<<20+1)
				}
				gittest.WriteFile(t, dir, name, text)
				gittest.Run(t, dir, "add", "-A")
				if what == "author" || what == "committer" { // those of other tests are set by the environment
					people := "author A <a@example.com> 1 +0000\ncommitter N <nobody@example.com> 1 +0000"
					if what == "author" {
						people = "author A <a@evil.example> 1 +0000\ncommitter C <c@example.com> 1 +0000"
					}
					sha := gittest.Object(t, dir, "commit", "tree "+gittest.Run(t, dir, "write-tree")+"\nparent "+start+
						"\n"+people+"\n\ngood\n")
					gittest.Run(t, dir, "reset", "-q", "--hard", string(sha))
					return
				}
				gittest.Run(t, dir, "commit", "-q", "-m", message)
				if what == "merge" {
					gittest.Run(t, dir, "checkout", "-q", "-B", "side", start)
					gittest.CommitFile(t, dir, "s", "s\n")
					gittest.Run(t, dir, "checkout", "-q", "main")
					gittest.Run(t, dir, "merge", "-q", "--no-ff", "-m", "good", "side")
				}
			}
			if c.good != "-" {
				commit(c.good)
				gittest.Run(t, dir, "push", "-q", "origin", "HEAD:refs/heads/"+branch)
				gittest.Run(t, dir, "reset", "-q", "--hard", start)
			}
			commit(c.bad)
			_, stderr, err := gittest.Try(t, dir, nil, "push", "origin", "HEAD:refs/heads/"+c.bad+branch)
			if err == nil || !strings.Contains(string(stderr), c.reason) {
				t.Errorf("%s: %v\n%s", c.rule, err, stderr)
			}
			s.Ask(t, "alice", "DELETE /repos/alice/garden/rulesets/"+idOf(t, made), "", 204)
		}
	})
}

// A ruleset that is only evaluated refuses nothing, one that somebody may bypass refuses others, and both are
// recorded.
func TestSuitesSayWhoBypassed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		s.Ask(t, "alice", "POST /repos/alice/garden/rulesets", `{"name": "locked", "enforcement": "active",
			"conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}}, "rules": [{"type": "update"}],
			"bypass_actors": [{"actor_id": 5, "actor_type": "RepositoryRole"}]}`, 201)
		s.Ask(t, "alice", "POST /repos/alice/garden/rulesets", `{"name": "tried", "enforcement": "evaluate",
			"conditions": {"ref_name": {"include": ["~ALL"], "exclude": []}}, "rules": [{"type": "creation"}]}`, 201)
		s.Ask(t, "alice", "PUT /repos/alice/garden/contents/x", `{"message": "x", "content": "MQo="}`, 201)
		s.Ask(t, "bob", "PUT /repos/alice/garden/contents/y", `{"message": "y", "content": "MQo="}`, 409)
		main := s.Tip(t, "bob", "alice/garden", "main")
		s.Ask(t, "bob", "POST /repos/alice/garden/git/refs", `{"ref": "refs/heads/new", "sha": "`+main+`"}`, 201)
		const path = "/repos/alice/garden/rulesets/rule-suites"
		var id string
		s.Run(t, []apitest.Case{
			{Do: "GET " + path, As: "carol", Status: 403},
			{Do: "GET " + path, As: "bob", Status: 200, Want: `[
				{"actor_name": "bob", "ref": "refs/heads/new", "result": "pass", "evaluation_result": "fail"},
				{"actor_name": "bob", "ref": "refs/heads/main", "result": "fail"},
				{"actor_name": "alice", "ref": "refs/heads/main", "result": "bypass", "evaluation_result": null}]`},
			{Do: "GET " + path + "?rule_suite_result=bypass&actor_name=alice&ref=main&time_period=hour", As: "bob", Status: 200,
				Want: `[{"actor_name": "alice"}]`, Keep: func(a *apitest.Answer) {
					var list []struct{ ID int64 }
					a.JSON(t, &list)
					id = fmt.Sprint(list[0].ID)
				}},
			{Do: "GET " + path + "?rule_suite_result=some", As: "bob", Status: 422},
		})
		s.Check(t, apitest.Case{Do: "GET " + path + "/" + id, As: "bob", Status: 200, Want: `{"result": "bypass", "rule_evaluations": [
			{"rule_source": {"type": "ruleset", "name": "locked"}, "enforcement": "active", "result": "fail",
			"rule_type": "update", "details": "Cannot update this protected ref."}]}`})
	})
}

// A ruleset that a role may bypass lets nobody below that role past: were maintainers taken for people who push, each
// of these could.
func TestRolesBypassRulesets(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		s.User(t, "warden")
		s.Ask(t, "alice", "PUT /repos/alice/garden/collaborators/warden", `{"permission": "maintain"}`, 204)
		for _, role := range []string{"1", "3", "6"} { // read, triage and none
			s.Ask(t, "alice", "POST /repos/alice/garden/rulesets", `{"name": "x", "enforcement": "active",
				"bypass_actors": [{"actor_id": `+role+`, "actor_type": "RepositoryRole"}]}`, 422)
		}
		for role, passes := range map[string][]string{"2": {"warden", "alice"}, "4": {"bob", "warden",
			"alice"},
			"5": {"alice"}} {
			at := "/repos/alice/garden/rulesets"
			made := s.Ask(t, "alice", "POST "+at,
				`{"name": "locked", "enforcement": "active", "rules": [{"type": "update"}],
				"conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}},
				"bypass_actors": [{"actor_id": `+role+`, "actor_type": "RepositoryRole"}]}`, 201)
			for _, who := range []string{"bob", "warden", "alice"} {
				want := 409
				if slices.Contains(passes, who) {
					want = 201
				}
				s.Ask(t, who, "PUT /repos/alice/garden/contents/"+who+role,
					`{"message": "x", "content": "MQo="}`, want)
			}
			s.Ask(t, "alice", "DELETE "+at+"/"+idOf(t, made), "", 204)
		}
	})
}

// Rules of an organization apply to the repositories that they name, and only owners change them.
func TestRulesetsOfOrganizations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Repo(t, "garden/other", false)
		for _, name := range []string{"plot", "other"} {
			s.Ask(t, "alice", "PUT /repos/garden/"+name+"/contents/a", `{"message": "a", "content": "MQo="}`, 201)
		}
		const path = "/orgs/garden/rulesets"
		s.Ask(t, "will", "POST "+path, `{"name": "all", "enforcement": "active"}`, 403)
		made := s.Ask(t, "alice", "POST "+path, `{"name": "tags", "enforcement": "active", "target": "tag",
			"conditions": {"ref_name": {"include": ["refs/tags/v*"], "exclude": []}, "repository_name": {"include": ["Plo*"], "exclude": []}},
			"rules": [{"type": "creation"}]}`, 201)
		id := idOf(t, made)
		plot := s.Tip(t, "will", "garden/plot", "main")
		s.Run(t, []apitest.Case{
			{Name: "named", Do: "POST /repos/garden/plot/git/refs", As: "will", Status: 422,
				Send: `{"ref": "refs/tags/v1", "sha": "` + plot + `"}`, Want: `{"message": "Repository rule violations found\n\nCannot create this ref.\n"}`},
			{Name: "release", Do: "POST /repos/garden/plot/releases", As: "will", Status: 422, Send: `{"tag_name": "v1"}`},
			{Name: "another tag", Do: "POST /repos/garden/plot/git/refs", As: "will", Status: 201,
				Send: `{"ref": "refs/tags/x1", "sha": "` + plot + `"}`},
			{Name: "another repository", Do: "POST /repos/garden/other/releases", As: "alice", Status: 201, Send: `{"tag_name": "v1"}`},
			{Do: "GET " + path, As: "alice", Status: 200, Want: `[{"name": "tags", "source_type": "Organization", "source": "garden"}]`},
			{Do: "GET " + path + "/" + id, As: "alice", Status: 200, Want: `{"conditions": {"repository_name": {"include": ["Plo*"]}}}`},
			{Do: "GET " + path + "/" + id, As: "will", Status: 403},
			{Do: "GET /repos/garden/plot/rulesets", As: "will", Status: 200, Want: `[{"name": "tags"}]`},
			{Do: "GET /repos/garden/plot/rulesets?includes_parents=false", As: "will", Status: 200, Body: `[]`},
			{Do: "GET /repos/garden/plot/rulesets/" + id, As: "will", Status: 200, Want: `{"name": "tags", "bypass_actors": "$absent"}`},
			{Do: "GET /repos/garden/other/rulesets", As: "alice", Status: 200, Body: `[]`},
			{Do: "GET /repos/garden/other/rulesets/" + id, As: "alice", Status: 404},
			{Do: "PUT " + path + "/" + id, As: "alice", Send: `{"enforcement": "disabled"}`, Status: 200},
			{Name: "disabled", Do: "POST /repos/garden/plot/git/refs", As: "will", Status: 201,
				Send: `{"ref": "refs/tags/v1", "sha": "` + plot + `"}`},
			{Do: "DELETE " + path + "/" + id, As: "alice", Status: 204},
		})
		// What a new repository begins with comes from the server.
		s.Ask(t, "alice", "POST "+path, `{"name": "signed", "enforcement": "active", "target": "branch",
			"conditions": {"ref_name": {"include": ["~ALL"], "exclude": []}, "repository_name": {"include": ["~ALL"], "exclude": []}},
			"rules": [{"type": "creation"}, {"type": "required_signatures"}]}`, 201)
		s.Ask(t, "alice", "POST /orgs/garden/repos", `{"name": "begun", "auto_init": true}`, 201)
		if s.Tip(t, "alice", "garden/begun", "main") == "" {
			t.Error("a new repository has no first commit")
		}
	})
}

// A merge needs what the rules of its base ask, and says what is missing.
func TestMergesNeedWhatRulesAsk(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		gardenWithBob(t, s)
		s.Users(t, "dave")
		s.Grant(t, s.Access(t, "alice", "alice/garden").Repo, "dave", account.Push)
		s.Ask(t, "alice", "POST /repos/alice/garden/git/refs", `{"ref": "refs/heads/topic", "sha": "`+
			s.Tip(t, "alice", "alice/garden", "main")+`"}`, 201)
		write := func(as, name string) string {
			s.Ask(t, as, "PUT /repos/alice/garden/contents/"+name, `{"message": "m", "content": "MQo=", "branch": "topic"}`, 201)
			return s.Tip(t, "alice", "alice/garden", "topic")
		}
		write("bob", "b")
		s.Ask(t, "bob", "POST /repos/alice/garden/pulls", `{"title": "t", "head": "topic", "base": "main"}`, 201)
		s.Ask(t, "alice", "PUT "+protection, `{"required_status_checks": {"strict": true, "contexts": ["Build"]}, "enforce_admins": true,
			"required_pull_request_reviews": {"required_approving_review_count": 1, "dismiss_stale_reviews": true,
				"require_last_push_approval": true}, "restrictions": null, "required_conversation_resolution": true}`, 200)
		const pull = "/repos/alice/garden/pulls/1"
		state := func(want string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET " + pull, As: "bob", Status: 200, Want: `{"mergeable_state": "` + want + `"}`})
		}
		merge := func(missing string) {
			t.Helper()
			a := s.Ask(t, "dave", "PUT "+pull+"/merge", "", 405)
			if !strings.Contains(string(a.Body), missing) {
				t.Errorf("merge: %s, want %q", a.Body, missing)
			}
		}
		approve := func(as string) {
			t.Helper()
			s.Ask(t, as, "POST "+pull+"/reviews", `{"event": "APPROVE"}`, 200)
		}
		state("blocked")
		merge("At least 1 approving review is required by reviewers with push access.")
		approve("carol") // who may not push
		merge("At least 1 approving review")
		approve("dave")
		merge(`Required status check \"Build\" is expected.`)
		head := write("dave", "c") // dismisses the approval
		s.Check(t, apitest.Case{Do: "GET " + pull + "/reviews", As: "bob", Status: 200, Want: `[{"state": "DISMISSED"}, {"state": "DISMISSED"}]`})
		approve("dave") // who pushed last
		merge("somebody other than the one who pushed it")
		approve("alice")
		report := func(sha, state string) {
			t.Helper()
			s.Ask(t, "bob", "POST /repos/alice/garden/statuses/"+sha, `{"context": "build", "state": "`+state+`"}`, 201)
		}
		report(head, "pending")
		merge("has not succeeded")
		report(head, "success")
		line := s.Ask(t, "alice", "POST "+pull+"/comments", `{"body": "why?", "path": "c", "line": 1, "side": "RIGHT", "commit_id": "`+head+`"}`, 201)
		merge("All conversations must be resolved.")
		s.Ask(t, "alice", "PATCH "+protection+"/required_status_checks", `{"strict": true}`, 200)
		s.Ask(t, "alice", "DELETE /repos/alice/garden/pulls/comments/"+idOf(t, line), "", 204)
		state("clean")
		// The base moves past the head: an administrator lifts the protection for a moment.
		s.Ask(t, "alice", "DELETE "+protection+"/enforce_admins", "", 204)
		s.Ask(t, "alice", "PUT /repos/alice/garden/contents/z", `{"message": "z", "content": "MQo="}`, 201)
		state("behind")
		merge("not up to date")
		s.Ask(t, "alice", "PATCH "+protection+"/required_status_checks", `{"strict": false}`, 200)
		state("clean")
		s.Ask(t, "dave", "PUT "+pull+"/merge", "", 200)
	})
}

// idOf is the id of what was created.
func idOf(t *testing.T, a *apitest.Answer) string {
	t.Helper()
	var made struct{ ID int64 }
	a.JSON(t, &made)
	return fmt.Sprint(made.ID)
}

// Owners of an organization read what rules said in all its repositories, and nobody else does.
func TestSuitesOfOrganizations(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "guild", "alice")
		for _, name := range []string{"one", "two"} {
			s.Ask(t, "alice", "POST /orgs/guild/repos", `{"name": "`+name+`", "private": true}`, 201)
		}
		s.Ask(t, "alice", "POST /orgs/guild/rulesets", `{"name": "all", "enforcement": "active", "rules": [{"type":
			"required_linear_history"}], "conditions": {"ref_name": {"include": ["~ALL"], "exclude": []}}}`, 201)
		for _, name := range []string{"one", "two"} {
			s.Ask(t, "alice", "PUT /repos/guild/"+name+"/contents/a", `{"message": "a", "content": "MQo="}`, 201)
		}
		const at = "/orgs/guild/rulesets/rule-suites"
		s.Run(t, []apitest.Case{
			{Do: "GET " + at, As: "alice", Status: 200, Want: `[{"repository_name": "two", "result": "pass"}, {"repository_name": "one"}]`},
			{Do: "GET " + at + "?repository_name=ONE", As: "alice", Status: 200, Want: `[{"repository_name": "one", "actor_name": "alice"}]`},
			{Do: "GET " + at + "?rule_suite_result=fail", As: "alice", Status: 200, Body: `[]`},
			{Do: "GET " + at + "/1", As: "alice", Status: 200, Want: `{"rule_evaluations": [{"rule_type": "required_linear_history"}]}`},
			{Do: "GET " + at + "/99", As: "alice", Status: 404},
			{Do: "GET " + at, As: "bob", Status: 403},
			{Do: "DELETE /repos/guild/two", As: "alice", Status: 204},
			{Do: "GET " + at, As: "alice", Status: 200, Want: `[{"repository_name": "one"}]`},
			{Do: "GET " + at + "/2", As: "alice", Status: 404},
		})
	})
}
