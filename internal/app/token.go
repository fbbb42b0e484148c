package app

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// asked is an App's request for a token.
type asked struct {
	permissions scope.Permissions // nil: all of the installation; empty: none
	narrow      bool              // only for the repositories in names and ids, possibly none
	names       []string
	ids         []repo.ID
}

// createdToken is a new token of an installation.
type createdToken struct {
	value       string
	expires     db.Time
	permissions scope.Permissions
	of          *Installation
	narrow      bool
	repos       []*repo.Access // with narrow
}

// createToken returns a token of an installation. Errors: 403 while it is suspended; 404; 422 for more than
// the installation has.
func (s *Service) createToken(
	ctx context.Context, by *account.Caller, id account.InstallationID, want asked,
) (t *createdToken, err error) {
	appID := by.SignedApp
	err = s.change(ctx, by, appID, id, func(tx *db.Tx, i *Installation) error {
		if err := s.forge.ReachedAt(tx, appID, web.From(ctx)); err != nil {
			return err
		}
		t, err = makeToken(tx, i, want)
		return err
	})
	return t, err
}

func makeToken(tx *db.Tx, i *Installation, want asked) (*createdToken, error) {
	switch {
	case !i.SuspendedAt.IsZero():
		return nil, errs.New(errs.Forbidden, "This installation has been suspended")
	case !i.Account.SuspendedAt.IsZero():
		return nil, errs.New(errs.Forbidden, "Sorry. Your account was suspended.")
	case !i.Permissions.Covers(want.permissions):
		return nil, errs.New(errs.Invalid, "The permissions requested are not granted to this installation.")
	}
	t := &createdToken{of: i, narrow: want.narrow, permissions: i.Permissions}
	if want.permissions != nil {
		t.permissions = want.permissions
		if len(t.permissions) > 0 { // as at GitHub, others are included
			t.permissions["metadata"] = "read"
		}
	}
	n := token.InstallationToken{Permissions: t.permissions}
	var ids []repo.ID
	if want.narrow {
		var err error
		if ids, err = want.find(tx, i); err != nil {
			return nil, err
		}
		n.Repos = make([]int64, len(ids))
		for k, id := range ids {
			n.Repos[k] = int64(id)
		}
	}
	of := token.Installation{ID: i.ID, Account: i.Account.ID, App: i.App.ID, Bot: i.App.BotID}
	made, err := token.CreateInstallationToken(tx, of, n)
	if err != nil || !want.narrow {
		t.value, t.expires = made.Value, made.Expires
		return t, err
	}
	t.value, t.expires = made.Value, made.Expires
	caller, err := account.CallerOfInstallation(tx, made.ID)
	if err != nil {
		return nil, err
	}
	t.repos, err = repo.VisibleByID(tx, caller, ids)
	return t, err
}

// find returns the ids of the repositories that a token is limited to. Error: 422 for one that the
// installation does not reach.
func (want *asked) find(tx *db.Tx, i *Installation) ([]repo.ID, error) {
	lacks := errs.New(errs.Invalid,
		"There is at least one repository that does not exist or is not accessible to the parent installation.")
	names := map[string]bool{}
	for _, n := range want.names {
		if repo.CheckName(n) != "" {
			return nil, lacks
		}
		names[account.Fold(n)] = true
	}
	ids, err := reposNamed(tx, i.Account.ID, want.names)
	if err != nil {
		return nil, err
	}
	if len(ids) != len(names) {
		return nil, lacks
	}
	ids = append(ids, want.ids...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	reached, err := reachedRepos(tx, i, ids)
	if err == nil && len(reached) != len(ids) {
		err = lacks
	}
	return reached, err
}
