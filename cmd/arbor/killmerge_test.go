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

// mergingServer is a server that merges pull requests of alice/garden by itself and is killed while it does.
type mergingServer struct {
	*instance
	t      *testing.T
	source string // a clone of the repository at first
}

const mergingRepo = "/repos/alice/garden"

// startMerging starts a server whose default branch needs the status ci, and has more rules as JSON, each with a comma
// behind it.
func startMerging(t *testing.T, engine db.Engine, more string) *mergingServer {
	t.Helper()
	m := &mergingServer{serving(t, engine), t, gittest.Repository(t, 2, 5)}
	m.user("alice")
	m.repo("alice/garden", m.source)
	m.ask("PATCH", mergingRepo, `{"allow_auto_merge": true}`, nil)
	m.ask("POST", mergingRepo+"/rulesets", `{"name": "ci", "enforcement": "active", "conditions": {"ref_name":
		{"include": ["refs/heads/main"], "exclude": []}}, "rules": [`+more+`{"type": "required_status_checks", "parameters":
		{"required_status_checks": [{"context": "ci"}], "strict_required_status_checks_policy": false}}]}`, nil)
	return m
}

// ask sends a request of alice, which must succeed, and decodes the answer into to unless that is nil.
func (m *mergingServer) ask(method, path, body string, to any) {
	m.t.Helper()
	res, text := m.do("alice", method, path, http.Header{"Content-Type": {"application/json"}}, strings.NewReader(body))
	if res.StatusCode/100 != 2 || strings.Contains(text, `"errors"`) {
		m.t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	if to != nil {
		testkit.NoError(m.t, json.Unmarshal([]byte(text), to))
	}
}

// proposed is a pull request.
type proposed struct {
	Number int
	NodeID string `json:"node_id"`
	Head   struct{ SHA string }
}

// propose creates pull request n.
func (m *mergingServer) propose(n int) (p proposed) {
	m.t.Helper()
	m.ask("POST", mergingRepo+"/git/refs", fmt.Sprintf(`{"ref": "refs/heads/topic%d", "sha": "%s"}`, n,
		gittest.Run(m.t, m.source, "rev-parse", "main")), nil)
	m.ask("PUT", fmt.Sprint(mergingRepo, "/contents/file", n), fmt.Sprintf(
		`{"message": "m", "content": "eA==", "branch": "topic%d"}`, n), nil)
	m.ask("POST", mergingRepo+"/pulls", fmt.Sprintf(`{"title": "t", "head": "topic%d", "base": "main"}`, n), &p)
	return p
}

// mutate sends a mutation about the pull request.
func (m *mergingServer) mutate(mutation string, p proposed) {
	m.t.Helper()
	m.ask("POST", "/graphql", fmt.Sprintf(`{"query": "mutation{%s(input:{pullRequestId:\"%s\"}){clientMutationId}}"}`,
		mutation, p.NodeID), nil)
}

// succeed sets the status ci of a commit to success.
func (m *mergingServer) succeed(sha string) {
	m.t.Helper()
	m.ask("POST", mergingRepo+"/statuses/"+sha, `{"context": "ci", "state": "success"}`, nil)
}

// restart kills the server, at another step of its work for each n, and starts it again.
func (m *mergingServer) restart(n int) {
	m.t.Helper()
	time.Sleep(time.Duration(n) * 5 * time.Millisecond)
	m.kill()
	m.start()
}

// merged waits until the pull request is merged, and demands its events.
func (m *mergingServer) merged(p proposed, want string) {
	m.t.Helper()
	path := fmt.Sprint(mergingRepo, "/pulls/", p.Number)
	testkit.Eventually(m.t, func() bool {
		var now struct{ Merged bool }
		m.ask("GET", path, "", &now)
		return now.Merged
	}, "the pull request is merged")
	var events []struct{ Event string }
	m.ask("GET", strings.Replace(path, "/pulls/", "/issues/", 1)+"/events", "", &events)
	got := strings.ReplaceAll(fmt.Sprint(events), " {referenced}", "") // what is pushed is read later
	if got != want {
		m.t.Errorf("the events are %s", got)
	}
}

// end demands one merge commit for each of so many pull requests, and a sound store.
func (m *mergingServer) end(pulls int) {
	m.t.Helper()
	var commits []struct{ Parents []struct{} }
	m.ask("GET", mergingRepo+"/commits?per_page=100", "", &commits)
	merges := 0
	for _, c := range commits {
		if len(c.Parents) == 2 {
			merges++
		}
	}
	if merges != pulls {
		m.t.Errorf("there are %d merge commits for %d pull requests", merges, pulls)
	}
	m.sound()
}

// A server that is killed after it acknowledged the last thing that a pull request lacked merges it when it runs
// again, and a server that is killed while it merges merges once.
func TestKilledInAutoMerge(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		const rounds = 4
		m := startMerging(t, engine, "")
		for n := range rounds {
			p := m.propose(n)
			m.mutate("enablePullRequestAutoMerge", p)
			m.succeed(p.Head.SHA)
			m.restart(n)
			m.merged(p, "[{auto_merge_enabled} {merged} {closed}]")
		}
		m.end(rounds)
	})
}

// A server that is killed while a merge queue builds a group, or after it acknowledged the last check of a group, goes
// on when it runs again: it builds the group once, merges once, and leaves no branch of a group.
func TestKilledInMergeQueue(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		const rounds = 3
		m := startMerging(t, engine, `{"type": "merge_queue"}, `)
		var groups []struct{ Object struct{ SHA string } }
		built := func(want int) func() bool {
			return func() bool {
				m.ask("GET", mergingRepo+"/git/matching-refs/heads/gh-readonly-queue/", "", &groups)
				return len(groups) == want
			}
		}
		for n := range rounds {
			p := m.propose(n)
			m.succeed(p.Head.SHA)
			m.mutate("enqueuePullRequest", p)
			m.restart(n)
			testkit.Eventually(t, built(1), "the group is built")
			m.succeed(groups[0].Object.SHA)
			m.restart(n)
			m.merged(p, "[{added_to_merge_queue} {merged} {closed} {removed_from_merge_queue}]")
			testkit.Eventually(t, built(0), "the branch of the group goes")
		}
		m.end(rounds)
	})
}
