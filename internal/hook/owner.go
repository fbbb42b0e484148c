package hook

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// Owner is what hooks belong to: a repository, an organization or an App. The caller was found to have the right to
// its hooks; each change asks for it again.
type Owner struct {
	ownerKey
	caller *account.Caller
	right  db.Right                             // the caller's, checked again by each change
	hook   int64                                // that of the App; else 0
	hold   func(tx *db.Tx) (audit.Entry, error) // locks it and checks the right again
}

// OfRepository is a repository whose administrator the caller is.
func OfRepository(a *repo.Access) Owner {
	return Owner{ownerKey: ownerKey{repo: a.ID}, caller: a.Caller, right: a, hold: func(tx *db.Tx) (audit.Entry, error) {
		return a.Audited("", nil), repo.Lock(tx, a.ID)
	}}
}

// OfOrg finds an organization that the caller owns. Errors: 403 for callers who do not own it, 404.
func (s *Service) OfOrg(ctx context.Context, by *account.Caller, login string) (o Owner, err error) {
	caller := new(*by)
	caller.HidesMembers = false // the scope for hooks is enough
	o.caller, o.right = caller, caller
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		org, err := account.OwnedOrg(tx, caller, login)
		if err == nil {
			o.org = org.ID
		}
		return err
	})
	o.hold = func(tx *db.Tx) (audit.Entry, error) {
		org, err := account.HoldOwnedOrg(tx, caller, login)
		if err != nil {
			return audit.Entry{}, err
		}
		if org.ID != o.org {
			return audit.Entry{}, errs.Absent()
		}
		return audit.Entry{Org: org.Audited(), Right: audit.OrgOwner}, nil
	}
	return o, err
}

// ofApp finds the hook of the App that signed a request. Error: 404 for an App that is gone.
func (s *Service) ofApp(ctx context.Context, caller *account.Caller) (o Owner, err error) {
	o.app, o.caller, o.right = caller.SignedApp, caller, caller
	var of *account.Account
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := list(tx, o.ownerKey)
		if err == nil && len(found) == 0 {
			err = errs.Absent()
		}
		if err == nil {
			o.hook = found[0].ID
			of, err = app.OwnerOf(tx, o.app)
		}
		return err
	})
	o.hold = func(tx *db.Tx) (audit.Entry, error) { return entryOf(of), nil }
	return o, err
}

// OfOwnApp finds an App that the caller manages. Error: 404, including Apps of others.
func (s *Service) OfOwnApp(ctx context.Context, caller *account.Caller, slug string) (o Owner, err error) {
	o.caller, o.right = caller, caller
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := app.OwnedBy(tx, caller, slug)
		if err != nil {
			return err
		}
		o.app = a.ID
		found, err := list(tx, o.ownerKey)
		if err == nil && len(found) == 0 {
			err = errs.Absent()
		}
		if err == nil {
			o.hook = found[0].ID
		}
		return err
	})
	o.hold = func(tx *db.Tx) (audit.Entry, error) {
		a, err := app.OwnedBy(tx, caller, slug)
		if err == nil && a.ID != o.app {
			err = errs.Absent()
		}
		if err != nil {
			return audit.Entry{}, err
		}
		return entryOf(a.Owner), nil
	}
	return o, err
}

// entryOf is what the audit log has of the hook of an account's App.
func entryOf(of *account.Account) audit.Entry {
	if of.Kind == account.Organization {
		return audit.Entry{Org: of.Audited()}
	}
	return audit.Entry{User: of.Audited()}
}
