package pulls_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/pull"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

const queued = "gh-readonly-queue"

// queueRule is a rule of a merge queue, with some of its parameters changed.
func queueRule(more string) string {
	p := map[string]any{"check_response_timeout_minutes": 60, "grouping_strategy": "ALLGREEN",
		"max_entries_to_build": 5, "max_entries_to_merge": 5, "merge_method": "MERGE", "min_entries_to_merge": 1,
		"min_entries_to_merge_wait_minutes": 0}
	if more != "" {
		if err := json.Unmarshal([]byte(more), &p); err != nil {
			panic(err)
		}
	}
	b, _ := json.Marshal(map[string]any{"type": "merge_queue", "parameters": p})
	return string(b)
}

// newQueue is alice/plot with n pull requests of sam's and a merge queue for main.
func newQueue(t *testing.T, s *apitest.Server, n int, rules ...string) waiters {
	t.Helper()
	w := newWaiters(t, s, n)
	w.rule(t, strings.Join(rules, ","))
	return w
}

// graph asks GraphQL and returns the answer.
func (w waiters) graph(t *testing.T, who, query string) string {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"query": query})
	return string(w.Ask(t, who, "POST /graphql", string(body), 200).Body)
}

func (w waiters) node(t *testing.T, number int64) string {
	t.Helper()
	var of struct {
		NodeID string `json:"node_id"`
	}
	w.Ask(t, "alice", fmt.Sprintf("GET /repos/%s/pulls/%d", w.name, number), "", 200).JSON(t, &of)
	return of.NodeID
}

// enqueue puts a pull request into the queue, with more input, and returns the answer.
func (w waiters) enqueue(t *testing.T, who string, number int64, more string) string {
	t.Helper()
	return w.graph(t, who, fmt.Sprintf(`mutation{enqueuePullRequest(input:{pullRequestId:%q%s}){mergeQueueEntry{
		position state jump solo enqueuer{login} pullRequest{number isInMergeQueue} mergeQueue{url}}}}`,
		w.node(t, number), more))
}

func (w waiters) mustEnqueue(t *testing.T, who string, numbers ...int64) {
	t.Helper()
	for _, n := range numbers {
		if got := w.enqueue(t, who, n, ""); strings.Contains(got, "errors") {
			t.Fatalf("%s enqueues #%d: %s", who, n, got)
		}
	}
}

// groups returns the branches of groups with their tips, by the numbers of pull requests.
func (w waiters) groups(t *testing.T) map[int64]string {
	t.Helper()
	var list []struct {
		Ref    string
		Object struct{ SHA string }
	}
	w.Ask(t, "alice", "GET /repos/"+w.name+"/git/matching-refs/heads/"+queued, "", 200).JSON(t, &list)
	found := map[int64]string{}
	for _, r := range list {
		var n int64
		if _, err := fmt.Sscanf(r.Ref[strings.LastIndex(r.Ref, "/")+1:], "pr-%d-", &n); err != nil {
			t.Fatalf("the branch %s: %v", r.Ref, err)
		}
		found[n] = r.Object.SHA
	}
	return found
}

// report reports a status of the group of a pull request and does the work.
func (w waiters) report(t *testing.T, number int64, state string) {
	t.Helper()
	sha := w.groups(t)[number]
	if sha == "" {
		t.Fatalf("#%d has no group", number)
	}
	w.Ask(t, "alice", "POST /repos/"+w.name+"/statuses/"+sha, fmt.Sprintf(`{"context": "ci", "state": %q}`, state), 201)
	w.Settle(t)
}

// named is the repository as an argument of GraphQL.
func (w waiters) named() string {
	owner, name, _ := strings.Cut(w.name, "/")
	return fmt.Sprintf("owner:%q,name:%q", owner, name)
}

// line returns the numbers in the queue, in their order.
func (w waiters) line(t *testing.T) (list []int64) {
	t.Helper()
	var v struct {
		Data struct {
			Repository struct {
				MergeQueue *struct {
					Entries struct {
						Nodes []struct{ PullRequest struct{ Number int64 } }
					}
				}
			}
		}
	}
	got := w.graph(t, "alice", `{repository(`+w.named()+`){mergeQueue(branch:"main"){
		entries(first:50){nodes{pullRequest{number}}}}}}`)
	if err := json.Unmarshal([]byte(got), &v); err != nil || strings.Contains(got, "errors") {
		t.Fatalf("%s: %v", got, err)
	}
	if q := v.Data.Repository.MergeQueue; q != nil {
		for _, n := range q.Entries.Nodes {
			list = append(list, n.PullRequest.Number)
		}
	}
	return list
}

