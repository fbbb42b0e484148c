package app

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// maxRepos is how many repositories an installation for some has, and one token names, as at GitHub.
const maxRepos = 500

// Install installs an App on an account: for the repositories of the names, or with none for all. It gets
// what the App asks for now; installing again grants only what the App asks for now.
// Errors: 404, 422 for a repository that is not there.
func (s *Service) Install(ctx context.Context, slug, on string, names []string) (i *Installation, err error) {
	if len(names) > maxRepos {
		return nil, tooMany()
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		a, err := named(tx, slug)
		if err != nil {
			return err
		}
		place, err := account.Hold(tx, on)
		if errs.Is(err, errs.NotFound) || err == nil && place.Kind == account.Bot {
			return errs.Newf(errs.NotFound, "user or organization %q not found", on)
		}
		if err != nil {
			return err
		}
		i, err = s.installOn(tx, a, place, names, 0)
		return err
	})
	return i, err
}

// installOn is Install on an account whose row is held. by is 0 for the operator.
func (s *Service) installOn(
	tx *db.Tx, a *App, place *account.Account, names []string, by account.ID,
) (*Installation, error) {
	i, err := installationOn(tx, a.ID, place.ID)
	switch {
	case err == nil && len(names) == 0:
		i.App = a // as it was read when its request was compared
		return i, s.accept(tx, i, by)
	case err == nil:
		return nil, errs.Newf(errs.Invalid, "the App %q is installed on %q already", a.Slug, place.Login)
	case !errs.Is(err, errs.NotFound):
		return nil, err
	}
	i = &Installation{App: a, Account: place, Every: len(names) == 0, Permissions: a.Permissions,
		Events: a.Events}
	return i, s.install(tx, i, names, by)
}

func tooMany() error {
	return errs.Newf(errs.Invalid, "an installation is for %d repositories at most, or for all", maxRepos)
}

func (s *Service) install(tx *db.Tx, i *Installation, names []string, by account.ID) error {
	if err := insertInstallation(tx, i); err != nil {
		return err
	}
	ids, err := idsOf(tx, i.Account, names)
	if err != nil {
		return err
	}
	if _, err := addRepos(tx, i, ids); err != nil {
		return err
	}
	if err := keepSuspension(tx, i); err != nil {
		return err
	}
	changes := map[string]any{"permissions": i.Permissions, "repository_selection": i.Selection()}
	if err := i.App.record(tx, audit.InstallationCreate, i.Account, changes); err != nil {
		return err
	}
	return s.forge.TellInstallation(tx, i, "created", by)
}

// idsOf finds an account's repositories by their names, for the operator. Error: 422 for one that is not
// there.
func idsOf(tx *db.Tx, owner *account.Account, names []string) (ids []repo.ID, err error) {
	for _, n := range names {
		if repo.CheckName(n) != "" {
			return nil, errs.Newf(errs.Invalid, "%q has no repository %q", owner.Login, errs.Clip(n))
		}
	}
	found, err := reposNamed(tx, owner.ID, names)
	if err != nil {
		return nil, err
	}
	different := map[string]bool{}
	for _, n := range names {
		different[account.Fold(n)] = true
	}
	if len(found) != len(different) {
		return nil, errs.Newf(errs.Invalid,
			"one of the repositories is not there, or is not %q's", owner.Login)
	}
	for _, id := range found {
		ids = append(ids, repo.ID(id))
	}
	return ids, nil
}

// accept grants the App's current request.
func (s *Service) accept(tx *db.Tx, i *Installation, by account.ID) error {
	if i.asked() == nil {
		return nil
	}
	i.Permissions, i.Events = i.App.Permissions, i.App.Events
	if err := updateInstallation(tx, i); err != nil {
		return err
	}
	changes := map[string]any{"permissions": i.Permissions}
	if err := i.App.record(tx, audit.InstallationSetPermission, i.Account, changes); err != nil {
		return err
	}
	return s.forge.TellInstallation(tx, i, "new_permissions_accepted", by)
}

// Selection is which repositories the installation is for, as GitHub says it.
func (i *Installation) Selection() string {
	if i.Every {
		return "all"
	}
	return "selected"
}

// On finds the installation of an App on an account, for the operator. Error: 404.
func (s *Service) On(ctx context.Context, slug, on string) (*Installation, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Installation, error) {
		a, err := named(tx, slug)
		if err != nil {
			return nil, err
		}
		place, err := account.ByLogin(tx, on)
		if err == nil {
			var i *Installation
			if i, err = installationOn(tx, a.ID, place.ID); err == nil {
				return i, nil
			}
		}
		if errs.Is(err, errs.NotFound) {
			err = errs.Newf(errs.NotFound, "the App %q is not installed on %q", a.Slug, on)
		}
		return nil, err
	})
}

