package forge

import (
	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/hook"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// CreateAppHook makes the hook of a new App.
func (f *Forge) CreateAppHook(tx *db.Tx, a *app.App, h app.Hook) error {
	return hook.CreateForApp(tx, a, h)
}

// AppHook is where an App is told of what happens.
func (f *Forge) AppHook(tx *db.Tx, appID account.AppID) (app.Hook, error) {
	return hook.OfApp(tx, appID)
}

// EditAppHook changes the hook of an App.
func (f *Forge) EditAppHook(tx *db.Tx, a *app.App, c app.HookChange) error {
	return hook.EditForApp(tx, a, c)
}

// ReachedAt notes how an App reaches the server.
func (f *Forge) ReachedAt(tx *db.Tx, appID account.AppID, i *web.Info) error {
	return hook.ReachedAt(tx, appID, i)
}

// TellInstallation tells an App of its installation.
func (f *Forge) TellInstallation(tx *db.Tx, i *app.Installation, action string, by account.ID) error {
	return hook.TellInstallation(tx, i, action, by)
}

// TellInstallationRepos tells an App of repositories that its installation reaches now, or does not any more.
func (f *Forge) TellInstallationRepos(
	tx *db.Tx, i *app.Installation, added, removed []repo.ID, by account.ID,
) error {
	return hook.TellInstallationRepos(tx, i, added, removed, by)
}
