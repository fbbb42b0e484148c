package app

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

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

// jwt is a JSON web token as it was sent: who it says it is from, and nothing that was proved yet.
type jwt struct {
	issuer    string // an App's id or client id
	issued    int64  // Unix seconds
	expires   int64
	signed    [sha256.Size]byte // of what the signature is about
	signature []byte
}

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

// parseJWT reads a token that RS256 signs; no other algorithm is looked at, whatever the header names. Keys
// that the header brings or points to are not looked at either. Error: 401.
func parseJWT(text string) (*jwt, error) {
	if len(text) > maxJWT {
		return nil, NoJWT()
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil, NoJWT()
	}
	var header struct {
		Alg  string          `json:"alg"`
		Crit json.RawMessage `json:"crit"`
	}
	var claims struct {
		Issuer  json.RawMessage `json:"iss"`
		Issued  json.RawMessage `json:"iat"`
		Expires json.RawMessage `json:"exp"`
	}
	if decodePart(parts[0], &header) != nil || header.Alg != "RS256" || header.Crit != nil ||
		decodePart(parts[1], &claims) != nil {
		return nil, NoJWT()
	}
	t := &jwt{signed: sha256.Sum256([]byte(parts[0] + "." + parts[1]))}
	var err error
	if t.signature, err = base64.RawURLEncoding.DecodeString(parts[2]); err != nil {
		return nil, NoJWT()
	}
	var ok bool
	if t.issuer, ok = issuer(claims.Issuer); !ok {
		return nil, errs.New(errs.Unauthenticated,
			"'Issuer' claim ('iss') must be the App's id or its client id")
	}
	if t.issued, ok = seconds(claims.Issued); !ok {
		return nil, errIssued()
	}
	if t.expires, ok = seconds(claims.Expires); !ok {
		return nil, errExpires()
	}
	return t, nil
}

func errIssued() error {
	return errs.New(errs.Unauthenticated,
		"'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
}

func errExpires() error {
	return errs.New(errs.Unauthenticated,
		"'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
}

// decodePart reads one of the JSON objects of a JWT.
func decodePart(part string, into any) error {
	b, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return err
	}
	if len(b) == 0 || b[0] != '{' {
		return errors.New("no object")
	}
	return json.Unmarshal(b, into)
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

// seconds reads a time, perhaps with a fraction, which is dropped.
func seconds(raw json.RawMessage) (int64, bool) {
	var f float64
	if len(raw) == 0 || raw[0] == 'n' || json.Unmarshal(raw, &f) != nil || math.Abs(f) > 1e12 {
		return 0, false
	}
	return int64(f), true
}

// checkTimes holds the times of a token against the clock. Errors: 401.
func (t *jwt) checkTimes(now time.Time) error {
	issued, expires := time.Unix(t.issued, 0), time.Unix(t.expires, 0)
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

// verify proves that the token was signed with the private half of a key. Error: 401.
func (t *jwt) verify(publicKey []byte) error {
	if len(publicKey) == 0 { // nobody asked for the key yet
		return NoJWT()
	}
	parsed, err := x509.ParsePKIXPublicKey(publicKey)
	key, ok := parsed.(*rsa.PublicKey)
	if err != nil || !ok {
		return errors.Join(errors.New("app: a stored key cannot be read"), err)
	}
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, t.signed[:], t.signature) != nil {
		return NoJWT()
	}
	return nil
}

// AuthenticateJWT finds out which App signed a request. Errors: 401; 403 while the App's owner is suspended.
func (s *Service) AuthenticateJWT(ctx context.Context, r *http.Request) (*account.Caller, error) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return nil, NoJWT()
	}
	text, _ := bearer(values[0])
	t, err := parseJWT(text)
	if err != nil {
		return nil, err
	}
	if err := t.checkTimes(s.clock()); err != nil {
		return nil, err
	}
	a, err := read(ctx, s.db, func(tx *db.Tx) (*App, error) { return byIssuer(tx, t.issuer) })
	if errs.Is(err, errs.NotFound) {
		return nil, NoJWT() // as one that another App signed
	}
	if err != nil {
		return nil, err
	}
	if err := t.verify(a.publicKey); err != nil {
		return nil, err
	}
	if !a.Owner.SuspendedAt.IsZero() {
		return nil, errs.New(errs.Forbidden, "Sorry. Your account was suspended.")
	}
	return &account.Caller{ID: a.BotID, Login: account.BotLogin(a.Slug), SignedApp: a.ID, HidesMembers: true,
		Reach: account.PublicReads, Grant: &account.Grant{Fine: true}}, nil
}
