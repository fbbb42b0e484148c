package settings

import (
	"net/http"

	"arbor/internal/oauth"
	"arbor/internal/page"
	"arbor/internal/web"
)

// connectionView is what connection.html shows.
type connectionView struct {
	view
	App    *oauth.App
	Places []oauth.Place
}

func (p *Pages) connection(r *http.Request) (*connectionView, error) {
	app, places, err := p.oauth.PlacesOf(r.Context(), caller(r), web.Param(r, "client_id"))
	if err != nil {
		return nil, err
	}
	f, err := p.frame(r, "applications", app.Name)
	return &connectionView{f, app, places}, err
}

// GET /settings/connections/applications/{client_id}
//
// Connection shows an OAuth App, and the caller's organizations that restrict OAuth Apps, with what they decided of
// it. Error: 404.
func (p *Pages) Connection(w http.ResponseWriter, r *http.Request) error {
	v, err := p.connection(r)
	return p.t.Show(w, r, "connection.html", v, err)
}

// POST /settings/connections/applications/{client_id}
//
// AskApproval asks the owners of the organization org to approve the OAuth App. Errors: 404, also for an organization
// that is not the caller's or restricts no Apps; others are shown on the page.
func (p *Pages) AskApproval(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	ctx, err := p.kit.Room(r.Context(), caller(r))
	if err == nil {
		err = p.oauth.AskApproval(ctx, caller(r), form.Text("org"), web.Param(r, "client_id"))
	}
	if err == nil {
		return page.Done(w, r, web.Path("settings", "connections", "applications", web.Param(r, "client_id")),
			"The owners were asked.")
	}
	return page.RefuseWith(p.t, w, r, "connection.html", err, p.connection, nil)
}
