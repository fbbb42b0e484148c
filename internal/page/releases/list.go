package releases

import (
	"net/http"
	"net/url"

	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const perPage = 10

// listView is what releases.html shows: a page of releases, or one.
type listView struct {
	page.Frame
	Releases []*release
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
	more, err := p.kit.Get(r, "/repos"+v.Repo.Path+"/releases", page.Part(r, perPage), &v.Releases)
	if err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more)
	if err := p.markLatest(r, v); err != nil {
		return err
	}
	return p.t.Page(w, r, "releases.html", v)
}

// markLatest finds out which of the releases is the latest.
func (p *Pages) markLatest(r *http.Request, v *listView) error {
	if len(v.Releases) == 0 {
		return nil
	}
	var latest struct{ ID int64 }
	_, err := p.kit.Read(r, inside.Request{Path: "/repos" + v.Repo.Path + "/releases/latest", Media: "raw"},
		&latest)
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	for n := range v.Releases {
		v.Releases[n].Latest = v.Releases[n].ID == latest.ID
	}
	return err
}

// find asks for the release whose address ends with the request's tag. Error: 404.
func (p *Pages) find(r *http.Request, a *repo.Access) (*release, error) {
	var found release
	q := inside.Request{Handler: p.byAddress,
		Path: web.Path("repos", a.Owner.Login, a.Name, "releases",
			"tags") + "/" + url.PathEscape(web.Param(r, "tag"))}
	if _, err := p.kit.Read(r, q, &found); err != nil {
		return nil, page.Absent(err)
	}
	return &found, nil
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
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "releases.html", v)
}

func (p *Pages) one(r *http.Request, a *repo.Access, found *release) (*listView, error) {
	v := &listView{Releases: []*release{found}, Alone: true}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "releases", found.Title()); err != nil {
		return nil, err
	}
	return v, p.markLatest(r, v)
}

// GET /{owner}/{repo}/releases/latest
//
// Latest leads to the page of the latest release. Error: 404 where there is none.
func (p *Pages) Latest(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var found release
	q := inside.Request{Path: web.Path("repos", a.Owner.Login, a.Name, "releases", "latest"), Media: "raw"}
	if _, err := p.kit.Read(r, q, &found); err != nil {
		return page.Absent(err)
	}
	http.Redirect(w, r, web.From(r.Context()).Page(found.Path()), http.StatusFound)
	return nil
}
