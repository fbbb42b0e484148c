package fsck

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A queue that has lost branches, has some too many or holds a closed pull request is repaired, and builds its groups
// again.
func TestSpoiltQueuesAreRepaired(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/garden", false)
		dir := gittest.Repository(t, 1, 2)
		s.Import(t, r, dir)
		const garden = "/repos/alice/garden"
		tip := gittest.Run(t, dir, "rev-parse", "main")
		s.Ask(t, "alice", "POST "+garden+"/rulesets", `{"name": "q", "enforcement": "active", "conditions": {"ref_name":
			{"include": ["refs/heads/main"], "exclude": []}}, "rules": [{"type": "merge_queue"}, {"type":
			"required_status_checks", "parameters": {"required_status_checks": [{"context": "ci"}],
			"strict_required_status_checks_policy": false}}]}`, 201)
		for n := range 3 {
			var p struct {
				NodeID string `json:"node_id"`
				Head   struct{ SHA string }
			}
			s.Ask(t, "alice", "POST "+garden+"/git/refs", fmt.Sprintf(`{"ref": "refs/heads/t%d", "sha": %q}`,
				n, tip), 201)
			s.Ask(t, "alice", fmt.Sprint("PUT ", garden, "/contents/file", n),
				fmt.Sprintf(`{"message": "m", "content": "eA==", "branch": "t%d"}`, n), 201)
			s.Ask(t, "alice", "POST "+garden+"/pulls", fmt.Sprintf(`{"title": "t", "head": "t%d", "base": "main"}`, n),
				201).JSON(t, &p)
			s.Ask(t, "alice", "POST "+garden+"/statuses/"+p.Head.SHA, `{"context": "ci", "state": "success"}`, 201)
			got := s.Ask(t, "alice", "POST /graphql", fmt.Sprintf(`{"query":
				"mutation{enqueuePullRequest(input:{pullRequestId:\"%s\"}){clientMutationId}}"}`, p.NodeID), 200).Body
			if strings.Contains(string(got), "errors") {
				t.Fatalf("%s", got)
			}
		}
		s.Settle(t)
		if found := look(t, s, Options{}); !found.Sound() {
			t.Fatal(found.text())
		}
		const groups = `repo_id = 1 AND name LIKE '` + repo.QueueRefs + `main/pr-`
		for _, c := range []struct {
			what, spoil string
			left        int // groups after the repair
		}{
			{"has no branch", `DELETE FROM refs WHERE ` + groups + `2-%'`, 3},
			{"has no branch", `UPDATE refs SET name = '` + repo.QueueRefs + `main/pr-9-x' WHERE ` + groups + `1-%'`, 3},
			{"belongs to no merge group", `UPDATE merge_groups SET ref = ref || 'x' WHERE ref LIKE '%/pr-3-%'`, 3},
			{"#2 is in a merge queue, but", `UPDATE pulls SET base_ref = 't0' WHERE number = 2`, 2},
		} {
			write(t, s, c.spoil)
			if found := look(t, s, Options{}); found.Sound() || !strings.Contains(found.text(), c.what) {
				t.Errorf("%s: %s", c.what, found.text())
			}
			if found := look(t, s, Options{Repair: true}); !found.Sound() {
				t.Errorf("%s is not repaired: %s", c.what, found.text())
			}
			// The worker that met the branch of a group before the repair removed it tries again soon.
			testkit.Eventually(t, func() bool {
				s.Settle(t)
				var refs []struct{ Ref string }
				s.Ask(t, "alice", "GET "+garden+"/git/matching-refs/heads/gh-readonly-queue/", "", 200).JSON(t, &refs)
				return len(refs) == c.left && look(t, s, Options{}).Sound()
			}, fmt.Sprintf("%s: the queue has %d groups after the repair", c.what, c.left))
		}
	})
}
