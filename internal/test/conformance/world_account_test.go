//go:build long

package conformance

import (
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/invitation"
	"arbor/internal/test/testkit"
)

// run fills the store and requests everything, in the order in which it needs
// each other.
func (w *world) run() {
	w.accounts()
	w.repositories()
	w.invitations()
	w.teams()
	w.objects()
	w.histories()
	w.tracker()
	w.comments()
	w.pulls()
	w.reviews()
	w.checks()
	w.merging()
	w.lists()
	w.stars()
	w.hooks()
	w.hooks()
	w.following()
	w.feeds()
	w.archives()
	w.refusals()
	w.farewell()
}

// accounts: alice owns most of what there is, and the organization orchard; bob
// works with her, carol and dave come and go; erin is nobody's friend.
func (w *world) accounts() {
	w.Admin(w.t, "alice")
	for _, login := range []string{"bob", "carol", "dave", "erin"} {
		w.User(w.t, login)
	}
	w.do("alice", "GET /")
	w.do("", "GET /rate_limit")
	for login, about := range map[string]string{
		"alice": `{"name": "Alice Ash", "email": "alice@example.org", "blog": "https://example.org/ash", "company": "Ash & Co",
			"location": "Kew", "bio": "Grows trees"}`,
		"bob": `{"name": "Bob Birch", "email": "bob@example.org", "blog": "https://example.org/birch", "company": "Birch",
			"location": "Oslo", "bio": "Prunes them"}`,
	} {
		w.do(login, "PATCH /user", about)
		w.Email(w.t, login, login+"@example.org")
	}
	w.Org(w.t, "orchard", "alice")
	w.do("alice", "PATCH /orgs/orchard",
		`{"name": "The Orchard", "description": "Apples, mostly", "company": "Orchard Ltd",
		"blog": "https://example.org/orchard", "location": "Kent", "email": "orchard@example.org",
		"default_repository_permission": "read", "billing_email": "bills@example.org"}`)
	for _, login := range []string{"bob", "carol", "dave"} {
		w.do("alice", "PUT /orgs/orchard/memberships/"+login, `{"role": "member"}`)
	}
	w.do("alice", "GET /orgs/orchard/memberships/bob")
	w.do("bob", "PUT /orgs/orchard/public_members/bob")
	w.do("", "GET /orgs/orchard/public_members/bob")
	w.do("", "GET /orgs/orchard/public_members")
	w.do("bob", "DELETE /orgs/orchard/public_members/bob")
	w.do("alice", "GET /orgs/orchard/members")
	w.do("alice", "GET /orgs/orchard/members/bob")
	w.do("alice", "PUT /orgs/orchard/outside_collaborators/carol")
	w.do("alice", "PUT /orgs/orchard/memberships/carol", `{"role": "member"}`)
	w.do("alice", "DELETE /orgs/orchard/members/carol")
	w.do("alice", "DELETE /orgs/orchard/memberships/dave")
	w.do("alice", "PUT /orgs/orchard/public_members/alice")
	for _, do := range []string{"GET /user/orgs", "GET /user/memberships/orgs", "GET /user"} {
		w.do("bob", do)
	}
	w.do("", "GET /users")
	w.do("", "GET /users/alice")
	w.do("bob", "GET /users/alice")
	w.do("", "GET /users/orchard")
	w.do("", "GET /users/alice/orgs")
	w.do("", "GET /orgs/orchard")
	w.do("alice", "GET /orgs/orchard")
}

