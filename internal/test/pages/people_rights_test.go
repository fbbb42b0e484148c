package pages_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/repo"
	"arbor/internal/test/apitest"
)

// guild founds an organization of alice, to which rae belongs in secret, with a private repository, and has rae
// notified of an issue in alice/garden.
func guild(t *testing.T, s *apitest.Server) (garden *repo.Repo) {
	t.Helper()
	people(t, s)
	s.Org(t, "guild", "alice")
	garden = s.Repo(t, "alice/garden", false)
	s.Run(t, []apitest.Case{
		{Do: "PUT /orgs/guild/members/rae", As: "alice", Status: 204},
		{Do: "POST /orgs/guild/repos", As: "alice", Send: `{"name": "vault", "private": true}`, Status: 201},
		{Do: "POST /user/emails", As: "rae", Send: `["rae@example.org"]`, Status: 201},
	})
	return garden
}

// sendForms sends forms to a server, and checks the status of each answer.
func sendForms(t *testing.T, h http.Handler, token string, forms []sentForm) {
	t.Helper()
	for _, form := range forms {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, form.to, strings.NewReader(form.send))
		r.Header.Set("Content-Type", apitest.FormType)
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Authorization", "Bearer "+token)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		if answer.Code != form.code {
			t.Errorf("POST %s with %q is %d, want %d: %.300s", form.to, form.send, answer.Code, form.code, answer.Body)
		}
	}
}

type sentForm struct {
	to, send string
	code     int
}

// A token that is limited sees and does on pages of people, organizations and notifications what it sees and does by
// the API, and no more.
func TestLimitedTokensOnPeoplePages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden := guild(t, s)
		const inbox, members = "/dashboard/notifications", "/orgs/guild/people"
		for name, c := range map[string]struct {
			token                      string
			inbox                      int
			member, vault              bool
			follows, own, all, ofRepos int
		}{
			"code":     {s.Scoped(t, "rae", "public_repo"), 200, false, false, 403, 403, 303, 303},
			"all code": {s.Scoped(t, "rae", "repo"), 200, false, true, 403, 403, 303, 303},
			"follow":   {s.Scoped(t, "rae", "public_repo,user:follow"), 200, false, false, 303, 403, 303, 303},
			"read org": {s.Scoped(t, "rae", "read:org"), 403, true, false, 403, 403, 403, 403},
			"org":      {s.Scoped(t, "rae", "public_repo,write:org"), 200, true, false, 403, 303, 303, 303},
			"letters":  {s.Scoped(t, "rae", "notifications"), 200, false, false, 403, 403, 303, 303},
			"read":     {s.Fine(t, "rae", false, int64(garden.ID)), 200, false, false, 403, 403, 303, 403},
			"write":    {s.Fine(t, "rae", true, int64(garden.ID)), 200, false, false, 403, 403, 303, 303},
		} {
			get := func(path string) (int, string) {
				a := s.Do(t, apitest.Case{Do: "GET " + path, Headers: map[string]string{"Accept": "text/html",
					"Authorization": "Bearer " + c.token}})
				return a.Status, string(a.Body)
			}
			if code, _ := get(inbox); code != c.inbox {
				t.Errorf("%s: notifications are %d, want %d", name, code, c.inbox)
			}
			if _, body := get(members); strings.Contains(body, `href="/rae"><bdi>rae</bdi></a> <span class="tag">`) != c.member {
				t.Errorf("%s: the membership is shown: %t", name, !c.member)
			}
			if _, body := get("/guild"); strings.Contains(body, "guild/vault") != c.vault {
				t.Errorf("%s: the private repository is shown: %t", name, !c.vault)
			}
			sendForms(t, s.Server, c.token, []sentForm{{"/sam", "action=follow", c.follows},
				{"/sam", "action=unfollow", c.follows}, {members, "action=publicize&login=rae", c.own},
				{members, "action=conceal&login=rae", c.own}, {members, "action=set&login=sam", 403},
				{members, "action=remove&login=alice", 403}, {"/orgs/guild/settings", "name=x", 403},
				{"/orgs/guild/settings/delete", "confirm=guild", 403}, {"/new/organization", "login=x&owner=rae", 404},
				{inbox, "action=read-all", c.all}, {inbox, "action=read-all&repo=alice/garden", c.ofRepos},
				{"/settings/profile", "name=x", 403}, {"/settings/keys", "do=add", 403}})
		}
	})
}

// While the disk is nearly full, no form of people, settings and notifications stores anything; forms that only take
// something away work.
func TestPeopleFormsWithoutRoom(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		guild(t, s)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/subscription", As: "rae", Status: 200})
		narrow := s.WithoutRoom()
		const inbox, members, emails = "/dashboard/notifications", "/orgs/guild/people", "/settings/emails"
		sendForms(t, narrow, s.Token(t, "rae"), []sentForm{{"/sam", "action=follow", 507},
			{"/sam", "action=unfollow", 303}, {members, "action=publicize&login=rae", 507},
			{members, "action=conceal&login=rae", 303}, {inbox, "action=read-all", 507},
			{inbox, "action=read-all&repo=alice/garden", 507}, {inbox, "action=read&thread=1", 507},
			{inbox, "action=done&thread=1", 404}, {"/settings/profile", "name=x", 507},
			{emails, "do=add&email=x@example.org", 507}, {emails, "do=show&email=rae@example.org", 507},
			{emails, "do=remove&email=rae@example.org", 303}, {"/settings/keys", "do=add&key=x", 507},
			{"/settings/keys", "do=remove&id=1", 303}, {"/settings/watching", "repo=alice/garden", 303}, {"/settings/deleted", "id=1", 404}})
		sendForms(t, narrow, s.Token(t, "alice"), []sentForm{{members, "action=set&login=sam", 507},
			{members, "action=remove&login=rae", 303}, {"/orgs/guild/settings", "name=x", 507}})
	})
}
