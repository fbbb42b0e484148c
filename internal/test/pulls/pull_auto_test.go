package pulls_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// waiters is alice/plot, which allows auto-merge, with n pull requests of sam's. will may push.
type waiters struct {
	*apitest.Server
	name string // of the repository
}

func newWaiters(t *testing.T, s *apitest.Server, n int) waiters {
	t.Helper()
	orchard(t, s, n)
	w := waiters{s, "alice/plot"}
	w.Ask(t, "alice", "PATCH /repos/alice/plot", `{"allow_auto_merge": true}`, 200)
	return w
}

// rule adds a ruleset for main and returns its id.
func (w waiters) rule(t *testing.T, rules string) int64 {
	t.Helper()
	return w.ruleWith(t, rules, "")
}

func (w waiters) ruleWith(t *testing.T, rules, bypass string) int64 {
	t.Helper()
	var made struct{ ID int64 }
	w.Ask(t, "alice", "POST /repos/"+w.name+"/rulesets", fmt.Sprintf(`{"name": %q, "target": "branch",
		"enforcement": "active", "conditions": {"ref_name": {"include": ["refs/heads/main"], "exclude": []}},
		"rules": [%s], "bypass_actors": [%s]}`, rules[:min(len(rules), 100)], rules, bypass), 201).JSON(t, &made)
	return made.ID
}

// Rules, and what one of them asks.
const (
	needsCI = `{"type": "required_status_checks", "parameters": {"required_status_checks": [{"context": "ci"}],
		"strict_required_status_checks_policy": false}}`
	needsStrict = `{"type": "required_status_checks", "parameters": {"required_status_checks": [{"context": "ci"}],
		"strict_required_status_checks_policy": true}}`
)

func needsReview(more string) string {
	return `{"type": "pull_request", "parameters": {"required_approving_review_count": 1,
		"dismiss_stale_reviews_on_push": true, "require_code_owner_review": false,
		"require_last_push_approval": false, "required_review_thread_resolution": ` + more + `}}`
}

// status reports a status of the head of pull request 1, or of another commit.
func (w waiters) status(t *testing.T, state string) {
	t.Helper()
	w.Ask(t, "alice", "POST /repos/"+w.name+"/statuses/"+w.head(t, 1),
		fmt.Sprintf(`{"context": "ci", "state": %q}`, state), 201)
}

// collaborator sets the role of somebody.
func (w waiters) collaborator(t *testing.T, login, role string) {
	t.Helper()
	w.Ask(t, "alice", "PUT /repos/alice/plot/collaborators/"+login, fmt.Sprintf(`{"permission": %q}`, role), 204)
}

func (w waiters) head(t *testing.T, number int64) string {
	t.Helper()
	return read(t, w.Server, "alice", w.name, number).Head.SHA
}

// mutate runs a mutation about a pull request and returns the answer.
func (w waiters) mutate(t *testing.T, who, name string, number int64, more string) string {
	t.Helper()
	var of struct {
		NodeID string `json:"node_id"`
	}
	w.Ask(t, "alice", fmt.Sprintf("GET /repos/%s/pulls/%d", w.name, number), "", 200).JSON(t, &of)
	actor := ""
	if strings.HasSuffix(name, "AutoMerge") {
		actor = "actor{login}"
	}
	query, _ := json.Marshal(map[string]string{"query": fmt.Sprintf(`mutation{%s(input:{pullRequestId:%q%s}){
		clientMutationId `+actor+` pullRequest{state autoMergeRequest{enabledBy{login} mergeMethod commitHeadline
		commitBody authorEmail pullRequest{number}} viewerCanEnableAutoMerge viewerCanDisableAutoMerge}}}`,
		name, of.NodeID, more)})
	return string(w.Ask(t, who, "POST /graphql", string(query), 200).Body)
}

// enable enables auto-merge of a pull request as somebody.
func (w waiters) enable(t *testing.T, who string, number int64, more string) {
	t.Helper()
	if got := w.mutate(t, who, "enablePullRequestAutoMerge", number, more); strings.Contains(got, "errors") {
		t.Fatalf("%s enables auto-merge of #%d: %s", who, number, got)
	}
}

// settled does the background work and reports whether a pull request is merged and by whom.
func (w waiters) settled(t *testing.T, number int64) string {
	t.Helper()
	w.Settle(t)
	p := read(t, w.Server, "alice", w.name, number)
	if p.MergedBy != nil {
		return p.MergedBy.Login
	}
	return ""
}

