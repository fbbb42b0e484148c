package app

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Payload is GitHub's integration.
type Payload struct {
	ID            account.AppID     `json:"id"`
	Slug          string            `json:"slug"`
	NodeID        string            `json:"node_id"`
	ClientID      string            `json:"client_id"`
	Owner         *account.Simple   `json:"owner"`
	Name          string            `json:"name"`
	Description   *string           `json:"description"`
	ExternalURL   string            `json:"external_url"`
	HTMLURL       string            `json:"html_url"`
	CreatedAt     db.Time           `json:"created_at"`
	UpdatedAt     db.Time           `json:"updated_at"`
	Permissions   scope.Permissions `json:"permissions"`
	Events        []string          `json:"events"`
	Installations *int64            `json:"installations_count,omitempty"` // for the App itself
}

// convertedPayload is an App with the secrets that are returned once.
type convertedPayload struct {
	*Payload
	ClientSecret  string `json:"client_secret"`
	WebhookSecret string `json:"webhook_secret"`
	PEM           string `json:"pem"`
}

// JSON renders an App as GitHub's integration.
func JSON(a *App, i *web.Info) *Payload {
	return &Payload{ID: a.ID, Slug: a.Slug, NodeID: account.NodeID("Integration", a.ID), ClientID: a.ClientID,
		Owner: account.NewSimple(a.Owner, i), Name: a.Name, Description: a.Description,
		ExternalURL: a.ExternalURL,
		HTMLURL:     pageOf(a, i), CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, Permissions: a.Permissions,
		Events: orEmpty(a.Events)}
}

// pageOf returns the address of an App's public page, from which it is installed, as at GitHub Enterprise.
func pageOf(a *App, i *web.Info) string { return i.Page("/github-apps" + web.Path(a.Slug)) }

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// InstallationPayload is GitHub's installation.
type InstallationPayload struct {
	ID                     account.InstallationID `json:"id"`
	NodeID                 string                 `json:"node_id,omitempty"` // only in webhook payloads
	ClientID               string                 `json:"client_id"`
	Account                *account.Simple        `json:"account"`
	RepositorySelection    string                 `json:"repository_selection"`
	AccessTokensURL        string                 `json:"access_tokens_url"`
	RepositoriesURL        string                 `json:"repositories_url"`
	HTMLURL                string                 `json:"html_url"`
	AppID                  account.AppID          `json:"app_id"`
	AppSlug                string                 `json:"app_slug"`
	TargetID               account.ID             `json:"target_id"`
	TargetType             string                 `json:"target_type"`
	Permissions            scope.Permissions      `json:"permissions"`
	Events                 []string               `json:"events"`
	CreatedAt              db.Time                `json:"created_at"`
	UpdatedAt              db.Time                `json:"updated_at"`
	SingleFileName         *string                `json:"single_file_name"`
	HasMultipleSingleFiles bool                   `json:"has_multiple_single_files"`
	SingleFilePaths        []string               `json:"single_file_paths"`
	SuspendedBy            *account.Simple        `json:"suspended_by"`
	SuspendedAt            db.Time                `json:"suspended_at"`
}

// InstallationJSON renders an installation.
func InstallationJSON(n *Installation, i *web.Info) *InstallationPayload {
	id := account.ID(n.ID).String()
	return &InstallationPayload{ID: n.ID, ClientID: n.App.ClientID, Account: account.NewSimple(n.Account, i),
		RepositorySelection: n.Selection(),
		AccessTokensURL:     i.API("/app/installations/" + id + "/access_tokens"),
		RepositoriesURL:     i.API("/installation/repositories"), HTMLURL: i.Page("/settings/installations/" + id),
		AppID:   n.App.ID,
		AppSlug: n.App.Slug, TargetID: n.Account.ID, TargetType: n.Account.Kind.String(),
		Permissions: n.Permissions,
		Events:      orEmpty(n.Events), CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt, SingleFilePaths: []string{},
		SuspendedAt: n.SuspendedAt}
}

// NodeID is the node_id of an installation.
func NodeID(id account.InstallationID) string { return account.NodeID("IntegrationInstallation", id) }

func newInstallations(list []*Installation, i *web.Info) []*InstallationPayload {
	out := make([]*InstallationPayload, len(list))
	for k, n := range list {
		out[k] = InstallationJSON(n, i)
	}
	return out
}

// tokenPayload is GitHub's installation-token.
type tokenPayload struct {
	Token               string            `json:"token"`
	ExpiresAt           db.Time           `json:"expires_at"`
	Permissions         scope.Permissions `json:"permissions"`
	RepositorySelection string            `json:"repository_selection"`
	Repositories        []*repo.Payload   `json:"repositories,omitzero"` // of a token for some
}

func newToken(t *createdToken, i *web.Info) *tokenPayload {
	p := &tokenPayload{Token: t.value, ExpiresAt: t.expires, Permissions: t.permissions,
		RepositorySelection: t.of.Selection()}
	if t.narrow {
		p.RepositorySelection, p.Repositories = "selected", newRepos(t.repos, i)
	}
	return p
}

func newRepos(list []*repo.Access, i *web.Info) []*repo.Payload {
	out := make([]*repo.Payload, len(list))
	for k, a := range list {
		out[k] = repo.NewPayload(a, i)
	}
	return out
}
