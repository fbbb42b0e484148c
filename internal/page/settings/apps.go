package settings

import (
	"net/http"

	"arbor/internal/app"
)

type appsView struct {
	view
	List []*app.App
}

// GET /settings/apps
//
// Apps lists the Apps that belong to the caller and to organizations that the caller owns.
func (p *Pages) Apps(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "apps", "GitHub Apps")
	if err != nil {
		return err
	}
	v := &appsView{view: f}
	v.List, err = p.apps.Own(r.Context(), caller(r))
	return p.t.Show(w, r, "apps.html", v, err)
}
