package graphql

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/invitation"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// newTeam returns a team by its whole value. Its name is ORGANIZATION/SLUG.
func newTeam(t *team.Team) *object {
	return &object{kind: "Team", value: t, whole: true, id: int64(t.ID), name: t.Org.Login + "/" + t.Slug}
}

func teamNode(t *team.Team) (any, error) { return newTeam(t), nil }

// teamOfSlug resolves the team with a slug of each organization; null if the caller does not see it.
func teamOfSlug(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	values, names := make([]any, len(parents)), make([]string, len(parents))
	for n, o := range objectsOf(parents) {
		names[n] = account.Fold(o.name + "/" + f.Args["slug"].(string))
	}
	found, err := queryOf(ctx).teamsByName(ctx, names)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	for n, name := range names {
		if a := found[name]; a != nil {
			values[n] = newTeam(a.Team)
		}
	}
	return values
}

// teamsByName reads those of the teams ORG/SLUG, folded, that the caller sees.
func (q *query) teamsByName(ctx context.Context, names []string) (map[string]*team.Access, error) {
	ctx, caller, err := q.on(ctx, "GET /orgs/{org}/teams/{team_slug}")
	if err != nil {
		return nil, err
	}
	found, err := q.load.Teams.ByNames(ctx, caller, names)
	return found, q.noteError(err)
}

// findTeams finds teams by their node ids.
func (q *query) findTeams(ctx context.Context, ids []nodeID) []lookup {
	ctx, caller, err := q.on(ctx, "GET /orgs/{org}/teams/{team_slug}")
	if err != nil {
		return failures(err, len(ids))
	}
	teams, err := q.load.Teams.ByIDs(ctx, caller, asIDs[team.ID](numbersOf(ids)))
	if err != nil {
		return failures(q.noteError(err), len(ids))
	}
	found := make([]lookup, len(ids))
	for n, id := range ids {
		if t := teams[team.ID(id.number)]; t != nil {
			found[n].value = newTeam(t.Team)
		}
	}
	return found
}

// teamChoice reads the arguments that choose among teams.
func teamChoice(f *exec.Field) (c team.Choice, err error) {
	_, c.Desc, err = orderBy(f, map[string]string{"NAME": "name"})
	c.Top, c.Below = f.Args["rootTeamsOnly"] == true, f.Args["immediateOnly"] == false
	c.Text, _ = f.Args["query"].(string)
	if privacy, ok := f.Args["privacy"].(string); ok {
		c.Secret = web.Some(privacy == "SECRET")
	}
	if word, ok := f.Args["notificationSetting"].(string); ok {
		c.Quiet = web.Some(word == "NOTIFICATIONS_DISABLED")
	}
	c.None = f.Args["ldapMapped"] == true // Arbor maps no team to a group of LDAP
	if role, ok := f.Args["role"].(string); ok {
		c.Role = map[string]team.Role{"ADMIN": team.Maintainer, "MEMBER": team.Member}[role]
	}
	users, _ := f.Args["userLogins"].([]any)
	if c.Users = namesIn(users); len(c.Users) > maxLoaded {
		err = refused("Arbor chooses by 100 userLogins at most.")
	}
	return c, err
}

// bySlug is the order of lists of teams.
func bySlug(desc bool) *sortKey[*team.Team] {
	return &sortKey[*team.Team]{desc: desc, of: func(t *team.Team) string { return t.Slug }}
}

// organizationTeams resolves the teams of an organization that the caller sees.
func organizationTeams(_ context.Context, f *exec.Field, _ *object) (pages[*team.Team], error) {
	c, err := teamChoice(f)
	read := func(ctx context.Context, q *query, of []account.ID, page web.Page) (
		map[account.ID]*web.List[*team.Team], error) {
		return q.load.Teams.ChooseEach(ctx, viewer(ctx), of, c, page)
	}
	return pages[*team.Team]{kind: "TeamConnection", rank: bySlug(c.Desc), node: teamNode,
		many: accountsPager[*team.Team]{fmt.Sprint("teams ", c), "GET /orgs/{org}/teams", read}}, err
}

