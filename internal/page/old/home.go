package old

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/web"
)

// homeView is what home.html shows.
type homeView struct {
	Site  string // scheme and host
	Repos []repoItem
}

// Home answers the page at the server's root: what this is, where to look, and the
// public repositories that were pushed to lately.
func (p *Pages) Home(w http.ResponseWriter, r *http.Request) error {
	info := web.From(r.Context())
	info.Form = p.render.errors
	var repos []listed
	err := p.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		repos, err = latelyPushed(tx)
		return err
	})
	if err != nil {
		return err
	}
	v := &homeView{Site: info.Site}
	for _, l := range repos {
		v.Repos = append(v.Repos, l.item(l.owner+"/"+l.name))
	}
	return p.render.page(w, r, "home.html", v)
}
