package session

import (
	"context"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
)

// WithDirectory begins the way of a session whose name and password a directory checked (package ldap); the name of the
// directory follows.
const WithDirectory = "ldap:"

// Directory checks names and passwords that are not of this server.
type Directory interface {
	// Recognize returns whose name and password it is; nil: nobody's. Errors: 403 and 422 for a person without a usable
	// account; 503 if it cannot be asked.
	Recognize(ctx context.Context, name, password string, from Origin) (*Visitor, error)
	// Knows reports whether an account has a password there.
	Knows(tx *db.Tx, of account.ID) (bool, error)
	// Confirm reports whether a password is that of an account. Error: 503.
	Confirm(ctx context.Context, of account.ID, password string) (bool, error)
}

// Visitor is who gave a name and a password.
type Visitor struct {
	Login   string // of the account
	Way     string // WithDirectory and the directory's name
	Source  string // the directory's name
	Account func(tx *db.Tx) (*account.Account, error)
}

// plausible reports whether a text can be the name of somebody who signs in.
func (s *Service) plausible(name string) bool {
	return account.Plausible(name) ||
		s.Directory != nil && name != "" && len(name) <= 255 && utf8.ValidString(name) && !account.HasControl(name)
}

// signInWithDirectory is SignIn for a name and a password that are none of this server. The attempt is counted.
func (s *Service) signInWithDirectory(
	ctx context.Context, name, password string, at source, from Origin,
) (value, login string, err error) {
	v, err := s.Directory.Recognize(ctx, name, password, from)
	if err != nil {
		return "", "", err
	}
	if v == nil {
		return "", "", wrongPassword()
	}
	s.attempts.forget(name, at)
	value, err = s.begin(ctx, v.Login, from, func(tx *db.Tx) (*newSession, error) {
		a, err := v.Account(tx)
		if err != nil {
			return nil, err
		}
		secret, err := secretAt(tx, a.ID, v.Source)
		if err == nil {
			err = s.secondStep(tx, a, v.Way, secret)
		}
		return &newSession{account: a, how: v.Way}, err
	})
	return value, v.Login, err
}

// Attempt counts an attempt at a name's password, which check compares. Errors: those of check; 422 for a wrong
// password; 429 for an attempt too soon after others.
func (s *Service) Attempt(ctx context.Context, name string, from Origin, check func() (bool, error)) error {
	if !s.plausible(name) {
		return wrongPassword()
	}
	_, at, err := s.knock(ctx, name, from)
	if err != nil {
		return err
	}
	if err := s.attempts.take(name, at, s.now()); err != nil {
		return err
	}
	ok, err := check()
	if err != nil {
		return err
	}
	if !ok {
		return wrongPassword()
	}
	s.attempts.forget(name, at)
	return nil
}

// knows reports whether an account has a password at a directory.
func (s *Service) knows(tx *db.Tx, of account.ID) (bool, error) {
	if s.Directory == nil {
		return false, nil
	}
	return s.Directory.Knows(tx, of)
}
