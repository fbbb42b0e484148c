package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A server that is killed while a merge queue builds a group, or after it acknowledged the last check of a group, goes
// on when it runs again: it builds the group once, merges once, and leaves no branch of a group.
func TestKilledInMergeQueue(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		const rounds = 3
		source := gittest.Repository(t, 2, 5)
		s := serving(t, engine)
		s.user("alice")
		s.repo("alice/garden", source)
		ask := func(method, path, body string, to any) {
			t.Helper()
			res, text := s.do("alice", method, path, http.Header{"Content-Type": {"application/json"}},
				strings.NewReader(body))
			if res.StatusCode/100 != 2 || strings.Contains(text, `"errors"`) {
				t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, text)
			}
			if to != nil {
				testkit.NoError(t, json.Unmarshal([]byte(text), to))
			}
		}
		const garden = "/repos/alice/garden"
		ask("POST", garden+"/rulesets", `{"name": "ci", "enforcement": "active", "conditions": {"ref_name":
			{"include": ["refs/heads/main"], "exclude": []}}, "rules": [{"type": "merge_queue"}, {"type": "required_status_checks", "parameters":
			{"required_status_checks": [{"context": "ci"}], "strict_required_status_checks_policy": false}}]}`, nil)
		for n := range rounds {
			ask("POST", garden+"/git/refs", fmt.Sprintf(`{"ref": "refs/heads/topic%d", "sha": "%s"}`, n,
				gittest.Run(t, source, "rev-parse", "main")), nil)
			ask("PUT", fmt.Sprint(garden, "/contents/file", n), fmt.Sprintf(
				`{"message": "m", "content": "eA==", "branch": "topic%d"}`, n), nil)
			var made struct {
				Number int
				NodeID string `json:"node_id"`
				Head   struct{ SHA string }
			}
			ask("POST", garden+"/pulls", fmt.Sprintf(`{"title": "t", "head": "topic%d", "base": "main"}`, n), &made)
			ask("POST", garden+"/statuses/"+made.Head.SHA, `{"context": "ci", "state": "success"}`, nil)
			ask("POST", "/graphql", fmt.Sprintf(
				`{"query": "mutation{enqueuePullRequest(input:{pullRequestId:\"%s\"}){clientMutationId}}"}`,
				made.NodeID), nil)
			time.Sleep(time.Duration(n) * 5 * time.Millisecond) // another step of the build each time
			s.kill()
			s.start()
			var groups []struct{ Object struct{ SHA string } }
			testkit.Eventually(t, func() bool {
				ask("GET", garden+"/git/matching-refs/heads/gh-readonly-queue/", "", &groups)
				return len(groups) == 1
			}, "the group is built")
			ask("POST", garden+"/statuses/"+groups[0].Object.SHA, `{"context": "ci", "state": "success"}`, nil)
			time.Sleep(time.Duration(n) * 5 * time.Millisecond) // another step of the merge each time
			s.kill()
			s.start()
			path := fmt.Sprint(garden, "/pulls/", made.Number)
			testkit.Eventually(t, func() bool {
				var p struct{ Merged bool }
				ask("GET", path, "", &p)
				return p.Merged
			}, "the pull request is merged")
			var events []struct{ Event string }
			ask("GET", strings.Replace(path, "/pulls/", "/issues/", 1)+"/events", "", &events)
			got := strings.ReplaceAll(fmt.Sprint(events), " {referenced}", "") // what is pushed is read later
			if got != "[{added_to_merge_queue} {merged} {closed} {removed_from_merge_queue}]" {
				t.Errorf("the events are %s", got)
			}
			testkit.Eventually(t, func() bool {
				ask("GET", garden+"/git/matching-refs/heads/gh-readonly-queue/", "", &groups)
				return len(groups) == 0
			}, "the branch of the group goes")
		}
		var commits []struct{ Parents []struct{} }
		ask(http.MethodGet, garden+"/commits?per_page=100", "", &commits)
		merges := 0
		for _, c := range commits {
			if len(c.Parents) == 2 {
				merges++
			}
		}
		if merges != rounds {
			t.Errorf("there are %d merge commits for %d pull requests", merges, rounds)
		}
		s.sound()
	})
}
