package code

import (
	"html/template"
	"net/http"
	"path"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// at is the revision and the path that a page shows. Views embed it.
type at struct {
	page.Frame
	At   gitdata.Located
	View string // the page that branches and directories lead to: tree, blob, commits, blame
}

// crumb is a directory on the way to a path.
type crumb struct{ Name, Path string }

// Crumbs are the directories above the path, from the root's first on.
func (v *at) Crumbs() (list []crumb) {
	parts := strings.Split(v.At.Path, "/")
	for n := range parts[:len(parts)-1] {
		list = append(list, crumb{parts[n], strings.Join(parts[:n+1], "/")})
	}
	return list
}

// Name is the last part of the path; empty: the root.
func (v *at) Name() string {
	if v.At.Path == "" {
		return ""
	}
	return path.Base(v.At.Path)
}

// Dir is the directory of the path, or the path if it is one itself.
func (v *at) Dir() string {
	if v.At.Type == "tree" {
		return v.At.Path
	}
	return v.Up()
}

// Up is the directory above the path.
func (v *at) Up() string { return strings.TrimPrefix(path.Dir("/"+v.At.Path), "/") }

// CanEdit reports that the viewer may commit to what is shown, which is a branch, or propose a change of it.
func (v *at) CanEdit() bool {
	return (v.Repo.CanPush() || v.Proposes()) && v.At.Kind == "branch" && v.Repo.MirrorURL == "" && !v.Repo.Importing
}

// Link is the address of a page of a path at the revision.
func (v *at) Link(kind, path string) string {
	return v.Repo.Path + "/" + kind + segments(v.At.Ref) + segments(path)
}

// Permalink is the address of this page that shows the same for ever.
func (v *at) Permalink() string {
	return v.Repo.Path + "/" + v.View + "/" + string(v.At.SHA) + segments(v.At.Path)
}

// segments is [page.Segments].
func segments(path string) string { return page.Segments(path) }

// locate finds what the path of an address names, and makes the frame. Errors: 404; 409 for a repository
// without refs.
func (p *Pages) locate(r *http.Request, a *repo.Access, view, text string) (v at, err error) {
	text = strings.Trim(text, "/")
	if strings.Contains(text, "//") {
		return v, errs.Absent()
	}
	found, err := p.with.Git.Locate(r.Context(), a, text)
	if err != nil {
		return v, err
	}
	v.At = *found
	v.View = view
	title := v.At.Path
	if title == "" {
		title = v.At.Ref
	}
	v.Frame, err = p.kit.RepoFrame(r, a, "code", title)
	return v, err
}

// place is locate for the request's path. A former name of a branch redirects.
func (p *Pages) place(r *http.Request, a *repo.Access, view string) (at, error) {
	path := web.Param(r, "path")
	v, err := p.locate(r, a, view, path)
	return v, p.with.Git.Renamed(r.Context(), a, page.Absent(err), "path", path, true)
}

// entry is an entry of a directory.
type entry struct {
	Name, Path, SHA string
	Kind            string // dir, file, symlink, submodule
}

// file reads the file at the place.
func (p *Pages) file(r *http.Request, a *repo.Access, at *gitdata.Located) (*gitdata.File, error) {
	return p.with.Git.File(r.Context(), a, string(at.SHA), at.Path)
}

// list reads the directory at the place: directories first.
func (p *Pages) list(r *http.Request, a *repo.Access, at *gitdata.Located) ([]entry, error) {
	found, err := p.with.Git.Directory(r.Context(), a, string(at.SHA), at.Path)
	return entriesOf(found), err
}

// entriesOf are the entries of a directory as pages show them: directories first.
func entriesOf(found []git.TreeEntry) []entry {
	list := make([]entry, len(found))
	for n, e := range found {
		list[n] = entry{page.Valid(path.Base(e.Path)), e.Path, string(e.SHA), kindOf(e.Mode)}
	}
	rank := func(e entry) int {
		if e.Kind == "dir" || e.Kind == "submodule" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b entry) int { return rank(a) - rank(b) })
	return list
}

// kindOf says what an entry of a mode is.
func kindOf(m git.Mode) string {
	switch m {
	case git.ModeTree:
		return "dir"
	case git.ModeSubmodule:
		return "submodule"
	case git.ModeSymlink:
		return "symlink"
	}
	return "file"
}

// rendered reads a Markdown file as HTML, with links that lead where they do from its own page; empty for
// what cannot be shown.
func (p *Pages) rendered(r *http.Request, v *at, path string) (template.HTML, error) {
	html, err := p.with.Git.FileHTML(r.Context(), v.Repo.Access, string(v.At.SHA), path)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) || errs.Is(err, errs.TooLarge) ||
		errs.Is(err, errs.Forbidden) {
		return "", nil
	}
	// Trusted: package markdown has sanitized it, and addresses alone change.
	return template.HTML(relink(string(html),
		where{v.Link("blob", path), v.Link("raw", path), v.Link("blob", "")})), err
}

// Readme returns a file of a repository's default branch as HTML, for the page of its owner; empty: there is none
// that can be shown.
func (p *Pages) Readme(r *http.Request, a *repo.Access, path string) (template.HTML, error) {
	v := at{}
	v.Repo = &page.Head{Access: a, Path: page.RepoPath(a)}
	v.At.Ref, v.At.SHA = a.DefaultBranch, git.SHA(a.DefaultBranch)
	html, err := p.rendered(r, &v, path)
	if errs.Is(err, errs.Conflict) { // it is empty
		return "", nil
	}
	return html, err
}