// change runs fn on an installation of an App, 0 for any, whose row is held. Error: 404.
func (s *Service) change(
	ctx context.Context, by *account.Caller, appID account.AppID, id account.InstallationID,
	fn func(tx *db.Tx, i *Installation) error,
) error {
	return s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		i, err := holdInstallation(tx, id)
		if err == nil && appID != 0 && i.App.ID != appID {
			err = errs.Absent()
		}
		if err != nil {
			return err
		}
		return fn(tx, i)
	})
}

// Uninstall removes an installation with its tokens. If the operator suspended it, so is the next one there.
// Error: 404.
func (s *Service) Uninstall(
	ctx context.Context, appID account.AppID, id account.InstallationID, by *account.Caller,
) error {
	return s.change(ctx, by, appID, id, func(tx *db.Tx, i *Installation) error {
		return s.uninstall(tx, i, account.IDOf(by))
	})
}

func (s *Service) uninstall(tx *db.Tx, i *Installation, by account.ID) error {
	if err := s.forge.TellInstallation(tx, i, "deleted", by); err != nil {
		return err
	}
	if err := i.App.record(tx, audit.InstallationDestroy, i.Account, nil); err != nil {
		return err
	}
	if err := leaveOperators(tx, i); err != nil {
		return err
	}
	return removeInstallation(tx, i.ID)
}

// Leave removes the installations on an account that is going.
func (s *Service) Leave(tx *db.Tx, id, by account.ID) error {
	list, err := installationsWhere(tx, `WHERE i.account_id = $1 ORDER BY i.id`, id)
	for _, i := range list {
		if err = s.uninstall(tx, i, by); err != nil {
			return err
		}
	}
	return err
}

// FollowTransfer takes a repository that has another owner now from the installations of the former one that
// are for some, and sends events to the Apps that it left, and those that reach it now. r is as it was.
func (s *Service) FollowTransfer(tx *db.Tx, r *repo.Repo, to, by account.ID) error {
	left, err := installationsWhere(tx, `WHERE i.account_id = $1 AND `+reaches("i", "$2")+` ORDER BY i.id`,
		r.OwnerID, r.ID)
	if err != nil {
		return err
	}
	for _, i := range left {
		if _, err := dropRepo(tx, i.ID, r.ID); err != nil {
			return err
		}
		if err := s.forge.TellInstallationRepos(tx, i, nil, []repo.ID{r.ID}, by); err != nil {
			return err
		}
	}
	joined, err := installationsWhere(tx, `WHERE i.account_id = $1 AND i.every ORDER BY i.id`, to)
	for _, i := range joined {
		if err := s.forge.TellInstallationRepos(tx, i, []repo.ID{r.ID}, nil, by); err != nil {
			return err
		}
	}
	if err != nil || len(left)+len(joined) == 0 {
		return err
	}
	return tx.Bump(account.Topic)
}

// addTo adds a repository of the account to an installation for selected ones. Errors: 404, 422 for one too
// many.
func (s *Service) addTo(tx *db.Tx, i *Installation, id repo.ID, by account.ID) error {
	if i.Every {
		return nil
	}
	n, err := countRepos(tx, i.ID)
	if err != nil {
		return err
	}
	if n >= maxRepos {
		return tooMany()
	}
	added, err := addRepos(tx, i, []repo.ID{id})
	if err != nil || len(added) == 0 {
		return err
	}
	return s.followSelection(tx, i, audit.InstallationAddRepos, added, nil, by)
}

// removeFrom takes a repository from an installation for some. Error: 422 for the last one, as at GitHub.
func (s *Service) removeFrom(tx *db.Tx, i *Installation, id repo.ID, by account.ID) error {
	if i.Every {
		return errs.New(errs.Invalid,
			"The installation is for all repositories: none can be removed from it.")
	}
	n, err := countRepos(tx, i.ID)
	if err != nil {
		return err
	}
	there, err := dropRepo(tx, i.ID, id)
	switch {
	case err != nil:
		return err
	case !there:
		return errs.Absent()
	case n == 1:
		return errs.New(errs.Invalid,
			"The last repository of an installation cannot be removed: uninstall the App.")
	}
	return s.followSelection(tx, i, audit.InstallationRemoveRepos, nil, []repo.ID{id}, by)
}

// followSelection stores, and sends as events, which repositories an installation reaches now.
func (s *Service) followSelection(
	tx *db.Tx, i *Installation, action audit.Action, added, removed []repo.ID, by account.ID,
) error {
	if err := tx.Bump(account.Topic); err != nil {
		return err
	}
	changes := map[string]any{"repository_ids": append(added[:len(added):len(added)], removed...)}
	if err := i.App.record(tx, action, i.Account, changes); err != nil {
		return err
	}
	return s.forge.TellInstallationRepos(tx, i, added, removed, by)
}
