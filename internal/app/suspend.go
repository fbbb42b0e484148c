package app

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Party is who suspends an installation. Each party ends its own suspension and no other, as at GitHub; the
// operator ends all. An installation is suspended while one of them suspends it.
type Party int64

// The parties.
const (
	BySelf     Party = iota + 1 // the App, with a JWT
	ByOwner                     // the owner of the account on which it is installed
	ByOperator                  // the operator at the command line, or a site administrator
)

// parties maps who suspends an installation to since when.
type parties map[Party]db.Time

// String names the party in the audit log.
func (p Party) String() string {
	return [...]string{"", "app", "owner", "operator"}[p]
}

// partyOf is who acts: appID is the App that signed the request, 0 for the operator.
func partyOf(appID account.AppID) Party {
	if appID != 0 {
		return BySelf
	}
	return ByOperator
}

// Suspend suspends an installation until Unsuspend: its tokens are invalid, and the App gets no events
// about it. appID is the acting App, or 0 for the operator; by is the caller, nil for the operator. Error: 404.
func (s *Service) Suspend(
	ctx context.Context, appID account.AppID, id account.InstallationID, by *account.Caller,
) error {
	return s.change(ctx, by, appID, id, func(tx *db.Tx, i *Installation) error {
		return s.suspend(tx, i, partyOf(appID), account.IDOf(by))
	})
}

// SuspendBy is Suspend by a caller. Errors: 403, 404.
func (s *Service) SuspendBy(ctx context.Context, caller *account.Caller, id account.InstallationID) error {
	return s.changeBy(ctx, caller, id, func(tx *db.Tx, i *Installation, by account.ID) error {
		party, err := partyOfCaller(tx, caller, i)
		if err != nil {
			return err
		}
		return s.suspend(tx, i, party, by)
	})
}

func (s *Service) suspend(tx *db.Tx, i *Installation, party Party, by account.ID) error {
	set, err := suspendedBy(tx, i)
	if err != nil || set[party] != 0 {
		return err
	}
	set[party] = tx.Now
	began := i.SuspendedAt.IsZero()
	if began {
		i.SuspendedAt = tx.Now
	}
	if err := storeSuspensions(tx, i, set); err != nil {
		return err
	}
	if err := s.followSuspension(tx, i, audit.InstallationSuspend, party); err != nil || !began {
		return err
	}
	return s.forge.TellInstallation(tx, i, "suspend", by)
}

// Unsuspend ends the suspension by the acting App, or with appID 0 by everyone. When the last suspension
// ends, the App can create tokens again. Errors: 403 for a suspension by another party; 404.
func (s *Service) Unsuspend(
	ctx context.Context, appID account.AppID, id account.InstallationID, by *account.Caller,
) error {
	return s.change(ctx, by, appID, id, func(tx *db.Tx, i *Installation) error {
		return s.unsuspend(tx, i, partyOf(appID), account.IDOf(by))
	})
}

// UnsuspendBy is Unsuspend by a caller: a site administrator ends every suspension, an owner the owners'.
// Errors: 403, 404.
func (s *Service) UnsuspendBy(ctx context.Context, caller *account.Caller, id account.InstallationID) error {
	return s.changeBy(ctx, caller, id, func(tx *db.Tx, i *Installation, by account.ID) error {
		party := ByOwner
		if caller.SiteAdmin {
			party = ByOperator
		}
		return s.unsuspend(tx, i, party, by)
	})
}

// unsuspend also revokes all earlier tokens. The App creates new ones; but if the installation was
// suspended because a token was stolen, that one must stay invalid.
func (s *Service) unsuspend(tx *db.Tx, i *Installation, party Party, by account.ID) error {
	if i.SuspendedAt.IsZero() {
		return nil
	}
	set, err := suspendedBy(tx, i)
	switch {
	case err != nil:
		return err
	case party == ByOperator:
		clear(set)
	case set[party] == 0:
		return errs.New(errs.Forbidden,
			"This installation was suspended by somebody else, who alone can end that.")
	}
	delete(set, party)
	if len(set) == 0 {
		i.SuspendedAt = 0
		if err := token.EndInstallationTokens(tx, i.ID); err != nil {
			return err
		}
	}
	if err := storeSuspensions(tx, i, set); err != nil {
		return err
	}
	if err := s.followSuspension(tx, i, audit.InstallationUnsuspend, party); err != nil || len(set) > 0 {
		return err
	}
	return s.forge.TellInstallation(tx, i, "unsuspend", by)
}

