package old

import (
	"html/template"
	"net/http"
	"net/url"
	"time"

	"arbor/internal/repo"
	"arbor/internal/web"
)

const releasesPerPage = 20

// releaseJSON is what pages read of a release.
type releaseJSON struct {
	Tag       string `json:"tag_name"`
	Name      string
	HTMLURL   string        `json:"html_url"`
	Body      template.HTML `json:"body_html"`
	Author    *userJSON
	Draft     bool
	Pre       bool      `json:"prerelease"`
	Published time.Time `json:"published_at"`
	Tarball   string    `json:"tarball_url"`
	Zipball   string    `json:"zipball_url"`
	Assets    []assetJSON
}

type assetJSON struct {
	Name, Label, Digest string
	Size                int64
	DownloadURL         string `json:"browser_download_url"`
}

// Title is the name of a release, or its tag.
func (r *releaseJSON) Title() string {
	if r.Name != "" {
		return r.Name
	}
	return r.Tag
}

type releaseView struct {
	where
	Releases []releaseJSON
}

// GET /{owner}/{repo}/releases
//
// ReleaseList answers the page of the releases, twenty at a time. Error: 404.
func (p *Pages) ReleaseList(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &releaseView{where: at(a, "Releases")}
	more, err := ask(r, a, question{handler: p.from.Releases.List, path: "/releases",
		query: part(r, releasesPerPage), bodies: true}, &v.Releases)
	if err != nil {
		return err
	}
	v.Next = next(r, more)
	return p.render.page(w, r, "releases.html", v)
}

// GET /{owner}/{repo}/releases/tag/{tag...}
//
// Release answers the page of the release of a tag; of a draft at the address that its html_url names. Error: 404.
func (p *Pages) Release(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var found releaseJSON
	tag := web.Param(r, "tag")
	_, err := ask(r, a, question{handler: p.from.Releases.GetByAddress, path: "/releases/tags/" + url.PathEscape(tag),
		params: []string{"tag", tag}, bodies: true}, &found)
	if err != nil {
		return err
	}
	return p.render.page(w, r, "releases.html", &releaseView{at(a, found.Title()), []releaseJSON{found}})
}

// GET /{owner}/{repo}/releases/latest
//
// LatestRelease leads to the page of the latest release. Error: 404 where there is none.
func (p *Pages) LatestRelease(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var found releaseJSON
	if _, err := ask(r, a, question{handler: p.from.Releases.GetLatest, path: "/releases/latest"}, &found); err != nil {
		return err
	}
	http.Redirect(w, r, found.HTMLURL, http.StatusFound)
	return nil
}
