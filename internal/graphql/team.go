package graphql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// newTeam returns a team by its whole value. Its name is ORGANIZATION/SLUG.
func newTeam(t *team.Team) *object {
	return &object{kind: "Team", value: t, whole: true, id: int64(t.ID), name: t.Org.Login + "/" + t.Slug}
}

func teamNode(t *team.Team) (any, error) { return newTeam(t), nil }

// teamOfSlug resolves a team of an organization; null if the caller does not see it.
func teamOfSlug(ctx context.Context, f *exec.Field, o *object) (any, error) {
	return queryOf(ctx).team(ctx, team.Ref{Org: o.name, Slug: f.Args["slug"].(string)})
}

// team reads a team; nil if the caller does not see it.
func (q *query) team(ctx context.Context, ref team.Ref) (any, error) {
	ctx, caller, err := q.on(ctx, "GET /orgs/{org}/teams/{team_slug}")
	if err != nil {
		return nil, err
	}
	a, err := q.load.Teams.Get(ctx, caller, ref)
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, q.noteError(err)
	}
	return newTeam(a.Team), nil
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

// teamLister reads a page of a list for the caller.
type teamLister[V any] func(
	ctx context.Context, q *query, caller *account.Caller, of string, page web.Page) ([]V, int64, error)

// listed returns a pager of a list of a route. What the caller may not list is empty.
func listed[V any](name, address string, read teamLister[V]) accountPager[V] {
	return accountPager[V]{name, func(
		ctx context.Context, q *query, of string, page web.Page,
	) (*web.List[V], error) {
		ctx, caller, err := q.on(ctx, address)
		if err != nil {
			return nil, err
		}
		rows, total, err := read(ctx, q, caller, of, page)
		var known *errs.Error
		if errors.As(err, &known) && (known.Kind == errs.Forbidden || known.Kind == errs.NotFound) {
			return &web.List[V]{}, nil
		}
		return &web.List[V]{Rows: rows, Total: total, More: page.Number*page.Size < total}, err
	}}
}

// teamChoice reads the arguments that choose among teams.
func teamChoice(f *exec.Field) (c team.Choice, err error) {
	_, c.Desc, err = orderBy(f, map[string]string{"NAME": "name"})
	c.Top, c.Below = f.Args["rootTeamsOnly"] == true, f.Args["immediateOnly"] == false
	c.Text, _ = f.Args["query"].(string)
	if privacy, ok := f.Args["privacy"].(string); ok {
		c.Secret = web.Some(privacy == "SECRET")
	}
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
func bySlug(desc bool) *rank[*team.Team] {
	return &rank[*team.Team]{desc: desc, of: func(t *team.Team) string { return t.Slug }}
}

// organizationTeams resolves the teams of an organization that the caller sees.
func organizationTeams(_ context.Context, f *exec.Field, _ *object) (pages[*team.Team], error) {
	c, err := teamChoice(f)
	read := func(ctx context.Context, q *query, caller *account.Caller, org string, page web.Page) (
		[]*team.Team, int64, error) {
		return q.load.Teams.Choose(ctx, caller, org, c, page)
	}
	return pages[*team.Team]{kind: "TeamConnection", rank: bySlug(c.Desc),
		many: listed(fmt.Sprint("teams ", c), "GET /orgs/{org}/teams", read), node: teamNode}, err
}

// refOfName parses ORGANIZATION/SLUG.
func refOfName(name string) team.Ref {
	org, slug, _ := strings.Cut(name, "/")
	return team.Ref{Org: org, Slug: slug}
}

func childTeams(_ context.Context, f *exec.Field, _ *object) (pages[*team.Team], error) {
	c, err := teamChoice(f)
	read := func(ctx context.Context, q *query, caller *account.Caller, of string, page web.Page) (
		[]*team.Team, int64, error) {
		return q.load.Teams.ChooseBelow(ctx, caller, refOfName(of), c, page)
	}
	return pages[*team.Team]{kind: "TeamConnection", rank: bySlug(c.Desc),
		many: listed(fmt.Sprint("child teams ", c), "GET /orgs/{org}/teams/{team_slug}/teams", read), node: teamNode}, err
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
	read := func(ctx context.Context, q *query, caller *account.Caller, of string, page web.Page) (
		[]teamMember, int64, error) {
		list, total, err := q.load.Teams.ChooseMembers(ctx, caller, refOfName(of), c, page)
		rows := make([]teamMember, len(list))
		for n, p := range list {
			rows[n] = teamMember{account.NewSimple(p.Account, web.From(ctx)), p.Role}
		}
		return rows, total, err
	}
	path := o.value.(*team.Team).Path()
	return pages[teamMember]{kind: "TeamMemberConnection", rank: rankOfMembers(c),
		key:  func(m teamMember) string { return decimal(int64(m.ID)) },
		many: listed(fmt.Sprint("team members ", c), "GET /orgs/{org}/teams/{team_slug}/members", read),
		node: func(m teamMember) (any, error) {
			role := map[bool]string{true: "MAINTAINER", false: "MEMBER"}[m.role == team.Maintainer]
			return &edge{kind: "TeamMemberEdge", node: newAccount(m.Simple), fields: map[string]any{"role": role,
				"memberAccessUrl": web.From(ctx).Page(path), "memberAccessResourcePath": path}}, nil
		}}, err
}

// rankOfMembers is the order of the people of a team; nil if it is by what a row does not have.
func rankOfMembers(c team.MemberChoice) *rank[teamMember] {
	switch c.By {
	case team.ByLogin:
		return &rank[teamMember]{desc: c.Desc, of: func(m teamMember) string { return account.Fold(m.Login) }}
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
	read := func(ctx context.Context, q *query, caller *account.Caller, of string, page web.Page) (
		[]teamRepo, int64, error) {
		list, total, err := q.load.Teams.ChooseRepos(ctx, caller, refOfName(of), c, page)
		rows := make([]teamRepo, len(list))
		for n, r := range list {
			rows[n] = teamRepo{repo.NewPayload(r.Access, web.From(ctx)), r.Role}
		}
		return rows, total, err
	}
	return pages[teamRepo]{kind: "TeamRepositoryConnection",
		key:  func(r teamRepo) string { return decimal(int64(r.ID)) },
		many: listed(fmt.Sprint("team repositories ", c), "GET /orgs/{org}/teams/{team_slug}/repos", read),
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
		"organization": organizationsOfTeams, "parentTeam": parentTeam,
		"childTeams": connections(childTeams), "members": connections(teamMembers),
		"repositories": connections(teamRepositories),
	}, teamPlaces())
}
