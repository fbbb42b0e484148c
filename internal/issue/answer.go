package issue

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// form is how a rendered answer holds its comments or events.
type form int

const (
	single form = iota // one
	list               // an array
)

// answer answers with one issue in its full form, which was just written.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, i *Issue) error {
	return web.Answer(w, r, status, api.rendering(a, func(*db.Tx) (*Issue, error) { return i, nil }))
}

// rendering makes what renders an issue in its full form, which find finds, in one
// snapshot.
func (api *API) rendering(a *repo.Access, find func(*db.Tx) (*Issue, error)) web.Render {
	return func(out *web.Output) error {
		var p *page
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
			p = newPage(out.Context(), a)
			p.full = true
			i, err := find(tx)
			if err != nil {
				return err
			}
			p.issues = []*Issue{i}
			return p.load(tx)
		})
		if err != nil {
			return err
		}
		if err := api.s.prepareBodies(out, p); err != nil {
			return err
		}
		out.Grow(6 << 10)
		out.Buf, err = p.appendIssue(out.Buf, p.issues[0])
		return err
	}
}

// renderList renders a page that has all that it shows but bodies.
func (api *API) renderList(out *web.Output, p *page, bytesEach int) error {
	if err := api.s.prepareBodies(out, p); err != nil {
		return err
	}
	out.Grow(bytesEach * (len(p.issues) + 1))
	return p.write(out)
}
