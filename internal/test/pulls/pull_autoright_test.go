package pulls_test

import (
	"fmt"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// newOrgWaiters is newWaiters with one pull request in guild/plot. will is a member of the organization, whose members
// may push, and chief is a site administrator.
func newOrgWaiters(t *testing.T, s *apitest.Server) waiters {
	t.Helper()
	orchard(t, s, 1)
	s.Admin(t, "chief")
	s.Org(t, "guild", "alice")
	s.Ask(t, "alice", "DELETE /repos/alice/plot/collaborators/will", "", 204)
	s.Ask(t, "alice", "PATCH /orgs/guild", `{"default_repository_permission": "write"}`, 200)
	s.Ask(t, "chief", "PUT /orgs/guild/memberships/will", `{"role": "member"}`, 200)
	s.Ask(t, "alice", "POST /repos/alice/plot/transfer", `{"new_owner": "guild"}`, 202)
	w := waiters{s, "guild/plot"}
	w.Ask(t, "alice", "PATCH /repos/guild/plot", `{"allow_auto_merge": true}`, 200)
	w.rule(t, needsCI)
	w.enable(t, "will", 1, "")
	w.Settle(t)
	return w
}

// Who may not merge any more does not merge by what was enabled before, whichever way the right was lost.
func TestAutoMergeEndsWithTheRight(t *testing.T) {
	t.Parallel()
	ask := func(who, do, send string, status int) func(t *testing.T, w waiters) {
		return func(t *testing.T, w waiters) { t.Helper(); w.Ask(t, who, do, send, status) }
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, w waiters)
		waits  bool // auto-merge goes on waiting
		gone   bool // nobody is told, since the account is gone
	}{
		{name: "removed", change: ask("alice", "DELETE /orgs/guild/members/will", "", 204)},
		{name: "default permission", change: ask("alice", "PATCH /orgs/guild",
			`{"default_repository_permission": "read"}`, 200)},
		{name: "suspended", change: ask("chief", "PUT /users/will/suspended", "", 204)},
		{name: "deleted", gone: true, change: func(t *testing.T, w waiters) {
			testkit.NoError(t, w.Forge.Accounts.Delete(t.Context(), nil, account.User, "will"))
		}},
		{name: "transferred", change: func(t *testing.T, w waiters) {
			w.Org(t, "other", "alice")
			w.Ask(t, "alice", "POST /repos/guild/plot/transfer", `{"new_owner": "other"}`, 202)
		}},
		{name: "archived", waits: true, change: ask("alice", "PATCH /repos/guild/plot", `{"archived": true}`, 200)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				w := newOrgWaiters(t, s)
				c.change(t, w)
				if c.name == "transferred" {
					w.name = "other/plot"
				}
				if !c.waits {
					w.status(t, "success")
				}
				if by := w.settled(t, 1); by != "" {
					t.Fatalf("merged by %s", by)
				}
				if why := w.ended(t, 1); !c.waits && !c.gone && why != "The user who enabled auto-merge lost write access" {
					t.Errorf("ended: %q", why)
				}
				if c.waits {
					w.Ask(t, "alice", "PATCH /repos/guild/plot", `{"archived": false}`, 200)
					w.status(t, "success")
					if by := w.settled(t, 1); by != "will" {
						t.Errorf("merged by %q, want will", by)
					}
				}
			})
		})
	}
}

// A rule of an organization counts like one of the repository, and its end as well.
func TestAutoMergeFollowsOrganizationRules(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newOrgWaiters(t, s)
		var made struct{ ID int64 }
		w.Ask(t, "alice", "POST /orgs/guild/rulesets", `{"name": "all", "target": "branch", "enforcement": "active",
			"conditions": {"ref_name": {"include": ["~ALL"], "exclude": []}, "repository_name": {"include": ["~ALL"],
			"exclude": []}}, "rules": [`+needsReview("false")+`]}`, 201).JSON(t, &made)
		w.status(t, "success")
		if by := w.settled(t, 1); by != "" {
			t.Fatalf("merged by %s", by)
		}
		w.Ask(t, "alice", fmt.Sprint("DELETE /orgs/guild/rulesets/", made.ID), "", 204)
		if by := w.settled(t, 1); by != "will" {
			t.Errorf("merged by %q, want will", by)
		}
	})
}

// The bot of an App merges by the rights of its installation, and no longer once that is gone.
func TestAutoMergeByApp(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newWaiters(t, s, 2)
		a := w.Bot(t, "robot", "alice", "metadata=read,contents=write,pull_requests=write,statuses=write")
		w.rule(t, needsCI)
		report := func(number int64) {
			t.Helper()
			w.Ask(t, "alice", "POST /repos/alice/plot/statuses/"+w.head(t, number), `{"context": "ci", "state": "success"}`, 201)
		}
		w.enable(t, "robot[bot]", 1, "")
		w.enable(t, "robot[bot]", 2, "")
		report(1)
		if by := w.settled(t, 1); by != "robot[bot]" {
			t.Errorf("merged by %q, want robot[bot]", by)
		}
		id := account.InstallationID(1)
		w.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE /app/installations/%d", id), Headers: a.Signed(t), Status: 204})
		report(2)
		if by := w.settled(t, 2); by != "" {
			t.Errorf("merged by %s", by)
		}
		if why := w.ended(t, 2); why != "The user who enabled auto-merge lost write access" {
			t.Errorf("ended: %q", why)
		}
	})
}

// Workers of several nodes, and people who merge by hand, merge each pull request once.
func TestAutoMergeOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const n = 5
		w := newWaiters(t, s, n)
		id := w.rule(t, needsCI)
		for number := range int64(n) {
			w.enable(t, "will", number+1, "")
		}
		w.Settle(t)
		w.Ask(t, "alice", fmt.Sprint("DELETE /repos/alice/plot/rulesets/", id), "", 204)
		done := make(chan error)
		for range 2 {
			go func() { done <- w.Forge.Pulls.Settle(t.Context()) }()
		}
		var byHand []apitest.Case
		for number := range int64(n) {
			byHand = append(byHand, apitest.Case{As: "alice", Do: fmt.Sprintf("PUT /repos/alice/plot/pulls/%d/merge", number+1)})
		}
		w.Together(t, byHand...)
		for range 2 {
			testkit.NoError(t, <-done)
		}
		w.Settle(t)
		merges := 0
		for number := range int64(n) {
			var events []struct{ Event string }
			w.Ask(t, "alice", fmt.Sprintf("GET /repos/alice/plot/issues/%d/events", number+1), "", 200).JSON(t, &events)
			for _, e := range events {
				if e.Event == "merged" {
					merges++
				}
			}
		}
		var commits []struct{ Parents []struct{} }
		w.Ask(t, "alice", "GET /repos/alice/plot/commits?per_page=100", "", 200).JSON(t, &commits)
		joined := 0
		for _, c := range commits {
			if len(c.Parents) == 2 {
				joined++
			}
		}
		if merges != n || joined != n {
			t.Errorf("%d events and %d merge commits for %d pull requests", merges, joined, n)
		}
	})
}
