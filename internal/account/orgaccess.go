package account

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// OrgAccess is what a caller may do with an organization (decision 12): a site
// administrator as much as an owner.
type OrgAccess struct{ Member, Owner bool }

// orgFor finds an organization and what the caller, perhaps nil, may do there.
// Errors: errs.Absent when no organization has this login.
func orgFor(tx *db.Tx, caller *Caller, login string) (org *Account, may OrgAccess, err error) {
	org, err = ByLogin(tx, login)
	switch {
	case err != nil:
		return nil, OrgAccess{}, err
	case org.Kind != Organization:
		return nil, OrgAccess{}, errs.Absent()
	case caller != nil && caller.App != 0:
		role := caller.inOrg(org.ID)
		return org, OrgAccess{role > None, role == Admin}, nil
	case caller != nil && caller.ForApp != 0:
		may, err = caller.accessForApp(tx, org.ID)
		return org, may, err
	case caller == nil:
		return org, OrgAccess{}, nil
	}
	if org.closed, err = caller.IsClosed(tx, org.ID); err != nil || org.closed {
		return org, OrgAccess{}, err
	}
	switch {
	case caller.HidesMembers:
		return org, OrgAccess{}, nil
	case caller.SiteAdmin:
		return org, OrgAccess{true, true}, nil
	}
	may.Member, may.Owner, err = OrgRole(tx, org.ID, caller.ID)
	return org, may, err
}

// OrgFor finds an organization and what the caller, perhaps nil, may do there. Error: 404.
func OrgFor(tx *db.Tx, caller *Caller, login string) (*Account, OrgAccess, error) {
	return orgFor(tx, caller, login)
}

// InsideOrg is the condition of SQL that the caller, perhaps nil, sees the private members and the teams of the
// organization whose id is the expression org. arg adds an argument and returns its placeholder.
func InsideOrg(caller *Caller, org string, arg func(any) string) string {
	switch {
	case caller != nil && caller.App != 0 && caller.inOrg(caller.Grant.installation.owner) > None:
		return org + " = " + arg(caller.Grant.installation.owner)
	case caller != nil && caller.forOrgs():
		return caller.appOn(org, "") + " AND " + caller.permitted() + ") AND " + isMember(org, arg(caller.ID))
	case caller == nil || caller.App != 0 || caller.HidesMembers:
		return "1 = 0"
	case caller.SiteAdmin:
		return "1 = 1" + caller.AndOpen(org)
	}
	return isMember(org, arg(caller.ID)) + caller.AndOpen(org)
}

// isMember is the condition that somebody is a member of an organization; both are expressions.
func isMember(org, who string) string {
	return "EXISTS (SELECT 1 FROM members om WHERE om.org_id = " + org + " AND om.user_id = " + who + ")"
}

// OwnedOrg returns the organization with a login if the caller owns it. Errors: 403, 404.
func OwnedOrg(tx *db.Tx, caller *Caller, login string) (*Account, error) {
	org, may, err := orgFor(tx, caller, login)
	if err == nil && !may.Owner {
		err = mustOwn(org)
	}
	return org, err
}

// OverseenOrg returns the organization with a login for those who oversee its people: owners, and Apps that may
// read its members. Errors: 403, 404.
func OverseenOrg(tx *db.Tx, caller *Caller, login string) (*Account, error) {
	org, may, err := orgFor(tx, caller, login)
	if err == nil && !may.Owner && !(may.Member && caller.App != 0) {
		err = mustOwn(org)
	}
	return org, err
}

// Owns reports whether the caller, which may be nil, is the account, owns the organization, or is a site
// administrator.
func Owns(tx *db.Tx, caller *Caller, of *Account) (bool, error) {
	if caller == nil || of.Kind != Organization {
		return caller != nil && (caller.ID == of.ID || caller.SiteAdmin), nil
	}
	_, may, err := orgFor(tx, caller, of.Login)
	return may.Owner, err
}

// HoldOwnedOrg is OwnedOrg in a transaction that writes: it stays so until that ends.
func HoldOwnedOrg(tx *db.Tx, caller *Caller, login string) (*Account, error) {
	return ownedOrg(tx, caller, login)
}

// ownedOrg is orgFor for what only owners may do, and holds the organization
// until the transaction ends. Errors: also 403.
func ownedOrg(tx *db.Tx, caller *Caller, login string) (*Account, error) {
	return heldOrg(tx, caller, login, func(may OrgAccess) bool { return may.Owner })
}

// heldOrg is ownedOrg for those whom allowed lets through. It looks again when
// the organization is held: two owners may be removing each other.
func heldOrg(tx *db.Tx, caller *Caller, login string, allowed func(OrgAccess) bool) (*Account, error) {
	for held := false; ; held = true {
		org, may, err := orgFor(tx, caller, login)
		switch {
		case err != nil:
			return nil, err
		case !allowed(may) || org.closed:
			return nil, mustOwn(org)
		case held:
			return org, nil
		}
		if err := lockAccount(tx, org.ID); err != nil {
			return nil, err
		}
	}
}

// MustOwn is the 403 for callers who do not own an organization.
func MustOwn(org *Account) error { return mustOwn(org) }

func mustOwn(org *Account) error {
	if org.closed {
		return NotApproved(org.Login)
	}
	return errs.Newf(errs.Forbidden, "You must be an owner of the organization %q", org.Login)
}

// UserByLogin is ByLogin for people only: an organization is not a user.
func UserByLogin(tx *db.Tx, login string) (*Account, error) {
	a, err := ByLogin(tx, login)
	if err == nil && a.Kind != User {
		return nil, errs.Absent()
	}
	return a, err
}

// CheckOwner reports whether the caller may change the organization at all, for
// handlers that must say so before they read a body (decision 51).
func (s *Service) CheckOwner(ctx context.Context, caller *Caller, login string) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		org, may, err := orgFor(tx, caller, login)
		if err == nil && !may.Owner {
			return mustOwn(org)
		}
		return err
	})
}
