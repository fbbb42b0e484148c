package collaborator

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/invitation"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Payload is GitHub's collaborator: a user with the role that it has on a repository.
type Payload struct {
	*account.Simple
	Permissions *repo.Permissions `json:"permissions"`
	RoleName    string            `json:"role_name"`
}

func newPayload(c Collaborator, i *web.Info) Payload {
	return Payload{account.NewSimple(c.Account, i), repo.NewPermissions(c.Role), c.Role.Name()}
}

// legacy returns the name of a role from when GitHub had three, which role_name follows.
func legacy(role account.Role) string {
	switch role {
	case account.Triage:
		role = account.Pull
	case account.Maintain:
		role = account.Push
	}
	return role.Name()
}

// GET /repos/{owner}/{repo}/collaborators
//
// ListCollaborators answers the users with a role on the repository, by id: everyone with
// a granted role, and its owner; of an organization the owners and, when
// its default permission is above none, all members, including those who hide
// their membership. Each has the role that GetPermission says. affiliation=direct
// selects those with a granted role, outside those of them who are not members;
// permission those who have at least that. Errors: 422.
func (api *API) ListCollaborators(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	chosen, err := readChoice(r)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	people, total, err := api.s.List(r.Context(), a, chosen, page)
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	out := make([]Payload, len(people))
	for i, p := range people {
		out[i] = newPayload(p, info)
	}
	web.Link(w, r, page, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// readChoice reads which collaborators are asked for.
func readChoice(r *http.Request) (c Choice, err error) {
	if c.Affiliation, err = web.QueryEnum(r, resource, "affiliation", "all", "direct",
		"outside"); err != nil {
		return c, err
	}
	permission, err := web.QueryEnum(r, resource, "permission", append([]string{""}, account.Grants()...)...)
	c.AtLeast, _ = account.ParseRole(permission)
	return c, err
}

// GET /repos/{owner}/{repo}/collaborators/{username}
//
// CheckCollaborator answers 204 for a user in the list of collaborators and 404
// for anyone else.
func (api *API) CheckCollaborator(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		user, err := account.UserByLogin(tx, web.Param(r, "username"))
		if err != nil {
			return err
		}
		return isCollaborator(tx, a.Repo, user.ID)
	})
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// PUT /repos/{owner}/{repo}/collaborators/{username}
//
// AddCollaborator grants a user the permission of the body: pull, triage, push (which
// is the default), maintain or admin. It counts at once; on servers that require invitations, the answer to
// people from outside is one, with 201.
func (api *API) AddCollaborator(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadOptional(r, resource)
	if err != nil {
		return err
	}
	permission := body.Enum("permission", account.Grants()...)
	if err := body.Err(); err != nil {
		return err
	}
	i, err := api.s.Add(r.Context(), a, web.Param(r, "username"), permission.Or("push"))
	switch {
	case err != nil:
		return err
	case i != nil:
		return web.JSON(w, r, http.StatusCreated, invitation.NewPayload(i, a, web.From(r.Context())))
	}
	return web.NoContent(w)
}

// DELETE /repos/{owner}/{repo}/collaborators/{username}
//
// RemoveCollaborator takes away what was granted; also who never had anything
// is 204, as at GitHub. One may always remove oneself.
func (api *API) RemoveCollaborator(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.Remove(r.Context(), a, web.Param(r, "username")); err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /repos/{owner}/{repo}/collaborators/{username}/permission
//
// GetPermission answers a user's role, from all sources together. As at GitHub, permission is read for
// triage and write for maintain.
func (api *API) GetPermission(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var user *account.Account
	var role account.Role
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		var err error
		if user, err = account.UserByLogin(tx, web.Param(r, "username")); err != nil {
			return err
		}
		theirs, err := repo.ByID(tx, asCaller(user), a.ID)
		if err == nil {
			role = theirs.Role
		}
		return err
	})
	if err != nil {
		return err
	}
	simple := account.NewSimple(user, web.From(r.Context()))
	return web.JSON(w, r, http.StatusOK, map[string]any{
		"permission": legacy(role),
		"role_name":  role.Name(),
		"user":       Payload{simple, repo.NewPermissions(role), role.Name()},
	})
}

// asCaller is the caller that the user would be.
func asCaller(user *account.Account) *account.Caller {
	return &account.Caller{ID: user.ID, Login: user.Login, SiteAdmin: user.SiteAdmin}
}
