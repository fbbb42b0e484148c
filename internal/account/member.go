package account

import (
	"context"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Members returns one page of an organization's members and their number:
// all for its members, the public ones for others or with publicOnly. role is admin, member or all.
func (s *Service) Members(
	ctx context.Context, caller *Caller, login, role string, publicOnly bool, p web.Page,
) (list []*Membership, total int64, err error) {
	return s.membersBy(ctx, caller, login, memberFilter{Role: role, PublicOnly: publicOnly}, p)
}

// membersBy lists the members that match a filter. Error: 422 if a caller who is not an owner filters by second
// factors.
func (s *Service) membersBy(
	ctx context.Context, caller *Caller, login string, f memberFilter, p web.Page,
) (list []*Membership, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		org, may, err := orgFor(tx, caller, login)
		if err != nil {
			return err
		}
		if f.NoFactor && !may.Owner {
			return errs.New(errs.Invalid, "Only owners can use this filter.")
		}
		f.Org, f.PublicOnly = org.ID, f.PublicOnly || !may.Member
		if list, err = members(tx, f, p); err != nil {
			return err
		}
		for _, m := range list {
			m.Org = org
		}
		total, err = s.Total(tx, f, p, len(list), func() (int64, error) { return countMembers(tx, f) })
		return err
	})
	return list, total, err
}

// OrgsOf returns one page of the memberships of a user and their number: all
// for the user and site administrators, the public ones for others.
func (s *Service) OrgsOf(ctx context.Context, caller *Caller, login string, p web.Page) (
	list []*Membership, total int64, err error,
) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		user, err := ByLogin(tx, login)
		if err != nil {
			return err
		}
		f := orgFilter{User: user.ID, PublicOnly: caller == nil || caller.HidesMembers ||
			caller.ID != user.ID && !caller.SiteAdmin}
		if caller != nil {
			f.App = caller.OAuthApp
		}
		if list, err = orgsOf(tx, f, p); err != nil {
			return err
		}
		for _, m := range list {
			m.User = user
		}
		total, err = s.Total(tx, f, p, len(list), func() (int64, error) { return countOrgs(tx, f) })
		return err
	})
	return list, total, err
}

// Membership finds a membership and whether the caller belongs to the
// organization too. With the membership hidden or missing m is nil: whether the
// user exists at all makes no difference to an outsider.
func (s *Service) Membership(ctx context.Context, caller *Caller, orgLogin, userLogin string) (
	m *Membership, may OrgAccess, err error,
) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		var org, user *Account
		if org, may, err = orgFor(tx, caller, orgLogin); err != nil {
			return err
		}
		if user, err = UserByLogin(tx, userLogin); err == nil {
			m, err = memberOf(tx, org, user)
		}
		if errs.Is(err, errs.NotFound) || err == nil && org.closed && !m.Public {
			m, err = nil, nil
		}
		return err
	})
	return m, may, err
}

// SetMember adds someone as a member. Servers may require that the user is invited: then the membership is pending.
// role is admin, member, or empty to leave a present member's as it is. Errors: 404 for
// the organization or the user; 403 for those who do not own it, and for an empty role where others must be invited;
// those of [Service.PutMember].
func (s *Service) SetMember(
	ctx context.Context, caller *Caller, orgLogin, userLogin, role string,
) (*Membership, error) {
	var m *Membership
	err := s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		org, err := ownedOrg(tx, caller, orgLogin)
		if err != nil {
			return err
		}
		user, err := UserByLogin(tx, userLogin)
		if err != nil {
			return err
		}
		m, err = memberOf(tx, org, user)
		if errs.Is(err, errs.NotFound) && s.forge != nil {
			m.Owner = role == "admin"
			m.Pending, err = s.forge.InviteMember(tx, org, user, m.Owner, caller)
			if err == nil && m.Pending && role == "" {
				err = errs.New(errs.Forbidden, "This server requires invitations: set a membership instead.")
			}
			if err != nil || m.Pending {
				return err
			}
		}
		m, err = s.PutMember(tx, caller, org, user, role)
		return err
	})
	return m, err
}

// PutMember is SetMember at once, in a transaction that holds the organization and has checked the right. Error: 422
// when the last owner would stop being one.
func (s *Service) PutMember(tx *db.Tx, by *Caller, org, user *Account, role string) (*Membership, error) {
	m, err := memberOf(tx, org, user)
	there := err == nil
	if err != nil && !errs.Is(err, errs.NotFound) {
		return nil, err
	}
	owner := role == "admin" || role == "" && m.Owner
	if there && m.Owner == owner {
		return m, nil
	}
	if there && m.Owner {
		if err := checkNotLast(tx, org, user); err != nil {
			return nil, err
		}
	}
	changes, action := map[string]any{"role": orgRole(owner)}, audit.OrgAddMember
	if there {
		changes["old_role"], action = orgRole(m.Owner), audit.OrgUpdateMember
	}
	if err := recordMember(tx, action, by, m, changes); err != nil {
		return nil, err
	}
	m.Owner = owner
	if err := putMember(tx, org.ID, user.ID, owner); err != nil {
		return nil, err
	}
	switch {
	case !there:
		err = s.tellMember(tx, m, true, by)
	case owner:
		err = s.beginOrgAccess(tx, org.ID)
	default:
		err = s.endOrgAccess(tx, org.ID, by.ID)
	}
	return m, err
}

