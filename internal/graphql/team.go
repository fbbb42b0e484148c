package graphql

import (
	"context"
	"errors"
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

// rankBySlug is the order of lists of teams.
var rankBySlug = &rank[*team.Team]{of: func(t *team.Team) string { return t.Slug }}

// organizationTeams resolves the teams of an organization that the caller sees.
func organizationTeams(_ context.Context, f *exec.Field, _ *object) (pages[*team.Team], error) {
	if q, _ := f.Args["query"].(string); q != "" {
		return pages[*team.Team]{}, refused("Arbor does not search for teams here.")
	}
	if _, desc, err := orderBy(f, map[string]string{"NAME": "name"}); err != nil || desc {
		return pages[*team.Team]{}, refused("Arbor lists teams by ascending names only.")
	}
	name, top := "teams", f.Args["rootTeamsOnly"] == true
	if top {
		name = "root teams"
	}
	read := func(ctx context.Context, q *query, caller *account.Caller, org string, page web.Page) (
		[]*team.Team, int64, error) {
		return q.load.Teams.List(ctx, caller, org, top, page)
	}
	return pages[*team.Team]{kind: "TeamConnection", rank: rankBySlug,
		many: listed(name, "GET /orgs/{org}/teams", read), node: teamNode}, nil
}

// refOfName parses ORGANIZATION/SLUG.
func refOfName(name string) team.Ref {
	org, slug, _ := strings.Cut(name, "/")
	return team.Ref{Org: org, Slug: slug}
}

func childTeams(context.Context, *exec.Field, *object) (pages[*team.Team], error) {
	read := func(ctx context.Context, q *query, caller *account.Caller, of string, page web.Page) (
		[]*team.Team, int64, error) {
		return q.load.Teams.Children(ctx, caller, refOfName(of), page)
	}
	return pages[*team.Team]{kind: "TeamConnection", rank: rankBySlug,
		many: listed("child teams", "GET /orgs/{org}/teams/{team_slug}/teams", read), node: teamNode}, nil
}

// teamMember is a row of the members of a team.
type teamMember struct {
	*account.Simple
	role team.Role
}

func teamMembers(_ context.Context, f *exec.Field, _ *object) (pages[teamMember], error) {
	if f.Args["membership"] == "CHILD_TEAM" {
		return pages[teamMember]{}, refused("membership CHILD_TEAM is not supported.")
	}
	role := "all"
	if given, ok := f.Args["role"].(string); ok {
		role = strings.ToLower(given)
	}
	read := func(ctx context.Context, q *query, caller *account.Caller, of string, page web.Page) (
		[]teamMember, int64, error) {
		list, total, err := q.load.Teams.Members(ctx, caller, refOfName(of), role, page)
		rows := make([]teamMember, len(list))
		for n, p := range list {
			rows[n] = teamMember{account.NewSimple(p.Account, web.From(ctx)), p.Role}
		}
		return rows, total, err
	}
	return pages[teamMember]{kind: "TeamMemberConnection",
		rank: rankByID(func(m teamMember) int64 { return int64(m.ID) }),
		many: listed("team members "+role, "GET /orgs/{org}/teams/{team_slug}/members", read),
		node: func(m teamMember) (any, error) {
			return &edge{kind: "TeamMemberEdge", node: newAccount(m.Simple),
				fields: map[string]any{"role": enumName(m.role.String())}}, nil
		}}, nil
}

func teamRepositories(context.Context, *exec.Field, *object) (pages[*repo.Payload], error) {
	read := func(ctx context.Context, q *query, caller *account.Caller, of string, page web.Page) (
		[]*repo.Payload, int64, error) {
		list, total, err := q.load.Teams.Repos(ctx, caller, refOfName(of), page)
		rows := make([]*repo.Payload, len(list))
		for n, r := range list {
			rows[n] = repo.NewPayload(r.Access, web.From(ctx))
		}
		return rows, total, err
	}
	return pages[*repo.Payload]{kind: "TeamRepositoryConnection",
		rank: rankByID(func(p *repo.Payload) int64 { return int64(p.ID) }),
		many: listed("team repositories", "GET /orgs/{org}/teams/{team_slug}/repos", read),
		node: repositoryNode}, nil
}

// ofTeam resolves a field with a part of the payload of a team.
func ofTeam(part func(t *team.Team, shown *team.Simple) any) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		t := o.value.(*team.Team)
		return part(t, team.NewSimple(t, web.From(ctx))), nil
	})
}

func teamFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
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
		"organization": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return queryOf(ctx).accountAt(ctx, o.value.(*team.Team).Org.Login)
		}),
		"parentTeam": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			p := o.value.(*team.Team).Parent
			if p == nil {
				return nil, nil
			}
			return queryOf(ctx).team(ctx, team.Ref{ID: p.ID})
		}),
		"childTeams": connections(childTeams), "members": connections(teamMembers),
		"repositories": connections(teamRepositories),
	}
}