// left returns why a pull request left the queue the last time, or "".
func (w waiters) left(t *testing.T, number int64) string {
	t.Helper()
	var v struct {
		Data struct {
			Repository struct {
				PullRequest struct {
					MergeQueueEntry any
					TimelineItems   struct{ Nodes []struct{ Reason string } }
				}
			}
		}
	}
	got := w.graph(t, "alice", fmt.Sprintf(`{repository(`+w.named()+`){pullRequest(number:%d){
		mergeQueueEntry{id} timelineItems(last:1,itemTypes:REMOVED_FROM_MERGE_QUEUE_EVENT){
		nodes{...on RemovedFromMergeQueueEvent{reason}}}}}}`, number))
	if err := json.Unmarshal([]byte(got), &v); err != nil || strings.Contains(got, "errors") {
		t.Fatalf("%s: %v", got, err)
	}
	p := v.Data.Repository.PullRequest
	if p.MergeQueueEntry != nil || len(p.TimelineItems.Nodes) == 0 {
		return ""
	}
	return p.TimelineItems.Nodes[0].Reason
}

// ready reports that the pull requests' own checks succeeded.
func (w waiters) ready(t *testing.T, numbers ...int64) {
	t.Helper()
	for _, n := range numbers {
		w.Ask(t, "alice", "POST /repos/"+w.name+"/statuses/"+w.head(t, n), `{"context": "ci", "state": "success"}`, 201)
	}
}

// Pull requests of a queue are built on each other, and merged together by those who enqueued them once checks of
// their groups have succeeded.
func TestMergeQueue(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newQueue(t, s, 3, needsCI, queueRule(""))
		if got := w.enqueue(t, "will", 1, ""); !strings.Contains(got, `Required status check \"ci\" is expected`) {
			t.Errorf("enqueued without checks: %s", got)
		}
		w.ready(t, 1, 2, 3)
		got := w.enqueue(t, "will", 1, "")
		// Its state is QUEUED, or AWAITING_CHECKS if the worker was faster than the answer.
		for _, want := range []string{`"position":1`, `"login":"will"`, `"isInMergeQueue":true`,
			"/alice/plot/queue/main"} {
			if !strings.Contains(got, want) {
				t.Errorf("the entry %s lacks %s", got, want)
			}
		}
		if got := w.enqueue(t, "will", 1, ""); !strings.Contains(got, "already in the merge queue") {
			t.Errorf("enqueued twice: %s", got)
		}
		w.mustEnqueue(t, "alice", 2)
		base := w.Tip(t, "alice", w.name, "main")
		w.Settle(t)
		groups := w.groups(t)
		if len(groups) != 2 {
			t.Fatalf("the groups are %v", groups)
		}
		if c := readCommit(t, w.Server, groups[2]); c.Parents[0].SHA != groups[1] {
			t.Errorf("#2 is built on %s, not on #1 %s", c.Parents[0].SHA, groups[1])
		}
		if tip := w.Tip(t, "alice", w.name, "main"); tip != base {
			t.Errorf("main moved to %s before checks", tip)
		}
		w.report(t, 2, "success")
		if n := len(w.line(t)); n != 2 {
			t.Fatalf("%d wait after the checks of the second", n)
		}
		w.report(t, 1, "success")
		if tip := w.Tip(t, "alice", w.name, "main"); tip != groups[2] {
			t.Errorf("main is %s, want the last group %s", tip, groups[2])
		}
		for number, by := range map[int64]string{1: "will", 2: "alice"} {
			p := read(t, w.Server, "alice", w.name, number)
			if p.MergedBy == nil || p.MergedBy.Login != by || p.MergeCommit == nil || *p.MergeCommit != groups[number] {
				t.Errorf("#%d was merged as %v by %+v", number, p.MergeCommit, p.MergedBy)
			}
			if why := w.left(t, number); why != "MERGE" {
				t.Errorf("#%d left: %q", number, why)
			}
		}
		if groups := w.groups(t); len(groups) != 0 || len(w.line(t)) != 0 {
			t.Errorf("there remain %v", groups)
		}
		w.Run(t, []apitest.Case{{Do: "GET /repos/alice/plot/issues/1/events", Status: 200, Want: `[
			{"event": "added_to_merge_queue", "actor": {"login": "will"}}, {"event": "merged"}, {"event": "closed"},
			{"event": "removed_from_merge_queue"}, {"event": "referenced"}]`}})
	})
}

// What fails leaves the queue, and what was built on it is built again.
func TestMergeQueueRemoves(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newQueue(t, s, 3, needsCI, queueRule(""))
		w.ready(t, 1, 2, 3)
		w.mustEnqueue(t, "will", 1, 2, 3)
		w.Settle(t)
		before := w.groups(t)
		w.report(t, 2, "failure") // which may be the fault of the first
		if line := w.line(t); len(line) != 3 {
			t.Errorf("the line is %v", line)
		}
		w.report(t, 1, "failure")
		if why := w.left(t, 1); why != "CI_FAILURE" {
			t.Errorf("#1 left: %q", why)
		}
		after := w.groups(t)
		if len(after) != 2 || after[2] == before[2] || after[3] == before[3] {
			t.Errorf("the groups were %v and are %v", before, after)
		}
		w.report(t, 2, "success")
		w.report(t, 3, "success")
		if read(t, w.Server, "alice", w.name, 1).MergedBy != nil || read(t, w.Server, "alice", w.name,
			3).MergedBy == nil {
			t.Error("the wrong ones were merged")
		}
	})
}

