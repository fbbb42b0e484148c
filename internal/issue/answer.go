package issue

import (
	"context"
	"net/http"

	"arbor/internal/db"
	"arbor/internal/issue/text"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// answer writes the full form of an issue as the response.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, i *Issue) error {
	return web.Answer(w, r, status, func(out *web.Output) error {
		p, err := api.s.readFull(r.Context(), a, func(*db.Tx) (*Issue, error) { return i, nil })
		if err != nil {
			return err
		}
		return api.render(out, p)
	})
}

// readFull reads the page of the issue that find reads, in its full form and from one snapshot.
func (s *Service) readFull(
	ctx context.Context, a *repo.Access, find func(*db.Tx) (*Issue, error),
) (p *page, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		p = newPage(ctx, a)
		p.full = true
		i, err := find(tx)
		if err != nil {
			return err
		}
		p.issues = []*Issue{i}
		return p.load(tx)
	})
	return p, err
}

// render renders the only issue of a loaded page.
func (api *API) render(out *web.Output, p *page) (err error) {
	if err := api.s.prepareBodies(out, p); err != nil {
		return err
	}
	out.Grow(6 << 10)
	out.Buf, err = p.appendIssue(out.Buf, p.issues[0])
	return err
}

// renderList renders the issues of a loaded page.
func (api *API) renderList(out *web.Output, p *page, bytesEach int) error {
	if err := api.s.prepareBodies(out, p); err != nil {
		return err
	}
	out.Grow(bytesEach * (len(p.issues) + 1))
	return p.write(out)
}

// Bodies renders texts for a response. Errors: those of Output.Reserve.
func (s *Service) Bodies(out *web.Output, list []text.Source) (*text.Page, error) {
	return s.texts.Page(out, list)
}

// prepareBodies renders the bodies of the page's issues.
func (s *Service) prepareBodies(out *web.Output, p *page) (err error) {
	list := make([]text.Source, len(p.issues))
	p.bodyAt = make(map[ID]int, len(list))
	for n, i := range p.issues {
		list[n], p.bodyAt[i.ID] = text.Source{Access: p.repos[i.RepoID], Body: i.Body}, n
	}
	p.bodies, err = s.Bodies(out, list)
	return err
}
