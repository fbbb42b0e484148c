package app

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/oauth"
)

// signIn is how the App signs users in, with what was said of that.
func (a *App) signIn(about oauth.About) oauth.GitHubApp {
	about.Name, about.Homepage, about.Description = a.Name, a.ExternalURL, ""
	if a.Description != nil {
		about.Description = *a.Description
	}
	return oauth.GitHubApp{ID: a.ID, Owner: a.Owner, ClientID: a.ClientID, About: about}
}

// SignIn returns how an App that the caller administers signs users in. Error: 404.
func (s *Service) SignIn(ctx context.Context, caller *account.Caller, slug string) (*oauth.Owned, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*oauth.Owned, error) {
		a, err := OwnedBy(tx, caller, slug)
		if err != nil {
			return nil, err
		}
		return a.signIn(oauth.About{}).Owned(tx)
	})
}

// NewClientSecret creates a client secret of an App and returns it: nobody sees it again. Others stay. Errors: 404, 422
// for one too many.
func (s *Service) NewClientSecret(
	ctx context.Context, caller *account.Caller, slug string,
) (value string, err error) {
	err = s.changeOwned(ctx, caller, slug, func(tx *db.Tx, a *App) error {
		value, err = a.newClientSecret(tx)
		return err
	})
	return value, err
}

func (a *App) newClientSecret(tx *db.Tx) (string, error) {
	if err := account.HoldID(tx, a.Owner.ID); err != nil { // secrets are counted
		return "", err
	}
	of, err := a.signIn(oauth.About{}).SignIn(tx)
	if err != nil {
		return "", err
	}
	return of.AddSecret(tx)
}

// DropClientSecret removes a client secret of an App. Error: 404.
func (s *Service) DropClientSecret(ctx context.Context, caller *account.Caller, slug string, id int64) error {
	return s.changeSignIn(ctx, caller, slug, func(tx *db.Tx, of *oauth.App) error { return of.DropSecret(tx, id) })
}

// EndUsers ends all that users allowed an App, with its tokens for them. Error: 404.
func (s *Service) EndUsers(ctx context.Context, caller *account.Caller, slug string) error {
	return s.changeSignIn(ctx, caller, slug, func(tx *db.Tx, of *oauth.App) error { return of.EndAll(tx) })
}

func (s *Service) changeSignIn(
	ctx context.Context, caller *account.Caller, slug string, fn func(tx *db.Tx, of *oauth.App) error,
) error {
	return s.changeOwned(ctx, caller, slug, func(tx *db.Tx, a *App) error {
		of, err := a.signIn(oauth.About{}).SignIn(tx)
		if err != nil {
			return err
		}
		return fn(tx, of)
	})
}

// ClientSecret is NewClientSecret for the operator. Errors: 404, 422.
func (s *Service) ClientSecret(ctx context.Context, slug string) (value string, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		a, err := named(tx, slug)
		if err != nil {
			return err
		}
		value, err = a.newClientSecret(tx)
		return err
	})
	return value, err
}
