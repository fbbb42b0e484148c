package app

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// What people do in a browser with Apps on what is their own: their account, and the organizations that they
// own. Site administrators do it everywhere.

// Own lists the Apps that belong to the caller or to an organization that the caller owns, by id.
func (s *Service) Own(ctx context.Context, caller *account.Caller) ([]*App, error) {
	return read(ctx, s.db, func(tx *db.Tx) ([]*App, error) {
		return appsWhere(tx, `a.owner_id = $1 OR EXISTS (SELECT 1 FROM members m
			WHERE m.org_id = a.owner_id AND m.user_id = $1 AND m.owner = TRUE)`, caller.ID)
	})
}

// Offered finds an App that the caller may install: a public one, or one of its own. Error: 404.
func (s *Service) Offered(ctx context.Context, caller *account.Caller, slug string) (*App, error) {
	return read(ctx, s.db, func(tx *db.Tx) (*App, error) { return offered(tx, caller, slug) })
}

func offered(tx *db.Tx, caller *account.Caller, slug string) (*App, error) {
	a, err := bySlug(tx, slug)
	if err != nil || a.Public {
		return a, err
	}
	owns, err := account.Owns(tx, caller, a.Owner)
	if err == nil && !owns {
		err = errs.Absent()
	}
	return a, err
}

// InstallBy is Install by a caller. Errors: also 404 for an App that the caller may not install; 403 for an
// account that is not the caller's to decide about.
func (s *Service) InstallBy(
	ctx context.Context, caller *account.Caller, slug, on string, names []string,
) (i *Installation, err error) {
	if len(names) > maxRepos {
		return nil, tooMany()
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		a, err := offered(tx, caller, slug)
		if err != nil {
			return err
		}
		place, err := account.Hold(tx, on)
		if errs.Is(err, errs.NotFound) {
			return notYours()
		}
		if err != nil {
			return err
		}
		if err := manages(tx, caller, place); err != nil {
			return err
		}
		i, err = s.installOn(tx, a, place, names, caller.ID)
		return err
	})
	return i, err
}

func notYours() error {
	return errs.New(errs.Forbidden,
		"Apps are installed by who they act for: on the own account, or on an organization by its owners.")
}

// manages asks whether the caller decides about the Apps of an account. Error: 403.
func manages(tx *db.Tx, caller *account.Caller, place *account.Account) error {
	owns, err := account.Owns(tx, caller, place)
	if err == nil && (!owns || place.Kind == account.Bot) {
		err = notYours()
	}
	return err
}

// changeBy runs fn on an installation whose row is held, if the caller decides about it. Errors: 403, 404.
func (s *Service) changeBy(
	ctx context.Context, caller *account.Caller, id account.InstallationID,
	fn func(*db.Tx, *Installation, account.ID) error,
) error {
	return s.change(ctx, 0, id, func(tx *db.Tx, i *Installation) error {
		if err := manages(tx, caller, i.Account); err != nil {
			return err
		}
		return fn(tx, i, caller.ID)
	})
}

// UninstallBy is Uninstall by a caller. Errors: 403, 404.
func (s *Service) UninstallBy(ctx context.Context, caller *account.Caller, id account.InstallationID) error {
	return s.changeBy(ctx, caller, id, s.uninstall)
}
