package releases

import (
	"context"
	"net/http"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const perPage = 10

// listView is what releases.html shows: a page of releases, or one.
type listView struct {
	page.Frame
	Releases []*view
	Alone    bool
}

// GET /{owner}/{repo}/releases
//
// List answers the page of the releases, ten at a time, with drafts for callers with push access.
func (p *Pages) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &listView{}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "releases", "Releases"); err != nil {
		return err
	}
	list, err := p.with.Releases.List(r.Context(), a, web.Page{Number: web.ReadPage(r).Number, Size: perPage})
	if err != nil {
		return err
	}
	for _, x := range list.Rows {
		v.Releases = append(v.Releases, newView(x))
	}
	if err := p.tagged(r.Context(), a, v.Releases); err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, list.More)
	return p.t.Page(w, r, "releases.html", v)
}

// tagged sets the commits of the tags of releases, and their badges. A draft has no tag yet.
func (p *Pages) tagged(ctx context.Context, a *repo.Access, list []*view) error {
	var tags []string
	for _, x := range list {
		if !x.Draft {
			tags = append(tags, x.Tag)
		}
	}
	if len(tags) == 0 {
		return nil
	}
	found, err := p.with.Git.Tagged(ctx, a, tags)
	for _, x := range list {
		if !x.Draft {
			x.Commit, x.Verified = string(found[x.Tag].Commit), page.NewVerified(found[x.Tag].Verification)
		}
	}
	return err
}

// find reads the release whose address ends with the request's tag. Error: 404.
func (p *Pages) find(r *http.Request, a *repo.Access) (*view, error) {
	found, err := p.with.Releases.ByAddress(r.Context(), a, web.Param(r, "tag"))
	if err != nil {
		return nil, err
	}
	return newView(found), nil
}

// GET /{owner}/{repo}/releases/tag/{tag...}
//
// Release answers the page of the release of a tag; of a draft at the address that its html_url names. Error:
// 404.
func (p *Pages) Release(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	found, err := p.find(r, a)
	if err != nil {
		return err
	}
	v, err := p.one(r, a, found)
	return p.t.Show(w, r, "releases.html", v, err)
}

func (p *Pages) one(r *http.Request, a *repo.Access, found *view) (*listView, error) {
	v := &listView{Releases: []*view{found}, Alone: true}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "releases", found.Title()); err != nil {
		return nil, err
	}
	return v, p.tagged(r.Context(), a, v.Releases)
}

// GET /{owner}/{repo}/releases/latest
//
// Latest leads to the page of the latest release. Error: 404 if there is none.
func (p *Pages) Latest(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	found, err := p.with.Releases.Latest(r.Context(), a)
	if err != nil {
		return err
	}
	http.Redirect(w, r, web.From(r.Context()).Page(found.PagePath()), http.StatusFound)
	return nil
}
