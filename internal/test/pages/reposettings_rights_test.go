package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

const deployKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJkTlxB4J7Fyg7gWD6SPEvJ9vKl7GYkYH9cqNoWSqYw3"

// plot makes alice/garden, with a first commit, a webhook, which has the id 1, and a deploy key.
func plot(t *testing.T, s *apitest.Server) (id int64) {
	t.Helper()
	people(t, s)
	var made struct{ ID int64 }
	s.Run(t, []apitest.Case{
		{Do: "POST /user/repos", As: "alice", Send: `{"name": "garden", "auto_init": true}`, Status: 201,
			Keep: func(a *apitest.Answer) { a.JSON(t, &made) }},
		{Do: "POST /repos/alice/garden/hooks", As: "alice", Send: `{"config": {"url": "https://example.org/1"}}`,
			Status: 201},
		{Do: "POST /repos/alice/garden/keys", As: "alice", Send: `{"title": "k", "key": "` + deployKey + `"}`,
			Status: 201},
	})
	return made.ID
}

// A token that is limited does on the pages of a repository and its settings what it does by the API, and no more.
func TestLimitedTokensOnRepositoryPages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		id := plot(t, s)
		const at = "/alice/garden/settings"
		for name, c := range map[string]struct {
			token                                          string
			sets, grants, creates, watches, hooks, removes int
		}{
			"code":      {s.Scoped(t, "alice", "public_repo"), 303, 303, 303, 303, 403, 403},
			"all code":  {s.Scoped(t, "alice", "repo"), 303, 303, 303, 303, 303, 303},
			"hooks":     {s.Scoped(t, "alice", "public_repo,write:repo_hook"), 303, 303, 303, 303, 303, 403},
			"all hooks": {s.Scoped(t, "alice", "public_repo,admin:repo_hook"), 303, 303, 303, 303, 303, 303},
			"people":    {s.Scoped(t, "alice", "read:user"), 403, 403, 403, 403, 403, 403},
			"read":      {s.Fine(t, "alice", false, id), 403, 403, 403, 403, 403, 403},
			"write":     {s.Fine(t, "alice", true, id), 403, 403, 403, 403, 403, 403},
		} {
			short := strings.ReplaceAll(name, " ", "-")
			sendForms(t, s.Server, c.token, []sentForm{{at, "do=topics&topics=" + short, c.sets},
				{at, "do=merging&allow_merge_commit=1&merge_commit_title=PR_TITLE&merge_commit_message=BLANK&" +
					"squash_merge_commit_title=PR_TITLE&squash_merge_commit_message=BLANK", c.sets},
				{at + "/keys", "do=remove&id=999", c.sets}, {at + "/access", "do=add&login=sam&role=push", c.grants},
				{at + "/access", "do=remove&login=sam", c.grants}, {"/alice/garden/star", "", c.creates},
				{"/alice/garden/unstar", "", c.creates}, {"/alice/garden/fork", "", c.creates},
				{"/new", "owner=alice&name=" + short, c.creates}, {"/alice/garden/watch", "", c.watches},
				{"/alice/garden/unwatch", "", c.watches}, {at + "/hooks/1", "do=ping", c.hooks},
				{at + "/hooks/new", "url=https://example.org/" + short + "&content_type=json&which=push", c.hooks}})
			if c.removes == 403 {
				sendForms(t, s.Server, c.token, []sentForm{{at + "/hooks/1", "do=remove", 403},
					{at + "/delete", "confirm=alice/garden", 403}})
			}
		}
		sendForms(t, s.Server, s.Scoped(t, "alice", "repo"), []sentForm{{at + "/hooks/1", "do=remove", 303},
			{at + "/delete", "confirm=alice/garden", 403}})
		sendForms(t, s.Server, s.Scoped(t, "alice", "public_repo,delete_repo"),
			[]sentForm{{at + "/delete", "confirm=alice/garden", 303}})
	})
}