// PendingMembership finds the open invitation of a user, as the membership that it will be, for owners and the user.
// Error: 404.
func (s *Service) PendingMembership(
	ctx context.Context, caller *Caller, orgLogin, userLogin string,
) (m *Membership, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		org, may, err := orgFor(tx, caller, orgLogin)
		if err != nil {
			return err
		}
		user, err := UserByLogin(tx, userLogin)
		if err != nil {
			return err
		}
		if s.forge == nil || org.closed || !may.Owner && user.ID != caller.ID {
			return errs.Absent()
		}
		m, err = s.forge.InvitedMember(tx, org, user)
		return err
	})
	return m, err
}

// RemoveMember ends a membership and the roles that were granted to the user on the organization's
// repositories, as at GitHub, or an open invitation: owners may end any, everyone their own. Errors: 404 for the
// organization, the user and the membership; 403 without the right; 422 for the last owner.
func (s *Service) RemoveMember(ctx context.Context, caller *Caller, orgLogin, userLogin string) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		self := Fold(userLogin) == Fold(caller.Login)
		org, err := heldOrg(tx, caller, orgLogin, func(may OrgAccess) bool { return may.Owner || self })
		if err != nil {
			return err
		}
		user, err := UserByLogin(tx, userLogin)
		if err != nil {
			return err
		}
		m, err := memberOf(tx, org, user)
		if errs.Is(err, errs.NotFound) && s.forge != nil {
			return s.forge.EndInvitation(tx, org, user, caller)
		}
		if err == nil {
			err = s.endMembership(tx, caller, m, map[string]any{"old_role": orgRole(m.Owner)})
		}
		if err != nil || s.forge == nil {
			return err
		}
		return s.forge.RevokeInOrg(tx, org.ID, user.ID, caller.ID)
	})
}

// ConvertMember makes a member an outside collaborator, who keeps the roles that were granted on single
// repositories, directly or through teams, as at GitHub. Errors: 404 for the organization and the user; 403 for
// those who do not own it, for users who are not members and for the last owner, as at GitHub.
func (s *Service) ConvertMember(ctx context.Context, caller *Caller, orgLogin, userLogin string) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		org, err := ownedOrg(tx, caller, orgLogin)
		if err != nil {
			return err
		}
		user, err := UserByLogin(tx, userLogin)
		if err != nil {
			return err
		}
		m, err := memberOf(tx, org, user)
		switch {
		case errs.Is(err, errs.NotFound):
			return errs.Newf(errs.Forbidden, "%q is not a member of the organization %q", user.Login,
				org.Login)
		case err == nil && s.forge != nil:
			err = s.forge.KeepTeamRoles(tx, org.ID, user.ID, caller.ID)
		}
		if err == nil {
			err = s.endMembership(tx, caller, m,
				map[string]any{"old_role": orgRole(m.Owner), "role": "outside_collaborator"})
		}
		if errs.Is(err, errs.Invalid) {
			err = errs.New(errs.Forbidden, err.Error())
		}
		if err != nil {
			return err
		}
		return s.endOrgAccess(tx, org.ID, caller.ID)
	})
}

// endMembership ends a membership; what follows of it for repositories is left to the caller. Error: 422 for the
// last owner.
func (s *Service) endMembership(tx *db.Tx, by *Caller, m *Membership, changes map[string]any) error {
	if m.Owner {
		if err := checkNotLast(tx, m.Org, m.User); err != nil {
			return err
		}
	}
	if err := recordMember(tx, audit.OrgRemoveMember, by, m, changes); err != nil {
		return err
	}
	if err := deleteMember(tx, m.Org.ID, m.User.ID); err != nil {
		return err
	}
	return s.tellMember(tx, m, false, by)
}

// checkNotLast refuses to take the last owner from an organization.
func checkNotLast(tx *db.Tx, org, user *Account) error {
	more, err := anotherOwner(tx, org.ID, user.ID)
	if err == nil && !more {
		return errs.Newf(errs.Invalid,
			"%q is the last owner of the organization %q: make someone else an owner first",
			user.Login, org.Login)
	}
	return err
}

// SetMemberPublic shows the caller's own membership to everyone, or hides it.
// Errors: 403 for someone else's, 404 for the organization and the membership.
func (s *Service) SetMemberPublic(
	ctx context.Context, caller *Caller, orgLogin, userLogin string, public bool,
) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		org, _, err := orgFor(tx, caller, orgLogin)
		if err == nil && org.closed {
			err = NotApproved(org.Login)
		}
		if err != nil {
			return err
		}
		if Fold(userLogin) != Fold(caller.Login) {
			return errs.New(errs.Forbidden, "You can show or hide only your own membership")
		}
		m, err := memberOf(tx, org, &Account{ID: caller.ID, Login: caller.Login})
		if err != nil || m.Public == public {
			return err
		}
		err = audit.Record(tx, audit.Entry{Action: audit.OrgUpdateMember, Org: org.Audited(),
			User:  m.User.Audited(),
			Right: audit.Self, Changes: map[string]any{"public": public}})
		if err != nil {
			return err
		}
		return setPublic(tx, org.ID, caller.ID, public)
	})
}
