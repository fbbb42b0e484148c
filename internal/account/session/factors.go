package session

import (
	"context"
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/admission"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Passkeys lists the caller's passkeys.
func (s *Service) Passkeys(ctx context.Context, of *account.Caller) (list []factor.Passkey, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]factor.Passkey, error) { return factor.Passkeys(tx, of.ID) })
}

// AskForNewPasskey returns the options with which a browser makes a passkey for the caller. Errors: 422, 503.
func (s *Service) AskForNewPasskey(
	ctx context.Context, by *account.Caller, site string, from Origin,
) (options any, err error) {
	err = s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		a, err := account.ByID(tx, by.ID)
		if err == nil {
			options, err = factor.AskForNewPasskey(tx, a, site, admission.NetworkOf(from.Address).String())
		}
		return err
	})
	return options, err
}

// AddTOTP adds or replaces the caller's authenticator app, if the code is one of the secret's. It returns recovery
// codes if the account had no factor before. Error: 422.
func (s *Service) AddTOTP(ctx context.Context, by *account.Caller, secret, code string) (codes []string, err error) {
	return s.addFactor(ctx, by, factor.ByTOTP, func(tx *db.Tx, a *account.Account) error {
		return factor.AddTOTP(tx, a.ID, secret, code)
	})
}

// AddPasskey adds a passkey that the caller's browser created. It returns recovery codes as AddTOTP does. Errors: 422,
// 503.
func (s *Service) AddPasskey(
	ctx context.Context, by *account.Caller, name string, p factor.Proof,
) (codes []string, err error) {
	return s.addFactor(ctx, by, factor.ByPasskey, func(tx *db.Tx, a *account.Account) error {
		return factor.AddPasskey(tx, a, name, p)
	})
}

// addFactor adds a factor. With the first one it ends the other sessions, which were made without.
func (s *Service) addFactor(
	ctx context.Context, by *account.Caller, kind string, add func(*db.Tx, *account.Account) error,
) (codes []string, err error) {
	err = s.changeFactors(ctx, by, func(tx *db.Tx, a *account.Account) error {
		had, err := factor.Of(tx, a.ID)
		if err != nil {
			return err
		}
		if err := add(tx, a); err != nil {
			return err
		}
		if codes = nil; !had.On() {
			if codes, err = factor.NewCodes(tx, a.ID); err != nil {
				return err
			}
			if err := endSessions(tx, a.ID, by.TokenID); err != nil {
				return err
			}
			if err := touch(tx, a.ID); err != nil {
				return err
			}
		}
		return account.Record(tx, audit.FactorAdd, a, audit.Self, map[string]any{"factor": kind})
	})
	return codes, err
}

// changeFactors runs a change of the caller's factors. Callers with a session alone change theirs.
func (s *Service) changeFactors(
	ctx context.Context, by *account.Caller, change func(*db.Tx, *account.Account) error,
) error {
	if !by.Session || by.ByToken {
		return errs.New(errs.Forbidden, "Sign in with your password to change factors: a token cannot.")
	}
	return account.ChangeSelf(ctx, s.db, by, change)
}

// NewCodes replaces the caller's recovery codes. Error: 422 for an account without a factor.
func (s *Service) NewCodes(ctx context.Context, by *account.Caller) (codes []string, err error) {
	err = s.changeFactors(ctx, by, func(tx *db.Tx, a *account.Account) error {
		has, err := factor.Of(tx, a.ID)
		if err == nil && !has.On() {
			err = errs.New(errs.Invalid, "Recovery codes come with a second factor: add one.")
		}
		if err == nil {
			codes, err = factor.NewCodes(tx, a.ID)
		}
		if err != nil {
			return err
		}
		return account.Record(tx, audit.RecoveryCodes, a, audit.Self, nil)
	})
	return codes, err
}