// While the disk is nearly full, no form of a repository and its settings stores anything; forms that only take
// something away work.
func TestRepositoryFormsWithoutRoom(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plot(t, s)
		s.Admin(t, "keeper")
		narrow := s.WithoutRoom()
		const at = "/alice/garden/settings"
		const sure = "confirm=alice/garden"
		sendForms(t, narrow, s.Token(t, "alice"), []sentForm{{at, "do=topics&topics=x", 507},
			{at, "do=details&name=garden&default_branch=main", 507}, {at + "/keys", "do=add&key=x", 507},
			{at + "/keys", "do=remove&id=1", 303}, {at + "/access", "do=add&login=sam&role=push", 507},
			{at + "/access", "do=remove&login=sam", 303}, {"/alice/garden/star", "", 507},
			{"/alice/garden/unstar", "", 303}, {"/alice/garden/watch", "", 507}, {"/alice/garden/unwatch", "", 303},
			{"/alice/garden/fork", "", 507}, {"/new", "owner=alice&name=x", 507}, {at + "/hooks/1", "do=ping", 507},
			{at + "/hooks/1/deliveries/1", "", 507},
			{at + "/hooks/new", "url=https://example.org/2&content_type=json&which=push", 507},
			{at + "/hooks/1", "do=remove", 303}, {at + "/visibility", sure + "&private=1", 507},
			{at + "/archive", sure + "&archived=1", 507}, {at + "/transfer", sure + "&new_owner=sam", 507}})
		sendForms(t, narrow, s.Token(t, "keeper"), []sentForm{{"/site/people/new", "login=zoe&with=nothing", 507},
			{"/site/people/sam", "do=suspend", 507}, {"/site/people/sam", "do=unsuspend", 303},
			{"/site/people/sam", "do=rename&login=zoe", 507},
			{"/site/organizations/new", "login=guild&owner=sam", 507},
			{"/site/repositories", "repo=alice/garden&do=archive", 507}})
		sendForms(t, narrow, s.Token(t, "alice"), []sentForm{{at + "/delete", sure, 303}})
	})
}

// An archived repository can be starred, forked and deleted by pages, and unarchived; its settings stay.
func TestFormsOfAnArchivedRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plot(t, s)
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"archived": true}`, Status: 200})
		const at = "/alice/garden/settings"
		sendForms(t, s.Server, s.Token(t, "alice"), []sentForm{{at, "do=topics&topics=x", 403},
			{at, "do=details&name=yard&default_branch=main", 403}, {at + "/keys", "do=add&key=x", 403},
			{at + "/access", "do=add&login=sam&role=push", 403}, {at + "/access", "do=remove&login=sam", 403},
			{at + "/hooks/1", "do=ping", 403}, {at + "/hooks/1", "do=remove", 303}, {at + "/keys", "do=remove&id=1", 303},
			{"/alice/garden/star", "", 303}, {"/alice/garden/unstar", "", 303}, {"/alice/garden/watch", "", 303},
			{"/alice/garden/unwatch", "", 303}, {at + "/archive", "confirm=alice/garden&archived=0", 303},
			{at, "do=topics&topics=x", 303}})
		sendForms(t, s.Server, s.Token(t, "rae"), []sentForm{{"/alice/garden/fork", "", 303}, {at, "do=topics&topics=x", 403},
			{at + "/access", "do=add&login=rae&role=admin", 403}, {at + "/hooks/new", "url=https://example.org/3", 403},
			{at + "/delete", "confirm=alice/garden", 403}})
	})
}

// The audit log has the right for which a form of a repository's settings asks, as for the API: its page alone asks
// for less.
func TestAuditedRightOfForms(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plot(t, s)
		s.Admin(t, "keeper")
		sendForms(t, s.Server, s.Token(t, "alice"), []sentForm{{"/alice/garden/settings", "do=topics&topics=x", 303}})
		sendForms(t, s.Server, s.Token(t, "keeper"), []sentForm{{"/alice/garden/settings", "do=topics&topics=y", 303}})
		sendForms(t, s.Server, s.Token(t, "alice"), []sentForm{{"/alice/garden/settings",
			"do=details&name=garden&default_branch=main", 303}})
		var log []struct{ Action, Actor, Right string }
		s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=action:repo.update", As: "keeper", Status: 200}).JSON(t, &log)
		if len(log) != 3 || log[0].Right != "admin" || log[1].Right != "site admin" || log[2].Right != "maintain" {
			t.Errorf("the audit log has %+v", log)
		}
	})
}
