package account

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
)

// VerifyMail is the kind of mails with a link that verifies an address, and of these links. RemovedMail tells a former
// address that it is none of the account's any more.
const (
	VerifyMail  mail.Kind = "verify"
	RemovedMail mail.Kind = "removed_address"
)

// VerifyLasts is how long such a link holds, once it was sent.
const VerifyLasts = 24 * time.Hour

// How often mails to verify an address may be asked for: by an account within a day, and for an address within an hour.
const (
	verifiesOfAccount = 30
	verifiesOfAddress = 5
)

// askVerify writes the mail that verifies an address, if the account claims it and it is not verified. Error: 429.
func askVerify(tx *db.Tx, a *Account, address string) error {
	on, err := mail.IsOn(tx)
	if err != nil || !on {
		return err
	}
	if verified, err := IsVerified(tx, a.ID, address); err != nil || verified {
		return err
	}
	if _, reserved := parseReserved(address); reserved { // it leads nowhere
		return nil
	}
	if err := mail.Limit(tx, fmt.Sprint("verify by ", a.ID), verifiesOfAccount, 24*time.Hour); err != nil {
		return err
	}
	// Whoever claims an address of somebody else does not use up what its owner may ask for.
	own := mail.OfAddress(fmt.Sprint("verify by ", a.ID), Fold(address))
	if err := mail.Limit(tx, own, verifiesOfAddress, time.Hour); err != nil {
		return err
	}
	if err := mail.Limit(tx, mail.OfAddress("verify", Fold(address)), 4*verifiesOfAddress, time.Hour); err != nil {
		return err
	}
	return mail.Add(tx, mail.Mail{Kind: VerifyMail, Account: int64(a.ID), Address: Fold(address)})
}

// AskVerify sends the mail that verifies an address of the caller again. Errors: 404 for an address that the caller does
// not claim; 429.
func (s *Service) AskVerify(ctx context.Context, caller *Caller, address string) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		a, err := ByID(tx, caller.ID)
		if err != nil {
			return err
		}
		if err := mustClaim(tx, a, address); err != nil {
			return err
		}
		return askVerify(tx, a, address)
	})
}

// mustClaim checks that an account claims an address. Error: 404.
func mustClaim(tx *db.Tx, a *Account, address string) error {
	list, err := emailsOf(tx, a.ID)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Address == Fold(address) {
			return nil
		}
	}
	return errs.Newf(errs.NotFound, "%q has no address %q", a.Login, address)
}

// NewVerifyLink makes the link of a mail that verifies an address. Error: 404 if it is verified or not claimed any more.
func (s *Service) NewVerifyLink(ctx context.Context, of ID, address string) (a *Account, secret string, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if a, err = ByID(tx, of); err != nil {
			return err
		}
		if err := mustClaim(tx, a, address); err != nil {
			return err
		}
		verified, err := IsVerified(tx, of, address)
		if err != nil || verified || !a.SuspendedAt.IsZero() {
			return cmp.Or[error](err, errs.Absent())
		}
		secret, err = mail.NewLink(tx, mail.Link{Kind: VerifyMail, Account: int64(of), Address: Fold(address)}, VerifyLasts)
		return err
	})
	return a, secret, err
}

// AddressOfLink returns the address that a link verifies for the caller. Error: 404 for a link that does not hold, or is
// another account's.
func (s *Service) AddressOfLink(ctx context.Context, caller *Caller, secret string) (address string, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (string, error) { return addressOfLink(tx, caller, secret) })
}

func addressOfLink(tx *db.Tx, caller *Caller, secret string) (string, error) {
	l, err := mail.FindLink(tx, VerifyMail, secret)
	if err == nil && l.Account != int64(caller.ID) {
		err = errs.Absent()
	}
	if err != nil {
		return "", err
	}
	return l.Address, nil
}

// VerifyByLink marks an address as verified for the caller, to whom its link was sent. Errors: 404 for a link that does
// not hold, or is another account's; 422 if another account has verified the address.
func (s *Service) VerifyByLink(ctx context.Context, caller *Caller, secret string) (address string, err error) {
	err = s.changeEmails(ctx, caller, caller.Login, audit.UserVerifyEmail, func(tx *db.Tx, a *Account) error {
		if address, err = addressOfLink(tx, caller, secret); err != nil {
			return err
		}
		by, err := verifier(tx, address)
		if err == nil && by != "" && by != a.Login {
			err = errs.Newf(errs.Invalid, "%q is verified for another account.", address)
		}
		if err != nil {
			return err
		}
		if err := mail.EndLinks(tx, VerifyMail, int64(a.ID), address); err != nil {
			return err
		}
		return verify(tx, a, address)
	})
	return address, err
}

// tellRemoved writes a mail to a verified address that an account is about to lose.
func tellRemoved(tx *db.Tx, a *Account, address string) error {
	if on, err := mail.IsOn(tx); err != nil || !on {
		return err
	}
	if verified, err := IsVerified(tx, a.ID, address); err != nil || !verified {
		return err
	}
	return mail.Add(tx, mail.Mail{Kind: RemovedMail, Account: int64(a.ID), Address: Fold(address)})
}