// Nobody but the queue moves the branches of groups, merges, or pushes.
func TestMergeQueueIsTheOnlyWay(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newQueue(t, s, 2, needsCI, queueRule(""))
		w.ready(t, 1, 2)
		w.mustEnqueue(t, "will", 1)
		w.Settle(t)
		group := w.groups(t)[1]
		ref := queued + "/main/pr-1-" + w.Tip(t, "alice", w.name, "main")
		const denied, rules = "belong to merge queues", "Changes must be made through the merge queue."
		for _, c := range []struct {
			do, send string
			status   int
			want     string
		}{
			{"PUT /repos/alice/plot/pulls/1/merge", "", 405, rules},
			{"DELETE /repos/alice/plot/git/refs/heads/" + ref, "", 422, denied},
			{"PATCH /repos/alice/plot/git/refs/heads/" + ref, `{"sha": "` + w.head(t, 1) +
				`", "force": true}`, 422, denied},
			{"POST /repos/alice/plot/git/refs", `{"ref": "refs/heads/` + queued + `/x", "sha": "` + group +
				`"}`, 422, denied},
			{"POST /repos/alice/plot/branches/" + ref + "/rename", `{"new_name": "mine"}`, 422, denied},
			{"PATCH /repos/alice/plot/git/refs/heads/main", `{"sha": "` + group + `"}`, 422, rules},
			{"POST /repos/alice/plot/pulls", `{"title": "x", "head": "` + ref + `", "base": "main"}`, 422, "head"},
			{"POST /repos/alice/plot/git/refs", `{"ref": "refs/heads/` + queued + `", "sha": "` + group +
				`"}`, 422, denied},
			{"POST /repos/alice/plot/branches/single/rename", `{"new_name": "` + queued + `"}`, 422, denied},
			{"PUT /repos/alice/plot/contents/x", `{"message": "x", "content": "eA==", "branch": "main"}`, 409, rules},
			{"PUT /repos/alice/plot/contents/x", `{"message": "x", "content": "eA==", "branch": "` + ref +
				`"}`, 409, denied},
			{"POST /repos/alice/plot/merges", `{"base": "main", "head": "b1"}`, 409, rules},
			{"PATCH /repos/alice/plot/pulls/2", `{"base": "` + ref + `"}`, 422, "base"},
		} {
			if got := string(w.Ask(t, "alice", c.do, c.send, c.status).Body); !strings.Contains(got, c.want) {
				t.Errorf("%s: %s, want %q", c.do, got, c.want)
			}
		}
		if got := w.groups(t)[1]; got != group {
			t.Errorf("the group is %q, was %q", got, group)
		}
	})
}

// A branch with a merge queue is not created with commits that did not go through a queue, not even instead of one
// that was deleted. It may get another name.
func TestMergeQueueOfNewBranches(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newWaiters(t, s, 1)
		main, evil := w.Tip(t, "alice", w.name, "main"), w.head(t, 1)
		ref := func(name, sha string) string { return fmt.Sprintf(`{"ref": "refs/heads/%s", "sha": %q}`, name, sha) }
		w.Ask(t, "will", "POST /repos/alice/plot/git/refs", ref("stable/1", main), 201)
		w.Ask(t, "alice", "POST /repos/alice/plot/rulesets", `{"name": "q", "enforcement": "active", "conditions": {"ref_name":
			{"include": ["refs/heads/stable/*"], "exclude": []}}, "rules": [`+queueRule("")+`]}`, 201)
		w.Ask(t, "will", "PATCH /repos/alice/plot/git/refs/heads/stable/1", `{"sha": "`+evil+`"}`, 422)
		w.Ask(t, "will", "POST /repos/alice/plot/branches/stable%2F1/rename", `{"new_name": "stable/2"}`, 201)
		w.Ask(t, "will", "DELETE /repos/alice/plot/git/refs/heads/stable/2", "", 204)
		w.Ask(t, "will", "POST /repos/alice/plot/git/refs", ref("evil", evil), 201)
		for do, send := range map[string]string{
			"POST /repos/alice/plot/git/refs":             ref("stable/2", evil),
			"POST /repos/alice/plot/branches/evil/rename": `{"new_name": "stable/2"}`,
		} {
			if got := string(w.Ask(t, "will", do, send, 422).Body); !strings.Contains(got, "through the merge queue") {
				t.Errorf("%s: %s", do, got)
			}
		}
		w.Ask(t, "will", "POST /repos/alice/plot/git/refs", ref("stable/2", main), 201)
	})
}

