package forge

import (
	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/hook"
	"arbor/internal/pull/automerge"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// CreateAppHook creates the webhook of a new App.
func (f *Forge) CreateAppHook(tx *db.Tx, a *app.App, h app.Hook) error {
	return hook.CreateForApp(tx, a, h)
}

// AppHook returns the webhook of an App.
func (f *Forge) AppHook(tx *db.Tx, appID account.AppID) (app.Hook, error) {
	return hook.OfApp(tx, appID)
}

// EditAppHook changes the webhook of an App.
func (f *Forge) EditAppHook(tx *db.Tx, a *app.App, c app.HookChange) error {
	return hook.EditForApp(tx, a, c)
}

// ReachedAt stores the address under which an App reaches the server.
func (f *Forge) ReachedAt(tx *db.Tx, appID account.AppID, i *web.Info) error {
	return hook.ReachedAt(tx, appID, i)
}

// TellInstallation sends an App the webhook event of its installation, and has merge queues and auto-merge look at what
// its bot may do now.
func (f *Forge) TellInstallation(tx *db.Tx, i *app.Installation, action string, by account.ID) error {
	if err := automerge.WakeBy(tx, i.App.BotID); err != nil {
		return err
	}
	return hook.TellInstallation(tx, i, action, by)
}

// TellInstallationRepos sends an App the webhook event of repositories added to or removed from its
// installation.
func (f *Forge) TellInstallationRepos(
	tx *db.Tx, i *app.Installation, added, removed []repo.ID, by account.ID,
) error {
	return hook.TellInstallationRepos(tx, i, added, removed, by)
}
