package oauth

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
)

// A GitHub App signs users in by its client id, like an OAuth App: it has a row of oauth_apps from when it is made, or
// if an older version made it, from when its owner first changes how it signs users in.

// GitHubApp is a GitHub App as it is made or changed.
type GitHubApp struct {
	ID       account.AppID
	Owner    *account.Account
	ClientID string
	About    // what signs users in: callbacks, and how tokens are given out
}

// CheckGitHubApp returns an error for what cannot be said of how a GitHub App signs users in. Errors: 422.
func CheckGitHubApp(about About) error { return checkCallbacks(about.Callbacks) }

// Keep stores how a GitHub App signs users in, with its name as it is now, and returns that.
func (g GitHubApp) Keep(tx *db.Tx) (*App, error) {
	a, err := g.find(tx)
	if err != nil {
		return nil, err
	}
	before := a.About
	a.About = g.About
	if a.ID == 0 {
		return a, insertApp(tx, a)
	}
	if err := updateApp(tx, a); err != nil || slices.Equal(before.Callbacks, a.Callbacks) &&
		before.Keeps == a.Keeps && before.OnInstall == a.OnInstall && before.DeviceFlow == a.DeviceFlow {
		return a, err
	}
	return a, a.record(tx, audit.OAuthAppUpdate, map[string]any{"callback_urls": a.Callbacks,
		"expires": !a.Keeps, "on_install": a.OnInstall, "device_flow": a.DeviceFlow})
}

// SignIn finds how a GitHub App signs users in, to be changed; it is stored if nothing was.
func (g GitHubApp) SignIn(tx *db.Tx) (*App, error) {
	a, err := g.find(tx)
	if err == nil && a.ID == 0 {
		err = insertApp(tx, a)
	}
	return a, err
}

// Owned reads how a GitHub App signs users in, as its owner sees it.
func (g GitHubApp) Owned(tx *db.Tx) (*Owned, error) {
	a, err := g.find(tx)
	if err != nil || a.ID == 0 {
		return &Owned{App: a}, err
	}
	return owned(tx, a)
}

// find finds how a GitHub App signs users in; the id is 0 if nothing is stored.
func (g GitHubApp) find(tx *db.Tx) (*App, error) {
	list, err := appsWhere(tx, `WHERE p.github_app_id = $1`, g.ID)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		return list[0], nil
	}
	return &App{Owner: g.Owner, ClientID: g.ClientID, GitHubApp: g.ID, About: About{Name: g.Name,
		Description: g.Description, Homepage: g.Homepage}}, nil
}

// OnInstall authorizes a GitHub App for a caller who has just installed it, if the App wants that, and returns the
// address to which that leads; empty: nowhere. seen is as for Authorize. Errors: as those of Authorize.
func (s *Service) OnInstall(
	ctx context.Context, caller *account.Caller, client, seen string, installation account.InstallationID,
) (address string, err error) {
	q, err := s.forInstall(ctx, client)
	if err != nil || q == nil {
		return "", err
	}
	if address, err = s.Authorize(ctx, caller, q, seen); err != nil {
		return "", err
	}
	return withQuery(address, map[string][]string{"installation_id": {installation.String()},
		"setup_action": {"install"}}), nil
}

// LeadsOnInstall is the scheme and host to which OnInstall leads; empty: nowhere.
func (s *Service) LeadsOnInstall(ctx context.Context, client string) (string, error) {
	q, err := s.forInstall(ctx, client)
	if err != nil || q == nil {
		return "", err
	}
	return q.Site(), nil
}

// forInstall is what a GitHub App asks of whoever installs it; nil: nothing.
func (s *Service) forInstall(ctx context.Context, client string) (*Request, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Request, error) {
		list, err := appsWhere(tx, `WHERE p.client_id = $1 AND p.on_install = TRUE`, client)
		if err != nil || len(list) == 0 || len(list[0].Callbacks) == 0 {
			return nil, err
		}
		return &Request{App: list[0], Redirect: list[0].Callbacks[0], scoped: true}, nil
	})
}
