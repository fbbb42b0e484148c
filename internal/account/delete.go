package account

import (
	"context"
	"errors"
	"strings"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// ghostLogin is the login of the account that stands for deleted users, as at GitHub. It is
// reserved, so nobody registers it; the account is made when it is first needed, and is
// suspended, so nobody acts as it.
const ghostLogin = "ghost"

// Delete removes a user or an organization for good. What it wrote becomes ghost's, its
// login stays reserved, and all that was only its own goes: package forge says what.
// Errors: 404; 403 for oneself; 422 while it owns repositories, or is the last owner of an
// organization or the last site administrator; 409 while a repository of it is still being removed, or if
// somebody used it at that moment.
func (s *Service) Delete(ctx context.Context, by *Caller, kind Kind, login string) error {
	return s.deleteHeld(ctx, by, func(tx *db.Tx) (*Account, error) { return held(tx, kind, login) })
}

// DeleteOrg is Delete of an organization by its owners. Errors: also 403.
func (s *Service) DeleteOrg(ctx context.Context, by *Caller, login string) error {
	return s.deleteHeld(ctx, by, func(tx *db.Tx) (*Account, error) { return HoldOwnedOrg(tx, by, login) })
}

func (s *Service) deleteHeld(ctx context.Context, by *Caller, find func(*db.Tx) (*Account, error)) error {
	err := s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		a, err := find(tx)
		if err != nil {
			return err
		}
		if a.ID == IDOf(by) {
			return errs.New(errs.Forbidden, "You cannot delete yourself.")
		}
		if err := checkDeletable(tx, a); err != nil {
			return err
		}
		if err := checkNothingGoes(tx, a); err != nil {
			return err
		}
		action, right := audit.UserDelete, ""
		if a.Kind == Organization {
			action, right = audit.OrgDelete, audit.OrgOwner
		}
		if err := Record(tx, action, a, right, nil); err != nil {
			return err
		}
		ghost, err := ghostAccount(tx)
		if err != nil {
			return err
		}
		if err := retireLogin(tx, Fold(a.Login), a.ID); err != nil {
			return err
		}
		if s.forge != nil {
			if err := s.forge.DeleteAccount(tx, a.ID, ghost.ID, IDOf(by)); err != nil {
				return err
			}
		}
		return removeAccount(tx, a.ID)
	})
	if errors.Is(err, db.ErrForeignKey) {
		return errs.Wrap(errs.Conflict, "The account was used at this moment: try again", err)
	}
	return err
}

// checkNothingGoes refuses while repositories of the account are still being removed (package deletion).
func checkNothingGoes(tx *db.Tx, a *Account) error {
	n, err := countDeletedRepos(tx, a.ID)
	if err == nil && n > 0 {
		err = errs.Newf(errs.Conflict, "Repositories of %s are still being removed: try again in a moment", a.Login)
	}
	return err
}

// mostNamed is how many repositories an error names.
const mostNamed = 10

// checkDeletable refuses to delete an account on which others depend.
func checkDeletable(tx *db.Tx, a *Account) error {
	if err := checkNotLastAdmin(tx, a); err != nil {
		return err
	}
	names, all, err := ownedNames(tx, a.ID, mostNamed)
	if err != nil {
		return err
	}
	if all > 0 {
		list := a.Login + "/" + strings.Join(names, ", "+a.Login+"/")
		if all > int64(len(names)) {
			list += ", ..."
		}
		return errs.Newf(errs.Invalid, "%q owns repositories, transfer or delete them first: %s",
			a.Login, list)
	}
	apps, err := ownedApps(tx, a.ID)
	if err == nil && len(apps) > 0 {
		return errs.Newf(errs.Invalid, "%q owns GitHub Apps, remove them first: %s", a.Login,
			strings.Join(apps, ", "))
	}
	if err != nil {
		return err
	}
	orgs, err := lastOwned(tx, a.ID)
	if err == nil && len(orgs) > 0 {
		return errs.Newf(errs.Invalid,
			"%q is the last owner of organizations: make somebody else an owner first: %s", a.Login,
			strings.Join(orgs, ", "))
	}
	return err
}

// GhostID returns the id of ghost, to whom belongs what deleted accounts wrote. It makes the account if it is missing.
func GhostID(tx *db.Tx) (ID, error) {
	ghost, err := ghostAccount(tx)
	if err != nil {
		return 0, err
	}
	return ghost.ID, nil
}

// ghostAccount returns the account that stands for deleted users, and creates it if needed.
func ghostAccount(tx *db.Tx) (*Account, error) {
	name := "Deleted user"
	a := &Account{Login: ghostLogin, Kind: User, Name: &name}
	err := insertAccount(tx, a)
	if errors.Is(err, db.ErrNoRows) {
		return ByLogin(tx, ghostLogin)
	}
	if err != nil {
		return nil, err
	}
	return a, setSuspended(tx, a, tx.Now)
}
