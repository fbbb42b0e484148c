package session

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// SignIn starts a session with a login and its password, or the name and password of a directory, and returns the
// cookie's value and the login. Errors: a *SecondStep if the account has a second factor; 422 if they do not match
// or the account does not exist; 403 if it is suspended, or has no account; 429 if the attempt follows others too
// soon; 429 or 503 if too many passwords are being compared; 503 if a directory cannot be asked.
func (s *Service) SignIn(ctx context.Context, login, password string, from Origin) (value, is string, err error) {
	if !s.plausible(login) || len(password) > maxPassword {
		return "", "", wrongPassword()
	}
	kept, at, err := s.knock(ctx, login, from)
	if err != nil {
		return "", "", err
	}
	if s.refuses(login) {
		kept = "" // it fails as a wrong one does, so that nobody learns which accounts still have passwords
	}
	ok, err := s.try(ctx, login, password, kept, at)
	if err != nil {
		return "", "", err
	}
	if !ok && s.Directory != nil {
		return s.signInWithDirectory(ctx, login, password, at, from)
	}
	if !ok && s.refuses("") {
		return "", "", errs.New(errs.Invalid,
			"The login or the password is wrong. Most people here sign in another way, without a password.")
	}
	if !ok {
		return "", "", wrongPassword()
	}
	value, err = s.begin(ctx, login, from, func(tx *db.Tx) (*newSession, error) {
		a, err := account.ByLogin(tx, login)
		if err != nil {
			return nil, err
		}
		now, err := passwordOf(tx, login)
		if err == nil && now != kept { // another request changed it
			err = wrongPassword()
		}
		if err == nil {
			err = s.secondStep(tx, a, withPassword, kept)
		}
		return &newSession{account: a, how: withPassword}, err
	})
	return value, login, err
}

// refuses reports whether a user may not use a password; without a login, whether that is so for most.
func (s *Service) refuses(login string) bool {
	return s.RefusesPassword != nil && s.RefusesPassword(login)
}

// PasswordsForAll reports whether everybody may sign in with a password, but for those whom an operator named.
func (s *Service) PasswordsForAll() bool { return !s.refuses("") }

// try compares a password with a stored hash, and counts the attempt. Without a hash it takes as long and
// fails. Errors: 429, 503.
func (s *Service) try(ctx context.Context, login, password, kept string, at source) (bool, error) {
	hashing := s.strangers
	if at.known != "" || at.trusted {
		hashing = s.acquainted
	}
	leave, err := hashing.enter(ctx.Done())
	if err != nil {
		return false, err
	}
	defer leave()
	if err := s.attempts.take(login, at, s.now()); err != nil {
		return false, err
	}
	held := kept
	if held == "" {
		held = noPassword
	}
	ok, err := matches(ctx, password, held)
	if ok = ok && kept != ""; ok {
		s.attempts.forget(login, at)
	}
	return ok, err
}

func wrongPassword() error { return errs.New(errs.Invalid, "The login or the password is wrong.") }

// SignInWithToken begins a session that may do what a token may, lasts no longer than it does and ends when
// it is revoked. Tokens cannot be guessed, so attempts are not counted. Errors: 422 for a token that is
// not valid; 403 for one of a suspended account.
func (s *Service) SignInWithToken(ctx context.Context, text string, from Origin) (string, error) {
	wrong := errs.New(errs.Invalid, "This token is not valid for your account.")
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, token.Prefix) || !token.WellFormed(text) {
		return "", wrong
	}
	found, _, err := s.tokens.Find(ctx, text)
	if errs.Is(err, errs.Unauthenticated) {
		return "", wrong
	}
	if err != nil {
		return "", err
	}
	return s.begin(ctx, found.Login, from, func(tx *db.Tx) (*newSession, error) {
		c, expires, err := account.CallerOfToken(tx, token.Digest(text))
		if errs.Is(err, errs.NotFound) || err == nil &&
			(c.App != 0 || c.Session || !expires.IsZero() && tx.Now >= expires) {
			return nil, wrong
		}
		if err != nil {
			return nil, err
		}
		a, err := account.ByID(tx, c.ID)
		return &newSession{account: a, token: c.TokenID, expires: expires, how: withToken}, err
	})
}

// Recognized is how another package recognized a user.
type Recognized struct {
	Way     string  // WithProvider and the provider's name
	At      db.Time // when the user showed who it is; zero: now
	Session string  // the provider's name of its own session; empty: not told
}

// SignInWith starts a session of a user whom another package recognized. whose is called in the transaction. Errors:
// those of whose; 403 for a suspended account.
func (s *Service) SignInWith(
	ctx context.Context, login string, by Recognized, from Origin, whose func(tx *db.Tx) (*account.Account, error),
) (string, error) {
	return s.begin(ctx, login, from, func(tx *db.Tx) (*newSession, error) {
		a, err := whose(tx)
		return &newSession{account: a, how: by.Way, shown: by.At, provider: by.Session}, err
	})
}

// AtProvider selects sessions that an identity provider made.
type AtProvider struct {
	Way     string // see Recognized
	Issuer  string
	Subject string  // of the issuer; empty: anybody with Session
	Session string  // the provider's; empty: all of Subject
	Before  db.Time // they began before that
}

// KnownAtProvider reports whether accounts may have such sessions.
func KnownAtProvider(tx *db.Tx, at AtProvider) (bool, error) {
	list, err := accountsAtProvider(tx, at)
	return len(list) > 0, err
}

// EndAtProvider ends the selected sessions. If a subject is given, it also ends the user's sessions for which the
// provider sent no session id. It is a no-op if none match.
func EndAtProvider(tx *db.Tx, at AtProvider) error {
	of, err := accountsAtProvider(tx, at)
	if err != nil {
		return err
	}
	for _, id := range of {
		if err := account.HoldID(tx, id); err != nil {
			return err
		}
		ended, err := endAtProvider(tx, id, at)
		if err != nil {
			return err
		}
		if ended == 0 {
			continue
		}
		a, err := account.ByID(tx, id)
		if err != nil {
			return err
		}
		err = account.Record(tx, audit.UserLogout, a, "", map[string]any{"by": at.Way, "sessions": ended})
		if err != nil {
			return err
		}
	}
	return nil
}
