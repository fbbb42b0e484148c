package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// Asked is the difference between what an App requests and what its installation was granted.
type Asked struct {
	Permissions []AskedPermission // those that differ, by name
	Events      []string          // requested and not granted
	Less        []string          // granted and no longer requested
	// the whole request as a text: a grant repeats it, so that a later change is not granted unseen
	Seen string
}

// AskedPermission is a permission that an App wants at another level. An empty level is none.
type AskedPermission struct{ Name, Has, Wants string }

// asked returns what the installation's App requests beyond the grant, or nil.
func (i *Installation) asked() *Asked {
	a := &Asked{Seen: i.App.Wants(), Events: without(i.App.Events, i.Events),
		Less: without(i.Events, i.App.Events)}
	if a.Seen == wants(i.Permissions, i.Events) {
		return nil
	}
	all := maps.Clone(i.Permissions)
	maps.Copy(all, i.App.Permissions)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if has, want := i.Permissions[name], i.App.Permissions[name]; has != want {
			a.Permissions = append(a.Permissions, AskedPermission{name, has, want})
		}
	}
	return a
}

// Wants is what the App asks for as a text. A form repeats it, so that a later change is not granted unseen.
func (a *App) Wants() string { return wants(a.Permissions, a.Events) }

// changed is the error for a form that repeats something else.
func changed() error {
	return errs.New(errs.Conflict, "The App changed its request, so nothing was granted. Review what it requests now.")
}

// wants is a text of permissions and events, for comparison.
func wants(p scope.Permissions, events []string) string {
	return p.String() + " " + strings.Join(tidy(events), ",")
}

// without returns the names that are not in others.
func without(names, others []string) (list []string) {
	for _, n := range names {
		if !slices.Contains(others, n) {
			list = append(list, n)
		}
	}
	return list
}

// AskedOf returns, by the id of the installation, what Apps of the caller's account and of organizations that
// the caller owns ask for beyond what was granted. Those that ask for nothing more are omitted.
func (s *Service) AskedOf(
	ctx context.Context, caller *account.Caller,
) (map[account.InstallationID]*Asked, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[account.InstallationID]*Asked, error) {
		list, err := installationsWhere(tx, `JOIN apps a ON a.id = i.app_id
			WHERE (a.permissions <> i.permissions OR a.events <> i.events) AND (i.account_id = $1
			OR EXISTS (SELECT 1
				FROM members m WHERE m.org_id = i.account_id AND m.user_id = $1 AND m.owner = TRUE))
				ORDER BY i.id`, caller.ID)
		found := map[account.InstallationID]*Asked{}
		for _, i := range list {
			if a := i.asked(); a != nil {
				found[i.ID] = a
			}
		}
		return found, err
	})
}

// GrantBy grants the current request of an installation's App, if that is what the caller saw
// ([Asked.Seen]). Errors: 403, 404; 409 if the request has changed.
func (s *Service) GrantBy(
	ctx context.Context, caller *account.Caller, id account.InstallationID, seen string,
) error {
	return s.changeBy(ctx, caller, id, func(tx *db.Tx, i *Installation, by account.ID) error {
		if seen != i.App.Wants() {
			return changed()
		}
		return s.accept(tx, i, by)
	})
}
