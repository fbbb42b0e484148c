package session

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/admission"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Passwords are hashed with argon2id and the first parameters recommended by OWASP: 19 MiB, two passes, one
// lane. The parameters are stored with each hash, so they can change later.
const (
	argonMemory = 19 << 10 // KiB
	argonPasses = 2
	argonLanes  = 1
	argonSalt   = 16 // bytes
	argonKey    = 32 // bytes
)

// Bounds of a password's length in bytes.
const (
	minPassword = 8
	maxPassword = 256
)

// CheckPassword returns why a text may not be the password of a login: 422.
func CheckPassword(login, password string) error {
	switch {
	case len(password) < minPassword:
		return errs.Newf(errs.Invalid, "a password has at least %d characters", minPassword)
	case len(password) > maxPassword:
		return errs.Newf(errs.Invalid, "a password has at most %d bytes", maxPassword)
	case !utf8.ValidString(password):
		return errs.New(errs.Invalid, "a password is text")
	}
	return checkCommon(login, password)
}

// NewPassword returns the stored form of a password for a login, for [PutPassword]. Errors: 422, 429, 503.
func NewPassword(ctx context.Context, login, password string) (string, error) {
	if err := CheckPassword(login, password); err != nil {
		return "", err
	}
	return hashPassword(ctx, password)
}

// PutPassword stores the first password of a new account.
func PutPassword(tx *db.Tx, of account.ID, kept string) error { return storePassword(tx, of, kept) }

// hashPassword returns the stored form of a password. Its memory is reserved from the request's admission.
// Errors: 429, 503.
func hashPassword(ctx context.Context, password string) (string, error) {
	salt := make([]byte, argonSalt)
	rand.Read(salt)
	key, err := argon(ctx, password, salt, argonPasses, argonMemory, argonLanes)
	if err != nil {
		return "", err
	}
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory,
		argonPasses, argonLanes, b64(salt), b64(key)), nil
}

// noPassword is compared with a password if the account has none: the comparison takes as long, and fails.
const noPassword = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$"

// matches reports whether a password matches the stored hash. Errors: 429, 503.
func matches(ctx context.Context, password, kept string) (bool, error) {
	var version, memory, passes uint32
	var lanes uint8
	var rest string
	_, err := fmt.Sscanf(kept, "$argon2id$v=%d$m=%d,t=%d,p=%d$%s", &version, &memory, &passes, &lanes, &rest)
	if err != nil || version != argon2.Version {
		return false, fmt.Errorf("account: a kept password is none of argon2id: %w", err)
	}
	var salt, want []byte
	for n := range len(rest) {
		if rest[n] == '$' {
			salt, _ = base64.RawStdEncoding.DecodeString(rest[:n])
			want, _ = base64.RawStdEncoding.DecodeString(rest[n+1:])
		}
	}
	key, err := argon(ctx, password, salt, passes, memory, lanes)
	return err == nil && len(want) == argonKey && subtle.ConstantTimeCompare(key, want) == 1, err
}

func argon(
	ctx context.Context, password string, salt []byte, passes, memory uint32, lanes uint8,
) ([]byte, error) {
	release, err := admission.Memory(ctx, int64(memory)<<10)
	if err != nil {
		return nil, err
	}
	defer release()
	return argon2.IDKey([]byte(password), salt, passes, memory, lanes, argonKey), nil
}

// SetPassword sets a user's password and ends all sessions. by is the acting account; nil: the operator.
// Errors: 404 for an unknown user; 422 for an organization and an invalid password; 429, 503.
func (s *Service) SetPassword(ctx context.Context, login, password string, by *account.Caller) error {
	if err := CheckPassword(login, password); err != nil {
		return err
	}
	kept, err := hashPassword(ctx, password)
	if err != nil {
		return err
	}
	return s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if err := tx.Check(); err != nil { // now: the session of this request ends, too
			return err
		}
		a, err := account.Holder(tx, login)
		if err != nil {
			return err
		}
		if err := putPassword(tx, a.ID, kept); err != nil {
			return err
		}
		return account.Record(tx, audit.UserPassword, a, "", map[string]any{"by_operator": by == nil})
	})
}

// ChangePassword is SetPassword by the user itself, who must say the one that counts now, if there is one. It returns
// a new session made as the one that it is asked by; empty: by none, or by one that a token began, of an account with
// a second factor. Errors: those of SetPassword; 422 when that is wrong; 429 for an attempt too soon after others; 403,
// see refuseFirstPassword.
func (s *Service) ChangePassword(
	ctx context.Context, by *account.Caller, now, next string, from Origin,
) (session string, err error) {
	kept, err := s.keptPassword(ctx, by.Login)
	if err != nil {
		return "", err
	}
	if kept != "" {
		if err := s.isPassword(ctx, by, now, kept, from); err != nil {
			return "", err
		}
	} else if by.ByToken {
		if err := s.refuseFirstPassword(ctx, by); err != nil {
			return "", err
		}
	}
	how := withPassword
	if by.Session {
		var on bool
		err := s.db.Read(ctx, func(tx *db.Tx) error {
			has, err := factor.Of(tx, by.ID)
			if on = has.On(); err == nil && !by.ByToken {
				how, err = madeWith(tx, by.TokenID)
			}
			return err
		})
		if err != nil {
			return "", err
		}
		if by.ByToken && on {
			return "", s.SetPassword(ctx, by.Login, next, by)
		}
	}
	if err := s.SetPassword(ctx, by.Login, next, by); err != nil || !by.Session {
		return "", err
	}
	return s.begin(ctx, by.Login, from, func(tx *db.Tx) (*newSession, error) {
		a, err := account.ByID(tx, by.ID)
		return &newSession{account: a, how: how}, err
	})
}

// refuseFirstPassword returns a 403 for an account with an identity of another server. by is the session of a token: a
// password would outlive the token.
func (s *Service) refuseFirstPassword(ctx context.Context, by *account.Caller) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		linked, err := hasIdentity(tx, by.ID)
		if err == nil && linked {
			err = errs.New(errs.Forbidden, "Sign in with your account of the other server to set a password.")
		}
		return err
	})
}

// isPassword checks the password of who is signed in. Errors: 422, 429, 503.
func (s *Service) isPassword(ctx context.Context, by *account.Caller, password, kept string, from Origin) error {
	ok, err := s.try(ctx, by.Login, password, kept, s.placeOfSession(by, from))
	if err == nil && !ok {
		err = errs.New(errs.Invalid, "That is not your password.")
	}
	return err
}

// placeOfSession is the place of an attempt by who is signed in: strangers do not slow them down.
func (s *Service) placeOfSession(by *account.Caller, from Origin) source {
	at := placeOf(from)
	at.known = fmt.Sprint("session ", by.TokenID)
	return at
}

// HasPassword reports whether a user can sign in with a password.
func (s *Service) HasPassword(ctx context.Context, login string) (bool, error) {
	kept, err := s.keptPassword(ctx, login)
	return kept != "", err
}

// keptPassword reads the stored form of a user's password; empty: no password, or the user does not exist.
func (s *Service) keptPassword(ctx context.Context, login string) (kept string, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (string, error) { return passwordOf(tx, login) })
}
