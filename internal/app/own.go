package app

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/repo/list"
	"arbor/internal/web"
)

// Operations in a browser on Apps of one's own account and of organizations that one owns. Site
// administrators may do them everywhere.

// Own lists the Apps that belong to the caller or to an organization that the caller owns, by id.
func (s *Service) Own(ctx context.Context, caller *account.Caller) ([]*App, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*App, error) {
		return appsWhere(tx, `a.owner_id = $1 OR EXISTS (SELECT 1 FROM members m
			WHERE m.org_id = a.owner_id AND m.user_id = $1 AND m.owner = TRUE)`, caller.ID)
	})
}

// Offered finds an App that the caller, perhaps nil, may see and install: a public one, one of its own, or the
// App that the caller is. Error: 404.
func (s *Service) Offered(ctx context.Context, caller *account.Caller, slug string) (*App, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*App, error) { return offered(tx, caller, slug) })
}

func offered(tx *db.Tx, caller *account.Caller, slug string) (*App, error) {
	a, err := bySlug(tx, slug)
	if err != nil || a.Public {
		return a, err
	}
	owns, err := account.Owns(tx, caller, a.Owner)
	if err == nil && !owns && (caller == nil || caller.App != a.ID) {
		err = errs.Absent()
	}
	return a, err
}

// ofUser is the condition for installations that a user, $1, may see: on the user's account, and on the
// organizations to which the user belongs.
const ofUser = `(i.account_id = $1 OR EXISTS (SELECT 1 FROM members m WHERE m.org_id = i.account_id AND m.user_id = $1))`

// seenBy is ofUser for a caller. An App that acts for the caller sees its own installations alone, also those that
// reach a repository on which the caller is a collaborator.
func seenBy(caller *account.Caller) string {
	if caller.ForApp == 0 {
		return ofUser + caller.AndOpen("i.account_id")
	}
	return `i.app_id = ` + caller.ForApp.String() + ` AND (` + ofUser + ` OR EXISTS (SELECT 1 FROM collaborators k
		JOIN repos r ON r.id = k.repo_id WHERE k.user_id = $1 AND r.owner_id = i.account_id
			AND ` + reaches("i", "r.id") + `))`
}

// Known lists the installations on the caller's account and organizations, the oldest first: those of the App, if
// that acts for the caller.
func (s *Service) Known(ctx context.Context, caller *account.Caller) ([]*Installation, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*Installation, error) {
		return installationsWhere(tx, `WHERE `+seenBy(caller)+` ORDER BY i.id`, caller.ID)
	})
}

// known finds one of them. Error: 404.
func known(tx *db.Tx, caller *account.Caller, id account.InstallationID) (*Installation, error) {
	return oneInstallation(tx, `WHERE `+seenBy(caller)+` AND i.id = $2`, caller.ID, id)
}

// ReposOf reads a page of the repositories that an installation reaches and on which the caller has a role, and how
// many there are. Error: 404.
func (s *Service) ReposOf(
	ctx context.Context, caller *account.Caller, id account.InstallationID, p web.Page,
) (i *Installation, found []*repo.Access, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if i, err = known(tx, caller, id); err != nil {
			return err
		}
		found, total, err = list.Installed(tx, caller, i.Account.ID, i.ID, p)
		return err
	})
	return i, found, total, err
}

// AddRepo adds a repository to an installation for selected ones, for its administrators. Errors: 403, 404, 422.
func (s *Service) AddRepo(
	ctx context.Context, caller *account.Caller, id account.InstallationID, repoID repo.ID,
) error {
	return s.choose(ctx, caller, id, repoID, s.addTo)
}

// RemoveRepo removes a repository from an installation on some; the caller administers it. Errors: 403, 404, 422.
func (s *Service) RemoveRepo(
	ctx context.Context, caller *account.Caller, id account.InstallationID, repoID repo.ID,
) error {
	return s.choose(ctx, caller, id, repoID, s.removeFrom)
}

// choose changes what an installation reaches. The rights are asked in the transaction.
func (s *Service) choose(
	ctx context.Context, caller *account.Caller, id account.InstallationID, repoID repo.ID,
	change func(*db.Tx, *Installation, repo.ID, account.ID) error,
) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		i, err := known(tx, caller, id)
		if err != nil {
			return err
		}
		if i, err = holdInstallation(tx, i.ID); err != nil {
			return err
		}
		found, err := repo.VisibleByID(tx, caller, []repo.ID{repoID})
		switch {
		case err != nil:
			return err
		case len(found) == 0 || found[0].OwnerID != i.Account.ID:
			return errs.Absent()
		}
		if err := found[0].Require(account.Admin); err != nil {
			return err
		}
		return change(tx, i, found[0].ID, caller.ID)
	})
}

// InstallBy is Install by a caller, who saw what the App asks for ([App.Wants]). Errors: also 404 for an App that the
// caller may not install; 403 for an account that is not the caller's to decide about; 409 if the App asks for
// something else now.
func (s *Service) InstallBy(
	ctx context.Context, caller *account.Caller, slug, seen, on string, names []string,
) (i *Installation, err error) {
	if len(names) > maxRepos {
		return nil, tooMany()
	}
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
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
		if seen != a.Wants() {
			return changed()
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

// manages returns 403 unless the caller manages the Apps of an account.
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
	return s.change(ctx, caller, 0, id, func(tx *db.Tx, i *Installation) error {
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
