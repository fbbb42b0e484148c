package code

import (
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/inside"
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
func (v *at) CanEdit() bool { return (v.Repo.CanPush() || v.Proposes()) && v.At.Kind == "branch" }

// Link is the address of a page of a path at the revision.
func (v *at) Link(kind, path string) string {
	return v.Repo.Path + "/" + kind + segments(v.At.Ref) + segments(path)
}

// Permalink is the address of this page that shows the same for ever.
func (v *at) Permalink() string {
	return v.Repo.Path + "/" + v.View + "/" + string(v.At.SHA) + segments(v.At.Path)
}

// segments is the escaped path with a slash before it; empty for none.
func segments(path string) string {
	if path == "" {
		return ""
	}
	return web.Path(strings.Split(path, "/")...)
}

// of is the path of the repository's resource in the API.
func of(a *repo.Access, parts ...string) string {
	return web.Path("repos", a.Owner.Login, a.Name) + strings.Join(parts, "")
}

// ask asks a handler of the API that has no address, under the right of the path's route.
func (p *Pages) ask(r *http.Request, h web.Handler, path string, q url.Values, into any) error {
	_, err := p.kit.Read(r, inside.Request{Path: path, Query: q, Handler: h}, into)
	return err
}

// read is a question whose answer has another media type.
func (p *Pages) read(
	r *http.Request, path string, q url.Values, media string, into any,
) (more bool, err error) {
	return p.kit.Read(r, inside.Request{Path: path, Query: q, Media: media}, into)
}

// locate finds what the path of an address names, and makes the frame. Errors: 404; 409 for a repository
// without refs.
func (p *Pages) locate(r *http.Request, a *repo.Access, view, text string) (v at, err error) {
	text = strings.Trim(text, "/")
	if strings.Contains(text, "//") {
		return v, errs.Absent()
	}
	if err = p.ask(r, p.do.Locate, of(a, "/contents", segments(text)), nil, &v.At); err != nil {
		return v, err
	}
	v.View = view
	title := v.At.Path
	if title == "" {
		title = v.At.Ref
	}
	v.Frame, err = p.kit.RepoFrame(r, a, "code", title)
	return v, err
}

// place is locate for the request's path.
func (p *Pages) place(r *http.Request, a *repo.Access, view string) (at, error) {
	v, err := p.locate(r, a, view, web.Param(r, "path"))
	return v, page.Absent(err)
}

// entry is a file, or an entry of a directory, as the API lists it.
type entry struct {
	Name        string
	Path        string
	SHA         string
	Size        int64
	Type        string // dir, file, symlink, submodule
	HTMLURL     string `json:"html_url"` // empty: of a submodule
	DownloadURL string `json:"download_url"`
	Target      string // of a symlink that leads to no file
	Submodule   string `json:"submodule_git_url"`
	Content     string // Base64
	Encoding    string
}

// bytes is the file's contents; ok is false where the API gives none.
func (e *entry) bytes() (data []byte, ok bool) {
	if e.Encoding != "base64" {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(e.Content, "\n", ""))
	return data, err == nil
}

// file reads the file at the place.
func (p *Pages) file(r *http.Request, a *repo.Access, at *gitdata.Located) (*entry, error) {
	e := &entry{}
	_, err := p.kit.Get(r, of(a, "/contents", segments(at.Path)), page.Query("ref", string(at.SHA)), e)
	return e, err
}

// list reads the directory at the place: directories first.
func (p *Pages) list(r *http.Request, a *repo.Access, at *gitdata.Located) (list []entry, err error) {
	_, err = p.kit.Get(r, of(a, "/contents", segments(at.Path)), page.Query("ref", string(at.SHA)), &list)
	for n := range list {
		if list[n].HTMLURL == "" {
			list[n].Type = "submodule"
		}
	}
	rank := func(e entry) int {
		if e.Type == "dir" || e.Type == "submodule" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b entry) int { return rank(a) - rank(b) })
	return list, err
}

// rendered reads a Markdown file as HTML, with links that lead where they do from its own page; empty for
// what cannot be shown.
func (p *Pages) rendered(r *http.Request, v *at, path string) (template.HTML, error) {
	a := v.Repo.Access
	answer, err := p.kit.Send(r, inside.Request{Path: of(a, "/contents", segments(path)),
		Query: page.Query("ref", string(v.At.SHA)),
		Media: "html"})
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) || errs.Is(err, errs.TooLarge) ||
		errs.Is(err, errs.Forbidden) {
		return "", nil
	}
	if err != nil || answer.Status != http.StatusOK ||
		!strings.HasPrefix(answer.Header().Get("Content-Type"), "text/html") {
		return "", err // of a directory it is JSON
	}
	// Trusted: package markdown has sanitized it, and addresses alone change.
	return template.HTML(relink(answer.Body.String(), v.Link("blob", path), v.Link("raw", path))), nil
}

// renderText renders Markdown, given as the body of POST /markdown.
func (p *Pages) renderText(r *http.Request, body []byte) (template.HTML, error) {
	answer, err := p.kit.Send(r, inside.Request{Method: http.MethodPost, Path: "/markdown", Body: body})
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(answer.Header().Get("Content-Type"), "text/html") {
		return "", nil
	}
	return template.HTML(answer.Body.String()), nil // sanitized by package markdown
}