// followSuspension stores and records the begin or end of a suspension by a party.
func (s *Service) followSuspension(tx *db.Tx, i *Installation, action audit.Action, party Party) error {
	if err := updateInstallation(tx, i); err != nil {
		return err
	}
	return i.App.record(tx, action, i.Account,
		map[string]any{"by": party.String(), "suspended": !i.SuspendedAt.IsZero()})
}

// partyOfCaller returns the party of a caller who manages the Apps of an account: its owner, or a site
// administrator who does not own it.
func partyOfCaller(tx *db.Tx, caller *account.Caller, i *Installation) (Party, error) {
	person := *caller
	person.SiteAdmin = false
	owns, err := account.Owns(tx, &person, i.Account)
	if owns {
		return ByOwner, err
	}
	return ByOperator, err
}

// SuspendedBy lists who suspends an installation. Error: 404.
func (s *Service) SuspendedBy(ctx context.Context, id account.InstallationID) (map[Party]db.Time, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[Party]db.Time, error) {
		i, err := InstallationByID(tx, id)
		if err != nil {
			return nil, err
		}
		return suspendedBy(tx, i)
	})
}

// suspendedBy reads the parties that suspend an installation. Older versions did not store them: then it is
// the owner, who is not locked out, while the App cannot end it.
func suspendedBy(tx *db.Tx, i *Installation) (parties, error) {
	if i.SuspendedAt.IsZero() {
		return parties{}, nil
	}
	set, err := querySuspensions(tx, i.App.ID, i.Account.ID, i.SuspendedAt)
	if err == nil && len(set) == 0 {
		set = parties{ByOwner: i.SuspendedAt}
	}
	return set, err
}

// keepSuspension suspends a new installation if the operator suspended one before it: uninstalling ends no
// suspension of the operator's.
func keepSuspension(tx *db.Tx, i *Installation) error {
	set, err := querySuspensions(tx, i.App.ID, i.Account.ID, 1)
	if err != nil || set[ByOperator] == 0 {
		return err
	}
	i.SuspendedAt = set[ByOperator]
	return updateInstallation(tx, i)
}

// leaveOperators removes the parties that suspend an installation being deleted, except the operator.
func leaveOperators(tx *db.Tx, i *Installation) error {
	set, err := suspendedBy(tx, i)
	if err != nil {
		return err
	}
	delete(set, BySelf)
	delete(set, ByOwner)
	return storeSuspensions(tx, i, set)
}

// querySuspensions reads who suspends the installation of an App on an account since a time or later; that is
// not zero, which SQL takes for NULL.
func querySuspensions(tx *db.Tx, appID account.AppID, on account.ID, since db.Time) (parties, error) {
	return db.QueryMap[Party, db.Time](tx, `SELECT party, suspended_at FROM installation_suspensions
		WHERE app_id = $1 AND account_id = $2 AND suspended_at >= $3`, appID, on, since)
}

// storeSuspensions replaces the parties that suspend an installation.
func storeSuspensions(tx *db.Tx, i *Installation, set parties) error {
	err := tx.Run(`DELETE FROM installation_suspensions WHERE app_id = $1 AND account_id = $2`,
		i.App.ID, i.Account.ID)
	for party, at := range set {
		if err != nil {
			return err
		}
		err = tx.Run(`INSERT INTO installation_suspensions (app_id, account_id, party, suspended_at)
			VALUES ($1, $2, $3, $4)`, i.App.ID, i.Account.ID, party, at)
	}
	return err
}