// ended returns why auto-merge ended, by the last event.
func (w waiters) ended(t *testing.T, number int64) string {
	t.Helper()
	query, _ := json.Marshal(map[string]string{"query": fmt.Sprintf(`{repository(owner:%q,name:"plot"){
		pullRequest(number:%d){autoMergeRequest{mergeMethod} timelineItems(last:1,itemTypes:AUTO_MERGE_DISABLED_EVENT){
		nodes{...on AutoMergeDisabledEvent{reason pullRequest{number}}}}}}}`, strings.TrimSuffix(w.name, "/plot"), number)})
	var v struct {
		Data struct {
			Repository struct {
				PullRequest struct {
					AutoMergeRequest any
					TimelineItems    struct{ Nodes []struct{ Reason string } }
				}
			}
		}
	}
	w.Ask(t, "alice", "POST /graphql", string(query), 200).JSON(t, &v)
	p := v.Data.Repository.PullRequest
	if p.AutoMergeRequest != nil || len(p.TimelineItems.Nodes) == 0 {
		return ""
	}
	return p.TimelineItems.Nodes[0].Reason
}

// Whatever was missing last, the pull request is merged once it is there, by the person who enabled auto-merge.
func TestAutoMerge(t *testing.T) {
	t.Parallel()
	type world = waiters
	approve := func(t *testing.T, w world) {
		w.Ask(t, "will", "POST /repos/alice/plot/pulls/1/reviews", `{"event": "APPROVE"}`, 200)
	}
	object := func(t *testing.T, w world) int64 {
		var v struct{ ID int64 }
		w.Ask(t, "alice", "POST /repos/alice/plot/pulls/1/reviews", `{"event": "REQUEST_CHANGES", "body": "No"}`, 200).
			JSON(t, &v)
		return v.ID
	}
	for _, c := range []struct {
		name, rules string
		last        func(t *testing.T, w world) func() // prepares what is missing, and returns what adds it
	}{
		{"a status", needsCI, func(t *testing.T, w world) func() {
			w.status(t, "pending")
			return func() { w.status(t, "success") }
		}},
		{"a check run", needsCI, func(t *testing.T, w world) func() {
			w.Bot(t, "builder", "alice", "checks=write")
			var run struct{ ID int64 }
			w.Ask(t, "builder[bot]", "POST /repos/alice/plot/check-runs",
				`{"name": "ci", "head_sha": "`+w.head(t, 1)+`"}`, 201).JSON(t, &run)
			return func() {
				w.Ask(t, "builder[bot]", fmt.Sprintf("PATCH /repos/alice/plot/check-runs/%d", run.ID),
					`{"conclusion": "success"}`, 200)
			}
		}},
		{"a review", needsReview("false"), func(t *testing.T, w world) func() {
			return func() { approve(t, w) }
		}},
		{"a review that blocked", needsReview("false"), func(t *testing.T, w world) func() {
			id := object(t, w)
			approve(t, w)
			return func() {
				w.Ask(t, "alice", fmt.Sprintf("PUT /repos/alice/plot/pulls/1/reviews/%d/dismissals", id),
					`{"message": "Well"}`, 200)
			}
		}},
		{"a reviewer's right", needsReview("false"), func(t *testing.T, w world) func() {
			w.User(t, "eve")
			w.Ask(t, "eve", "POST /repos/alice/plot/pulls/1/reviews", `{"event": "APPROVE"}`, 200)
			return func() {
				w.collaborator(t, "eve", "push")
			}
		}},
		{"a conversation", needsReview("true"), func(t *testing.T, w world) func() {
			w.Ask(t, "will", "POST /repos/alice/plot/pulls/1/comments", `{"body": "Hm", "path": "b0/1", "line": 1,
				"side": "RIGHT", "commit_id": "`+w.head(t, 1)+`"}`, 201)
			approve(t, w)
			return func() {
				id := account.NodeID("PullRequestReviewThread", int64(1))
				w.Ask(t, "will", "POST /graphql",
					`{"query": "mutation{resolveReviewThread(input:{threadId:\"`+id+`\"}){clientMutationId}}"}`, 200)
			}
		}},
		{"the base's commits", needsStrict, func(t *testing.T, w world) func() {
			w.status(t, "success")
			return func() {
				w.Ask(t, "will", "PUT /repos/alice/plot/pulls/1/update-branch", "", 202)
				if got := w.settled(t, 1); got != "" {
					t.Fatalf("merged by %s without a status of the new head", got)
				}
				w.status(t, "success")
			}
		}},
		{"another rule", needsCI, func(t *testing.T, w world) func() {
			return func() { w.Ask(t, "alice", "DELETE /repos/alice/plot/rulesets/1", "", 204) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				w := newWaiters(t, s, 1)
				commit(t, w.Server, "alice/plot", "main", "x", "x")
				w.rule(t, c.rules)
				last := c.last(t, w)
				w.enable(t, "will", 1, `,mergeMethod:SQUASH,commitHeadline:"Grow",commitBody:"Slowly"`)
				if got := w.settled(t, 1); got != "" {
					t.Fatalf("merged by %s before all was there", got)
				}
				last()
				if got := w.settled(t, 1); got != "will" {
					t.Fatalf("merged by %q, want will", got)
				}
				tip := readCommit(t, w.Server, w.Tip(t, "alice", "alice/plot", "main"))
				if tip.Message != "Grow\n\nSlowly" || tip.Author.Name != "sam" || tip.Committer.Name != "will" {
					t.Errorf("the merge is %+v", tip)
				}
			})
		})
	}
}

