package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Client is how an OAuth App proves who it is.
type Client struct{ ID, Secret string }

// Exchange is a request for the token of a code.
type Exchange struct {
	Client
	Code     string
	Redirect string // may be empty
	Verifier string // of PKCE; empty: none
	Address  string // from which it came, for the audit log
}

func wrongCode() error {
	return token.Refuse("bad_verification_code", "The code passed is incorrect or expired.")
}

// authenticate finds the OAuth App of a client, and its secret. Error: errs.Absent for a wrong one.
func authenticate(tx *db.Tx, c Client) (*App, int64, error) {
	app, err := activeApp(tx, c.ID)
	if err != nil {
		return nil, 0, err
	}
	secret, err := secretOf(tx, app.ID, c.Secret)
	if err == nil && secret == 0 {
		err = errs.Absent()
	}
	return app, secret, err
}

// Redeem returns the token of a code, and for a code that was asked for with the scope openid who signed in
// by it. A code that was redeemed before ends the token that it was redeemed for: somebody else has it (RFC
// 6749, 4.1.2). Errors: a *token.OAuthError.
func (s *Service) Redeem(ctx context.Context, x Exchange) (made *token.Issued, who *SignIn, err error) {
	holder, err := db.Get(ctx, s.db, func(tx *db.Tx) (*account.Account, error) {
		app, _, err := authenticate(tx, x.Client)
		if errs.Is(err, errs.NotFound) {
			return nil, token.WrongClient()
		}
		if err != nil {
			return nil, err
		}
		c, err := codeOf(tx, x.Code)
		if errs.Is(err, errs.NotFound) || err == nil && c.app != app.ID {
			return nil, wrongCode()
		}
		if err != nil {
			return nil, err
		}
		return account.ByID(tx, c.account)
	})
	if err != nil {
		return nil, nil, err
	}
	made, err = s.whileHeld(ctx, holder, x, func(tx *db.Tx, x Exchange) (made *token.Issued, refusal, err error) {
		made, who, refusal, err = s.redeem(tx, x)
		return made, refusal, err
	})
	return made, who, err
}

// whileHeld makes a token in a transaction that holds the user's row: codes and tokens of a user are taken one after
// another. A refusal does not undo what was written.
func (s *Service) whileHeld(
	ctx context.Context, holder *account.Account, x Exchange,
	take func(tx *db.Tx, x Exchange) (made *token.Issued, refusal, err error),
) (made *token.Issued, err error) {
	ctx = audit.With(ctx, audit.Actor{ID: int64(holder.ID), Login: holder.Login, Address: x.Address,
		Right: audit.Self})
	var refusal error
	err = s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) (err error) {
		if err := account.HoldID(tx, holder.ID); err != nil {
			return err
		}
		made, refusal, err = take(tx, x)
		return err
	})
	if err == nil {
		err = refusal
	}
	return made, err
}

// redeem is Redeem while the user's row is held. A refusal does not undo what was written.
func (s *Service) redeem(tx *db.Tx, x Exchange) (made *token.Issued, who *SignIn, refusal, err error) {
	app, secret, err := authenticate(tx, x.Client)
	if errs.Is(err, errs.NotFound) {
		return nil, nil, token.WrongClient(), nil
	}
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := codeOf(tx, x.Code)
	if errs.Is(err, errs.NotFound) {
		return nil, nil, wrongCode(), nil
	}
	if err != nil {
		return nil, nil, nil, err
	}
	by, err := account.ByID(tx, c.account)
	if err != nil {
		return nil, nil, nil, err
	}
	if c.app == app.ID && c.token != 0 {
		return nil, nil, wrongCode(), endReused(tx, app, by, c)
	}
	if refusal := s.refuse(c, app, by, x); refusal != nil {
		return nil, nil, refusal, nil
	}
	made, err = token.CreateOAuthToken(tx, app.ofToken(), by, c.grant, c.scopes, false)
	if errs.Is(err, errs.NotFound) { // revoked just now
		return nil, nil, wrongCode(), nil
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if err := redeemed(tx, c, made.ID); err != nil {
		return nil, nil, nil, err
	}
	return made, c.signIn(app, made), nil, noteSecret(tx, secret)
}

// endReused ends the token of a code that came twice.
func endReused(tx *db.Tx, app *App, by *account.Account, c *code) error {
	if err := token.EndOAuthToken(tx, c.token); err != nil {
		return err
	}
	return account.Record(tx, audit.OAuthAccessDestroy, by, audit.Self, map[string]any{"token_id": c.token,
		"application": app.Name, "oauth_app_id": app.ID, "reason": "its code was used twice"})
}

// refuse returns why a code is not redeemed; nil: it is.
func (s *Service) refuse(c *code, app *App, by *account.Account, x Exchange) error {
	_, registered := app.callback(c.redirect)
	switch {
	case c.app != app.ID, db.FromTime(s.clock()) >= c.expires, !by.SuspendedAt.IsZero():
		return wrongCode()
	case !registered, x.Redirect != "" && x.Redirect != c.redirect:
		return token.Refuse("redirect_uri_mismatch",
			"The redirect_uri MUST match the registered callback URL for this application.")
	case c.challenge == "" && x.Verifier != "": // somebody took the challenge away (RFC 9700, 4.8)
		return token.Refuse("bad_verification_code", "The code was asked for without a code_challenge.")
	case c.challenge != "" && !verifies(x.Verifier, c.challenge):
		return token.Refuse("bad_verification_code", "The code_verifier is missing or incorrect.")
	}
	return nil
}

// verifies holds a verifier against a challenge by S256 (RFC 7636, 4.6).
func verifies(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return len(verifier) >= 43 && len(verifier) <= 128 && subtle.ConstantTimeCompare(
		[]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}