// Pull requests that are merged together count each with its own approvals and code owners, and the right of the one
// who enqueued it. One
// that lacks something leaves the queue, and the others are merged.
func TestMergeQueueAsksForEach(t *testing.T) {
	t.Parallel()
	const owners = `{"type": "pull_request", "parameters": {"required_approving_review_count": 0,
		"dismiss_stale_reviews_on_push": false, "require_code_owner_review": true, "require_last_push_approval": false,
		"required_review_thread_resolution": false}}`
	approve := func(t *testing.T, w waiters, who string, n int64) {
		t.Helper()
		w.Ask(t, who, fmt.Sprintf("POST /repos/alice/plot/pulls/%d/reviews", n), `{"event": "APPROVE"}`, 200)
	}
	dismiss := func(t *testing.T, w waiters, n int64) {
		t.Helper()
		var list []struct{ ID int64 }
		w.Ask(t, "alice", fmt.Sprintf("GET /repos/alice/plot/pulls/%d/reviews", n), "", 200).JSON(t, &list)
		w.Ask(t, "alice", fmt.Sprintf("PUT /repos/alice/plot/pulls/%d/reviews/%d/dismissals", n, list[0].ID),
			`{"message": "no"}`, 200)
	}
	for _, c := range []struct {
		name   string
		rules  string
		before func(t *testing.T, w waiters) // the pull requests join
		after  func(t *testing.T, w waiters) // #2 lacks something
	}{
		{"approval", needsReview("false"), func(t *testing.T, w waiters) {
			for n := range int64(3) {
				approve(t, w, "alice", n+1)
			}
		}, func(t *testing.T, w waiters) { dismiss(t, w, 2) }},
		{"code owner", owners, func(t *testing.T, w waiters) {
			for n := range int64(3) {
				approve(t, w, "alice", n+1)
			}
		}, func(t *testing.T, w waiters) { dismiss(t, w, 2) }},
		{"pusher", "", func(t *testing.T, w waiters) {}, func(t *testing.T, w waiters) {
			w.Ask(t, "alice", "PUT /repos/alice/plot/branches/main/protection", `{"required_status_checks": null,
				"enforce_admins": true, "required_pull_request_reviews": null,
					"restrictions": {"users": ["alice"], "teams": [],
				"apps": []}}`, 200)
		}},
		{"suspended", "", func(t *testing.T, w waiters) {}, func(t *testing.T, w waiters) {
			if err := w.DB.Write(t.Context(), func(tx *db.Tx) error {
				return tx.Run(`UPDATE accounts SET suspended_at = $1 WHERE login = 'will'`, tx.Now)
			}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				w := newWaiters(t, s, 3)
				w.Ask(t, "alice", "PUT /repos/alice/plot/contents/CODEOWNERS",
					`{"message": "o", "content": "KiBAYWxpY2UK", "branch": "main"}`, 201) // * @alice
				rules := needsCI + "," +
					queueRule(`{"min_entries_to_merge": 3, "min_entries_to_merge_wait_minutes": 60}`)
				if c.rules != "" {
					rules += "," + c.rules
				}
				set := w.rule(t, rules)
				w.ready(t, 1, 2, 3)
				c.before(t, w)
				w.mustEnqueue(t, "alice", 1)
				w.mustEnqueue(t, "will", 2)
				w.mustEnqueue(t, "alice", 3)
				w.Settle(t)
				for _, n := range []int64{1, 2} {
					w.report(t, n, "success")
				}
				c.after(t, w)
				w.Ask(t, "alice", fmt.Sprintf("PUT /repos/alice/plot/rulesets/%d", set), `{"rules": [`+
					strings.Replace(rules, `"min_entries_to_merge":3`, `"min_entries_to_merge":1`, 1)+`]}`, 200)
				if sha := w.groups(t)[3]; sha != "" {
					w.Ask(t, "alice", "POST /repos/alice/plot/statuses/"+sha,
						`{"context": "ci", "state": "success"}`, 201)
				}
				w.Settle(t)
				if why := w.left(t, 2); why != "BRANCH_PROTECTIONS" {
					t.Errorf("#2 left: %q", why)
				}
				if w.groups(t)[3] != "" { // built again without #2
					w.report(t, 3, "success")
				}
				for n, want := range map[int64]bool{1: true, 2: false, 3: true} {
					if is := read(t, w.Server, "alice", w.name, n).MergedBy != nil; is != want {
						t.Errorf("#%d merged: %v, want %v", n, is, want)
					}
				}
			})
		})
	}
}

