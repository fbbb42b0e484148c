package token

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Users' own tokens in a browser. Tokens of other users are not found.

// maxOwnTokens is the number of valid tokens with which a user may create another one.
const maxOwnTokens = 200

// OwnTokens lists the caller's tokens that were not revoked, the newest first; also those that expired, with
// the ids of the repositories that fine-grained ones were made for: which of them still have a name for the
// caller, package repo knows. Error: 403 for a token that is limited.
func (s *Service) OwnTokens(ctx context.Context, caller *account.Caller) (list []Token, err error) {
	if err := whole(caller); err != nil {
		return nil, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if list, err = ownTokens(tx, caller.ID); err != nil {
			return err
		}
		return choseRepos(tx, caller.ID, list)
	})
	return list, err
}

// CreateOwnToken creates a token for the caller, shown only now. Errors: 403 for a caller who did not sign in
// with a password; 422 as of CreateToken, and for one too many.
func (s *Service) CreateOwnToken(ctx context.Context, caller *account.Caller, n NewToken) (token string, err error) {
	if err := mayMakeTokens(caller); err != nil {
		return "", err
	}
	n.Login, n.Value = caller.Login, ""
	if err := n.check(); err != nil {
		return "", err
	}
	token = NewSecret(Prefix)
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if err := account.HoldID(tx, caller.ID); err != nil {
			return err
		}
		a, err := account.ByID(tx, caller.ID)
		if err != nil {
			return err
		}
		if there, err := countTokens(tx, a.ID); err != nil {
			return err
		} else if there >= maxOwnTokens {
			return errs.Newf(errs.Invalid, "You have %d tokens: revoke some first.", there)
		}
		var expires db.Time
		if n.Expires > 0 {
			expires = tx.Now + db.Time(n.Expires.Microseconds())
		}
		id, err := insertToken(tx, a.ID, Digest(token), hintOf(token), &n, expires)
		if err != nil {
			return err
		}
		return account.Record(tx, audit.TokenCreate, a, audit.Self, n.told(id, expires))
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// RevokeOwnToken ends one of the caller's tokens. Errors: 403 for a token that is limited, 404.
func (s *Service) RevokeOwnToken(ctx context.Context, caller *account.Caller, id int64) error {
	if err := whole(caller); err != nil {
		return err
	}
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if err := tx.Check(); err != nil { // now, because it may be the request's own token
			return err
		}
		if err := revokeOf(tx, caller.ID, id); err != nil {
			return err
		}
		a, err := account.ByID(tx, caller.ID)
		if err != nil {
			return err
		}
		return account.Record(tx, audit.TokenDestroy, a, audit.Self, map[string]any{"token_id": id})
	})
}

// mayMakeTokens returns an error unless the caller signed in with a password: a token, or a session started
// with one, cannot create tokens, so that no token can outlive itself.
func mayMakeTokens(c *account.Caller) error {
	if c == nil || !c.Session || c.ByToken {
		return errs.New(errs.Forbidden, "Sign in with your password for that: a token makes no other token.")
	}
	return whole(c)
}

// MayAllow returns an error unless the caller may give tokens to programs: as mayMakeTokens.
func MayAllow(c *account.Caller) error { return mayMakeTokens(c) }

// whole refuses a caller whose token limits what the account may do.
func whole(c *account.Caller) error {
	if c.App != 0 || c.KeyID != 0 || c.Grant.Limited() {
		return errs.New(errs.Forbidden, "Your token has not been granted the required scopes.")
	}
	return nil
}
