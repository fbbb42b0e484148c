package invitation

import (
	"context"
	"net/http"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/team"
	"arbor/internal/web"
)

// maxTeams is how many teams an invitation names.
const maxTeams = 50

// setTeams stores the teams that a person joins who accepts an invitation to an organization, in place of those
// before. Error: 422 for teams of others.
func setTeams(tx *db.Tx, i *Invitation, ids []team.ID) error {
	ids = db.Unique(ids)
	list, err := team.OfOrg(tx, i.orgID, ids)
	if err != nil {
		return err
	}
	if len(list) < len(ids) {
		return errs.Validation(errs.Field{Resource: OrgResource, Field: "team_ids", Code: errs.Missing,
			Message: "The organization has no team of one of these ids."})
	}
	if err := tx.Run(`DELETE FROM invited_teams WHERE invitation_id = $1`, i.ID); err != nil {
		return err
	}
	i.Teams = len(list)
	if len(list) == 0 {
		return nil
	}
	args := make([]any, 0, 3*len(list))
	for _, t := range list {
		args = append(args, i.ID, t.ID, tx.Now)
	}
	return tx.Run(`INSERT INTO invited_teams (invitation_id, team_id, created_at) VALUES `+
		db.Values(len(list), 3), args...)
}

// teamsOf reads the teams of an invitation to an organization, by slug.
func teamsOf(tx *db.Tx, i *Invitation) ([]*team.Team, error) {
	ids, err := db.QueryIDs[team.ID](tx, `SELECT team_id FROM invited_teams WHERE invitation_id = $1`, i.ID)
	if err != nil {
		return nil, err
	}
	return team.OfOrg(tx, i.orgID, ids)
}

// countTeams fills in how many teams invitations name.
func countTeams(tx *db.Tx, list []*Invitation) error {
	var ids []ID
	for _, i := range list {
		if i.orgID != 0 {
			ids = append(ids, i.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	counts, err := db.QueryMap[ID, int](tx, `SELECT invitation_id, count(*) FROM invited_teams
		WHERE invitation_id IN `+db.Values(1, len(ids))+` GROUP BY invitation_id`, db.Args(ids)...)
	for _, i := range list {
		i.Teams = counts[i.ID]
	}
	return err
}

// TeamsOf lists the teams that a person joins who accepts an open invitation to an organization, for its owners.
// Errors: 403, 404.
func (s *Service) TeamsOf(
	ctx context.Context, caller *account.Caller, orgLogin string, id ID,
) (list []*team.Team, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		org, err := account.OwnedOrg(tx, caller, orgLogin)
		if err != nil {
			return err
		}
		i, err := open(tx, ` WHERE i.org_id = $1 AND i.id = $2`, org.ID, id).one(tx)
		if err == nil {
			list, err = teamsOf(tx, i)
		}
		return err
	})
	return list, err
}

// OfTeam lists the open invitations that name a team, for owners of the organization and maintainers of the team;
// for others it is empty.
func (s *Service) OfTeam(
	ctx context.Context, a *team.Access, p web.Page,
) (list []*Invitation, total int64, err error) {
	if !a.MayManage() {
		return nil, 0, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, total, err = open(tx, ` JOIN invited_teams it ON it.invitation_id = i.id
			WHERE i.org_id = $1 AND it.team_id = $2`, a.Org.ID, a.ID).page(tx, p)
		return err
	})
	return list, total, err
}

// OfTeams is OfTeam for several teams, with a fixed number of statements.
func (s *Service) OfTeams(
	ctx context.Context, caller *account.Caller, ids []team.ID, p web.Page,
) (out map[team.ID]*web.List[*Invitation], err error) {
	seen, err := s.Teams.ByIDs(ctx, caller, ids)
	if err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id team.ID) bool { return seen[id] == nil || !seen[id].MayManage() })
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := toTeams(tx, ids, p)
		if err != nil {
			return err
		}
		list, err := byIDs(tx, db.ListedIDs(found))
		out = web.ListOfEach(p, found, func(r db.ListRow[ID]) (*Invitation, bool) { return list[r.ID], list[r.ID] != nil })
		return err
	})
	return out, err
}

// GET /orgs/{org}/invitations/{invitation_id}/teams
//
// ListTeams lists the teams that a person joins who accepts an invitation, for owners, by slug. Errors: 403, 404.
func (api *API) ListTeams(w http.ResponseWriter, r *http.Request) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	list, err := api.s.TeamsOf(r.Context(), account.CallerFrom(r.Context()), web.Param(r, "org"), id)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, team.NewPayloads(web.Cut(w, r, list), web.From(r.Context())))
}

// GET /orgs/{org}/teams/{team_slug}/invitations
// GET /organizations/{organization_id}/team/{team_id}/invitations
// GET /teams/{team_id}/invitations
//
// ListOfTeam lists the open invitations to the organization that name a team, for owners and the team's maintainers,
// the oldest first; others get an empty list. Error: 404.
func (api *API) ListOfTeam(w http.ResponseWriter, r *http.Request) error {
	a, err := api.s.Teams.Find(r.Context(), r)
	if err != nil {
		return err
	}
	p, info := web.ReadPage(r), web.From(r.Context())
	list, total, err := api.s.OfTeam(r.Context(), a, p)
	if err != nil {
		return err
	}
	out := make([]*OrgPayload, len(list))
	for n, i := range list {
		out[n] = newOrgPayload(i, info)
	}
	web.Link(w, r, p, total)
	return web.JSON(w, r, http.StatusOK, out)
}
