package settings

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/oauth"
	"arbor/internal/page"
	"arbor/internal/web"
)

type authorizedView struct {
	view
	List []*oauth.Grant // OAuth Apps
	Apps []*oauth.Grant // GitHub Apps
}

// GET /settings/applications
//
// Authorized lists what the caller allowed OAuth Apps and GitHub Apps: scopes or permissions, how many tokens they have,
// and when one was last used.
func (p *Pages) Authorized(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "applications", "Authorized OAuth Apps")
	if err != nil {
		return err
	}
	v := &authorizedView{view: f}
	all, err := p.oauth.Grants(r.Context(), caller(r))
	if err != nil {
		return err
	}
	for _, g := range all {
		if g.App.GitHubApp != 0 {
			v.Apps = append(v.Apps, g)
		} else {
			v.List = append(v.List, g)
		}
	}
	return p.t.Page(w, r, "authorized.html", v)
}

// POST /settings/applications
//
// RevokeGrant ends what the caller allowed an OAuth App or a GitHub App, id, with its tokens.
func (p *Pages) RevokeGrant(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	id, _ := web.ParseNumber(f.Get("id"))
	err = p.oauth.Revoke(r.Context(), caller(r), account.GrantID(id))
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	return page.Done(w, r, "/settings/applications", "The authorization was revoked.")
}