// Who asks in vain is told why, and nothing is enabled.
func TestAutoMergeIsRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		orchard(t, s, 3)
		w := waiters{s, "alice/plot"}
		w.rule(t, needsCI)
		refused := func(who, name string, number int64, more, want string) {
			t.Helper()
			if got := w.mutate(t, who, name, number, more); !strings.Contains(got, want) || !strings.Contains(got, "errors") {
				t.Errorf("%s by %s: %s, want %q", name, who, got, want)
			}
		}
		const enable, disable = "enablePullRequestAutoMerge", "disablePullRequestAutoMerge"
		refused("will", enable, 1, "", "Auto merge is not allowed for this repository")
		w.Ask(t, "alice", "PATCH /repos/alice/plot", `{"allow_auto_merge": true, "allow_rebase_merge": false}`, 200)
		w.Run(t, []apitest.Case{{Do: "GET /repos/alice/plot", As: "will", Status: 200, Want: `{"allow_auto_merge": true}`}})
		refused("sam", enable, 1, "", "Must have push access to Repository.")
		refused("will", disable, 1, "", "Can't disable auto-merge for this pull request")
		refused("will", enable, 1, `,mergeMethod:REBASE`, "Rebase merges are not allowed on this repository.")
		refused("will", enable, 1, `,expectedHeadOid:"`+w.head(t, 2)+`"`, "Head branch was modified")
		refused("will", enable, 1, `,authorEmail:"alice@example.com"`, "verified address of yours")
		refused("will", enable, 1, `,commitBody:"`+strings.Repeat("x", 65_537)+`"`, "too long")
		commit(t, w.Server, "alice/plot", "b1", "q", "conflict b1")
		w.Ask(t, "alice", "DELETE /repos/alice/plot/rulesets/1", "", 204)
		refused("will", enable, 1, "", "Pull request is in clean status")
		w.Ask(t, "will", "POST /repos/alice/plot/statuses/"+w.head(t, 1), `{"context": "x", "state": "failure"}`, 201)
		refused("will", enable, 1, "", "Pull request is in unstable status")
		commit(t, w.Server, "alice/plot", "main", "q", "conflict main")
		refused("will", enable, 2, "", "Pull request is in dirty status")
		w.rule(t, needsCI)
		w.mutate(t, "sam", "convertPullRequestToDraft", 3, "")
		refused("will", enable, 3, "", "Pull request is in draft status")
		w.Ask(t, "sam", "PATCH /repos/alice/plot/pulls/1", `{"state": "closed"}`, 200)
		refused("will", enable, 1, "", "Pull request is in closed status")
		for number := range int64(3) {
			w.Run(t, []apitest.Case{{Do: fmt.Sprintf("GET /repos/alice/plot/pulls/%d", number+1), Status: 200,
				Want: `{"auto_merge": null}`}})
		}
	})
}