// RenamePasskey renames one of the caller's passkeys. Errors: 404, 422.
func (s *Service) RenamePasskey(ctx context.Context, by *account.Caller, id int64, name string) error {
	if name = strings.TrimSpace(name); name == "" {
		return errs.New(errs.Invalid, "A passkey needs a name.")
	}
	if err := account.CheckLine("name", name); err != nil {
		return err
	}
	return s.changeFactors(ctx, by, func(tx *db.Tx, a *account.Account) error {
		if err := factor.RenamePasskey(tx, a.ID, id, name); err != nil {
			return err
		}
		return account.Record(tx, audit.FactorRename, a, audit.Self,
			map[string]any{"factor": factor.ByPasskey, "id": id})
	})
}

// RemoveTOTP removes the caller's authenticator app, and ends the other sessions. Error: 404.
func (s *Service) RemoveTOTP(ctx context.Context, by *account.Caller) error {
	return s.removeFactor(ctx, by, factor.ByTOTP, func(tx *db.Tx, a *account.Account) error {
		return factor.RemoveTOTP(tx, a.ID)
	})
}

// RemovePasskey removes one of the caller's passkeys, and ends the other sessions. Error: 404.
func (s *Service) RemovePasskey(ctx context.Context, by *account.Caller, id int64) error {
	return s.removeFactor(ctx, by, factor.ByPasskey, func(tx *db.Tx, a *account.Account) error {
		return factor.RemovePasskey(tx, a.ID, id)
	})
}

// removeFactor removes a factor. Recovery codes go with the last one. Error: 422 for the last one of a user who must
// have one.
func (s *Service) removeFactor(
	ctx context.Context, by *account.Caller, kind string, remove func(*db.Tx, *account.Account) error,
) error {
	return s.changeFactors(ctx, by, func(tx *db.Tx, a *account.Account) error {
		if err := remove(tx, a); err != nil {
			return err
		}
		has, err := factor.Of(tx, a.ID)
		if err == nil && !has.On() {
			err = errors.Join(factor.RemoveCodes(tx, a.ID), touch(tx, a.ID), mayHaveNone(tx, a.ID))
		}
		if err == nil {
			err = endSessions(tx, a.ID, by.TokenID)
		}
		if err != nil {
			return err
		}
		return account.Record(tx, audit.FactorRemove, a, audit.Self, map[string]any{"factor": kind})
	})
}

// mayHaveNone returns a 422 for a user who must have a factor.
func mayHaveNone(tx *db.Tx, id account.ID) error {
	needs, err := account.NeedsFactor(tx, id)
	if err == nil && needs {
		err = errs.New(errs.Invalid, "Your account must have a second factor: add another one first.")
	}
	return err
}

// FactorsNamed returns the factors of a user, for the operator. Errors: 404, 422.
func (s *Service) FactorsNamed(ctx context.Context, login string) (
	a *account.Account, has factor.State, list []factor.Passkey, err error,
) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if a, err = account.Holder(tx, login); err != nil {
			return err
		}
		if has, err = factor.Of(tx, a.ID); err != nil {
			return err
		}
		list, err = factor.Passkeys(tx, a.ID)
		return err
	})
	return a, has, list, err
}

// RemoveFactors has the operator remove all factors of a user who lost them, and ends the user's sessions: a password is
// enough then. Errors: 404; 422 for an organization.
func (s *Service) RemoveFactors(ctx context.Context, login string) (a *account.Account, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if a, err = account.Holder(tx, login); err != nil {
			return err
		}
		if err := account.HoldID(tx, a.ID); err != nil {
			return err
		}
		if err := factor.RemoveAll(tx, a.ID); err != nil {
			return err
		}
		if err := touch(tx, a.ID); err != nil {
			return err
		}
		if err := endSessions(tx, a.ID, 0); err != nil {
			return err
		}
		return account.Record(tx, audit.FactorDisabled, a, audit.SiteAdmin, map[string]any{"by_operator": true})
	})
	return a, err
}
