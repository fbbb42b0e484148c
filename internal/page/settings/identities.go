package settings

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/external"
	"arbor/internal/ldap"
	"arbor/internal/oidc"
	"arbor/internal/page"
	"arbor/internal/web"
)

// identitiesView is what identities.html shows.
type identitiesView struct {
	view
	List        []external.Linked
	Others      []*oidc.Provider  // with which no identity is linked
	Directories []*ldap.Directory // of these as well
	To          string            // the address of a provider to which the browser is led next; empty: none
	Label       string            // what that provider is called
}

// GET /settings/identities
//
// Identities lists the identities of other servers that are linked with the caller's account.
func (p *Pages) Identities(w http.ResponseWriter, r *http.Request) error {
	v, err := p.identitiesView(r)
	return p.t.Show(w, r, "identities.html", v, err)
}

func (p *Pages) identitiesView(r *http.Request) (*identitiesView, error) {
	f, err := p.frame(r, "security", "Linked identities")
	if err != nil {
		return nil, err
	}
	v := &identitiesView{view: f}
	if v.List, err = p.identities.Identities(r.Context(), caller(r)); err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, l := range v.List {
		has[l.Issuer] = true
	}
	for _, provider := range p.identities.Providers() {
		if !has[provider.Issuer] {
			v.Others = append(v.Others, provider)
		}
	}
	for _, d := range p.directories.Directories() {
		if !has[d.Issuer] {
			v.Directories = append(v.Directories, d)
		}
	}
	return v, nil
}

// POST /settings/identities
//
// ChangeIdentities redirects to a provider to link an identity (do=link with the provider's name), links the person with
// a name and a password in a directory (do=link-directory), or unlinks an identity and ends the other sessions (do=unlink
// with its id). Errors: the page again, with 403, 422, 429 and 503.
func (p *Pages) ChangeIdentities(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.identitiesView(r)
	if err != nil {
		return err
	}
	switch form.Get("do") {
	case "link":
		name := form.Get("provider")
		var secret string
		v.To, secret, err = p.identities.Begin(r.Context(), name, page.Callback(r, name), caller(r).ID, false)
		if err == nil {
			page.SetWaiting(w, r, page.Waiting{Secret: secret, Link: true, Back: "/settings/identities"})
			for _, provider := range p.identities.Providers() {
				if provider.Name == name {
					v.Label = provider.Label
				}
			}
			return p.t.Secret(w, r, "identities.html", v)
		}
	case "link-directory":
		err = p.directories.Link(r.Context(), caller(r), form.Get("directory"), form.Text("name"), form.Get("password"),
			page.Origin(r))
		if err == nil {
			return page.Done(w, r, "/settings/identities", "The account of the directory was linked with yours.")
		}
	case "unlink":
		id, _ := web.ParseNumber(form.Get("id"))
		err = p.identities.Unlink(r.Context(), caller(r), id)
		if err == nil || errs.Is(err, errs.NotFound) {
			return page.Done(w, r, "/settings/identities", "The identity was unlinked.")
		}
	default:
		err = errs.New(errs.Invalid, "The form does not say what to do.")
	}
	return p.t.Refuse(w, r, "identities.html", err, v)
}
