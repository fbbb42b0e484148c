package page

import (
	"net/http"

	"arbor/internal/repo"
	"arbor/internal/web"
)

// Bounds of a commit's page; N.diff and the API have the whole.
const (
	filesPerPage  = 100
	maxMessage    = 64 << 10  // bytes of the message
	maxPatch      = 32 << 10  // bytes of one file's patch
	maxAllPatches = 512 << 10 // bytes of all patches of a page
)

type commitView struct {
	where
	Commit  commitJSON
	Message clipped
	Files   []fileView
}

type fileView struct {
	changedFileJSON
	Shown clipped // of the patch
}

// GET /{owner}/{repo}/commit/{sha}
//
// Commit answers the page of a commit: its message, its author, and a hundred
// changed files with their patches, as far as these are short. Error: 404.
func (p *Pages) Commit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha := web.Param(r, "sha")
	v := &commitView{}
	more, err := ask(r, a, question{handler: p.from.Git.GetCommit, path: "/commits" + web.Path(sha), params: []string{"ref", sha},
		query: part(r, filesPerPage)}, &v.Commit)
	if err != nil {
		return absent(err)
	}
	v.where = at(a, v.Commit.Subject())
	v.Next = next(r, more)
	v.Message = clip(v.Commit.Commit.Message, maxMessage)
	left := maxAllPatches
	for _, f := range v.Commit.Files {
		shown := fileView{changedFileJSON: f}
		if f.Patch != nil {
			shown.Shown = clip(*f.Patch, min(left, maxPatch))
			left -= len(shown.Shown.Text)
		}
		v.Files = append(v.Files, shown)
	}
	return p.render.page(w, r, "commit.html", v)
}
