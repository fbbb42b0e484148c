// Package releases is the pages of releases and their files.
//
//   - /{owner}/{repo}/releases, .../releases/tag/{tag...}, .../releases/latest: list.go
//   - .../releases/new, .../releases/edit/{tag...}, POST .../releases/{release_id}/delete: edit.go; sent.go reads
//     their form with its files
//   - .../releases/deleted: deleted.go
//   - POST .../releases/{release_id}/assets, .../releases/assets/{asset_id}/delete: asset.go
//   - POST .../releases/{release_id}/reactions: reaction.go
//
// In addresses of drafts, which only callers with push access see, a word replaces the tag.
package releases

import (
	"cmp"
	"embed"
	"html/template"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/release"
	"arbor/internal/route"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Services have the operations that the pages call.
type Services struct {
	DB       *db.DB
	Releases *release.Service
	Git      *gitdata.Service
}

// Pages answers the pages of this room.
type Pages struct {
	kit  *page.Kit
	t    *page.Templates
	with Services
}

// New returns the pages.
func New(kit *page.Kit, with Services) *Pages { return &Pages{kit, roomTemplates, with} }

// Routes are the pages and the targets of their forms.
func (p *Pages) Routes() []route.Route {
	on := p.kit.OnRepo
	return []route.Route{
		on("GET /{owner}/{repo}/releases", p.List),
		on("GET /{owner}/{repo}/releases/latest", p.Latest),
		on("GET /{owner}/{repo}/releases/tag/{tag...}", p.Release),
		on("GET /{owner}/{repo}/releases/deleted", p.Deleted),
		on("POST /{owner}/{repo}/releases/deleted", p.ChangeDeleted),
		on("GET /{owner}/{repo}/releases/new", p.New),
		on("POST /{owner}/{repo}/releases/new", p.Create).Streamed(),
		on("GET /{owner}/{repo}/releases/edit/{tag...}", p.Edit),
		on("POST /{owner}/{repo}/releases/edit/{tag...}", p.Save).Streamed(),
		on("POST /{owner}/{repo}/releases/{release_id}/delete", p.Delete),
		on("POST /{owner}/{repo}/releases/{release_id}/reactions", p.SetReaction),
		on("POST /{owner}/{repo}/releases/{release_id}/assets", p.Upload).Streamed(),
		on("POST /{owner}/{repo}/releases/assets/{asset_id}/delete", p.DeleteAsset),
	}
}

// view is a release as templates show it.
type view struct {
	*release.View
	Path      string // of its page
	Author    *page.User
	Commit    string         // the SHA of the tag's; empty: there is none
	Verified  *page.Verified // of the tag, else of its commit
	Body      template.HTML
	Created   time.Time
	Published time.Time // zero: of a draft
	Assets    []asset
}

// asset is a file of a release.
type asset struct {
	ID          int64
	Path        string // of its bytes
	Name, Label string
	Digest      string
	Size        int64
	Downloads   int64
}

func newView(v *release.View) *view {
	x := &view{View: v, Path: v.PagePath(), Author: page.NewUser(v.Author), Body: template.HTML(v.HTML),
		Created: page.Moment(v.CreatedAt)}
	if !v.Draft {
		x.Published = page.Moment(v.PublishedAt)
	}
	for _, f := range v.Assets {
		x.Assets = append(x.Assets, asset{f.ID, v.DownloadPath(f), f.Name, page.TextOf(f.Label), "sha256:" + f.File.SHA256,
			f.File.Size, f.Downloads})
	}
	return x
}

// Pre reports a pre-release.
func (v *view) Pre() bool { return v.Prerelease }

// Title is the name of a release, or its tag.
func (v *view) Title() string { return cmp.Or(page.TextOf(v.Name), v.Tag) }

// EditPath is the address of its form.
func (v *view) EditPath() string {
	return strings.Replace(v.Path, "/releases/tag/", "/releases/edit/", 1)
}