// invitations: carol is invited to the organization and dave to garden; both come and go.
func (w *world) invitations() {
	carol, err := w.Accounts.Find(w.t.Context(), "carol")
	testkit.NoError(w.t, err)
	invite := func() string {
		return w.do("alice", "POST /orgs/orchard/invitations",
			fmt.Sprintf(`{"invitee_id": %d, "role": "direct_member"}`, carol.ID)).get("id")
	}
	id := invite()
	w.do("alice", "GET /orgs/orchard/invitations")
	w.do("alice", "GET /orgs/orchard/memberships/carol")
	w.do("alice", "DELETE /orgs/orchard/invitations/"+id)
	invite()
	w.do("carol", "GET /user/memberships/orgs?state=pending")
	w.do("carol", "PATCH /user/memberships/orgs/orchard", `{"state": "active"}`)
	w.do("carol", "GET /user/memberships/orgs/orchard")
	w.do("alice", "DELETE /orgs/orchard/memberships/carol")
	invite()
	testkit.NoError(w.t, w.DB.Write(w.t.Context(), func(tx *db.Tx) error {
		return tx.Run(`UPDATE invitations SET created_at = created_at - $1`,
			2*invitation.Lifetime.Microseconds())
	}))
	w.do("alice", "GET /orgs/orchard/failed_invitations")
	for _, name := range []string{"alice/garden", "alice/cellar"} {
		ask := func() string {
			i, err := w.Forge.Invitations.Invite(w.t.Context(), w.Access(w.t, "alice", name), "dave",
				account.Push)
			testkit.NoError(w.t, err)
			return fmt.Sprint(i.ID)
		}
		id := ask()
		w.do("alice", "GET /repos/"+name+"/invitations")
		w.do("alice", "PATCH /repos/"+name+"/invitations/"+id, `{"permissions": "triage"}`)
		w.do("dave", "GET /user/repository_invitations")
		w.do("dave", "DELETE /user/repository_invitations/"+id)
		w.do("alice", "DELETE /repos/"+name+"/invitations/"+ask())
		w.do("dave", "PATCH /user/repository_invitations/"+ask())
		w.do("alice", "DELETE /repos/"+name+"/collaborators/dave")
	}
}

// teams: the pickers of orchard are below its growers; both go again.
func (w *world) teams() {
	const teams = "/orgs/orchard/teams"
	w.do("alice", "POST "+teams, `{"name": "Growers", "description": "Who plant", "privacy": "closed"}`)
	w.do("alice", "POST "+teams,
		`{"name": "Pickers", "description": "Who reap", "parent_team_slug": "growers", "repo_names": ["apples"]}`)
	w.do("alice", "GET "+teams)
	w.do("alice", "GET "+teams+"/pickers")
	w.do("alice", "GET "+teams+"/growers/teams")
	w.do("alice", "DELETE "+teams+"/growers")
}

// repositories: garden is alice's and public, cellar private, orchard/apples the
// organization's; what else there is comes and goes.
func (w *world) repositories() {
	w.do("alice", "POST /user/repos",
		`{"name": "garden", "description": "Where all grows", "homepage": "https://example.org/garden",
		"auto_init": true, "has_issues": true}`)
	w.do("alice", "POST /user/repos", `{"name": "cellar", "private": true, "auto_init": true}`)
	w.do("alice", "POST /orgs/orchard/repos",
		`{"name": "apples", "description": "Of all kinds", "homepage": "https://example.org/apples", "auto_init": true}`)
	w.do("alice", "POST /orgs/orchard/repos", `{"name": "pears", "private": true}`)
	w.do("alice", "PUT /repos/orchard/apples/collaborators/carol")
	w.do("alice", "GET /orgs/orchard/outside_collaborators")
	w.do("alice", "DELETE /orgs/orchard/outside_collaborators/carol")
	w.do("alice", "PATCH /repos/alice/cellar",
		`{"description": "Where it is kept", "homepage": "https://example.org/cellar"}`)
	w.do("alice", "POST /user/repos", `{"name": "heap"}`)
	w.do("alice", "DELETE /repos/alice/heap")
	for _, login := range []string{"carol", "dave"} {
		w.do("alice", "PUT /repos/alice/garden/collaborators/"+login, `{"permission": "push"}`)
	}
	w.do("alice", "DELETE /repos/alice/garden/collaborators/dave")
	garden, err := w.Repos.Find(w.t.Context(), nil, "alice", "garden")
	testkit.NoError(w.t, err)
	w.Grant(w.t, garden.Access.Repo, "bob", account.Push)
	w.do("alice", "GET /repos/alice/garden/collaborators")
	w.do("alice", "GET /repos/alice/garden/collaborators/bob")
	w.do("alice", "GET /repos/alice/garden/collaborators/bob/permission")
	w.do("alice", "GET /repos/alice/garden/collaborators/erin/permission")
	for as, paths := range map[string][]string{
		"": {"/repos/alice/garden", "/repos/orchard/apples", "/users/alice/repos", "/orgs/orchard/repos"},
		"alice": {"/repos/alice/garden", "/repos/alice/cellar", "/user/repos",
			"/orgs/orchard/repos?type=private"},
	} {
		for _, path := range paths {
			w.do(as, "GET "+path)
		}
	}
}
