package invitation

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// GET /user/memberships/orgs
//
// ListOwnMemberships lists the caller's memberships; with state=pending the open invitations. Errors: 422 for another
// state.
func (api *API) ListOwnMemberships(w http.ResponseWriter, r *http.Request) error {
	state, err := web.QueryEnum(r, "Membership", "state", "active", "pending")
	if err != nil {
		return err
	}
	p, info, caller := web.ReadPage(r), web.From(r.Context()), account.CallerFrom(r.Context())
	out, total := []any{}, int64(0)
	if state == "pending" {
		list, n, err := api.s.MembershipsOf(r.Context(), caller, p)
		if err != nil {
			return err
		}
		for _, i := range list {
			out = append(out, account.MembershipOf(i.membership(), info))
		}
		total = n
	} else {
		list, n, err := api.s.accounts.OrgsOf(r.Context(), caller, caller.Login, p)
		if err != nil {
			return err
		}
		for _, m := range list {
			out = append(out, account.MembershipOf(m, info))
		}
		total = n
	}
	web.Link(w, r, p, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// PATCH /user/memberships/orgs/{org}
//
// AcceptMembership accepts the caller's invitation: the body has the state active. A member stays one. Errors: 403
// if the inviter does not own the organization any more, 404, 422.
func (api *API) AcceptMembership(w http.ResponseWriter, r *http.Request) error {
	o, err := web.ReadObject(r, "Membership")
	if err != nil {
		return err
	}
	o.Require("state")
	o.Enum("state", "active")
	if err := o.Err(); err != nil {
		return err
	}
	caller, org, info := account.CallerFrom(r.Context()), web.Param(r, "org"), web.From(r.Context())
	m, err := api.s.AcceptMember(r.Context(), caller, org, "")
	if errs.Is(err, errs.NotFound) { // perhaps a member already
		m, _, err = api.s.accounts.Membership(r.Context(), caller, org, caller.Login)
		if err == nil && m == nil {
			err = errs.Absent()
		}
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, account.MembershipOf(m, info))
}

// GET /user/memberships/orgs/{org}
//
// GetOwnMembership answers the caller's membership or open invitation. Error: 404.
func (api *API) GetOwnMembership(w http.ResponseWriter, r *http.Request) error {
	caller, org := account.CallerFrom(r.Context()), web.Param(r, "org")
	m, _, err := api.s.accounts.Membership(r.Context(), caller, org, caller.Login)
	if err == nil && m == nil {
		var i *Invitation
		if i, err = api.s.ToOrg(r.Context(), caller, org, ""); err == nil {
			m = i.membership()
		}
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, account.MembershipOf(m, web.From(r.Context())))
}
