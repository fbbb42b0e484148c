// Package claim lets users ask for the texts of a mannequin: of somebody whom an import brought from another
// server, and who had no account here (package account). A site administrator decides.
//
//   - claim.go: claims, and what users and administrators do with them
//   - store.go: the SQL, of table claims
//
// A claim names a login such as alice[github.com], whether or not that mannequin exists. So users do not learn who wrote
// in repositories that they cannot see. A claim ends when it is withdrawn or decided, or when its user is deleted. When a
// mannequin is given to a user, all claims to it end. Renamed users keep their claims. Claims of suspended users wait, and
// cannot be approved until the suspension ends.
package claim

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Max is how many claims of a user wait at one time.
const Max = 20

// MaxShown is how many claims administrators see at one time.
const MaxShown = 100

// Claim is a user's wish to be given the texts of a mannequin.
type Claim struct {
	User      string // its login
	Suspended bool
	Mannequin string // its login in lower case
	Name      string // name of the mannequin, such as "Alice at github.com"; empty if there is none
	CreatedAt db.Time
}

// Service keeps claims. Safe for concurrent use.
type Service struct {
	db *db.DB
	// give makes a user the author of everything that a mannequin wrote; both are logins.
	give func(tx *db.Tx, mannequin, user string) (from, to *account.Account, err error)
}

// New returns a Service.
func New(
	d *db.DB, give func(tx *db.Tx, mannequin, user string) (from, to *account.Account, err error),
) *Service {
	return &Service{d, give}
}

// Of returns the caller's claims, without names of mannequins, the newest first.
func (s *Service) Of(ctx context.Context, caller *account.Caller) (list []Claim, err error) {
	return db.GetOne(ctx, s.db, func(tx *db.Tx) ([]Claim, error) { return of(tx, caller.ID) })
}

// Ask adds a claim of the caller. It does nothing if the caller already has one. Errors: 422 if the text is not the
// login of a mannequin, or the caller has Max claims.
func (s *Service) Ask(ctx context.Context, caller *account.Caller, mannequin string) error {
	mannequin = account.Fold(strings.TrimSpace(mannequin))
	if !account.IsMannequinLogin(mannequin) {
		return errs.New(errs.Invalid, "Give the login as it is shown with the texts, such as alice[github.com].")
	}
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if err := account.HoldID(tx, caller.ID); err != nil {
			return err
		}
		list, err := of(tx, caller.ID)
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.Mannequin == mannequin {
				return nil
			}
		}
		if len(list) >= Max {
			return errs.Newf(errs.Invalid, "%d of your requests wait, which is the limit. Withdraw one first.", Max)
		}
		return insert(tx, caller.ID, mannequin)
	})
}

// Withdraw ends a claim of the caller. Error: 404.
func (s *Service) Withdraw(ctx context.Context, caller *account.Caller, mannequin string) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		return present(remove(tx, caller.Login, account.Fold(mannequin)))
	})
}

// Waiting returns the MaxShown oldest claims, the oldest first.
func (s *Service) Waiting(ctx context.Context) (list []Claim, err error) {
	return db.GetOne(ctx, s.db, func(tx *db.Tx) ([]Claim, error) { return waiting(tx) })
}

// Approve makes the user the author of everything that the mannequin wrote, and ends all claims to the mannequin. The
// caller must be a site administrator. Errors: 404 if the claim or the mannequin does not exist; 422 if the user is
// suspended.
func (s *Service) Approve(ctx context.Context, by *account.Caller, user, mannequin string) (to *account.Account, err error) {
	err = s.decide(ctx, by, user, mannequin, func(tx *db.Tx) error {
		_, to, err = s.give(tx, mannequin, user)
		if err == nil && to.SuspendedAt != 0 {
			err = errs.Newf(errs.Invalid, "%s is suspended.", to.Login)
		}
		return err
	})
	return to, err
}

// Give is Approve without a claim: a site administrator knows who somebody of another server is. Errors: 404 as of
// Approve; 422 if the user is suspended.
func (s *Service) Give(ctx context.Context, by *account.Caller, user, mannequin string) (to *account.Account, err error) {
	err = s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if !by.SiteAdmin {
			return errs.Absent()
		}
		_, to, err = s.give(tx, strings.TrimSpace(mannequin), strings.TrimSpace(user))
		if err == nil && to.SuspendedAt != 0 {
			err = errs.Newf(errs.Invalid, "%s is suspended.", to.Login)
		}
		return err
	})
	return to, err
}

// Decline ends a claim. Error: 404.
func (s *Service) Decline(ctx context.Context, by *account.Caller, user, mannequin string) error {
	return s.decide(ctx, by, user, mannequin, func(tx *db.Tx) error {
		return audit.Record(tx, audit.Entry{Action: audit.ClaimDecline, Right: audit.SiteAdmin,
			Changes: map[string]any{"user": user, "mannequin": mannequin}})
	})
}

func (s *Service) decide(
	ctx context.Context, by *account.Caller, user, mannequin string, do func(tx *db.Tx) error,
) error {
	return s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if !by.SiteAdmin {
			return errs.Absent()
		}
		if err := present(remove(tx, user, account.Fold(mannequin))); err != nil {
			return err
		}
		return do(tx)
	})
}

// End ends all claims to a mannequin, whose texts somebody has.
func End(tx *db.Tx, mannequin string) error { return end(tx, account.Fold(mannequin)) }

// present is the error of a statement, or 404 if it changed no row.
func present(n int64, err error) error {
	if err == nil && n == 0 {
		return errs.Absent()
	}
	return err
}
