package graphql

import (
	"context"
	"strings"

	"arbor/internal/repo"
	"arbor/internal/team"
)

// updateTeamsRepository gives teams a role on a repository, one team after the other.
func updateTeamsRepository(ctx context.Context, m *mutation) (map[string]any, error) {
	ids := m.ids("teamIds")
	if len(ids) > mostActors {
		return nil, refused("teamIds has 100 items at most.")
	}
	var teams []any
	in, err := m.act(ctx, "repositoryId", "Repository", "PUT /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}",
		func(ctx context.Context, a *repo.Access, _ *object) error {
			permission := strings.ToLower(m.text("permission"))
			switch permission {
			case "read":
				permission = "pull"
			case "write":
				permission = "push"
			}
			for _, found := range m.findAll(ctx, ids, "Team") {
				if found.err != nil {
					return found.err
				}
				teams = append(teams, found.value)
			}
			for _, t := range teams {
				if err := m.load.Teams.AddRepo(ctx, a, team.Ref{ID: team.ID(t.(*object).id)}, permission); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	in, err = m.again(ctx, in)
	return map[string]any{"repository": in, "teams": teams}, err
}

// removeOutsideCollaborator takes away all that was granted to somebody on an organization's repositories.
func removeOutsideCollaborator(ctx context.Context, m *mutation) (map[string]any, error) {
	org, err := m.target(ctx, "organizationId", "Organization")
	if err != nil {
		return nil, err
	}
	user, err := m.target(ctx, "userId", "User")
	if err != nil {
		return nil, err
	}
	to, caller, err := m.own(ctx, "DELETE /orgs/{org}/outside_collaborators/{username}")
	if err == nil {
		err = m.load.Collaborators.RemoveOutsider(to, caller, org.name, user.name)
	}
	return map[string]any{"removedUser": user}, err
}
