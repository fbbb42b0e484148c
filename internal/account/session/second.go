package session

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// SecondStep is the error of a sign-in whose password is right, and that waits for a second factor.
type SecondStep struct {
	Pending string // for [Service.SignInSecond]
	Has     factor.State
}

// Error implements error.
func (*SecondStep) Error() string { return "a second factor is needed" }

// pendingAge is how long a sign-in waits for its second factor.
const pendingAge = 10 * time.Minute

// Pending sign-ins are kept by the browser: the account's id, when it ends, the way of the sign-in, and a MAC of these.
// Its key is the stored password hash, as that of [BrowserCookie], or the secret of the identity at a directory: another
// password, or unlinking, ends them.
const (
	pendingHead = 8 + 8
	pendingMost = pendingHead + 100 + sha256.Size
)

func pendingMAC(key string, signed []byte) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("arbor second step\x00"))
	mac.Write(signed)
	return mac.Sum(nil)
}

// secondStep returns a *SecondStep if an account whose password was right has a second factor. key signs what waits.
func (s *Service) secondStep(tx *db.Tx, a *account.Account, way, key string) error {
	has, err := factor.Of(tx, a.ID)
	if err != nil || !has.On() {
		return err
	}
	if !a.SuspendedAt.IsZero() {
		return account.Suspended()
	}
	value := binary.BigEndian.AppendUint64(nil, uint64(a.ID))
	value = binary.BigEndian.AppendUint64(value, uint64(s.now()+db.Time(pendingAge.Microseconds())))
	value = append(value, way...)
	value = append(value, pendingMAC(key, value)...)
	return &SecondStep{base64.RawURLEncoding.EncodeToString(value), has}
}

// waiting is a sign-in that waits for its second factor.
type waiting struct {
	of    account.ID
	login string
	way   string
}

// readPending reads a sign-in that waits. Error: 422.
func (s *Service) readPending(tx *db.Tx, pending string) (w waiting, err error) {
	ended := errs.New(errs.Invalid, "Signing in took too long. Start over with your password.")
	value, err := base64.RawURLEncoding.DecodeString(pending)
	if err != nil || len(value) <= pendingHead+sha256.Size || len(value) > pendingMost {
		return w, ended
	}
	signed, mac := value[:len(value)-sha256.Size], value[len(value)-sha256.Size:]
	w.of, w.way = account.ID(binary.BigEndian.Uint64(signed)), string(signed[pendingHead:])
	key := ""
	w.login, key, err = loginAndPassword(tx, w.of)
	if source, is := strings.CutPrefix(w.way, WithDirectory); is && err == nil {
		key, err = secretAt(tx, w.of, source)
	}
	switch {
	case errs.Is(err, errs.NotFound):
		return w, ended
	case err != nil:
		return w, err
	case key == "" || !hmac.Equal(mac, pendingMAC(key, signed)) || s.now() >= db.Time(binary.BigEndian.Uint64(signed[8:])):
		return w, ended
	}
	return w, nil
}

// Waiting returns the login of a sign-in that waits for a second factor, and which factors the account has. Error: 422.
func (s *Service) Waiting(ctx context.Context, pending string) (login string, has factor.State, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		w, err := s.readPending(tx, pending)
		if login = w.login; err == nil {
			has, err = factor.Of(tx, w.of)
		}
		return err
	})
	return login, has, err
}

// SignInSecond starts the session that waits for a second factor, and returns the cookie's value and the login.
// Errors: 422 for a proof that does not count, or a sign-in that has ended; 429 for an attempt too soon after others.
func (s *Service) SignInSecond(
	ctx context.Context, pending string, p factor.Proof, from Origin,
) (value, login string, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		w, err := s.readPending(tx, pending)
		login = w.login
		return err
	})
	if err != nil {
		return "", "", err
	}
	_, at, err := s.knock(ctx, login, from)
	if err != nil {
		return "", "", err
	}
	if err := s.codes.take(login, at, s.now()); err != nil {
		return "", "", err
	}
	value, err = s.begin(ctx, login, from, func(tx *db.Tx) (*newSession, error) {
		w, err := s.readPending(tx, pending)
		if err != nil {
			return nil, err
		}
		if err := account.HoldID(tx, w.of); err != nil { // its password and factors stay as they are
			return nil, err
		}
		if _, err = s.readPending(tx, pending); err != nil {
			return nil, err
		}
		a, err := account.ByID(tx, w.of)
		if err != nil {
			return nil, err
		}
		way, err := factor.Use(tx, w.of, p, true)
		return &newSession{account: a, how: w.way + "+" + way}, err
	})
	if err == nil {
		s.codes.forget(login, at)
	}
	return value, login, err
}

// SignInWithPasskey starts a session with a passkey as the only factor. Errors: 422; 403 for a suspended account.
func (s *Service) SignInWithPasskey(ctx context.Context, p factor.Proof, from Origin) (value, login string, err error) {
	var of account.ID
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if of, err = factor.Owner(tx, p); err == nil {
			login, _, err = loginAndPassword(tx, of)
		}
		return err
	})
	if err != nil {
		return "", "", err
	}
	value, err = s.begin(ctx, login, from, func(tx *db.Tx) (*newSession, error) {
		a, err := account.ByID(tx, of)
		if err == nil {
			err = factor.UseAlone(tx, of, p)
		}
		return &newSession{account: a, how: withPasskey}, err
	})
	return value, login, err
}

// AskForPasskey returns the options with which a browser asks for a passkey: of the caller; else of the account of a
// sign-in that waits; else of anybody. Errors: 422, 503.
func (s *Service) AskForPasskey(
	ctx context.Context, by *account.Caller, pending, site string, from Origin,
) (options any, err error) {
	network := admission.NetworkOf(from.Address).String()
	err = s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		of := account.IDOf(by)
		if by == nil && pending == "" {
			options, err = factor.AskToSignIn(tx, site, network)
			return err
		}
		if by == nil {
			w, err := s.readPending(tx, pending)
			if err != nil {
				return err
			}
			of = w.of
		}
		a, err := account.ByID(tx, of)
		if err == nil {
			options, err = factor.AskForPasskey(tx, a, site, network)
		}
		return err
	})
	return options, err
}
