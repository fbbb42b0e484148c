package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/team"
	"arbor/internal/web"
)

// teamPlaces are the fields of teams about where they are: addresses, and what is above them.
func teamPlaces() map[string]exec.Resolver {
	page := func(rest string) func(context.Context, *object) string {
		return func(_ context.Context, o *object) string { return o.value.(*team.Team).Path() + rest }
	}
	newTeam := func(_ context.Context, o *object) string {
		return web.Path("orgs", o.value.(*team.Team).Org.Login, "people", "new-team")
	}
	return merge(map[string]exec.Resolver{
		"ancestors": ancestors, "viewerCanAdminister": viewerManages,
		"notificationSetting": ofTeam(func(_ *team.Team, s *team.Simple) any { return enumName(s.Notifications) }),
	}, addressed("members", page("")), addressed("teams", page("")), addressed("discussions", page("")),
		addressed("editTeam", page("/settings")), addressed("repositories", page("/repositories")),
		addressed("newTeam", newTeam))
}

// teamsByID reads teams by their ids as far as the caller sees them.
func (q *query) teamsByID(ctx context.Context, ids []team.ID) (map[team.ID]*team.Access, error) {
	ctx, caller, err := q.on(ctx, "GET /orgs/{org}/teams/{team_slug}")
	if err != nil {
		return nil, err
	}
	found, err := q.load.Teams.ByIDs(ctx, caller, ids)
	return found, q.noteError(err)
}

// ancestors resolves the teams above teams, the highest first, for all teams together. The depth of teams is bounded.
func ancestors(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	above, at := make([][]any, len(parents)), make([]*team.Team, len(parents))
	for n, o := range objectsOf(parents) {
		at[n] = o.value.(*team.Team)
	}
	for {
		var ids []team.ID
		for _, t := range at {
			if t != nil && t.Parent != nil {
				ids = append(ids, t.Parent.ID)
			}
		}
		if len(ids) == 0 {
			break
		}
		found, err := queryOf(ctx).teamsByID(ctx, ids)
		if err != nil {
			return failed(asError(err), len(parents))
		}
		for n, t := range at {
			at[n] = nil
			if t == nil || t.Parent == nil {
				continue
			}
			if a := found[t.Parent.ID]; a != nil {
				at[n] = a.Team
				above[n] = append([]any{newTeam(a.Team)}, above[n]...)
			}
		}
	}
	values := make([]any, len(parents))
	for n := range parents {
		values[n] = orError(connectAll(f, "TeamConnection", above[n]))
	}
	return values
}

// organizationsOfTeams resolves the organizations in which teams are.
func organizationsOfTeams(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	ids := make([]int64, len(parents))
	for n, o := range objectsOf(parents) {
		ids[n] = int64(o.value.(*team.Team).Org.ID)
	}
	found, err := queryOf(ctx).accountsByID(ctx, ids)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	values := make([]any, len(parents))
	for n, id := range ids {
		if a, there := found[account.ID(id)]; there {
			values[n] = fullAccount(a)
		}
	}
	return values
}

// parentTeam resolves the parent of each team, if the caller can see it.
func parentTeam(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	var ids []team.ID
	for _, o := range objectsOf(parents) {
		if p := o.value.(*team.Team).Parent; p != nil {
			ids = append(ids, p.ID)
		}
	}
	values := make([]any, len(parents))
	if len(ids) == 0 {
		return values
	}
	found, err := queryOf(ctx).teamsByID(ctx, ids)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	for n, o := range objectsOf(parents) {
		if p := o.value.(*team.Team).Parent; p != nil && found[p.ID] != nil {
			values[n] = newTeam(found[p.ID].Team)
		}
	}
	return values
}

// viewerManages resolves whether the caller may change who is in teams.
func viewerManages(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	values, ids := make([]any, len(parents)), make([]team.ID, len(parents))
	for n, o := range objectsOf(parents) {
		ids[n] = team.ID(o.id)
	}
	found, err := queryOf(ctx).teamsByID(ctx, ids)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	for n, id := range ids {
		values[n] = found[id] != nil && found[id].MayManage()
	}
	return values
}
