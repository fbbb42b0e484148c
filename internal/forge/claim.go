package forge

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/account/claim"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/reaction"
)

// ClaimMannequin makes a user the author of everything that a mannequin wrote, and of what later imports bring of
// the same person. Only the operator and site administrators may do so. Errors: 404; 422 unless one is a mannequin
// and the other a user.
func (f *Forge) ClaimMannequin(ctx context.Context, d *db.DB, mannequin, user string) (from, to *account.Account, err error) {
	err = d.Write(ctx, func(tx *db.Tx) error {
		from, to, err = f.giveByLogin(tx, mannequin, user)
		return err
	})
	return from, to, err
}

// giveByLogin is ClaimMannequin in a transaction.
func (f *Forge) giveByLogin(tx *db.Tx, mannequin, user string) (from, to *account.Account, err error) {
	if from, err = account.ByLogin(tx, mannequin); err != nil {
		return nil, nil, errs.Wrap(errs.NotFound, "mannequin not found", err)
	}
	if to, err = account.ByLogin(tx, user); err != nil {
		return nil, nil, errs.Wrap(errs.NotFound, "user not found", err)
	}
	switch {
	case from.Kind != account.Mannequin:
		err = errs.Newf(errs.Invalid, "%q is not a mannequin", from.Login)
	case to.Kind != account.User:
		err = errs.Newf(errs.Invalid, "%q is not a user", to.Login)
	default:
		if err = account.Lock(tx, to.ID); err == nil {
			err = f.giveMannequin(tx, from, to)
		}
	}
	return from, to, err
}

func (f *Forge) giveMannequin(tx *db.Tx, from, to *account.Account) error {
	// Assignments, then lists by authors and branches.
	if err := issue.Reassign(tx, from.ID, to.ID); err != nil {
		return err
	}
	if err := issue.GiveAway(tx, from.ID, to.ID); err != nil {
		return err
	}
	if err := pull.GiveAwayBranches(tx, from.ID, to.ID); err != nil {
		return err
	}
	// Each column that a deleted account gives to ghost, and reactions.
	if err := giveRows(tx, from.ID, to.ID); err != nil {
		return err
	}
	if err := reaction.GiveAway(tx, from.ID, to.ID); err != nil {
		return err
	}
	if err := account.Record(tx, audit.UserClaim, to, "", map[string]any{"mannequin": from.Login}); err != nil {
		return err
	}
	if err := claim.End(tx, from.Login); err != nil {
		return err
	}
	return account.EndMannequin(tx, from.ID, to.ID)
}