// What a change does to a pull request in the queue, and to what is built on it: the table of package pull.
func TestMergeQueueTransitions(t *testing.T) {
	t.Parallel()
	type world = waiters
	ask := func(who, do, send string, status int) func(t *testing.T, w world) {
		return func(t *testing.T, w world) { t.Helper(); w.Ask(t, who, do, send, status) }
	}
	const pull = "/repos/alice/plot/pulls/1"
	for _, c := range []struct {
		name   string
		change func(t *testing.T, w world)
		why    string // #1 left; empty: it stays, and is merged after new checks
	}{
		{"dequeued", func(t *testing.T, w world) {
			if got := w.graph(t, "sam", fmt.Sprintf(`mutation{dequeuePullRequest(input:{id:%q}){mergeQueueEntry{position
				mergeQueue{id} pullRequest{number}}}}`, w.node(t, 1))); !strings.Contains(got, `"position":1`) {
				t.Errorf("the entry that left: %s", got)
			}
		}, "MANUAL"},
		{"closed", ask("sam", "PATCH "+pull, `{"state": "closed"}`, 200), "MANUAL"},
		{"draft", func(t *testing.T, w world) { w.mutate(t, "sam", "convertPullRequestToDraft", 1, "") }, "MANUAL"},
		{"base", ask("sam", "PATCH "+pull, `{"base": "single"}`, 200), "MANUAL"},
		{"push", func(t *testing.T, w world) { commit(t, w.Server, "alice/plot", "b0", "more", "more") }, "MANUAL"},
		{"rule", ask("alice", "DELETE /repos/alice/plot/rulesets/1", "", 204), "QUEUE_CLEARED"},
		{"disabled", ask("alice", "PUT /repos/alice/plot/rulesets/1", `{"enforcement": "disabled"}`, 200),
			"QUEUE_CLEARED"},
		{"right", ask("alice", "DELETE /repos/alice/plot/collaborators/will", "", 204), "BRANCH_PROTECTIONS"},
		{"suspended", ask("chief", "PUT /users/will/suspended", "", 204), "BRANCH_PROTECTIONS"},
		{"review", func(t *testing.T, w world) {
			w.rule(t, needsReview("false"))
			w.Settle(t)
		}, "BRANCH_PROTECTIONS"},
		{"bypass", func(t *testing.T, w world) {
			w.Ask(t, "alice", "PUT /repos/alice/plot/rulesets/1",
				`{"bypass_actors": [{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"}]}`, 200)
			w.Ask(t, "alice", "PUT "+pull+"/merge", "", 200)
		}, "ALREADY_MERGED"},
		{"base moved", func(t *testing.T, w world) {
			w.Ask(t, "alice", "PUT /repos/alice/plot/rulesets/1",
				`{"bypass_actors": [{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"}]}`, 200)
			commit(t, w.Server, "alice/plot", "main", "elsewhere", "x")
		}, ""},
		{"archived for a while", func(t *testing.T, w world) {
			w.Ask(t, "alice", "PATCH /repos/alice/plot", `{"archived": true}`, 200)
			w.Settle(t)
			w.Ask(t, "alice", "PATCH /repos/alice/plot", `{"archived": false}`, 200)
		}, ""},
		{"private", ask("alice", "PATCH /repos/alice/plot", `{"private": true}`, 200), ""},
		{"conflict", func(t *testing.T, w world) {
			w.Ask(t, "alice", "PUT /repos/alice/plot/rulesets/1",
				`{"bypass_actors": [{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"}]}`, 200)
			commit(t, w.Server, "alice/plot", "main", "b0/1", "other")
		}, "MERGE_CONFLICT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				w := newQueue(t, s, 2, needsCI, queueRule(""))
				s.Admin(t, "chief")
				w.ready(t, 1, 2)
				w.mustEnqueue(t, "will", 1)
				w.mustEnqueue(t, "alice", 2)
				w.Settle(t)
				before := w.groups(t)
				if len(before) != 2 {
					t.Fatalf("the groups are %v", before)
				}
				c.change(t, w)
				w.Settle(t)
				if why := w.left(t, 1); why != c.why {
					t.Errorf("#1 left: %q, want %q", why, c.why)
				}
				after, line := w.groups(t), w.line(t)
				if len(line) != len(after) {
					t.Errorf("of the line %v there are the groups %v", line, after)
				}
				if c.why != "" && after[1] != "" || c.why != "" && len(line) > 1 {
					t.Errorf("#1 left the line %v with the groups %v", line, after)
				}
				for _, n := range line {
					if c.name != "private" && !strings.HasPrefix(c.name, "archived") && after[n] == before[n] {
						t.Errorf("#%d was not built again", n)
					}
					w.report(t, n, "success")
					if read(t, w.Server, "alice", w.name, n).MergedBy == nil {
						t.Errorf("#%d was not merged after all", n)
					}
				}
			})
		})
	}
}

