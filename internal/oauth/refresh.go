package oauth

import (
	"context"
	"errors"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/errs"
)

func wrongRefresh() error {
	return token.Refuse("bad_refresh_token", "The refresh token passed is incorrect or expired.")
}

// Refresh returns the next pair of tokens for a refresh token, x.Code: the old pair ends. A refresh token that was used
// before ends all that the user allowed the App: one of the two that brought it stole it (RFC 9700, 4.14). Errors: a
// *token.OAuthError.
func (s *Service) Refresh(ctx context.Context, x Exchange) (made *token.Issued, err error) {
	holder, err := db.Get(ctx, s.db, func(tx *db.Tx) (*account.Account, error) {
		_, _, r, err := s.refreshed(tx, x)
		if err != nil {
			return nil, err
		}
		return account.ByID(tx, r.Account)
	})
	if err != nil {
		return nil, err
	}
	return s.whileHeld(ctx, holder, x, s.refresh)
}

// refresh is Refresh while the user's row is held. A refusal does not undo what was written.
func (s *Service) refresh(tx *db.Tx, x Exchange) (made *token.Issued, refusal, err error) {
	app, secret, r, err := s.refreshed(tx, x)
	if _, is := errors.AsType[*token.OAuthError](err); is {
		return nil, err, nil
	}
	if err != nil {
		return nil, nil, err
	}
	by, err := account.ByID(tx, r.Account)
	switch {
	case err != nil:
		return nil, nil, err
	case r.Used:
		told := map[string]any{"application": app.Name, "oauth_app_id": app.ID, "app_id": app.GitHubApp,
			"reason": "a refresh token was used twice"}
		return nil, wrongRefresh(), s.endGrant(tx, r.Grant, by, told)
	case db.FromTime(s.clock()) >= r.Expires, !by.SuspendedAt.IsZero():
		return nil, wrongRefresh(), nil
	}
	if made, err = token.RefreshOAuthToken(tx, app.ofToken(), r, by); err != nil {
		return nil, nil, err
	}
	return made, nil, noteSecret(tx, secret)
}

// refreshed finds the App of a client, its secret, which a token of the device flow does not need, and the refresh token
// that it brings. Errors: a *token.OAuthError.
func (s *Service) refreshed(tx *db.Tx, x Exchange) (app *App, secret int64, r *token.Refresh, err error) {
	app, err = activeApp(tx, x.ID)
	if errs.Is(err, errs.NotFound) {
		return nil, 0, nil, token.WrongClient()
	}
	if err != nil {
		return nil, 0, nil, err
	}
	r, err = token.RefreshOf(tx, x.Code)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return nil, 0, nil, err
	}
	found := err == nil && r.App == app.ID
	if secret, err = secretOf(tx, app.ID, x.Secret); err != nil {
		return nil, 0, nil, err
	}
	switch {
	case secret == 0 && !(found && r.ByDevice && x.Secret == ""):
		return nil, 0, nil, token.WrongClient()
	case !found:
		return nil, 0, nil, wrongRefresh()
	}
	return app, secret, r, nil
}
