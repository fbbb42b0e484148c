package account

import (
	"context"
	"errors"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Rename changes the login of a user or an organization. The old one redirects requests for
// its repositories, as the old name of a repository does (decision 54), and nobody else
// gets it. Errors: 404 for an account that is not there or of another kind; 422 for a login
// that is not allowed, is taken or was somebody else's.
func (s *Service) Rename(ctx context.Context, by *Caller, kind Kind, login, to string) (a *Account, err error) {
	if err := CheckLogin(to); err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if a, err = held(tx, kind, login); err != nil {
			return err
		}
		from, action := a.Login, audit.UserRename
		if err := rename(tx, a, to); err != nil {
			return err
		}
		if kind == Organization {
			action = audit.OrgRename
		}
		if kind == Organization && s.forge != nil {
			if err := s.forge.TellRename(tx, a, from, IDOf(by)); err != nil {
				return err
			}
		}
		return Record(tx, action, a, "", map[string]any{"old_login": from, "login": to})
	})
	return a, err
}

// ChangeLogin is Rename for a site administrator, with errors of fields. Errors: 404, 422.
func (s *Service) ChangeLogin(ctx context.Context, by *Caller, kind Kind, login, to string) (*Account, error) {
	if to == "" {
		return nil, errs.Validation(errs.Field{Resource: kind.String(), Field: "login", Code: errs.MissingField})
	}
	a, err := s.Rename(ctx, by, kind, login, to)
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Absent()
	}
	return a, asField(err, kind.String(), "login")
}

func rename(tx *db.Tx, a *Account, to string) error {
	from, folded := Fold(a.Login), Fold(to)
	if a.Login == to {
		return nil
	}
	err := setLogin(tx, a, to)
	switch {
	case errors.Is(err, db.ErrUnique):
		return errs.Newf(errs.Invalid, "the login %q is taken", to)
	case err != nil || from == folded:
		return err
	}
	if err := takeLogin(tx, a, folded); err != nil {
		return err
	}
	return retireLogin(tx, from, a.ID)
}

// takeLogin checks that the account's new login was not used by another account. If it
// was one of its own former logins, it stops being one. Error: 422.
func takeLogin(tx *db.Tx, a *Account, folded string) error {
	of, was, err := formerly(tx, folded)
	switch {
	case err != nil || !was:
		return err
	case of != a.ID:
		return errs.Newf(errs.Invalid, "the login %q is reserved: another account had it", a.Login)
	}
	return reviveLogin(tx, folded)
}

// Hold finds an account and holds its row until the transaction ends, so it is not deleted
// before then. Error: 404.
func Hold(tx *db.Tx, login string) (*Account, error) {
	a, err := ByLogin(tx, login)
	if err != nil {
		return nil, err
	}
	if err := lockAccount(tx, a.ID); err != nil {
		return nil, err
	}
	return ByID(tx, a.ID)
}

// held finds an account of a kind and holds its row until the transaction ends. Errors:
// 404, 422 for ghost.
func held(tx *db.Tx, kind Kind, login string) (*Account, error) {
	a, err := ByLogin(tx, login)
	if errs.Is(err, errs.NotFound) || err == nil && a.Kind != kind {
		return nil, errs.Newf(errs.NotFound, "%s %q not found", kind.word(), login)
	}
	if err != nil {
		return nil, err
	}
	if Fold(a.Login) == ghostLogin {
		return nil, errs.Newf(errs.Invalid, "%q stands for deleted users and stays as it is", a.Login)
	}
	if err := lockAccount(tx, a.ID); err != nil {
		return nil, err
	}
	return ByID(tx, a.ID)
}
