package settings

import (
	"net/http"

	"arbor/internal/page"
)

type organizationsView struct {
	view
	Orgs []organization
}

// organization is one to which the caller belongs.
type organization struct {
	*page.User
	Owner, Public bool
}

// GET /settings/organizations
//
// Organizations lists the organizations to which the caller belongs.
func (p *Pages) Organizations(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "organizations", "Organizations")
	if err != nil {
		return err
	}
	v := &organizationsView{view: f}
	at := page.At(r, 50)
	list, total, err := p.accounts.OrgsOf(r.Context(), caller(r), caller(r).Login, at)
	if err != nil {
		return err
	}
	for _, m := range list {
		v.Orgs = append(v.Orgs, organization{page.NewUser(m.Org), m.Owner, m.Public})
	}
	v.Pages = page.PagerOf(r, at, total)
	return p.t.Page(w, r, "organizations.html", v)
}
