package old

import (
	"net/http"
	"strings"

	"arbor/internal/repo"
	"arbor/internal/web"
)

// Bounds of the page of a commit or a comparison; the API has the whole.
const (
	filesPerPage   = 100
	commitsPerPage = 100
	maxMessage     = 64 << 10  // bytes of the message
	maxPatch       = 32 << 10  // bytes of one file's patch
	maxAllPatches  = 512 << 10 // bytes of all patches of a page
)

type commitView struct {
	where
	Commit  commitJSON
	Message clipped
	Files   []fileView

	Comments []commentJSON
}

type fileView struct {
	changedFileJSON
	Shown clipped // of the patch
}

// GET /{owner}/{repo}/commit/{sha}
//
// Commit answers the page of a commit: its message, its author, a hundred changed
// files with their patches, as far as these are short, and a hundred comments. Error: 404.
func (p *Pages) Commit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha := web.Param(r, "sha")
	v := &commitView{}
	more, err := ask(r, a, question{handler: p.from.Git.GetCommit, path: "/commits" + web.Path(sha), params: []string{"ref", sha},
		query: part(r, filesPerPage)}, &v.Commit)
	if err != nil {
		return absent(err)
	}
	comments := question{handler: p.from.OnCommits.List, path: "/commits" + web.Path(v.Commit.SHA, "comments"),
		params: []string{"sha", v.Commit.SHA}, query: part(r, commentsPerPage), bodies: true}
	moreComments, err := ask(r, a, comments, &v.Comments)
	if err != nil {
		return err
	}
	v.where = at(a, v.Commit.Subject())
	v.Next = next(r, more || moreComments)
	v.Message = clip(v.Commit.Commit.Message, maxMessage)
	v.Files = shownFiles(v.Commit.Files)
	return p.render.page(w, r, "commit.html", v)
}

// shownFiles cuts the patches of files to what a page shows.
func shownFiles(files []changedFileJSON) []fileView {
	left := maxAllPatches
	list := make([]fileView, len(files))
	for n, f := range files {
		list[n].changedFileJSON = f
		if f.Patch != nil {
			list[n].Shown = clip(*f.Patch, min(left, maxPatch))
			left -= len(list[n].Shown.Text)
		}
	}
	return list
}

type compareView struct {
	where
	Comparison comparisonJSON
	Files      []fileView
}

// GET /{owner}/{repo}/compare/{basehead...}
//
// Compare answers the page of what HEAD has that BASE lacks: a hundred commits
// and, on the first page, up to 300 files with their patches, as far as these
// are short; BASE...HEAD.diff and .patch are the text alone (decision 30).
// Error: 404.
func (p *Pages) Compare(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	spec := web.Param(r, "basehead")
	if strings.HasSuffix(spec, ".diff") || strings.HasSuffix(spec, ".patch") {
		return p.from.Git.CompareText(w, r, a)
	}
	v := &compareView{where: at(a, spec)}
	more, err := ask(r, a, question{handler: p.from.Git.Compare, path: "/compare" + web.Path(spec), params: []string{"basehead", spec},
		query: part(r, commitsPerPage)}, &v.Comparison)
	if err != nil {
		return absent(err)
	}
	v.Next = next(r, more)
	v.Files = shownFiles(v.Comparison.Files)
	return p.render.page(w, r, "compare.html", v)
}
