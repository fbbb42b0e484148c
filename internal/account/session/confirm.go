package session

import (
	"cmp"
	"context"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// ConfirmedFor is how long a confirmation counts, as at GitHub.
const ConfirmedFor = 2 * time.Hour

// Confirmed reports whether the caller may do what is dangerous without another confirmation. Tokens always may: they
// have their own limits.
func (s *Service) Confirmed(c *account.Caller) bool {
	return c == nil || !c.Session || s.now()-c.ConfirmedAt < db.Time(ConfirmedFor.Microseconds())
}

// Factors returns what the caller can confirm with: a password, here or at a directory, and factors.
func (s *Service) Factors(ctx context.Context, of *account.Caller) (has factor.State, password bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		_, kept, err := loginAndPassword(tx, of.ID)
		if err != nil {
			return err
		}
		if password = kept != "" && !s.refuses(of.Login); !password {
			if password, err = s.knows(tx, of.ID); err != nil {
				return err
			}
		}
		has, err = factor.Of(tx, of.ID)
		return err
	})
	return has, password, err
}

// Confirm notes that the user of a session confirmed who it is, by its password or by a proof of a factor; recovery
// codes do not count. Errors: 422, 429, 503.
func (s *Service) Confirm(
	ctx context.Context, by *account.Caller, password string, p factor.Proof, from Origin,
) error {
	if !by.Session {
		return errs.New(errs.Forbidden, "Only a session is confirmed.")
	}
	kept, at, inDirectory := "", s.placeOfSession(by, from), false
	switch {
	case p.Code != "" || p.Passkey != "":
		if err := s.codes.take(by.Login, at, s.now()); err != nil {
			return err
		}
	default:
		var err error
		if kept, inDirectory, err = s.confirmPassword(ctx, by, password, from); err != nil {
			return err
		}
	}
	err := s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if err := account.HoldID(tx, by.ID); err != nil {
			return err
		}
		a, err := account.ByID(tx, by.ID)
		if err != nil {
			return err
		}
		way := withPassword
		if inDirectory {
			if is, err := s.knows(tx, by.ID); err != nil || !is { // unlinked in the meantime
				return cmp.Or[error](err, wrongPassword())
			}
		} else if kept == "" {
			if way, err = factor.Use(tx, by.ID, p, false); err != nil {
				return err
			}
		} else if now, err := passwordOf(tx, a.Login); err != nil || now != kept {
			return cmp.Or[error](err, wrongPassword())
		}
		if err := confirmSession(tx, by.ID, by.TokenID); err != nil {
			return err
		}
		return account.Record(tx, audit.SessionConfirm, a, audit.Self,
			map[string]any{"token_id": by.TokenID, "by": way})
	})
	if err == nil && kept == "" && !inDirectory {
		s.codes.forget(by.Login, at)
	}
	return err
}

// confirmPassword checks the password of the user of a session: the one of this server, whose stored form it returns, or
// one of a directory. Errors: 422, 429, 503.
func (s *Service) confirmPassword(
	ctx context.Context, by *account.Caller, password string, from Origin,
) (kept string, inDirectory bool, err error) {
	var knows bool
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if knows, err = s.knows(tx, by.ID); err == nil {
			kept, err = passwordOf(tx, by.Login)
		}
		return err
	})
	if err != nil {
		return "", false, err
	}
	if s.refuses(by.Login) {
		if !knows {
			return "", false, errs.New(errs.Invalid, "Passwords are switched off for your account: confirm in another way.")
		}
		kept = ""
	}
	at := s.placeOfSession(by, from)
	ok, err := s.try(ctx, by.Login, password, kept, at)
	if err != nil || ok {
		return kept, false, err
	}
	if knows {
		if ok, err = s.Directory.Confirm(ctx, by.ID, password); err != nil {
			return "", false, err
		}
	}
	if !ok {
		return "", false, errs.New(errs.Invalid, "That is not your password.")
	}
	s.attempts.forget(by.Login, at)
	return "", true, nil
}