// A queue goes on in a repository with another name or another owner, as far as those who enqueued may still push, and
// ends with the repository.
func TestMergeQueueFollowsItsRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newQueue(t, s, 4, needsCI, queueRule(""))
		s.Users(t, "erin")
		s.Org(t, "guild", "alice")
		w.ready(t, 1, 2, 3, 4)
		w.mustEnqueue(t, "will", 1, 2, 3, 4)
		w.Settle(t)
		merge := func(n int64) {
			t.Helper()
			w.report(t, n, "success")
			if p := read(t, w.Server, "alice", w.name, n); p.MergedBy == nil || p.MergedBy.Login != "will" {
				t.Errorf("#%d of %s was merged by %+v", n, w.name, p.MergedBy)
			}
		}
		w.Ask(t, "alice", "PATCH /repos/alice/plot", `{"name": "patch"}`, 200)
		w.name = "alice/patch"
		w.Settle(t)
		merge(1)
		w.Ask(t, "alice", "POST /repos/alice/patch/transfer", `{"new_owner": "guild"}`, 202)
		w.name = "guild/patch"
		w.Settle(t)
		if line := w.line(t); len(line) != 3 {
			t.Fatalf("the line after the transfer: %v", line)
		}
		merge(2)
		w.Ask(t, "alice", "DELETE /repos/guild/patch/collaborators/will", "", 204)
		w.Settle(t)
		for _, n := range []int64{3, 4} {
			if why := w.left(t, n); why != "BRANCH_PROTECTIONS" {
				t.Errorf("#%d left: %q", n, why)
			}
		}
		w.mustEnqueue(t, "alice", 3, 4)
		w.Settle(t)
		if groups := w.groups(t); len(groups) != 2 {
			t.Fatalf("the groups are %v", groups)
		}
		w.Ask(t, "alice", "DELETE /repos/guild/patch", "", 204)
		w.Settle(t)
		for _, table := range []string{"merge_queues", "queue_entries", "merge_groups"} {
			var left int
			testkit.NoError(t, w.DB.Read(t.Context(), func(tx *db.Tx) error {
				return tx.QueryRow(`SELECT COUNT(*) FROM ` + table).Scan(&left)
			}))
			if left > 0 {
				t.Errorf("%d rows of %s remain", left, table)
			}
		}
	})
}

// What an App's bot put into a queue leaves as soon as its installation is suspended or gone.
func TestMergeQueueOfApp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, do string }{
		{"suspended", "PUT /app/installations/1/suspended"}, {"uninstalled", "DELETE /app/installations/1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				w := newQueue(t, s, 2, needsCI, queueRule(""))
				a := w.Bot(t, "robot", "alice", "metadata=read,contents=write,pull_requests=write,statuses=write")
				w.ready(t, 1, 2)
				w.mustEnqueue(t, "robot[bot]", 1)
				w.mustEnqueue(t, "will", 2)
				w.Settle(t)
				w.Check(t, apitest.Case{Do: c.do, Headers: a.Signed(t), Status: 204})
				w.Settle(t)
				if why := w.left(t, 1); why != "BRANCH_PROTECTIONS" {
					t.Errorf("#1 left: %q", why)
				}
				w.report(t, 2, "success")
				if read(t, w.Server, "alice", w.name, 2).MergedBy == nil {
					t.Error("#2 was not merged")
				}
			})
		})
	}
}

// The queue of a renamed branch goes on, that of a deleted one ends with its pull requests.
func TestMergeQueueFollowsItsBranch(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newWaiters(t, s, 2)
		w.Ask(t, "alice", "POST /repos/alice/plot/rulesets", `{"name": "all", "target": "branch", "enforcement": "active",
			"conditions": {"ref_name": {"include": ["~ALL"], "exclude": ["refs/heads/b*"]}}, "rules": [`+
			strings.Replace(needsCI, `"strict`, `"do_not_enforce_on_create": true, "strict`,
				1)+`,`+queueRule("")+`]}`, 201)
		w.ready(t, 1, 2)
		w.mustEnqueue(t, "will", 1, 2)
		w.Settle(t)
		w.Ask(t, "alice", "POST /repos/alice/plot/branches/main/rename", `{"new_name": "trunk"}`, 201)
		w.Settle(t)
		groups := w.groups(t)
		if len(groups) != 2 {
			t.Fatalf("the groups are %v", groups)
		}
		w.Run(t, []apitest.Case{{Do: "GET /repos/alice/plot/git/matching-refs/heads/" + queued + "/trunk/", As: "alice",
			Status: 200, Want: `[{"ref": "$any"}, {"ref": "$any"}]`},
			{Do: "GET /repos/alice/plot/git/matching-refs/heads/" + queued + "/main/", As: "alice",
				Status: 200, Want: `[]`}})
		w.report(t, 1, "success")
		if p := read(t, w.Server, "alice", w.name, 1); p.MergedBy == nil {
			t.Error("#1 was not merged into trunk")
		}
		w.Ask(t, "alice", "PATCH /repos/alice/plot", `{"default_branch": "single"}`, 200)
		w.Ask(t, "alice", "DELETE /repos/alice/plot/git/refs/heads/trunk", "", 204)
		w.Settle(t)
		if why := w.left(t, 2); why != "MANUAL" {
			t.Errorf("#2 left: %q", why)
		}
		if groups := w.groups(t); len(groups) > 0 {
			t.Errorf("there remain %v", groups)
		}
	})
}

