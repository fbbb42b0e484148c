package token

import (
	"time"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// These begin the tokens of OAuth Apps, those by which a GitHub App acts for a user, and the ones that refresh
// these, as GitHub's do.
const (
	oauthPrefix   = "gho_"
	userPrefix    = "ghu_"
	refreshPrefix = "ghr_"
)

// How long a GitHub App's tokens of users live, unless the App keeps them.
const (
	userTokenLife = 8 * time.Hour
	refreshLife   = 184 * 24 * time.Hour
)

// maxUsed is how many used refresh tokens of a chain are known: about a month's.
const maxUsed = 100

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

// Unseen is the error for a person who allowed a GitHub App what a page listed, while the App asks for something else
// now.
func Unseen() error {
	return errs.New(errs.Conflict, "The App changed the permissions that it asks for, so nothing was allowed. "+
		"Review what it asks for now.")
}

// OAuthApp is an OAuth App, or a GitHub App that signs users in, as its tokens need it.
type OAuthApp struct {
	ID         account.OAuthAppID
	Name       string
	Owner      string // login; read where the App is found by its client id
	DeviceFlow bool   // it may use the device flow

	GitHubApp   account.AppID     // 0: it is an OAuth App
	Keeps       bool              // of a GitHub App: its tokens do not expire
	Permissions scope.Permissions // of a GitHub App: all that it asks for
}

// Granted is what a user allowed an App. It has scopes if it is an OAuth App, else permissions.
type Granted struct {
	ID          account.GrantID // 0: nothing
	Scopes      scope.Set
	Permissions scope.Permissions // on the user's own account
}

// Covers reports whether an App may have scopes, or as a GitHub App what it asks for now, without being allowed more.
func (g *Granted) Covers(app *OAuthApp, scopes scope.Set) bool {
	if app.GitHubApp != 0 {
		return g.ID != 0 && g.Permissions.Covers(app.Permissions.OnAccount())
	}
	return g.ID != 0 && g.Scopes|scopes == g.Scopes
}

// Allow records what a user allowed an App. Scopes are added to those allowed before. A GitHub App has no scopes:
// it gets the permissions on the user's account that it asks for now, so the caller must have shown these to the
// user, or must bound them. The caller must have locked the user's row. Error: errs.Absent if the App or the grant
// is gone.
func Allow(tx *db.Tx, app *OAuthApp, by *account.Account, scopes scope.Set) (account.GrantID, error) {
	g, err := GrantOf(tx, app.ID, by.ID)
	if err != nil {
		return 0, err
	}
	covered := g.Covers(app, scopes)
	if g.Scopes |= scopes; app.GitHubApp != 0 {
		g.Scopes = 0
	}
	g.Permissions = app.Permissions.OnAccount()
	if g.ID == 0 {
		err = insertGrant(tx, app.ID, by.ID, g)
	} else {
		err = holdGrant(tx, g)
	}
	if err != nil || covered {
		return g.ID, err
	}
	told := app.told()
	if told["scopes"] = scopes.String(); app.GitHubApp != 0 {
		delete(told, "scopes")
		told["permissions"] = g.Permissions
	}
	if err := account.Record(tx, audit.OAuthCreate, by, audit.Self, told); err != nil {
		return 0, err
	}
	return g.ID, tx.Bump(account.Topic)
}

// told is what the audit log tells of an App.
func (a *OAuthApp) told() map[string]any {
	told := map[string]any{"application": a.Name, "oauth_app_id": a.ID}
	if a.GitHubApp != 0 {
		told["app_id"] = a.GitHubApp
	}
	return told
}

// Issued is a new token of an App, with the one that refreshes it.
type Issued struct {
	ID             int64
	Value          string
	Lives          time.Duration // 0: until it ends
	Refresh        string        // empty: none
	RefreshExpires time.Duration
	Scopes         scope.Set
}

// newIssued returns the values of a token for an App.
func newIssued(app *OAuthApp, scopes scope.Set) *Issued {
	made := &Issued{Value: NewSecret(oauthPrefix), Scopes: scopes}
	if app.GitHubApp == 0 {
		return made
	}
	made.Value, made.Scopes = NewSecret(userPrefix), 0
	if !app.Keeps {
		made.Lives, made.Refresh, made.RefreshExpires = userTokenLife, NewSecret(refreshPrefix), refreshLife
	}
	return made
}

// Expiry is when the token ends; 0: never.
func (m *Issued) Expiry(now db.Time) db.Time {
	if m.Lives == 0 {
		return 0
	}
	return now + db.Time(m.Lives.Microseconds())
}

// CreateOAuthToken creates the token of an App and records it. Of those with the same scopes the newest ten stay.
// byDevice says that it is one of the device flow. Error: errs.Absent for a grant that is gone.
func CreateOAuthToken(
	tx *db.Tx, app *OAuthApp, by *account.Account, grant account.GrantID, scopes scope.Set, byDevice bool,
) (*Issued, error) {
	made := newIssued(app, scopes)
	var err error
	if made.ID, err = insertOAuthToken(tx, grant, by.ID, app, made); err != nil {
		return nil, err
	}
	if err := endOldestOf(tx, grant, made.Scopes); err != nil {
		return nil, err
	}
	if err := insertRefresh(tx, made, byDevice); err != nil {
		return nil, err
	}
	told := app.told()
	told["token_id"], told["scopes"] = made.ID, made.Scopes.String()
	return made, account.Record(tx, audit.OAuthAccessCreate, by, audit.Self, told)
}

// ResetOAuthToken replaces the value of an App's token and returns the new one. The old one stops working; what
// refreshes it stays. Error: errs.Absent.
func ResetOAuthToken(tx *db.Tx, app *OAuthApp, id int64) (*Issued, error) {
	made := newIssued(app, 0)
	made.ID = id
	if err := resetOAuthToken(tx, made); err != nil {
		return nil, err
	}
	return made, tx.Bump(account.Topic)
}

// RefreshOAuthToken replaces a token and the one that refreshes it, r, by a new pair: the old pair ends. Error:
// errs.Absent.
func RefreshOAuthToken(tx *db.Tx, app *OAuthApp, r *Refresh, by *account.Account) (*Issued, error) {
	if err := useRefresh(tx, r); err != nil {
		return nil, err
	}
	made, err := ResetOAuthToken(tx, app, r.TokenID)
	if err != nil {
		return nil, err
	}
	if err := insertRefresh(tx, made, r.ByDevice); err != nil {
		return nil, err
	}
	told := app.told()
	told["token_id"], told["by"] = made.ID, "its refresh token"
	return made, account.Record(tx, audit.OAuthAccessReset, by, audit.Self, told)
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
