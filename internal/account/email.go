package account

import (
	"context"
	"errors"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// People claim an address when they write it into their profile; several people may
// claim the same one. It counts for commits once the operator has verified it for one
// of them (decision 64). The reserved no-reply addresses of an account always count, and
// nobody else can claim them.

// AddEmail claims an address for a user: it is unverified, unless it was claimed
// and verified before. Errors: 404 for the user; 422 if it is not an address, or is
// reserved for another account.
func (s *Service) AddEmail(ctx context.Context, login, address string) error {
	return s.changeEmails(ctx, nil, login, audit.UserAddEmail,
		func(tx *db.Tx, a *Account) error { return claim(tx, a, address) })
}

// unclaim takes an address from a user, and out of the profile. Error: 404.
func unclaim(tx *db.Tx, a *Account, address string) error {
	if err := tellRemoved(tx, a, address); err != nil {
		return err
	}
	found, err := deleteEmail(tx, a.ID, address, true)
	switch {
	case err != nil:
		return err
	case !found:
		return errs.Newf(errs.NotFound, "%q has no address %q", a.Login, address)
	case a.Email == nil || Fold(*a.Email) != Fold(address):
		return nil
	}
	a.Email = nil
	return updateAccount(tx, a)
}

// VerifyEmail marks an address as verified for a user who has claimed it. Errors: 404 for the user and for
// an address that was not claimed; 422 if it is verified for another user.
func (s *Service) VerifyEmail(ctx context.Context, login, address string) error {
	return s.changeEmails(ctx, nil, login, audit.UserVerifyEmail,
		func(tx *db.Tx, a *Account) error { return verify(tx, a, address) })
}

// RemoveEmail takes an address from a user, and out of the profile. Errors: 404
// for the user and the address.
func (s *Service) RemoveEmail(ctx context.Context, login, address string) error {
	return s.changeEmails(ctx, nil, login, audit.UserRemoveEmail,
		func(tx *db.Tx, a *Account) error { return unclaim(tx, a, address) })
}

// Emails lists the addresses that a user claims. Error: 404.
func (s *Service) Emails(ctx context.Context, login string) (list []Email, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := personNamed(tx, login)
		if err != nil {
			return err
		}
		list, err = emailsOf(tx, a.ID)
		return err
	})
	return list, err
}

// changeEmails changes a user's addresses. fn gets the current account, whose row is locked. The audit log
// does not contain them. Error: 404.
func (s *Service) changeEmails(
	ctx context.Context, by *Caller, login string, action audit.Action, fn func(*db.Tx, *Account) error,
) error {
	return s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		a, err := personNamed(tx, login)
		if err != nil {
			return err
		}
		if a, err = Hold(tx, a.Login); err != nil {
			return err
		}
		if err := Record(tx, action, a, "", nil); err != nil {
			return err
		}
		return fn(tx, a)
	})
}

func personNamed(tx *db.Tx, login string) (*Account, error) {
	a, err := UserByLogin(tx, login)
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Newf(errs.NotFound, "user %q not found", login)
	}
	return a, err
}

// claim adds an address to an account. Errors: 422.
func claim(tx *db.Tx, a *Account, address string) error {
	switch {
	case !PlausibleEmail(address):
		return errs.Newf(errs.Invalid, "%q is not an e-mail address", address)
	case !mayHave(a, address):
		return errs.Newf(errs.Invalid, "%q is reserved for another account", address)
	}
	return insertEmail(tx, a.ID, address)
}

// VerifyIfFree adds an address to an account as verified, if it is one and no other account verified it.
func VerifyIfFree(tx *db.Tx, a *Account, address string) error {
	if !PlausibleEmail(address) || !mayHave(a, address) {
		return nil
	}
	if by, err := verifier(tx, address); err != nil || by != "" {
		return err
	}
	if err := claim(tx, a, address); err != nil {
		return err
	}
	return verify(tx, a, address)
}

// Claim adds an address to an account, and sends the mail that verifies it. Errors: 422, 429.
func Claim(tx *db.Tx, a *Account, address string) error {
	if err := claim(tx, a, address); err != nil {
		return err
	}
	return askVerify(tx, a, address)
}

// Reserved reports whether an address is one of those that lead nowhere.
func Reserved(address string) bool {
	_, is := parseReserved(address)
	return is
}

// verify marks a claimed address of an account as verified. Errors: 404, 422.
func verify(tx *db.Tx, a *Account, address string) error {
	if !mayHave(a, address) {
		return errs.Newf(errs.Invalid, "%q is reserved for another account", address)
	}
	switch by, err := verifier(tx, address); {
	case err != nil:
		return err
	case by != "" && by != a.Login:
		return errs.Newf(errs.Invalid, "%q is verified for %q", address, by)
	}
	found, err := setVerified(tx, a.ID, address)
	switch {
	case errors.Is(err, db.ErrUnique): // another transaction was faster
		return errs.Newf(errs.Invalid, "%q is verified for somebody else", address)
	case err == nil && !found:
		return errs.Newf(errs.NotFound, "%q has no address %q: add it first", a.Login, address)
	}
	return err
}

// claimEmail claims the new address of a user's profile, and ends the claim on the old
// one unless that was verified. Error: 422.
func (e *Edit) claimEmail(tx *db.Tx, a *Account) error {
	if !e.Email.Set {
		return nil
	}
	address := e.Email.Or("")
	if a.Email != nil && Fold(*a.Email) != Fold(address) {
		if _, err := deleteEmail(tx, a.ID, *a.Email, false); err != nil {
			return err
		}
	}
	if address == "" {
		return nil
	}
	if !mayHave(a, address) {
		return errs.Validation(errs.Field{Resource: "User", Field: "email", Code: errs.InvalidField,
			Message: "email is reserved for another account"})
	}
	if err := insertEmail(tx, a.ID, address); err != nil {
		return err
	}
	return askVerify(tx, a, address)
}

// CommitEmail returns the address for commits created by the account through the API: the profile's address
// if it is verified, else the reserved one. So these commits are always shown as the account's.
func CommitEmail(tx *db.Tx, a *Account) (string, error) {
	if a.Email == nil {
		return NoReply(a), nil
	}
	verified, err := IsVerified(tx, a.ID, *a.Email)
	if err != nil || !verified {
		return NoReply(a), err
	}
	return *a.Email, nil
}

// CommitEmails are all addresses that make a commit the account's.
func CommitEmails(tx *db.Tx, a *Account) ([]string, error) {
	list, err := emailsOf(tx, a.ID)
	if err != nil {
		return nil, err
	}
	former, err := formerLogins(tx, a.ID)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, login := range append(former, a.Login) {
		found = append(found, a.ID.String()+"+"+login+noReply, login+noReply)
	}
	for _, e := range list {
		if e.Verified {
			found = append(found, e.Address)
		}
	}
	return found, nil
}