// What it shows everywhere, what is told of it, and how its author switches it off.
func TestAutoMergeIsShown(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newWaiters(t, s, 1)
		w.rule(t, needsCI)
		w.enable(t, "will", 1, `,mergeMethod:REBASE,commitHeadline:"Grow"`)
		w.enable(t, "alice", 1, `,commitHeadline:"Grow"`) // instead
		shown := `{"auto_merge": {"enabled_by": {"login": "alice"}, "merge_method": "merge", "commit_title": "Grow",
			"commit_message": ""}}`
		w.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200, Want: shown},
			{Do: "GET /repos/alice/plot/pulls", Status: 200, Want: `[` + shown + `]`},
			{Do: "GET /repos/alice/plot/issues/1/events", Status: 200, Want: `[
				{"event": "auto_rebase_enabled", "actor": {"login": "will"}},
				{"event": "auto_merge_enabled", "actor": {"login": "alice"}}]`},
		})
		w.Settle(t)
		got := w.mutate(t, "sam", "disablePullRequestAutoMerge", 1, "")
		for _, want := range []string{`"actor":{"login":"sam"}`, `"autoMergeRequest":null`,
			`"viewerCanEnableAutoMerge":false`, `"viewerCanDisableAutoMerge":false`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s", got, want)
			}
		}
		if why := w.ended(t, 1); why != "Manually disabled by user" {
			t.Errorf("disabled: %q", why)
		}
		w.status(t, "success")
		if by := w.settled(t, 1); by != "" {
			t.Errorf("merged by %s", by)
		}
	})
}

// After each of these changes nothing merges any more, also once all is there, and the reason is shown.
func TestAutoMergeEnds(t *testing.T) {
	t.Parallel()
	type world = waiters
	ask := func(who, do, send string, status int) func(t *testing.T, w world) {
		return func(t *testing.T, w world) { t.Helper(); w.Ask(t, who, do, send, status) }
	}
	const pull = "/repos/alice/plot/pulls/1"
	for _, c := range []struct {
		name, why string
		change    func(t *testing.T, w world)
		back      func(t *testing.T, w world) // undoes the change
	}{
		{"closed", "Pull request was closed", ask("sam", "PATCH "+pull, `{"state": "closed"}`, 200),
			ask("sam", "PATCH "+pull, `{"state": "open"}`, 200)},
		{"draft", "Pull request was converted to draft", func(t *testing.T, w world) {
			w.mutate(t, "sam", "convertPullRequestToDraft", 1, "")
		}, func(t *testing.T, w world) { w.mutate(t, "sam", "markPullRequestReadyForReview", 1, "") }},
		{"base", "Base branch was changed", ask("sam", "PATCH "+pull, `{"base": "single"}`, 200),
			ask("sam", "PATCH "+pull, `{"base": "main"}`, 200)},
		{"setting", "Auto-merge was disabled for the repository",
			ask("alice", "PATCH /repos/alice/plot", `{"allow_auto_merge": false}`, 200),
			ask("alice", "PATCH /repos/alice/plot", `{"allow_auto_merge": true}`, 200)},
		{"removed", "The user who enabled auto-merge lost write access",
			ask("alice", "DELETE /repos/alice/plot/collaborators/will", "", 204),
			func(t *testing.T, w world) { w.collaborator(t, "will", "push") }},
		{"demoted", "The user who enabled auto-merge lost write access",
			func(t *testing.T, w world) { w.collaborator(t, "will", "pull") },
			func(t *testing.T, w world) { w.collaborator(t, "will", "push") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				w := newWaiters(t, s, 1)
				w.rule(t, needsCI)
				w.enable(t, "will", 1, "")
				w.Settle(t)
				c.change(t, w)
				if by := w.settled(t, 1); by != "" {
					t.Fatalf("merged by %s", by)
				}
				if why := w.ended(t, 1); why != c.why && c.name != "setting" {
					t.Errorf("ended: %q, want %q", why, c.why)
				}
				c.back(t, w)
				if why := w.ended(t, 1); why != c.why {
					t.Errorf("ended: %q, want %q", why, c.why)
				}
				w.Ask(t, "alice", "POST /repos/alice/plot/statuses/"+w.head(t, 1), `{"context": "ci", "state": "success"}`, 201)
				if by := w.settled(t, 1); by != "" {
					t.Errorf("merged by %s", by)
				}
			})
		})
	}
}

