package accounts_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Webhooks hear that a pull request joins a merge queue, that checks of its group are requested, and why both end.
func TestMergeQueueIsTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Ask(t, "alice", "POST /user/repos", `{"name": "garden", "auto_init": true}`, 201)
		r := receive(t, nil)
		tip := s.Tip(t, "alice", "alice/garden", "main")
		for _, c := range [][2]string{
			{"POST " + garden + "/git/refs", `{"ref": "refs/heads/peas", "sha": "` + tip + `"}`},
			{"PUT " + garden + "/contents/peas", `{"message": "Sow", "content": "eA==", "branch": "peas"}`},
			{"POST " + garden + "/pulls", `{"title": "Sow peas", "head": "peas", "base": "main"}`},
			{"POST " + garden + "/rulesets", `{"name": "queue", "enforcement": "active", "conditions": {"ref_name": {"include":
				["refs/heads/main"], "exclude": []}}, "rules": [{"type": "merge_queue"},
					{"type": "required_status_checks",
				"parameters": {"required_status_checks": [{"context": "ci"}],
				"strict_required_status_checks_policy": false}}]}`},
		} {
			s.Ask(t, "alice", c[0], c[1], 201)
		}
		report := func(sha, state string) {
			t.Helper()
			s.Ask(t, "alice", "POST "+garden+"/statuses/"+sha, `{"context": "ci", "state": "`+state+`"}`, 201)
		}
		report(s.Tip(t, "alice", "alice/garden", "peas"), "success")
		hookOn(t, s, garden, "alice", r, `["merge_group", "pull_request"]`)
		var pull struct {
			NodeID string `json:"node_id"`
		}
		s.Ask(t, "alice", "GET "+garden+"/pulls/1", "", 200).JSON(t, &pull)
		for _, c := range []struct{ state, events, left, ended string }{
			{"failure", "pull_request.dequeued merge_group.destroyed", "CI_FAILURE", "dequeued"},
			{"success", "pull_request.closed pull_request.dequeued merge_group.destroyed", "MERGE", "merged"},
		} {
			query := fmt.Sprintf(`mutation{enqueuePullRequest(input:{pullRequestId:%q}){clientMutationId}}`,
				pull.NodeID)
			body, _ := json.Marshal(map[string]string{"query": query})
			s.Ask(t, "alice", "POST /graphql", string(body), 200)
			s.Settle(t)
			got := r.expect(t, "pull_request.enqueued merge_group.checks_requested")
			var group struct {
				Group struct {
					Head string `json:"head_sha"`
					Ref  string `json:"head_ref"`
				} `json:"merge_group"`
			}
			if err := json.Unmarshal(got[1].Body, &group); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(group.Group.Ref, "refs/heads/gh-readonly-queue/main/pr-1-"+tip) {
				t.Errorf("the branch of the group is %s", group.Group.Ref)
			}
			const is = `{"merge_group": {"base_ref": "refs/heads/main", "base_sha": %q, "head_commit": {"id": %q, "tree_id":
				"$any", "message": "Merge pull request #1 from alice/peas\n\nSow peas", "timestamp": "$any",
					"author": {"name":
				"alice", "email": "$any"}, "committer": {"name": "$any", "email": "$any"}}},
					"repository": {"name": "garden"},
				"sender": {"login": "alice"}}`
			if err := apitest.Contains(got[1].Body, fmt.Sprintf(is, tip, group.Group.Head)); err != nil {
				t.Error(err)
			}
			report(group.Group.Head, c.state)
			s.Settle(t)
			got = r.expect(t, c.events)
			last := len(got) - 1
			for n, reason := range map[int]string{last - 1: c.left, last: c.ended} {
				if err := apitest.Contains(got[n].Body, `{"reason": "`+reason+`"}`); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
