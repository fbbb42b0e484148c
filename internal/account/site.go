package account

import (
	"context"
	"strings"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Operations of site administrators and of the operator on accounts. by is the acting caller; nil is the
// operator at the command line. Each change takes effect with the next request on every node, and running
// requests fail when they write: see [Caller.Holds].

// Suspend ends the use of an account until Unsuspend: its tokens do not work. What it
// wrote stays, and its profile is shown. Errors: 404 for the user, 403 for oneself, 422 for
// the last site administrator.
func (s *Service) Suspend(ctx context.Context, by *Caller, login string) (*Account, error) {
	return s.changeUser(ctx, by, login, audit.UserSuspend, s.suspend)
}

// suspend suspends a user whose row is held. Error: 422 for the last site administrator.
func (s *Service) suspend(tx *db.Tx, a *Account) error {
	if !a.SuspendedAt.IsZero() {
		return nil
	}
	if err := checkNotLastAdmin(tx, a); err != nil {
		return err
	}
	if err := setSuspended(tx, a, tx.Now); err != nil {
		return err
	}
	if err := DenyDevices(tx, a.ID); err != nil || s.forge == nil {
		return err
	}
	return s.forge.FollowSuspension(tx, a.ID)
}

// FollowSource suspends a user whom another server, the source, has no longer, or ends the suspension. The transaction
// holds the user's row. Error: 422 for the last site administrator.
func (s *Service) FollowSource(tx *db.Tx, a *Account, source string, suspended bool) error {
	action := audit.UserUnsuspend
	if suspended {
		action = audit.UserSuspend
	}
	if err := Record(tx, action, a, audit.Process, map[string]any{"source": source}); err != nil {
		return err
	}
	if suspended {
		return s.suspend(tx, a)
	}
	return setSuspended(tx, a, 0)
}

// Unsuspend ends a suspension: tokens that have not expired or been revoked work again. Errors: 404,
// 403 for oneself.
func (s *Service) Unsuspend(ctx context.Context, by *Caller, login string) (*Account, error) {
	return s.changeUser(ctx, by, login, audit.UserUnsuspend, func(tx *db.Tx, a *Account) error {
		return setSuspended(tx, a, 0)
	})
}

// Promote turns a user into a site administrator. Errors: 404, 403 for oneself.
func (s *Service) Promote(ctx context.Context, by *Caller, login string) (*Account, error) {
	return s.changeUser(ctx, by, login, audit.UserPromote, func(tx *db.Tx, a *Account) error {
		return setSiteAdmin(tx, a, true)
	})
}

// Demote turns a site administrator into an ordinary user. Errors: as of Suspend.
func (s *Service) Demote(ctx context.Context, by *Caller, login string) (*Account, error) {
	return s.changeUser(ctx, by, login, audit.UserDemote, func(tx *db.Tx, a *Account) error {
		if !a.SiteAdmin {
			return nil
		}
		if err := checkNotLastAdmin(tx, a); err != nil {
			return err
		}
		if err := setSiteAdmin(tx, a, false); err != nil || s.forge == nil {
			return err
		}
		return s.forge.EndSiteAdmin(tx, a.ID, IDOf(by))
	})
}

// FollowAdmin makes a user an administrator of the site or an ordinary user, as another server says who signs the user
// in. Errors: 404; 422 for the last site administrator.
func (s *Service) FollowAdmin(ctx context.Context, id ID, is bool) error {
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if err := HoldID(tx, id); err != nil {
			return err
		}
		a, err := ByID(tx, id)
		if err != nil || a.SiteAdmin == is {
			return err
		}
		if is {
			if err := Record(tx, audit.UserPromote, a, audit.Process, nil); err != nil {
				return err
			}
			return setSiteAdmin(tx, a, true)
		}
		if err := checkNotLastAdmin(tx, a); err != nil {
			return err
		}
		if err := Record(tx, audit.UserDemote, a, audit.Process, nil); err != nil {
			return err
		}
		if err := setSiteAdmin(tx, a, false); err != nil || s.forge == nil {
			return err
		}
		return s.forge.EndSiteAdmin(tx, a.ID, a.ID)
	})
}

// changeUser changes a user whose row is held, and that is not who does it.
func (s *Service) changeUser(
	ctx context.Context, by *Caller, login string, action audit.Action, change func(*db.Tx, *Account) error,
) (a *Account, err error) {
	err = s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if a, err = held(tx, User, login); err != nil {
			return err
		}
		if a.ID == IDOf(by) {
			return errs.Newf(errs.Forbidden, "You cannot %s yourself.",
				strings.TrimPrefix(string(action), "user."))
		}
		if err := Record(tx, action, a, audit.SiteAdmin, nil); err != nil {
			return err
		}
		return change(tx, a)
	})
	return a, err
}

// checkNotLastAdmin refuses to take the last administrator who can act from the site. It
// holds the rows of all of them: two may be ending each other.
func checkNotLastAdmin(tx *db.Tx, a *Account) error {
	if !a.SiteAdmin || !a.SuspendedAt.IsZero() {
		return nil
	}
	more, err := anotherAdmin(tx, a.ID)
	if err == nil && !more {
		return errs.Newf(errs.Invalid, "%q is the last site administrator: promote somebody else first",
			a.Login)
	}
	return err
}

// Find finds a person or an organization for the operator. Error: 404 that names it.
func (s *Service) Find(ctx context.Context, login string) (*Account, error) {
	a, err := s.find(ctx, login)
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Newf(errs.NotFound, "user or organization %q not found", login)
	}
	return a, err
}

// eachPage is how many accounts Each reads in one query.
const eachPage = 1000

// Each calls fn with all accounts of a kind, by id.
func (s *Service) Each(ctx context.Context, kind Kind, fn func(*Account) error) error {
	for since := ID(0); ; {
		list, err := s.list(ctx, since, eachPage)
		if err != nil {
			return err
		}
		for _, a := range list {
			since = a.ID
			if a.Kind != kind {
				continue
			}
			if err := fn(a); err != nil {
				return err
			}
		}
		if len(list) < eachPage {
			return nil
		}
	}
}

// Memberships lists the organizations of a user, by id, each with whether the user owns
// it. Error: 404.
func (s *Service) Memberships(ctx context.Context, login string) (list []OrgMembership, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := personNamed(tx, login)
		if err != nil {
			return err
		}
		list, err = membershipsOf(tx, a.ID)
		return err
	})
	return list, err
}

// Organization finds an organization for the operator, with the logins of its owners and
// the number of its members, owners among them. Error: 404.
func (s *Service) Organization(ctx context.Context, login string) (
	org *Account, owners []string, members int64, err error,
) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		org, err = ByLogin(tx, login)
		if errs.Is(err, errs.NotFound) || err == nil && org.Kind != Organization {
			return errs.Newf(errs.NotFound, "organization %q not found", login)
		}
		if err != nil {
			return err
		}
		if owners, err = ownersOf(tx, org.ID); err != nil {
			return err
		}
		members, err = countMembers(tx, memberFilter{Org: org.ID, Role: "all"})
		return err
	})
	return org, owners, members, err
}
