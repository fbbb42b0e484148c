package repos_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// held are what somebody holds in a repository by its role, as that person finds it: with the role, and without. What
// is lost does not come back with the role.
var held = []struct {
	name, do, with, without string
	lost                    bool
}{
	{"sight", "GET /user/repos", `[{"full_name": "guild/vault"}]`, `[]`, false},
	{"watching", "GET /user/subscriptions", `[{"full_name": "guild/vault"}]`, `[]`, false},
	{"a star", "GET /user/starred", `[{"full_name": "guild/vault"}]`, `[]`, false},
	{"an assignment", "GET /issues?filter=assigned", `[{"number": 1}]`, `[]`, true},
	{"a subscription", "GET /issues?filter=subscribed", `[{"number": 2}, {"number": 1}]`, `[]`, false},
	{"a mention", "GET /issues?filter=mentioned", `[{"number": 1}]`, `[]`, false},
	{"a request for a review", "GET /search/issues?q=is:pr+review-requested:rae", `{"total_count": 1}`,
		`{"total_count": 0}`, true},
	{"notifications", "GET /notifications?all=true&per_page=1",
		`[{"repository": {"full_name": "guild/vault"}}]`, `[]`, false},
	{"a feed", "GET /users/rae/received_events?per_page=1", `[{"repo": {"name": "guild/vault"}}]`, `[]`, false},
}

// vault creates a private repository of an organization that rae has a role in by, and all that she may hold.
func vault(t *testing.T, s *apitest.Server, by []apitest.Case) {
	t.Helper()
	s.Users(t, "owner", "rae")
	s.Org(t, "guild", "owner")
	s.Repo(t, "guild/vault", true)
	s.Run(t, by)
	const at = "/repos/guild/vault"
	s.Ask(t, "rae", "PUT "+at+"/subscription", `{"subscribed": true}`, 200)
	s.Ask(t, "rae", "PUT /user/starred/guild/vault", "", 204)
	s.Ask(t, "owner", "PUT "+at+"/contents/a", `{"message": "a", "content": "YQ=="}`, 201)
	tip := s.Tip(t, "owner", "guild/vault", "main")
	s.Ask(t, "owner", "POST "+at+"/git/refs", `{"ref": "refs/heads/topic", "sha": "`+tip+`"}`, 201)
	s.Ask(t, "owner", "PUT "+at+"/contents/b", `{"message": "b", "content": "YQ==", "branch": "topic"}`, 201)
	s.Ask(t, "owner", "POST "+at+"/issues", `{"title": "x", "body": "@rae", "assignee": "rae"}`, 201)
	s.Ask(t, "owner", "POST "+at+"/pulls", `{"title": "x", "head": "topic", "base": "main"}`, 201)
	s.Ask(t, "owner", "POST "+at+"/pulls/2/requested_reviewers", `{"reviewers": ["rae"]}`, 201)
	s.Settle(t)
}

// Who loses the role on a private repository is shown nothing of what it holds there, and hears of nothing that
// happens from then on, however the role ended. It comes back with the role, but for assignments and requests for
// reviews, which end. A lower role that still sees the repository keeps all of it.
func TestHoldingsFollowRoles(t *testing.T) {
	t.Parallel()
	const rae, collaborator = "/repos/guild/vault/collaborators/rae", "/orgs/guild/outside_collaborators/rae"
	granted := []apitest.Case{{Do: "PUT " + rae, As: "owner", Status: 204}}
	member := []apitest.Case{{Do: "PUT /orgs/guild/members/rae", As: "owner", Status: 204},
		{Do: "PATCH /orgs/guild", As: "owner", Send: `{"default_repository_permission": "write"}`,
			Status: 200}}
	for name, c := range map[string]struct {
		by   []apitest.Case // how the role is had
		end  apitest.Case   // what ends it
		back []apitest.Case // how it comes back; nil: it did not end
	}{
		"the collaborator is removed": {granted, apitest.Case{Do: "DELETE " + rae, As: "owner",
			Status: 204}, granted},
		"the collaborator leaves": {granted, apitest.Case{Do: "DELETE " + rae, As: "rae", Status: 204},
			granted},
		"the outside collaborator is removed": {granted,
			apitest.Case{Do: "DELETE " + collaborator, As: "owner", Status: 204}, granted},
		"the member is removed": {member,
			apitest.Case{Do: "DELETE /orgs/guild/members/rae", As: "owner", Status: 204}, member},
		"the member with a role is removed": {append(member, granted...),
			apitest.Case{Do: "DELETE /orgs/guild/members/rae", As: "owner", Status: 204}, member},
		"the member becomes an outside collaborator": {member,
			apitest.Case{Do: "PUT " + collaborator, As: "owner", Status: 204}, member},
		"members get no role": {member, apitest.Case{Do: "PATCH /orgs/guild", As: "owner",
			Send: `{"default_repository_permission": "none"}`, Status: 200}, member[1:]},
		"the collaborator may only read": {granted, apitest.Case{Do: "PUT " + rae, As: "owner",
			Send: `{"permission": "pull"}`, Status: 204}, nil},
		"the member with a role becomes an outside collaborator": {append(member, granted...),
			apitest.Case{Do: "PUT " + collaborator, As: "owner", Status: 204}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				vault(t, s, c.by)
				holds(t, s, true, false)
				s.Ask(t, "rae", "PUT /notifications", "", 205)
				s.Check(t, c.end)
				holds(t, s, c.back == nil, false)
				assignees, asked := `[{"login": "rae"}]`, `[{"login": "rae"}]`
				if c.back != nil {
					assignees, asked = `[]`, `[]`
				}
				s.Run(t, []apitest.Case{
					{Do: "GET /repos/guild/vault/issues/1", As: "owner", Status: 200,
						Want:    `{"assignees": ` + assignees + `}`,
						Headers: map[string]string{"Accept": "application/vnd.github+json"}},
					{Do: "GET /repos/guild/vault/pulls/2/requested_reviewers", As: "owner", Status: 200,
						Want: `{"users": ` + asked + `}`},
					{Do: "POST /repos/guild/vault/issues/1/comments", As: "owner", Send: `{"body": "@rae"}`,
						Status: 201},
				})
				s.Settle(t)
				holds(t, s, c.back == nil, false)
				if c.back != nil {
					s.Run(t, c.back)
					holds(t, s, true, true)
					s.Check(t, apitest.Case{Name: "what happened before", Do: "GET /notifications",
						As: "rae", Status: 200,
						Body: "[]"})
				}
			})
		})
	}
}

// holds checks what rae finds of what she holds with the role or without it; again: it came back.
func holds(t *testing.T, s *apitest.Server, with, again bool) {
	t.Helper()
	for _, h := range held {
		want := h.without
		if with && !(again && h.lost) {
			want = h.with
		}
		s.Check(t, apitest.Case{Name: h.name, Do: h.do, As: "rae", Status: 200, Want: want})
	}
}
