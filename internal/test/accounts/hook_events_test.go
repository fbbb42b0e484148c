package accounts_test

import (
	"log/slog"
	"slices"
	"testing"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/hook"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Every event of a repository is delivered once and in order. Bots cannot learn of events missing here.
func TestEvents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) { story(t, s) })
}

// story does one of each thing, and returns all that hooks were told.
func story(t *testing.T, s *apitest.Server) (all []*sent) {
	t.Helper()
	r, orgs, id, tip := gardenOfGuild(t, s, `["*"]`)
	do := func(from *receiver, steps ...step) {
		t.Helper()
		for _, x := range steps {
			all = append(all, told(t, s, from, apitest.Case{Do: x.do, As: x.as, Send: x.send, Status: x.status,
				Headers: graduated}, x.names)...)
		}
	}
	const at, plot = "/repos/guild/garden", "/repos/club/plot"
	do(r, slices.Concat(ofIssues(at), ofGit(at, tip), ofPulls(at))...)
	do(r,
		step{"label.created label.created issues.labeled issues.labeled", "alice", "POST " + at +
			"/issues/1/labels",
			`{"labels": ["oak", "ash"]}`, 200, nil},
		step{"commit_comment.created", "bob", "POST " + at + "/commits/" + tip + "/comments",
			`{"body": "Peas!", "path": "a", "position": 1}`, 201, nil},
		step{"pull_request.assigned", "alice", "POST " + at + "/issues/2/assignees", `{"assignees": ["alice"]}`,
			201, nil})
	all = append(all, departures(t, s, r)...)
	all = append(all, orgs.expect(t,
		"repository.created repository.created repository.deleted repository.deleted")...)
	// The organization's webhook gets nothing more of a repository once that was transferred away.
	rest := ofTheRest(at, id)
	leaves := slices.IndexFunc(rest, func(x step) bool { return x.names == "repository.transferred" })
	do(r, rest[:leaves]...)
	all = append(all,
		orgs.expect(t, "repository.edited repository.edited repository.archived repository.unarchived "+
			"repository.renamed repository.privatized repository.publicized")...)
	do(r, rest[leaves:]...)
	do(r, step{"create push release.created release.published release.released", "alice", "POST " + plot +
		"/releases",
		`{"tag_name": "v2"}`, 201, nil},
		step{"delete push release.unpublished", "alice", "DELETE " + plot + "/git/refs/tags/v2", ``, 204, nil},
		step{"repository.transferred", "alice", "POST " + plot + "/transfer", `{"new_owner": "guild"}`, 202,
			nil})
	all = append(all, orgs.expect(t, "repository.transferred")...)
	do(orgs, ofOrganization()...)
	do(orgs, step{"repository.deleted", "alice", "DELETE /repos/circle/plot", ``, 204, nil})
	testkit.NoError(t, s.Server.Forge().Apps.Remove(t.Context(), "ci"))
	testkit.NoError(t, s.Accounts.Delete(t.Context(), nil, account.Organization, "circle"))
	all = append(all, orgs.expect(t, "organization.deleted")...)
	noHooks(t, s)
	return all
}

// gardenOfGuild makes guild/garden with a history, an App that checks it, and hooks of it and of its organization.
func gardenOfGuild(t *testing.T, s *apitest.Server, events string) (r, orgs *receiver, id int64, tip string) {
	t.Helper()
	s.Users(t, "alice", "bob")
	s.Admin(t, "chief")
	s.Org(t, "guild", "alice")
	s.Org(t, "club", "alice")
	s.Import(t, s.Repo(t, "guild/garden", false), gittest.Repository(t, 3, 2))
	r, orgs = receive(t, nil), receive(t, nil)
	id = hookOn(t, s, "/repos/guild/garden", "alice", r, events)
	hookOn(t, s, "/orgs/guild", "alice", orgs, `["repository", "organization"]`)
	s.BotWithHook(t, "ci", "guild", "checks=write", app.Hook{})
	return r, orgs, id, s.Tip(t, "alice", "guild/garden", "main")
}

// noHooks demands that nothing is left of the hooks whose places are gone.
func noHooks(t *testing.T, s *apitest.Server) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		testkit.NoError(t, hook.NewPruner(s.DB, slog.New(slog.DiscardHandler)).Prune(t.Context()))
		return count(t, s, `SELECT COUNT(*) FROM hooks`) == 0
	}, "no hook is left")
}
