package token

import (
	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// oauthPrefix begins the tokens of OAuth Apps, as GitHub's do.
const oauthPrefix = "gho_"

// maxOfGrant is how many tokens with the same scopes an OAuth App has of one user, as at GitHub: the oldest end.
const maxOfGrant = 10

// OAuthError is why a program gets no token yet, or never, in the words of RFC 6749, RFC 8628 and GitHub.
type OAuthError struct {
	Code, Description string
	Pause             int64 // with slow_down: seconds between two questions from now on
}

// Error implements error.
func (e *OAuthError) Error() string { return e.Code + ": " + e.Description }

// Refuse returns an *OAuthError.
func Refuse(code, description string) error {
	return &OAuthError{Code: code, Description: description}
}

// WrongClient is the refusal of a client that is not known, or whose secret is wrong.
func WrongClient() error {
	return Refuse("incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect.")
}

// OAuthApp is an OAuth App as its tokens need it.
type OAuthApp struct {
	ID         account.OAuthAppID
	Name       string
	DeviceFlow bool // it may use the device flow
}

// Allow notes what a user allowed an OAuth App: the scopes are added to those allowed before. The user's row must be
// held. Error: errs.Absent for an App or a grant that is gone.
func Allow(tx *db.Tx, app *OAuthApp, by *account.Account, scopes scope.Set) (account.GrantID, error) {
	id, before, err := GrantOf(tx, app.ID, by.ID)
	switch {
	case err != nil:
		return 0, err
	case id != 0 && before|scopes == before:
		return id, holdGrant(tx, id, before)
	case id != 0:
		err = holdGrant(tx, id, before|scopes)
	default:
		id, err = insertGrant(tx, app.ID, by.ID, scopes)
	}
	if err != nil {
		return 0, err
	}
	return id, account.Record(tx, audit.OAuthCreate, by, audit.Self,
		map[string]any{"application": app.Name, "oauth_app_id": app.ID, "scopes": scopes.String()})
}

// CreateOAuthToken creates the token of an OAuth App and records it. Of those with the same scopes the newest ten
// stay. Error: errs.Absent for a grant that is gone.
func CreateOAuthToken(
	tx *db.Tx, app *OAuthApp, by *account.Account, grant account.GrantID, scopes scope.Set,
) (value string, id int64, err error) {
	value = NewSecret(oauthPrefix)
	if id, err = insertOAuthToken(tx, grant, by.ID, value, app.Name, scopes); err != nil {
		return "", 0, err
	}
	if err := endOldestOf(tx, grant, scopes); err != nil {
		return "", 0, err
	}
	return value, id, account.Record(tx, audit.OAuthAccessCreate, by, audit.Self, map[string]any{"token_id": id,
		"application": app.Name, "oauth_app_id": app.ID, "scopes": scopes.String()})
}

// ResetOAuthToken replaces the value of an OAuth App's token and returns the new one. The old one stops working. Error:
// errs.Absent.
func ResetOAuthToken(tx *db.Tx, id int64) (value string, err error) {
	value = NewSecret(oauthPrefix)
	if err := resetOAuthToken(tx, id, value); err != nil {
		return "", err
	}
	return value, tx.Bump(account.Topic)
}

// EndOAuthToken removes a token of an OAuth App. No session was begun with it: package session takes personal tokens
// alone.
func EndOAuthToken(tx *db.Tx, id int64) error {
	if err := tx.Run(`DELETE FROM tokens WHERE id = $1 AND grant_id IS NOT NULL`, id); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// EndGrant removes what a user allowed an OAuth App, with its tokens and codes. Error:
// errs.Absent.
func EndGrant(tx *db.Tx, id account.GrantID) error {
	return endGrants(tx, `g.id = $1`, id)
}

// EndGrantsTo is EndGrant for all that users allowed an OAuth App, perhaps nothing.
func EndGrantsTo(tx *db.Tx, app account.OAuthAppID) error {
	if err := endGrants(tx, `g.app_id = $1`, app); !errs.Is(err, errs.NotFound) {
		return err
	}
	return nil
}