// The parameters of the rule: methods, how many are built and merged at one time, how groups count.
func TestMergeQueueParameters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, more string
		groups     int // that are built of three
		report     map[int64]string
		merged     []int64 // after the reports
		parents    int     // of #1's commit, if it is merged
	}{
		{"one at a time", `{"max_entries_to_build": 1}`, 1, map[int64]string{1: "success"}, []int64{1}, 2},
		{"squash", `{"merge_method": "SQUASH", "max_entries_to_build": 1}`, 1, map[int64]string{1: "success"},
			[]int64{1}, 1},
		{"rebase", `{"merge_method": "REBASE", "max_entries_to_build": 1}`, 1, map[int64]string{1: "success"},
			[]int64{1}, 1},
		{"not yet enough", `{"min_entries_to_merge": 2, "min_entries_to_merge_wait_minutes": 60}`, 3,
			map[int64]string{1: "success"}, nil, 0},
		{"enough", `{"min_entries_to_merge": 2, "min_entries_to_merge_wait_minutes": 60}`, 3,
			map[int64]string{1: "success", 2: "success"}, []int64{1, 2}, 2},
		{"the head counts", `{"grouping_strategy": "HEADGREEN", "min_entries_to_merge": 3,
			"min_entries_to_merge_wait_minutes": 60}`, 3,
			map[int64]string{1: "failure", 2: "failure", 3: "success"}, []int64{1, 2, 3}, 2},
		{"all fail", `{"grouping_strategy": "HEADGREEN", "max_entries_to_merge": 2}`, 3,
			map[int64]string{1: "failure", 2: "failure"}, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				w := newQueue(t, s, 3, needsCI, queueRule(c.more))
				w.ready(t, 1, 2, 3)
				w.mustEnqueue(t, "will", 1, 2, 3)
				w.Settle(t)
				if n := len(w.groups(t)); n != c.groups {
					t.Fatalf("%d groups, want %d", n, c.groups)
				}
				for _, n := range []int64{1, 2, 3} {
					if state := c.report[n]; state != "" {
						w.report(t, n, state)
					}
				}
				for n := range int64(3) {
					p, want := read(t, w.Server, "alice", w.name, n+1), false
					for _, m := range c.merged {
						want = want || m == n+1
					}
					if is := p.MergedBy != nil; is != want {
						t.Errorf("#%d merged: %v, want %v", n+1, is, want)
					}
					if n == 0 && want {
						if got := readCommit(t, w.Server, *p.MergeCommit); len(got.Parents) != c.parents {
							t.Errorf("#1's commit has %d parents, want %d", len(got.Parents), c.parents)
						}
					}
				}
				if c.name == "all fail" && w.left(t, 1) != "CI_FAILURE" {
					t.Errorf("#1 left: %q", w.left(t, 1))
				}
			})
		})
	}
}

