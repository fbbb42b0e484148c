package release

import (
	"context"
	"net/url"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue/text"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// View is a release with what it refers to.
type View struct {
	*Release
	In     *repo.Access
	Author *account.Account
	Assets []*Asset
	HTML   string // its text, which package markdown sanitized
	Rollup reaction.Rollup
	Own    []reaction.Content // how the caller reacted
}

// PagePath is the address of the release's page.
func (v *View) PagePath() string {
	return web.Path(v.In.Owner.Login, v.In.Name, "releases", "tag") + "/" + escapeTag(v.addressTag())
}

// DownloadPath is the address of an asset's bytes.
func (v *View) DownloadPath(x *Asset) string {
	return web.Path(v.In.Owner.Login, v.In.Name, "releases", "download") + "/" + escapeTag(v.addressTag()) + "/" +
		url.PathEscape(x.Name)
}

// List reads a page of releases, the newest commit first; with push access drafts are among them.
func (s *Service) List(ctx context.Context, a *repo.Access, at web.Page) (*web.List[*View], error) {
	var total int64
	views, err := s.views(ctx, a, func(tx *db.Tx) (found []*Release, err error) {
		found, total, err = list(tx, a.ID, seesDrafts(a), at)
		return found, err
	})
	return &web.List[*View]{Rows: views, More: at.Number*at.Size < total, Total: total}, err
}

// Get reads a release. Error: 404, also for a draft without push access.
func (s *Service) Get(ctx context.Context, a *repo.Access, id int64) (*View, error) {
	return s.view(ctx, a, func(tx *db.Tx) (*Release, error) { return byID(tx, a.ID, id) })
}

// Latest reads the latest release. Error: 404 if there is none.
func (s *Service) Latest(ctx context.Context, a *repo.Access) (*View, error) {
	return s.view(ctx, a, func(tx *db.Tx) (*Release, error) { return latestOf(tx, a.ID) })
}

// ByAddress reads the release whose page has a tag at the end of its address: also a draft. Error: 404.
func (s *Service) ByAddress(ctx context.Context, a *repo.Access, tag string) (*View, error) {
	return s.view(ctx, a, func(tx *db.Tx) (*Release, error) { return byAddress(tx, a.ID, tag) })
}

// view returns the view of the release that find returns, if the caller may see it.
func (s *Service) view(
	ctx context.Context, a *repo.Access, find func(tx *db.Tx) (*Release, error),
) (*View, error) {
	views, err := s.views(ctx, a, func(tx *db.Tx) ([]*Release, error) {
		x, err := visible(a, find, tx)
		return []*Release{x}, err
	})
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

func (s *Service) views(
	ctx context.Context, a *repo.Access, find func(tx *db.Tx) ([]*Release, error),
) ([]*View, error) {
	var p *Page
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		list, err := find(tx)
		if err == nil {
			p, err = loadPage(ctx, tx, map[repo.ID]*repo.Access{a.ID: a}, list)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	texts := make([]text.Source, len(p.list))
	for n, r := range p.list {
		texts[n] = text.Source{Access: a, Body: r.Body}
	}
	bodies, err := s.issues.HTML(ctx, texts)
	if err != nil {
		return nil, err
	}
	views := make([]*View, len(p.list))
	for n, r := range p.list {
		views[n] = &View{Release: r, In: a, Author: p.people[r.AuthorID], Assets: p.assets[r.ID],
			Rollup: p.rollups[r.ID]}
		if views[n].HTML, err = bodies.HTML(n); err != nil {
			return nil, err
		}
	}
	return views, s.loadOwn(ctx, a, views)
}
