package openid

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// ID tokens are signed by RS256, which each client has to understand (OpenID Connect Core 1.0, 15.1).
const (
	algorithm = jose.RS256
	keyBits   = 2048
)

const (
	keyAge = 90 * 24 * time.Hour // after which another key takes its place
	// how long a retired key is published: the last token that it signed, and clocks that differ
	keyStay = idTokenLife + 10*time.Minute
	keyLock = "openid key"
)

// key is a key that signs, or signed, ID tokens.
type key struct {
	id      string
	private []byte // PKCS #8
	created db.Time
}

// newKey makes a key.
func newKey() (*key, error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, err
	}
	public := jose.JSONWebKey{Key: private.Public()}
	sum, err := public.Thumbprint(crypto.SHA256) // RFC 7638
	if err != nil {
		return nil, err
	}
	k := &key{id: base64.RawURLEncoding.EncodeToString(sum)}
	k.private, err = x509.MarshalPKCS8PrivateKey(private)
	return k, err
}

// parsed is the key as it is stored.
func (k *key) parsed() (*rsa.PrivateKey, error) {
	found, err := x509.ParsePKCS8PrivateKey(k.private)
	if err != nil {
		return nil, fmt.Errorf("key %s of ID tokens: %w", k.id, err)
	}
	private, is := found.(*rsa.PrivateKey)
	if !is {
		return nil, fmt.Errorf("key %s of ID tokens is not of RSA", k.id)
	}
	return private, nil
}

// public is the key as clients get it.
func (k *key) public() (jose.JSONWebKey, error) {
	private, err := k.parsed()
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	return jose.JSONWebKey{Key: private.Public(), KeyID: k.id, Algorithm: string(algorithm), Use: "sig"}, nil
}

// signer returns the key that signs. It is made if there is none, or if it is old.
func (s *Service) signer(ctx context.Context) (*key, error) {
	k, err := s.current(ctx)
	if err != nil || k != nil {
		return k, err
	}
	s.making.Lock()
	defer s.making.Unlock()
	if k, err = s.current(ctx); err != nil || k != nil { // another request was faster
		return k, err
	}
	return s.make(ctx)
}

// current returns the key that signs; nil: one has to be made.
func (s *Service) current(ctx context.Context) (*key, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*key, error) {
		k, err := signingKey(tx)
		if errs.Is(err, errs.NotFound) || err == nil && !k.fits(tx.Now) {
			k, err = nil, nil
		}
		return k, err
	})
}

// fits reports whether the key is young enough to sign.
func (k *key) fits(now db.Time) bool { return now-k.created < db.Time(keyAge.Microseconds()) }

// make makes the key that signs, unless another node was faster, and returns that.
func (s *Service) make(ctx context.Context) (k *key, err error) {
	made, err := newKey() // not within the transaction: it takes a while
	if err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if err := tx.Lock(keyLock); err != nil {
			return err
		}
		now, err := signingKey(tx)
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
		if err == nil && now.fits(tx.Now) {
			k = now
			return nil
		}
		k = made
		return putKey(tx, made, tx.Now-db.Time(keyStay.Microseconds()))
	})
	return k, err
}

// Rotate makes another key for ID tokens and returns its id. The former ones are published until the tokens
// that they signed have ended; with drop they are removed at once, and these tokens do not verify any more.
func (s *Service) Rotate(ctx context.Context, drop bool) (id string, err error) {
	made, err := newKey()
	if err != nil {
		return "", err
	}
	return made.id, s.db.WriteAs(ctx, nil, func(tx *db.Tx) error {
		if err := tx.Lock(keyLock); err != nil {
			return err
		}
		before := tx.Now - db.Time(keyStay.Microseconds())
		if drop {
			before = tx.Now + 1
		}
		if err := putKey(tx, made, before); err != nil {
			return err
		}
		return audit.Record(tx, audit.Entry{Action: audit.OpenIDKeyRotate,
			Changes: map[string]any{"key_id": made.id, "former_keys_removed": drop}})
	})
}

// State is what arbor doctor tells of the provider.
type State struct {
	Apps   int64   // registered OAuth Apps
	Signed db.Time // since when the key signs; 0: nobody has asked for an ID token
	Broken bool    // the key cannot be read
}

// StateIn reads the state.
func StateIn(tx *db.Tx) (s State, err error) {
	if s.Apps, err = countApps(tx); err != nil {
		return s, err
	}
	k, err := signingKey(tx)
	if errs.Is(err, errs.NotFound) {
		return s, nil
	}
	if err == nil {
		_, broken := k.parsed()
		s.Signed, s.Broken = k.created, broken != nil
	}
	return s, err
}
