package collaborator

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /orgs/{org}/outside_collaborators
//
// ListOutsiders answers, by id, the users with a granted role on a repository of the organization who are not its
// members, for owners. filter=2fa_disabled chooses those without a second factor. Errors: 403, 404, 422.
func (api *API) ListOutsiders(w http.ResponseWriter, r *http.Request) error {
	caller, org := account.CallerFrom(r.Context()), web.Param(r, "org")
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		_, err := account.OverseenOrg(tx, caller, org)
		return err
	})
	if err != nil {
		return err // before the parameters (decision 51)
	}
	filter, err := web.QueryEnum(r, resource, "filter", "all", "2fa_disabled")
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	people, total, err := api.s.Outsiders(r.Context(), caller, org, filter != "all", page)
	if err != nil {
		return err
	}
	out := make([]*account.Simple, len(people))
	for n, p := range people {
		out[n] = account.NewSimple(p, web.From(r.Context()))
	}
	web.Link(w, r, page, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// DELETE /orgs/{org}/outside_collaborators/{username}
//
// RemoveOutsider takes away all that was granted to an outside collaborator on the organization's repositories, for
// owners; also for a user without a role it is 204. Errors: 403, 404, 422 for a member.
func (api *API) RemoveOutsider(w http.ResponseWriter, r *http.Request) error {
	err := api.s.RemoveOutsider(r.Context(), account.CallerFrom(r.Context()), web.Param(r, "org"),
		web.Param(r, "username"))
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// RemoveOutsider takes away all that was granted to an outside collaborator. Errors: those of
// [repo.Service.RevokeInOrg].
func (s *Service) RemoveOutsider(ctx context.Context, caller *account.Caller, org, login string) error {
	return s.repos.RevokeInOrg(ctx, caller, org, login)
}

// outsiders selects the users with a role on repositories of the organization $1 who are not its members.
var outsiders = ` FROM (SELECT DISTINCT c.user_id AS user_id
	FROM repos r JOIN collaborators c ON c.repo_id = r.id
	WHERE r.owner_id = $1 AND ` + repo.NotDeleted("r") + ` AND NOT EXISTS (
		SELECT 1 FROM members m WHERE m.org_id = $1 AND m.user_id = c.user_id)) p`

// Outsiders reads a page, by id, of the outside collaborators of an organization, and how many they are. Errors:
// those of [account.OverseenOrg].
func (s *Service) Outsiders(
	ctx context.Context, caller *account.Caller, login string, noFactor bool, page web.Page,
) (people []*account.Account, total int64, err error) {
	where := outsiders
	if noFactor {
		where += ` WHERE ` + account.NoFactor("p.user_id")
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		org, err := account.OverseenOrg(tx, caller, login)
		if err != nil {
			return err
		}
		ids, err := db.QueryIDs[account.ID](tx,
			`SELECT user_id`+where+` ORDER BY user_id LIMIT $2 OFFSET $3`,
			org.ID, page.Size, page.Offset())
		if err != nil {
			return err
		}
		var known bool
		if total, known = page.Total(len(ids)); !known {
			if err := tx.QueryRow(`SELECT count(*)`+where, org.ID).Scan(&total); err != nil {
				return err
			}
		}
		accounts, err := account.ByIDs(tx, ids)
		people = make([]*account.Account, 0, len(ids))
		for _, id := range ids {
			people = append(people, accounts[id])
		}
		return err
	})
	return people, total, err
}
