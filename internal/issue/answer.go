package issue

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// form is how a rendered answer holds its issues.
type form int

const (
	single form = iota // one, in its full form
	list               // an array
)

// answer answers with one issue in its full form, which was just written.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, i *Issue) error {
	return web.Answer(w, r, status, api.rendering(a, func(*db.Tx) ([]*Issue, error) {
		return []*Issue{i}, nil
	}, single))
}

// rendering makes what renders the issues of one repository that find finds, in
// one snapshot.
func (api *API) rendering(a *repo.Access, find func(*db.Tx) ([]*Issue, error), f form) web.Render {
	return func(out *web.Output) error {
		var p *page
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) (err error) {
			p = newPage(out.Context(), a)
			p.full = f == single
			if p.issues, err = find(tx); err != nil {
				return err
			}
			return p.load(tx)
		})
		if err != nil {
			return err
		}
		if f == list {
			return api.finishPage(out, a, p)
		}
		if err := api.s.prepareBodies(out, p); err != nil {
			return err
		}
		out.Grow(6 << 10)
		out.Buf = p.appendIssue(out.Buf, p.issues[0])
		return p.bodies.Err()
	}
}

// finishPage renders a page that has all that it shows but bodies.
func (api *API) finishPage(out *web.Output, a *repo.Access, p *page) error {
	if err := api.s.prepareBodies(out, p); err != nil {
		return err
	}
	out.Grow(4 << 10 * (len(p.issues) + 1))
	if err := p.write(out); err != nil || out.Begun() {
		return err
	}
	out.ETag = p.tag(a, out.Buf)
	return nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