func childTeams(_ context.Context, f *exec.Field, _ *object) (pages[*team.Team], error) {
	c, err := teamChoice(f)
	read := func(ctx context.Context, q *query, of []team.ID, page web.Page) (
		map[team.ID]*web.List[*team.Team], error) {
		return q.load.Teams.ChooseBelowEach(ctx, viewer(ctx), of, c, page)
	}
	return pages[*team.Team]{kind: "TeamConnection", rank: bySlug(c.Desc), node: teamNode,
		many: teamsPager[*team.Team]{fmt.Sprint("child teams ", c), "GET /orgs/{org}/teams/{team_slug}/teams", read}}, err
}

// teamMember is a row of the members of a team.
type teamMember struct {
	*account.Simple
	role team.Role
}

func teamMembers(ctx context.Context, f *exec.Field, o *object) (pages[teamMember], error) {
	c := team.MemberChoice{Wanted: "all", Direct: f.Args["membership"] == "IMMEDIATE",
		Below: f.Args["membership"] == "CHILD_TEAM"}
	if given, ok := f.Args["role"].(string); ok {
		c.Wanted = strings.ToLower(given)
	}
	c.Text, _ = f.Args["query"].(string)
	by, desc, err := orderBy(f, map[string]string{"LOGIN": "login", "CREATED_AT": "joined"})
	if c.Desc = desc; by != "" {
		c.By = map[string]team.MemberSort{"login": team.ByLogin, "joined": team.ByJoining}[by]
	}
	read := func(ctx context.Context, q *query, of []team.ID, page web.Page) (map[team.ID]*web.List[teamMember], error) {
		found, err := q.load.Teams.ChooseMembersEach(ctx, viewer(ctx), of, c, page)
		return shownList(found, func(p team.Person) teamMember {
			return teamMember{account.NewSimple(p.Account, web.From(ctx)), p.Role}
		}), err
	}
	path := o.value.(*team.Team).Path()
	return pages[teamMember]{kind: "TeamMemberConnection", rank: rankOfMembers(c),
		key:  func(m teamMember) string { return decimal(int64(m.ID)) },
		many: teamsPager[teamMember]{fmt.Sprint("team members ", c), "GET /orgs/{org}/teams/{team_slug}/members", read},
		node: func(m teamMember) (any, error) {
			role := map[bool]string{true: "MAINTAINER", false: "MEMBER"}[m.role == team.Maintainer]
			return &edge{kind: "TeamMemberEdge", node: newAccount(m.Simple), fields: map[string]any{"role": role,
				"memberAccessUrl": web.From(ctx).Page(path), "memberAccessResourcePath": path}}, nil
		}}, err
}

// rankOfMembers is the order of the people of a team; nil if it is by what a row does not have.
func rankOfMembers(c team.MemberChoice) *sortKey[teamMember] {
	switch c.By {
	case team.ByLogin:
		return &sortKey[teamMember]{desc: c.Desc, of: func(m teamMember) string { return account.Fold(m.Login) }}
	case team.ByJoining:
		return nil
	}
	return rankBy(c.Desc, func(m teamMember) []any { return []any{int64(m.ID)} })
}

// teamRepo is a repository with the role that a team has on it.
type teamRepo struct {
	*repo.Payload
	role account.Role
}

func teamRepositories(_ context.Context, f *exec.Field, _ *object) (pages[teamRepo], error) {
	var c team.RepoChoice
	c.Text, _ = f.Args["query"].(string)
	var err error
	c.By, c.Desc, err = orderBy(f, map[string]string{"CREATED_AT": "created", "UPDATED_AT": "updated",
		"PUSHED_AT": "pushed", "STARGAZERS": "stars", "NAME": "name", "PERMISSION": "role"})
	read := func(ctx context.Context, q *query, of []team.ID, page web.Page) (map[team.ID]*web.List[teamRepo], error) {
		found, err := q.load.Teams.ChooseReposEach(ctx, viewer(ctx), of, c, page)
		return shownList(found, func(r team.Repo) teamRepo {
			return teamRepo{repo.NewPayload(r.Access, web.From(ctx)), r.Role}
		}), err
	}
	return pages[teamRepo]{kind: "TeamRepositoryConnection",
		key:  func(r teamRepo) string { return decimal(int64(r.ID)) },
		many: teamsPager[teamRepo]{fmt.Sprint("team repositories ", c), "GET /orgs/{org}/teams/{team_slug}/repos", read},
		node: func(r teamRepo) (any, error) {
			return &edge{kind: "TeamRepositoryEdge", node: newRepository(r.Payload),
				fields: map[string]any{"permission": permissionOf(repo.NewPermissions(r.role))}}, nil
		}}, err
}