// What a status does not need to ask does not cost a statement for each pull request that waits for it.
func TestAutoMergeStatements(t *testing.T) {
	t.Parallel()
	s, statements := apitest.StartCounted(t, db.SQLite)
	w := newWaiters(t, s, 24)
	w.rule(t, needsCI)
	w.rule(t, needsReview("false"))
	cost := func(state string) (report, work int64) {
		t.Helper()
		w.Settle(t)
		before := statements.Load()
		w.status(t, state)
		report = statements.Load() - before
		w.Settle(t)
		return report, statements.Load() - before - report
	}
	head := w.head(t, 1)
	for n := range 24 { // all with the same head
		w.Ask(t, "alice", fmt.Sprintf("PATCH /repos/alice/plot/git/refs/heads/b%d", n), `{"sha": "`+head+`", "force": true}`, 200)
	}
	w.enable(t, "will", 1, "")
	// The least of several: what takes longer than a request relies on one moment asks some things twice.
	least := func(reportMost, workMost int64) (report, work int64) {
		report, work = math.MaxInt64, math.MaxInt64
		for n := 0; n < 4 || n < 100 && (report > reportMost || work > workMost); n++ {
			r, w := cost("success")
			report, work = min(report, r), min(work, w)
		}
		return report, work
	}
	report, work := least(math.MaxInt64, math.MaxInt64)
	for n := range int64(23) {
		w.enable(t, "will", n+2, "")
	}
	manyReport, manyWork := least(report+1, work+2)
	if manyReport > report+1 || manyWork > work+2 {
		t.Errorf("of 24 pull requests a status takes %d statements and the worker %d, of one %d and %d",
			manyReport, manyWork, report, work)
	}
}

// Whoever may bypass rules waits for them too, and what changes between enabling and merging counts.
func TestAutoMergePassesNoRule(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newWaiters(t, s, 1)
		const everybody = `{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"},
			{"actor_id": 4, "actor_type": "RepositoryRole", "bypass_mode": "always"}`
		w.ruleWith(t, needsCI, everybody)
		w.ruleWith(t, needsReview("true"), everybody)
		still := func(number int64, what string) {
			t.Helper()
			if by := w.settled(t, number); by != "" {
				t.Fatalf("%s: merged by %s", what, by)
			}
		}
		const pull, rulesets = "/repos/alice/plot/pulls/1", "/repos/alice/plot/rulesets/"
		approve := func() {
			t.Helper()
			w.status(t, "pending")
			w.Ask(t, "will", "POST "+pull+"/reviews", `{"event": "APPROVE"}`, 200)
		}
		w.enable(t, "alice", 1, "")
		still(1, "an administrator may bypass")
		approve()
		commit(t, w.Server, "alice/plot", "b0", "evil", "evil")
		w.status(t, "success")
		still(1, "the review was of other commits")
		approve()
		w.Ask(t, "alice", "PUT "+pull+"/reviews/2/dismissals", `{"message": "Hm"}`, 200)
		w.status(t, "success")
		still(1, "the review was dismissed")
		approve()
		id := w.ruleWith(t, `{"type": "commit_message_pattern", "parameters": {"operator": "contains", "pattern": "TICKET"}}`,
			everybody)
		w.status(t, "success")
		still(1, "a rule about commits was added")
		lock := w.ruleWith(t, `{"type": "update"}`, everybody)
		w.Ask(t, "alice", "DELETE "+rulesets+fmt.Sprint(id), "", 204)
		still(1, "the branch was locked")
		w.Ask(t, "alice", "DELETE "+rulesets+fmt.Sprint(lock), "", 204)
		if by := w.settled(t, 1); by != "alice" {
			t.Errorf("merged by %q, want alice", by)
		}
	})
}

// Who pushes to a fork without push access to the base ends auto-merge; a maintainer does not.
func TestAutoMergeOfFork(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		w := waiters{s, "alice/plot"}
		w.Ask(t, "alice", "PATCH /repos/alice/plot", `{"allow_auto_merge": true}`, 200)
		commit(t, s, "alice/plot", "main", "newer", "newer")
		w.rule(t, needsCI)
		w.Ask(t, "sam", "POST /repos/alice/plot/pulls",
			`{"title": "Hoes", "head": "sam:hoes", "base": "main", "maintainer_can_modify": true}`, 201)
		w.enable(t, "will", 1, "")
		commit(t, s, "sam/plot", "hoes", "evil", "evil")
		if why := w.ended(t, 1); why != "Head branch was pushed to by a user without write access" {
			t.Errorf("ended: %q", why)
		}
		w.status(t, "success")
		if by := w.settled(t, 1); by != "" {
			t.Fatalf("merged by %s", by)
		}
		w.Ask(t, "will", "POST /repos/alice/plot/statuses/"+w.head(t, 1), `{"context": "ci", "state": "pending"}`, 201)
		w.enable(t, "will", 1, "")
		w.Ask(t, "will", "PUT /repos/alice/plot/pulls/1/update-branch", "", 202)
		if why := w.ended(t, 1); why != "" {
			t.Errorf("ended by a maintainer: %q", why)
		}
		w.status(t, "success")
		if by := w.settled(t, 1); by != "will" {
			t.Errorf("merged by %q, want will", by)
		}
	})
}
