// Package releases is the pages of releases and their files.
//
//   - /{owner}/{repo}/releases, .../releases/tag/{tag...}, .../releases/latest: list.go
//   - .../releases/new, .../releases/edit/{tag...}, POST .../releases/{release_id}/delete: edit.go
//   - POST .../releases/{release_id}/assets, .../releases/assets/{asset_id}/delete: asset.go
//
// In addresses of drafts, which only callers with push access see, a word replaces the tag.
package releases

import (
	"embed"
	"html/template"
	"strings"
	"time"

	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the pages of this room.
type Pages struct {
	kit       *page.Kit
	t         *page.Templates
	byAddress web.Handler
}

// New returns the pages. byAddress answers the release whose html_url ends with a tag, also a draft, under the
// right of the route that answers the release of a tag.
func New(kit *page.Kit, byAddress web.Handler) *Pages {
	return &Pages{kit, roomTemplates, byAddress}
}

// Routes are the pages and the targets of their forms.
func (p *Pages) Routes() []route.Route {
	on := p.kit.OnRepo
	return []route.Route{
		on("GET /{owner}/{repo}/releases", p.List),
		on("GET /{owner}/{repo}/releases/latest", p.Latest),
		on("GET /{owner}/{repo}/releases/tag/{tag...}", p.Release),
		on("GET /{owner}/{repo}/releases/new", p.New),
		on("POST /{owner}/{repo}/releases/new", p.Create),
		on("GET /{owner}/{repo}/releases/edit/{tag...}", p.Edit),
		on("POST /{owner}/{repo}/releases/edit/{tag...}", p.Save),
		on("POST /{owner}/{repo}/releases/{release_id}/delete", p.Delete),
		on("POST /{owner}/{repo}/releases/{release_id}/assets", p.Upload).Streamed(),
		on("POST /{owner}/{repo}/releases/assets/{asset_id}/delete", p.DeleteAsset),
	}
}

// release is what pages read of a release.
type release struct {
	ID        int64
	Tag       string `json:"tag_name"`
	Target    string `json:"target_commitish"`
	Name      string
	HTMLURL   string        `json:"html_url"`
	Body      template.HTML `json:"body_html"`
	Text      string        `json:"body"`
	Author    *page.User
	Draft     bool
	Pre       bool      `json:"prerelease"`
	Created   time.Time `json:"created_at"`
	Published time.Time `json:"published_at"`
	Assets    []asset
	Latest    bool `json:"-"`
}

// asset is a file of a release.
type asset struct {
	ID          int64
	Name, Label string
	Digest      string
	Size        int64
	Downloads   int64  `json:"download_count"`
	DownloadURL string `json:"browser_download_url"`
}

// Path is the address of the file on this site.
func (a *asset) Path() string { return page.Local(a.DownloadURL) }

// Title is the name of a release, or its tag.
func (r *release) Title() string {
	if r.Name != "" {
		return r.Name
	}
	return r.Tag
}

// Path is the address of the release's page.
func (r *release) Path() string { return page.Local(r.HTMLURL) }

// EditPath is the address of its form.
func (r *release) EditPath() string {
	return strings.Replace(r.Path(), "/releases/tag/", "/releases/edit/", 1)
}
