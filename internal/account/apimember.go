package account

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/web"
)

// GET /orgs/{org}/members
//
// ListMembers lists an organization's members: all for its members, for others
// those who show it. role=admin or role=member chooses; filter=2fa_disabled, for owners, those without a second factor.
// Errors: 404, 422.
func (a *API) ListMembers(w http.ResponseWriter, r *http.Request) error {
	return a.listMembers(w, r, false)
}

// GET /orgs/{org}/public_members
//
// ListPublicMembers lists the members who show their membership. Errors: 404.
func (a *API) ListPublicMembers(w http.ResponseWriter, r *http.Request) error {
	return a.listMembers(w, r, true)
}

func (a *API) listMembers(w http.ResponseWriter, r *http.Request, publicOnly bool) error {
	caller, login := CallerFrom(r.Context()), web.Param(r, "org")
	if _, _, err := a.s.Org(r.Context(), caller, login); err != nil {
		return err // before the parameters (decision 16)
	}
	f := memberFilter{Role: "all", PublicOnly: publicOnly}
	if !publicOnly {
		var err error
		if f.Role, err = web.QueryEnum(r, "Member", "role", "all", "admin", "member"); err != nil {
			return err
		}
		filter, err := web.QueryEnum(r, "Member", "filter", "all", "2fa_disabled")
		if err != nil {
			return err
		}
		f.NoFactor = filter != "all"
	}
	p := web.ReadPage(r)
	list, total, err := a.s.membersBy(r.Context(), caller, login, f, p)
	if err != nil {
		return err
	}
	out, info := make([]*Simple, len(list)), web.From(r.Context())
	for n, m := range list {
		out[n] = NewSimple(m.User, info)
	}
	web.Link(w, r, p, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /orgs/{org}/members/{username}
//
// CheckMember answers 204 when the user is a member and 404 when not; outsiders
// are sent on to the public members with 302, no matter whom they ask about.
func (a *API) CheckMember(w http.ResponseWriter, r *http.Request) error {
	org, user := web.Param(r, "org"), web.Param(r, "username")
	m, may, err := a.s.Membership(r.Context(), CallerFrom(r.Context()), org, user)
	switch {
	case err != nil:
		return err
	case !may.Member:
		w.Header().Set("Location", web.From(r.Context()).API(web.Path("orgs", org, "public_members", user)))
		w.WriteHeader(http.StatusFound)
		return nil
	case m == nil:
		return errs.Absent()
	}
	return web.NoContent(w)
}

// PUT /orgs/{org}/members/{username}
//
// AddMember adds a user as a member, for owners; present members keep
// their role. Where others must be invited, only site administrators add them. Errors: 404, 403.
func (a *API) AddMember(w http.ResponseWriter, r *http.Request) error {
	_, err := a.s.SetMember(r.Context(), CallerFrom(r.Context()), web.Param(r, "org"),
		web.Param(r, "username"), "")
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// DELETE /orgs/{org}/members/{username}
//
// RemoveMember ends a membership and the roles of the user on the organization's repositories: owners any,
// everyone their own. Errors: 404, 403, 422 for the last owner.
func (a *API) RemoveMember(w http.ResponseWriter, r *http.Request) error {
	err := a.s.RemoveMember(r.Context(), CallerFrom(r.Context()), web.Param(r, "org"),
		web.Param(r, "username"))
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// PUT /orgs/{org}/outside_collaborators/{username}
//
// ConvertMember makes a member an outside collaborator, for owners. It is done when the answer comes; with async
// that is a 202, as at GitHub. Errors: 404, 422, 403 also for users who are not members and for the last owner.
func (a *API) ConvertMember(w http.ResponseWriter, r *http.Request) error {
	caller, org := CallerFrom(r.Context()), web.Param(r, "org")
	if err := a.s.CheckOwner(r.Context(), caller, org); err != nil {
		return err
	}
	o, err := web.ReadOptional(r, "Membership")
	if err != nil {
		return err
	}
	async := o.Bool("async")
	if err := o.Err(); err != nil {
		return err
	}
	if err := a.s.ConvertMember(r.Context(), caller, org, web.Param(r, "username")); err != nil {
		return err
	}
	if async.Value {
		return web.JSON(w, r, http.StatusAccepted, struct{}{})
	}
	return web.NoContent(w)
}

// GET /orgs/{org}/memberships/{username}
//
// GetMembership answers one membership, for members, and for everyone their
// own. Errors: 401, 404, 403.
func (a *API) GetMembership(w http.ResponseWriter, r *http.Request) error {
	caller, org, user := CallerFrom(r.Context()), web.Param(r, "org"), web.Param(r, "username")
	if caller == nil {
		return errs.New(errs.Unauthenticated, "Requires authentication")
	}
	m, may, err := a.s.Membership(r.Context(), caller, org, user)
	switch {
	case err != nil:
		return err
	case !may.Member && Fold(user) != Fold(caller.Login):
		return errs.New(errs.Forbidden, "You must be a member of the organization to see its memberships")
	case m == nil: // perhaps an open invitation, for owners and the invitee
		if m, err = a.s.PendingMembership(r.Context(), caller, org, user); err != nil {
			return err
		}
	}
	return web.JSON(w, r, http.StatusOK, newMembership(m, web.From(r.Context())))
}

// PUT /orgs/{org}/memberships/{username}
//
// SetMembership adds a user as a member or, with role admin, as an owner; at once, or, where the
// server requires it, by an invitation: then the membership is pending. For owners. Errors: 404, 403, 422.
func (a *API) SetMembership(w http.ResponseWriter, r *http.Request) error {
	caller, org := CallerFrom(r.Context()), web.Param(r, "org")
	if err := a.s.CheckOwner(r.Context(), caller, org); err != nil {
		return err
	}
	o, err := web.ReadOptional(r, "Membership")
	if err != nil {
		return err
	}
	role := o.Enum("role", "member", "admin")
	if err := o.Err(); err != nil {
		return err
	}
	m, err := a.s.SetMember(r.Context(), caller, org, web.Param(r, "username"), role.Or("member"))
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newMembership(m, web.From(r.Context())))
}

// DELETE /orgs/{org}/memberships/{username}
//
// RemoveMembership is RemoveMember at GitHub's newer address.
func (a *API) RemoveMembership(w http.ResponseWriter, r *http.Request) error {
	return a.RemoveMember(w, r)
}

// GET /orgs/{org}/public_members/{username}
//
// CheckPublicMember answers 204 when the user is a member for everyone to see,
// else 404.
func (a *API) CheckPublicMember(w http.ResponseWriter, r *http.Request) error {
	m, _, err := a.s.Membership(r.Context(), CallerFrom(r.Context()), web.Param(r, "org"),
		web.Param(r, "username"))
	if err != nil {
		return err
	}
	if m == nil || !m.Public {
		return errs.Absent()
	}
	return web.NoContent(w)
}

// PUT /orgs/{org}/public_members/{username}
//
// PublicizeMember shows the caller's own membership to everyone. Errors: 404,
// 403 for someone else's.
func (a *API) PublicizeMember(w http.ResponseWriter, r *http.Request) error {
	return a.setPublic(w, r, true)
}

// DELETE /orgs/{org}/public_members/{username}
//
// ConcealMember hides the caller's own membership from outsiders. Errors: 404,
// 403 for someone else's.
func (a *API) ConcealMember(w http.ResponseWriter, r *http.Request) error {
	return a.setPublic(w, r, false)
}

func (a *API) setPublic(w http.ResponseWriter, r *http.Request, public bool) error {
	err := a.s.SetMemberPublic(r.Context(), CallerFrom(r.Context()), web.Param(r, "org"),
		web.Param(r, "username"), public)
	if err != nil {
		return err
	}
	return web.NoContent(w)
}
