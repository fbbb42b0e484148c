// Package code is the pages of a repository's code.
//
//   - GET /{owner}/{repo}: home.go, the root of the default branch with its sidebar; empty.go
//     without commits
//   - .../tree/{path...}: tree.go; .../last-changes/{path...}, a piece of such a page that comes later:
//     changes.go
//   - .../files/{path...}: files.go, one folder of the tree of files that stands beside files and directories
//   - .../blob/{path...}: blob.go, part.go, data.go (tables), notebook.go; .../blame/{path...}: blame.go
//   - .../commits, .../commits/{path...}: commits.go
//   - .../commit/{sha}: commit.go, with .diff and .patch; .../commit/{sha}/comments/{id}/edits: commentedits.go
//   - .../compare/{basehead...}: compare.go
//   - .../branches, .../tags: refs.go; .../branches/deleted: deletedbranches.go; .../contributors: contributors.go
//   - .../find/{path...}, .../search: find.go
//   - .../edit, /new, /delete/{path...}: edit.go, form.go; .../upload/{path...}: upload.go; write.go makes
//     their commits
//   - place.go: what REF/PATH of an address names, and what pages ask of it; marks.go: statuses and checks of
//     commits
//
// A path begins with a branch, a tag or a SHA; of several that fit, the shortest counts. Text that is
// highlighted is kept by its language and its hash. What a change is made of travels in its form: the SHA of
// the blob that a person saw, so a file that has changed since then is a conflict, and nothing of what was typed
// is lost.
package code

import (
	"embed"

	"arbor/internal/activity"
	"arbor/internal/autolink"
	"arbor/internal/cache"
	"arbor/internal/checkrun"
	"arbor/internal/codeowner"
	"arbor/internal/commitcomment"
	"arbor/internal/detect"
	"arbor/internal/gitdata"
	"arbor/internal/issue/revision"
	"arbor/internal/mirror"
	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/release"
	"arbor/internal/repo/network"
	"arbor/internal/route"
	searchcode "arbor/internal/search/code"
	"arbor/internal/status"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Services have the operations that the pages call.
type Services struct {
	Git      *gitdata.Service
	Texts    *gitdata.API // diffs and patches
	Comments *commitcomment.Service
	Edits    *revision.Service
	Statuses *status.Service
	Checks   *checkrun.Service
	Releases *release.Service
	Detect   *detect.Service // languages
	Searches *searchcode.API
	Forks    *network.Service
	Pulls    *pull.Service // brings commits into forks

	Autolinks  *autolink.Service
	Owners     *codeowner.Service
	Activities *activity.Service
	Mirrors    *mirror.Service
}

// Pages answers the pages.
type Pages struct {
	kit  *page.Kit
	t    *page.Templates
	with Services
}

// New returns the pages.
func New(kit *page.Kit, with Services) *Pages {
	return &Pages{kit: kit, t: roomTemplates, with: with}
}

// Caches returns of the caches.
func (p *Pages) Caches() []cache.Stats { return []cache.Stats{p.kit.Texts.Stats("highlighted")} }

// maxUpload is the size in bytes of the largest form of uploaded files.
const maxUpload = 30 << 20

// maxEdit is that of the form of one file: its text, 512 KiB at most, with every character escaped.
const maxEdit = 2 << 20

// Routes are the pages.
func (p *Pages) Routes() []route.Route {
	on := p.kit.OnRepo
	home := on("GET /{owner}/{repo}", p.Home)
	home.Handler = withoutGit(home.Handler)
	return []route.Route{
		home,
		on("GET /{owner}/{repo}/tree/{path...}", p.Tree),
		on("GET /{owner}/{repo}/last-changes/{path...}", p.LastChanges),
		on("GET /{owner}/{repo}/files/{path...}", p.Files),
		on("GET /{owner}/{repo}/blob/{path...}", p.Blob),
		on("GET /{owner}/{repo}/blame/{path...}", p.Blame),
		on("GET /{owner}/{repo}/commits", p.Commits),
		on("GET /{owner}/{repo}/commits/{path...}", p.CommitsOf),
		on("GET /{owner}/{repo}/commit/{sha}", p.Commit),
		on("POST /{owner}/{repo}/commit/{sha}/comments", p.AddComment),
		on("GET /{owner}/{repo}/commit/{sha}/comments/{id}/edits", p.CommentEdits),
		on("POST /{owner}/{repo}/commit/{sha}/comments/{id}/edits", p.DeleteCommentEdit),
		on("GET /{owner}/{repo}/compare", p.CompareForm),
		on("GET /{owner}/{repo}/compare/{basehead...}", p.Compare),
		on("GET /{owner}/{repo}/branches", p.Branches),
		on("POST /{owner}/{repo}/branches", p.CreateBranch),
		on("POST /{owner}/{repo}/branches/rename", p.RenameBranch),
		on("POST /{owner}/{repo}/branches/delete", p.DeleteBranch),
		on("GET /{owner}/{repo}/branches/deleted", p.DeletedBranches),
		on("POST /{owner}/{repo}/branches/deleted", p.RestoreBranch),
		on("GET /{owner}/{repo}/tags", p.Tags),
		on("GET /{owner}/{repo}/contributors", p.Contributors),
		on("GET /{owner}/{repo}/find/{path...}", p.Find),
		on("GET /{owner}/{repo}/search", p.Search),
		on("GET /{owner}/{repo}/edit/{path...}", p.EditForm),
		on("POST /{owner}/{repo}/edit/{path...}", p.Edit).WithLimit(maxEdit),
		on("GET /{owner}/{repo}/new/{path...}", p.NewForm),
		on("POST /{owner}/{repo}/new/{path...}", p.Create).WithLimit(maxEdit),
		on("GET /{owner}/{repo}/delete/{path...}", p.DeleteForm),
		on("POST /{owner}/{repo}/delete/{path...}", p.Delete),
		on("GET /{owner}/{repo}/upload/{path...}", p.UploadForm),
		on("POST /{owner}/{repo}/upload/{path...}", p.Upload).WithLimit(maxUpload),
	}
}
