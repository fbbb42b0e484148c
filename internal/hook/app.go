package hook

import (
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Each App has one webhook. It receives events of the repositories of the App's installations, limited to
// the granted events, and always those of the installations themselves. Since the events depend on the
// installation, the webhook's own list has only the requested ones.

// CreateForApp creates the hook of an App. Without an address it is not active.
func CreateForApp(tx *db.Tx, a *app.App, s app.Hook) error {
	h := &Hook{AppID: a.ID, URL: s.URL, Secret: &s.Secret, Active: s.Active && s.URL != "", Events: a.Events,
		Salt: newSalt(), Site: s.Site, Prefix: s.Site, CreatedAt: tx.Now, LastStatus: "unused"}
	return insert(tx, h)
}

// OfApp is the hook of an App, without its secret. Error: 404.
func OfApp(tx *db.Tx, appID account.AppID) (app.Hook, error) {
	found, err := list(tx, ownerKey{app: appID})
	if err == nil && len(found) == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return app.Hook{}, err
	}
	return app.Hook{URL: found[0].URL, Active: found[0].Active, Site: found[0].Site}, nil
}

// EditForApp changes the hook of an App as its owner says.
func EditForApp(tx *db.Tx, a *app.App, s app.HookChange) error {
	found, err := list(tx, ownerKey{app: a.ID})
	if err != nil || len(found) == 0 {
		return err
	}
	h := found[0]
	c := Edit{URL: s.URL, Active: s.Active, Events: web.Opt[[]string]{Set: true, Value: a.Events}}
	if s.Secret != "" {
		c.Secret = web.Opt[string]{Set: true, Value: s.Secret}
	}
	return c.write(tx, h, &web.Info{Site: h.Site, Prefix: h.Prefix}, entryOf(a.Owner))
}

// ReachedAt records the base address under which an App reaches the server, for addresses in its payloads.
func ReachedAt(tx *db.Tx, appID account.AppID, i *web.Info) error {
	return tx.Run(`UPDATE hooks SET site = $2, prefix = $3 WHERE app_id = $1 AND (site <> $2 OR prefix <> $3)`,
		appID, i.Site, i.Prefix)
}

// reposPart is a repository in an installation payload.
type reposPart struct {
	ID       repo.ID `json:"id"`
	NodeID   string  `json:"node_id"`
	Name     string  `json:"name"`
	FullName string  `json:"full_name"`
	Private  bool    `json:"private"`
}

// maxToldRepos is the maximum number of repositories in one payload; the App lists the rest itself.
const maxToldRepos = 500

// partsOf reads repositories for an installation payload; without ids some of those that the installation
// reaches.
func partsOf(tx *db.Tx, i *app.Installation, ids []repo.ID) ([]reposPart, error) {
	list := []reposPart{}
	rows, err := app.QueryRepos(tx, i, ids, maxToldRepos)
	for _, r := range rows {
		list = append(list, reposPart{r.ID, account.NodeID("Repository", r.ID), r.Name,
			r.FullName, r.Private})
	}
	return list, err
}

// TellInstallation sends an App an event of its installation. The whole payload is rendered now, since the
// installation may be deleted in this transaction.
func TellInstallation(tx *db.Tx, i *app.Installation, action string, by account.ID) error {
	list := []reposPart{}
	if action == "deleted" {
		if err := ForgetInstallation(tx, i.App.ID, i.ID); err != nil {
			return err
		}
	}
	if i.SuspendedAt.IsZero() || action == "suspend" { // else it would get events from the time of the suspension
		var err error
		if list, err = partsOf(tx, i, nil); err != nil {
			return err
		}
	}
	return tellApp(tx, i, Event{Name: "installation", Action: action, Actor: by},
		map[string]any{"repositories": list, "requester": nil})
}

// TellInstallationRepos sends an App the repositories that its installation gained or lost.
// A suspended installation gets no events; the App lists its repositories afterwards.
func TellInstallationRepos(tx *db.Tx, i *app.Installation, added, removed []repo.ID, by account.ID) error {
	if !i.SuspendedAt.IsZero() {
		return nil
	}
	action := "added"
	if len(removed) > 0 {
		action = "removed"
	}
	parts := map[string]any{"requester": nil, "repository_selection": i.Selection(),
		"repositories_added": []reposPart{}, "repositories_removed": []reposPart{}}
	for name, ids := range map[string][]repo.ID{"repositories_added": added,
		"repositories_removed": removed} {
		if len(ids) == 0 {
			continue
		}
		list, err := partsOf(tx, i, ids)
		if err != nil {
			return err
		}
		parts[name] = list
	}
	return tellApp(tx, i, Event{Name: "installation_repositories", Action: action, Actor: by}, parts)
}

// tellApp records an event of an installation for the webhook of its App, with parts rendered now.
func tellApp(tx *db.Tx, i *app.Installation, e Event, parts map[string]any) error {
	info, err := listeningApp(tx, i.App.ID)
	if err != nil || info == nil {
		return err
	}
	p := app.InstallationJSON(i, info)
	p.NodeID = app.NodeID(i.ID)
	parts["installation"] = p
	if e.Actor == 0 { // the operator: GitHub has a sender always
		parts["sender"] = account.NewSimple(i.Account, info)
	}
	e.About.Parts = map[string]json.RawMessage{}
	for name, v := range parts {
		if e.About.Parts[name], err = web.Marshal(v); err != nil {
			return err
		}
	}
	return recordForApp(tx, i.App.ID, i.ID, i.Account.ID, e)
}

// TellRevoked sends an App the event that a user no longer allows it anything. It always receives that.
func TellRevoked(tx *db.Tx, appID account.AppID, by account.ID) error {
	return recordForApp(tx, appID, 0, by, Event{Name: "github_app_authorization", Action: "revoked", Actor: by})
}

// stillReached reports whether the installation that a delivery was for reaches its repository.
func stillReached(tx *db.Tx, d *Delivery) (bool, error) {
	r, err := repo.AccessForHooks(tx, d.RepoID)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return app.Reaches(tx, d.Installation, r.Repo)
}
