package people

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/oauth"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// oauthPolicy is what oauthpolicy.html shows.
type oauthPolicy struct {
	*orgSettings
	*oauth.Policy
}

// GET /organizations/{org}/settings/oauth_application_policy
//
// OAuthPolicy shows owners whether the organization restricts OAuth Apps, and what it decided of them. Errors: 403,
// 404.
func (p *Pages) OAuthPolicy(w http.ResponseWriter, r *http.Request) error {
	v, err := p.oauthPolicy(r)
	return p.t.Show(w, r, "oauthpolicy.html", v, err)
}

func (p *Pages) oauthPolicy(r *http.Request) (*oauthPolicy, error) {
	of, err := p.orgSettings(r)
	if err != nil {
		return nil, err
	}
	policy, err := p.of.OAuth.PolicyOf(r.Context(), caller(r), of.Login)
	return &oauthPolicy{of, policy}, err
}

// POST /organizations/{org}/settings/oauth_application_policy
//
// ChangeOAuthPolicy does what do says: restrict or open the organization, or approve or deny the App of a client_id.
// Errors: 403, 404; 422 is shown on the page.
func (p *Pages) ChangeOAuthPolicy(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	ctx, err := p.kit.WriteOwn(r, scope.AdminOrg, false)
	if err != nil {
		return err
	}
	org, done := web.Param(r, "org"), "The policy was saved."
	switch do := form.Get("do"); do {
	case "restrict", "open":
		err = p.of.OAuth.Restrict(ctx, caller(r), org, do == "restrict")
	case "approve", "deny":
		err = p.of.OAuth.Decide(ctx, caller(r), org, form.Text("client_id"), do == "approve")
		done = map[string]string{"approve": "The App was approved.", "deny": "The App was denied."}[do]
	default:
		err = errs.New(errs.Invalid, "Nothing was chosen.")
	}
	if err == nil {
		return page.Done(w, r, web.Path("organizations", org, "settings", "oauth_application_policy"), done)
	}
	return page.RefuseWith(p.t, w, r, "oauthpolicy.html", err, p.oauthPolicy, nil)
}