// Rules that make no sense are refused, and others are shown as they were given.
func TestMergeQueueRule(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newWaiters(t, s, 1)
		for _, more := range []string{`{"check_response_timeout_minutes": 0}`, `{"max_entries_to_build": 101}`,
			`{"max_entries_to_merge": -1}`, `{"min_entries_to_merge_wait_minutes": 361}`,
			`{"grouping_strategy": "RED"}`,
			`{"merge_method": "merge"}`} {
			w.Run(t, []apitest.Case{{Do: "POST /repos/alice/plot/rulesets", As: "alice", Send: `{"name": "q",
				"enforcement": "active", "rules": [` + queueRule(more) + `]}`, Status: 422}})
		}
		w.rule(t, queueRule(""))
		w.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/plot/rules/branches/main", Status: 200, Want: `[{"type": "merge_queue", "parameters":
				{"merge_method": "MERGE", "grouping_strategy": "ALLGREEN", "check_response_timeout_minutes": 60}}]`},
			{Do: "GET /repos/alice/plot/pulls/1", As: "will", Status: 200, Want: `{"mergeable_state": "clean"}`},
		})
		got := w.graph(t, "will", `{repository(owner:"alice",name:"plot"){mergeQueue{id url nextEntryEstimatedTimeToMerge
			configuration{mergeMethod mergingStrategy maximumEntriesToBuild checkResponseTimeout}
			entries(first:1){totalCount}} none:mergeQueue(branch:"single"){id}
			pullRequest(number:1){isMergeQueueEnabled isInMergeQueue mergeQueue{id} mergeQueueEntry{id}}
			rulesets(first:1){nodes{rules(first:5){nodes{type parameters{...on MergeQueueParameters{mergeMethod}}}}}}}}`)
		for _, want := range []string{`"mergeMethod":"MERGE"`, `"mergingStrategy":"ALLGREEN"`, `"none":null`,
			`"isMergeQueueEnabled":true`, `"isInMergeQueue":false`, `"mergeQueueEntry":null`, `"type":"MERGE_QUEUE"`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s", got, want)
			}
		}
		// Auto-merge of what can be merged, as gh asks for it, joins the queue; without required checks it is merged.
		w.enable(t, "will", 1, "")
		if by := w.settled(t, 1); by != "will" {
			t.Errorf("merged by %q", by)
		}
	})
}

// With auto-merge a pull request joins the queue once its own requirements are met.
func TestMergeQueueAfterAutoMerge(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newQueue(t, s, 2, needsCI, queueRule(""))
		w.ready(t, 2)
		w.mustEnqueue(t, "will", 2)
		w.enable(t, "will", 1, "")
		w.Settle(t)
		if line := w.line(t); len(line) != 1 {
			t.Fatalf("the line is %v", line)
		}
		w.ready(t, 1)
		w.Settle(t)
		if line := w.line(t); len(line) != 2 {
			t.Fatalf("the line is %v", line)
		}
		w.collaborator(t, "will", "admin")
		if got := w.enqueue(t, "sam", 1, ""); !strings.Contains(got, "Must have push access") {
			t.Errorf("enqueued by sam: %s", got)
		}
		w.graph(t, "alice", fmt.Sprintf(`mutation{dequeuePullRequest(input:{id:%q}){clientMutationId}}`, w.node(t, 1)))
		if got := w.enqueue(t, "alice", 1, ",jump:true"); !strings.Contains(got, `"position":1`) {
			t.Errorf("jumped: %s", got)
		}
		w.Settle(t)
		if groups := w.groups(t); len(groups) != 2 || readCommit(t, w.Server, groups[2]).Parents[0].SHA != groups[1] {
			t.Errorf("after the jump: %v", groups)
		}
	})
}

// Two nodes that work one queue at once build each group once and merge each pull request once.
func TestMergeQueueOnTwoNodes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const n = 4
		w := newQueue(t, s, n, needsCI, queueRule(""))
		w.ready(t, 1, 2, 3, 4)
		w.mustEnqueue(t, "will", 1, 2, 3, 4)
		other := forge.New(s.DB, s.Git, slog.New(slog.DiscardHandler), s.Dir)
		both := func() {
			t.Helper()
			var nodes sync.WaitGroup
			for _, pulls := range []*pull.Service{s.Forge.Pulls, other.Pulls} {
				nodes.Go(func() { _ = pulls.Settle(t.Context()) })
			}
			nodes.Wait()
			w.Settle(t)
		}
		both()
		groups := w.groups(t)
		if len(groups) != n {
			t.Fatalf("the groups are %v", groups)
		}
		for _, sha := range groups {
			w.Ask(t, "alice", "POST /repos/alice/plot/statuses/"+sha, `{"context": "ci", "state": "success"}`, 201)
		}
		both()
		if tip := w.Tip(t, "alice", w.name, "main"); tip != groups[n] {
			t.Errorf("main is %s, want %s", tip, groups[n])
		}
		for number := range int64(n) {
			if why := w.left(t, number+1); why != "MERGE" {
				t.Errorf("#%d left: %q", number+1, why)
			}
		}
		if groups := w.groups(t); len(groups) != 0 {
			t.Errorf("there remain %v", groups)
		}
	})
}

// A group whose checks do not complete in time counts as failed.
func TestMergeQueueTimesOut(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newQueue(t, s, 2, needsCI, queueRule(""))
		w.ready(t, 1, 2)
		w.mustEnqueue(t, "will", 1, 2)
		w.Settle(t)
		for _, hours := range []int64{0, 2} {
			if err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
				return tx.Run(`UPDATE merge_groups SET made_at = made_at - $1 WHERE ref LIKE '%/pr-1-%'`,
					hours*3_600_000_000)
			}); err != nil {
				t.Fatal(err)
			}
			w.report(t, 1, "pending") // wakes the queue
			if line := w.line(t); hours == 0 && len(line) != 2 {
				t.Fatalf("the line is %v", line)
			}
		}
		if why := w.left(t, 1); why != "CI_TIMEOUT" {
			t.Errorf("#1 left: %q", why)
		}
		if line := w.line(t); len(line) != 1 || w.groups(t)[2] == "" {
			t.Errorf("the line is %v", line)
		}
	})
}
