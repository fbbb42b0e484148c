package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
)

// ResetMail is the kind of mails with a link by which a password is set, and of these links.
const ResetMail mail.Kind = "reset"

// ResetLasts is how long such a link holds, once it was sent.
const ResetLasts = 3 * time.Hour

// How often another password may be asked for within an hour: by a network, and for one address or login.
const (
	resetsOfNetwork = 20
	resetsOfOne     = 5
)

// AskReset asks for a mail with a link by which a password is set. typed is an address or a login. It does the same for
// those that nobody has: who it is, is found when the mail is sent. Error: 429.
func (s *Service) AskReset(ctx context.Context, typed string, from Origin) error {
	typed = account.Fold(strings.TrimSpace(typed))
	if !account.Plausible(typed) && !account.PlausibleEmail(typed) {
		return errs.Validation(errs.Field{Field: "who", Code: errs.Custom,
			Message: "This is neither an e-mail address nor a login."})
	}
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		network := fmt.Sprint("reset by ", admission.NetworkOf(from.Address))
		if err := mail.Limit(tx, network, resetsOfNetwork, time.Hour); err != nil {
			return err
		}
		if err := mail.Limit(tx, mail.OfAddress("reset", typed), resetsOfOne, time.Hour); err != nil {
			return err
		}
		return mail.Add(tx, mail.Mail{Kind: ResetMail, Address: typed})
	})
}

// NewResetLink finds the account that a login or an address names, and creates its reset link. Error: 404 if there is no
// such account, or it may not sign in with a password.
func (s *Service) NewResetLink(
	ctx context.Context, typed string,
) (a *account.Account, address, secret string, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if a, address, err = resetOf(tx, typed); err != nil {
			return err
		}
		if s.refuses(a.Login) {
			return errs.Absent()
		}
		secret, err = mail.NewLink(tx, mail.Link{Kind: ResetMail, Account: int64(a.ID), Address: address}, ResetLasts)
		return err
	})
	return a, address, secret, err
}

// resetOf finds a user by a verified address, or by a login, and the address for the mail. Error: 404.
func resetOf(tx *db.Tx, typed string) (*account.Account, string, error) {
	if !strings.Contains(typed, "@") {
		a, err := account.ByLogin(tx, typed)
		if err != nil {
			return nil, "", err
		}
		address, err := mail.AddressOf(tx, int64(a.ID))
		if err == nil && (address == "" || a.Kind != account.User) {
			err = errs.Absent()
		}
		return a, address, err
	}
	found, err := account.ByEmails(tx, []string{typed})
	if err != nil {
		return nil, "", err
	}
	a := found[account.Fold(typed)]
	if a == nil || !a.SuspendedAt.IsZero() {
		return nil, "", errs.Absent()
	}
	verified, err := account.IsVerified(tx, a.ID, typed)
	if err == nil && !verified { // a reserved address leads nowhere
		err = errs.Absent()
	}
	return a, account.Fold(typed), err
}

// ResetOf returns the user whose password a link sets. Error: 404 for one that does not hold: it has expired or was
// used, the password was changed, or the address is not the account's any more.
func (s *Service) ResetOf(ctx context.Context, secret string) (a *account.Account, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*account.Account, error) { return s.resetLink(tx, secret) })
}

func (s *Service) resetLink(tx *db.Tx, secret string) (*account.Account, error) {
	l, err := mail.FindLink(tx, ResetMail, secret)
	if err != nil {
		return nil, err
	}
	a, err := account.ByID(tx, account.ID(l.Account))
	if err != nil {
		return nil, err
	}
	verified, err := account.IsVerified(tx, a.ID, l.Address)
	if err == nil && (!verified || !a.SuspendedAt.IsZero() || s.refuses(a.Login)) {
		err = errs.Absent()
	}
	return a, err
}

// Reset sets the password of the user of a link, which ends all sessions and all such links. It signs nobody in: a
// second factor is asked as ever. Errors: 404, see ResetOf; 422 for an invalid password; 429, 503.
func (s *Service) Reset(ctx context.Context, secret, password string, from Origin) (login string, err error) {
	a, err := s.ResetOf(ctx, secret)
	if err != nil {
		return "", err
	}
	if err := CheckPassword(a.Login, password); err != nil {
		return "", err
	}
	kept, err := hashPassword(ctx, password)
	if err != nil {
		return "", err
	}
	actor := audit.Actor{Login: a.Login, Right: audit.Self}
	if from.Address.IsValid() {
		actor.Address = from.Address.String()
	}
	err = s.db.WriteAs(audit.With(ctx, actor), db.Server, func(tx *db.Tx) error {
		if err := account.HoldID(tx, a.ID); err != nil {
			return err
		}
		now, err := s.resetLink(tx, secret)
		if err != nil {
			return err
		}
		login = now.Login
		if err := putPassword(tx, now.ID, kept); err != nil {
			return err
		}
		return account.Record(tx, audit.UserPassword, now, "", map[string]any{"by_operator": false, "by_mail": true})
	})
	return login, err
}

// putPassword stores a password, and ends the sessions and the links for another one.
func putPassword(tx *db.Tx, of account.ID, kept string) error {
	if err := storePassword(tx, of, kept); err != nil {
		return err
	}
	if err := mail.EndLinks(tx, ResetMail, int64(of), ""); err != nil {
		return err
	}
	return endSessions(tx, of, 0)
}