// ofTeam resolves a field with a part of the payload of a team.
func ofTeam(part func(t *team.Team, shown *team.Simple) any) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		t := o.value.(*team.Team)
		return part(t, team.NewSimple(t, web.From(ctx))), nil
	})
}

func teamFields() map[string]exec.Resolver {
	return merge(map[string]exec.Resolver{
		"id":           ofTeam(func(_ *team.Team, s *team.Simple) any { return s.NodeID }),
		"databaseId":   ofTeam(func(t *team.Team, _ *team.Simple) any { return int64(t.ID) }),
		"name":         ofTeam(func(t *team.Team, _ *team.Simple) any { return t.Name }),
		"slug":         ofTeam(func(t *team.Team, _ *team.Simple) any { return t.Slug }),
		"combinedSlug": ofTeam(func(t *team.Team, _ *team.Simple) any { return t.Org.Login + "/" + t.Slug }),
		"description":  ofTeam(func(t *team.Team, _ *team.Simple) any { return t.Description }),
		"privacy": ofTeam(func(t *team.Team, _ *team.Simple) any {
			return map[bool]string{false: "VISIBLE", true: "SECRET"}[t.Secret]
		}),
		"url":          ofTeam(func(_ *team.Team, s *team.Simple) any { return s.HTMLURL }),
		"resourcePath": ofTeam(func(t *team.Team, _ *team.Simple) any { return t.Path() }),
		"createdAt":    ofTeam(func(t *team.Team, _ *team.Simple) any { return t.CreatedAt }),
		"updatedAt":    ofTeam(func(t *team.Team, _ *team.Simple) any { return t.UpdatedAt }),
		"avatarUrl": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return account.NewSimple(&o.value.(*team.Team).Org, web.From(ctx)).AvatarURL, nil
		}),
		"invitations": connections(invitationsToTeam), "organization": organizationsOfTeams, "parentTeam": parentTeam,
		"childTeams": connections(childTeams), "members": connections(teamMembers),
		"repositories": connections(teamRepositories),
	}, teamPlaces())
}

// invitationsToTeam resolves the open invitations to the organization that name a team, for those who manage it.
func invitationsToTeam(ctx context.Context, _ *exec.Field, o *object) (pages[*invitation.Invitation], error) {
	read := func(ctx context.Context, q *query, of []team.ID, page web.Page) (
		map[team.ID]*web.List[*invitation.Invitation], error) {
		return q.load.Invitations.OfTeams(ctx, viewer(ctx), of, page)
	}
	return pages[*invitation.Invitation]{kind: "OrganizationInvitationConnection",
		rank: rankByID(func(i *invitation.Invitation) int64 { return int64(i.ID) }),
		many: teamsPager[*invitation.Invitation]{"invitations", "GET /orgs/{org}/teams/{team_slug}/invitations", read},
		node: func(i *invitation.Invitation) (any, error) {
			role := map[bool]string{true: "ADMIN", false: "DIRECT_MEMBER"}[i.Owner]
			inviter, invitee, kind := person(ctx, i.Inviter), any(nil), "EMAIL"
			if i.Invitee != nil {
				invitee, kind = person(ctx, i.Invitee), "USER"
			}
			return bare{"OrganizationInvitation", map[string]any{"id": account.NodeID("OrganizationInvitation", int64(i.ID)),
				"createdAt": i.CreatedAt, "email": web.OrNil(i.Address), "invitationSource": "MEMBER",
				"invitationType": kind, "invitee": invitee, "inviter": inviter, "inviterActor": inviter,
				"organization": person(ctx, i.Org),
				"role":         role}}, nil
		}}, nil
}
