package app

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Bounds of a JWT.
const (
	maxJWT   = 4096             // bytes
	jwtLife  = 10 * time.Minute // from now until it expires, at most
	jwtDrift = time.Minute      // by which an App's clock may be ahead
)

// NoJWT is GitHub's answer to a request that only a JWT opens, and that has none or a wrong one.
func NoJWT() error { return errs.New(errs.Unauthenticated, "A JSON web token could not be decoded") }

// IsJWT reports credentials that could be a JWT, as opposed to a token of Arbor's.
func IsJWT(authorization string) bool {
	_, ok := bearer(authorization)
	return ok
}

// bearer finds a JWT in the value of an Authorization header.
func bearer(authorization string) (string, bool) {
	scheme, text, _ := strings.Cut(strings.TrimSpace(authorization), " ")
	text = strings.TrimLeft(text, " ")
	return text, strings.EqualFold(scheme, "bearer") && strings.Count(text, ".") == 2
}

// claims are those that GitHub reads, as they were sent.
type claims struct {
	jwt.Claims // the library checks none of them
	Iss        json.RawMessage
	Iat        json.RawMessage
	Exp        json.RawMessage

	issuer          string // an App's id or client id
	issued, expires int64  // Unix seconds
}

// jwtParser accepts RS256 only: a token must not choose its own algorithm.
var jwtParser = jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithStrictDecoding(),
	jwt.WithoutClaimsValidation())

// parseJWT verifies a token with the key that find returns for its claims, which have been read and are not
// proved yet. Keys that the header brings or points to are ignored. Errors: 401; that of find.
func parseJWT(text string, now time.Time, find func(c *claims) (*rsa.PublicKey, error)) error {
	if len(text) > maxJWT {
		return NoJWT()
	}
	var c claims
	var found error // of the claims or of find
	_, err := jwtParser.ParseWithClaims(text, &c, func(t *jwt.Token) (any, error) {
		if t.Header["crit"] != nil { // extensions that must be understood
			return nil, NoJWT()
		}
		if found = c.check(now); found != nil {
			return nil, found
		}
		var key *rsa.PublicKey
		key, found = find(&c)
		return key, found
	})
	if found != nil {
		return found
	}
	if err != nil {
		return NoJWT()
	}
	return nil
}

func errIssued() error {
	return errs.New(errs.Unauthenticated,
		"'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
}

func errExpires() error {
	return errs.New(errs.Unauthenticated,
		"'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
}

// check reads the claims and holds the times against the clock. Errors: 401.
func (c *claims) check(now time.Time) error {
	var ok bool
	if c.issuer, ok = issuer(c.Iss); !ok {
		return errs.New(errs.Unauthenticated,
			"'Issuer' claim ('iss') must be the App's id or its client id")
	}
	if c.issued, ok = seconds(c.Iat); !ok {
		return errIssued()
	}
	if c.expires, ok = seconds(c.Exp); !ok {
		return errExpires()
	}
	issued, expires := time.Unix(c.issued, 0), time.Unix(c.expires, 0)
	switch {
	case issued.After(now.Add(jwtDrift)):
		return errIssued()
	case !expires.After(now):
		return errExpires()
	case expires.After(now.Add(jwtLife + jwtDrift)):
		return errs.New(errs.Unauthenticated, "'Expiration time' claim ('exp') is too far in the future")
	}
	return nil
}

// issuer reads the claim iss: a number, or a text.
func issuer(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] == 'n' {
		return "", false
	}
	if raw[0] == '"' {
		err := json.Unmarshal(raw, &s)
		return s, err == nil && s != "" && len(s) <= 100
	}
	var n int64
	err := json.Unmarshal(raw, &n)
	return fmt.Sprint(n), err == nil
}

// seconds parses a time, dropping a fraction.
func seconds(raw json.RawMessage) (int64, bool) {
	var f float64
	if len(raw) == 0 || raw[0] == 'n' || json.Unmarshal(raw, &f) != nil || math.Abs(f) > 1e12 {
		return 0, false
	}
	return int64(f), true
}

// parseKey reads the public key of an App. Error: 401 if it has none.
func parseKey(der []byte) (*rsa.PublicKey, error) {
	if len(der) == 0 {
		return nil, NoJWT()
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	key, ok := parsed.(*rsa.PublicKey)
	if err != nil || !ok {
		return nil, errors.Join(errors.New("app: a stored key cannot be read"), err)
	}
	return key, nil
}

// AuthenticateJWT finds out which App signed a request. Errors: 401; 403 while the App's owner is suspended.
func (s *Service) AuthenticateJWT(ctx context.Context, r *http.Request) (*account.Caller, error) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return nil, NoJWT()
	}
	text, _ := bearer(values[0])
	var a *App
	err := parseJWT(text, s.clock(), func(c *claims) (_ *rsa.PublicKey, err error) {
		a, err = db.Get(ctx, s.db, func(tx *db.Tx) (*App, error) { return byIssuer(tx, c.issuer) })
		if errs.Is(err, errs.NotFound) {
			err = NoJWT() // as one that another App signed
		}
		if err != nil {
			return nil, err
		}
		return parseKey(a.publicKey)
	})
	if err != nil {
		return nil, err
	}
	if !a.Owner.SuspendedAt.IsZero() {
		return nil, errs.New(errs.Forbidden, "Sorry. Your account was suspended.")
	}
	return &account.Caller{ID: a.BotID, Login: account.BotLogin(a.Slug), SignedApp: a.ID, HidesMembers: true,
		Reach: account.PublicReads, Grant: &account.Grant{Fine: true}}, nil
}
