package issue

import (
	"context"
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
	body, _, err := api.rendering(a, func(*db.Tx) ([]*Issue, error) { return []*Issue{i}, nil }, single)(r.Context())
	if err != nil {
		return err
	}
	return web.Bytes(w, r, status, body, "")
}

// rendering makes what renders the issues of one repository that find finds, in
// one snapshot.
func (api *API) rendering(a *repo.Access, find func(*db.Tx) ([]*Issue, error), f form) web.Render {
	return func(ctx context.Context) ([]byte, string, error) {
		p := newPage(ctx, a)
		p.full = f == single
		err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
			if p.issues, err = find(tx); err != nil {
				return err
			}
			return p.load(tx)
		})
		if err != nil {
			return nil, "", err
		}
		if f == list {
			return api.finishPage(ctx, a, p, nil)
		}
		if err := api.s.renderBodies(ctx, p); err != nil {
			return nil, "", err
		}
		body := p.appendIssue(make([]byte, 0, 6<<10), p.issues[0])
		return body, web.Tag(body), nil
	}
}

// finishPage renders a page that has all that it shows but bodies, in the room
// given or in its own.
func (api *API) finishPage(ctx context.Context, a *repo.Access, p *page, room []byte) (body []byte, etag string, err error) {
	if err := api.s.renderBodies(ctx, p); err != nil {
		return nil, "", err
	}
	if room == nil {
		room = make([]byte, 0, 4<<10*(len(p.issues)+1))
	}
	body = p.appendList(room)
	return body, p.tag(a, body), nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
