// Package pin keeps the repositories that people and organizations show first on their pages: at most six, in an
// order of their own.
//
//   - pin.go: who pins what, and what is shown
//   - store.go: the SQL, of table pins
//
// A person pins public repositories: those that they own, have a role on or contributed to. An organization, by its
// owners, pins repositories of its own, private ones as well. What became private since, a pin shows only on the page
// of its owner, and only to those who may see it; it is there again when the repository is public again. Renames change
// nothing, a deleted repository takes its pins with it, and a transferred one leaves the pins of the organization that
// had it (Leave).
package pin

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Max is how many repositories an account pins.
const Max = 6

// Service pins repositories. Safe for concurrent use.
type Service struct{ db *db.DB }

// New returns a Service.
func New(d *db.DB) *Service { return &Service{d} }

// Of returns what accounts have pinned and the caller, perhaps nil, may see, in its order, with one statement for the
// pins and one for the repositories.
func (s *Service) Of(
	ctx context.Context, caller *account.Caller, of []account.ID,
) (pinned map[account.ID][]*repo.Access, err error) {
	pinned = map[account.ID][]*repo.Access{}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		clear(pinned)
		pins, err := read(tx, of)
		if err != nil {
			return err
		}
		var ids []repo.ID
		for _, p := range pins {
			ids = append(ids, p.repo)
		}
		found, err := repo.ByIDs(tx, caller, db.Unique(ids))
		for _, p := range pins {
			if a := found[p.repo]; a != nil && (!a.Private || a.OwnerID == p.of) {
				pinned[p.of] = append(pinned[p.of], a)
			}
		}
		return err
	})
	return pinned, err
}

// Choices reads a page of the repositories that an account can pin and the caller may see, those with the most stars
// first, and how many there are. words, if not empty, is in their names. What somebody has a role on only they
// themselves learn. Error: 404.
func (s *Service) Choices(
	ctx context.Context, caller *account.Caller, login, words string, at web.Page,
) (found []*repo.Access, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		of, err := account.ByLogin(tx, login)
		if err != nil {
			return err
		}
		each, err := choices(tx, caller, map[account.ID]*account.Account{of.ID: of}, words, at)
		if err == nil {
			found, total = each[of.ID].Rows, each[of.ID].Total
		}
		return err
	})
	return found, total, err
}

// ChoicesOfEach is Choices for several accounts, with a fixed number of statements.
func (s *Service) ChoicesOfEach(
	ctx context.Context, caller *account.Caller, of []account.ID, at web.Page,
) (found map[account.ID]*web.List[*repo.Access], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		accounts, err := account.ByIDs(tx, of)
		if err == nil {
			found, err = choices(tx, caller, accounts, "", at)
		}
		return err
	})
	return found, err
}

// MayChange reports whether the caller may pin for an account: themselves, and owners for their organization.
func MayChange(caller *account.Caller, of *account.Account, may account.OrgAccess) bool {
	if of.Kind == account.Organization {
		return may.Owner
	}
	return caller != nil && caller.App == 0 && caller.ID == of.ID
}

// Change lets change make a new list out of the pinned repositories of an account that the caller sees: the list
// replaces all that the account has pinned. Errors: 403, 404; 422 for more than Max, and for one that the account
// cannot pin.
func (s *Service) Change(
	ctx context.Context, caller *account.Caller, login string, change func(now []repo.ID) []repo.ID,
) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		of, err := hold(tx, caller, login)
		if err != nil {
			return err
		}
		pins, err := read(tx, []account.ID{of.ID})
		if err != nil {
			return err
		}
		var now []repo.ID
		for _, p := range pins {
			now = append(now, p.repo)
		}
		may, err := pinnable(tx, caller, of, now)
		if err != nil {
			return err
		}
		now = slices.DeleteFunc(now, func(id repo.ID) bool { return !slices.Contains(may, id) })
		list := db.Unique(change(slices.Clone(now)))
		if err := check(tx, caller, of, now, list); err != nil {
			return err
		}
		return replace(tx, of.ID, list)
	})
}

// hold finds an account for which the caller may pin, and holds its row. Errors: 403, 404.
func hold(tx *db.Tx, caller *account.Caller, login string) (*account.Account, error) {
	of, err := account.ByLogin(tx, login)
	switch {
	case err != nil:
		return nil, err
	case of.Kind == account.Organization:
		return account.HoldOwnedOrg(tx, caller, login)
	case !MayChange(caller, of, account.OrgAccess{}):
		return nil, errs.New(errs.Forbidden, "Only they themselves pin repositories to the page of a person.")
	}
	return of, account.HoldID(tx, of.ID)
}

// check returns 422 for a list that is too long, or has a repository that is not pinned yet and cannot be.
func check(tx *db.Tx, caller *account.Caller, of *account.Account, now, list []repo.ID) error {
	if len(list) > Max {
		return errs.Newf(errs.Invalid, "You can pin %d repositories. Unpin one first.", Max)
	}
	fresh := slices.DeleteFunc(slices.Clone(list), func(id repo.ID) bool { return slices.Contains(now, id) })
	may, err := pinnable(tx, caller, of, fresh)
	if err == nil && len(may) < len(fresh) {
		err = errs.New(errs.Invalid, "This repository cannot be pinned here.")
	}
	return err
}

// Leave removes a repository, which was just transferred, from the pins of an organization that had it.
func Leave(tx *db.Tx, id repo.ID, former account.ID) error { return remove(tx, former, id) }
