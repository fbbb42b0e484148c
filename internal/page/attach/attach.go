// Package attach is the pages with which people put files into texts of a repository.
//
//	GET, POST /{owner}/{repo}/attachments             the form, and what one has there; the script sends files here, too
//	POST /{owner}/{repo}/attachments/{key}/delete     removes one
//
// Package attachment has the rules, and serves the files. Its handlers answer here in place of routes of the
// API that want the same of a token: to open an issue, to read issues, to delete a label.
package attach

import (
	"embed"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Handlers are those of package attachment.
type Handlers struct{ Upload, List, Remove web.Handler }

// Pages answers the pages of this room.
type Pages struct {
	kit  *page.Kit
	t    *page.Templates
	with Handlers
}

// New returns the pages.
func New(kit *page.Kit, with Handlers) *Pages { return &Pages{kit, roomTemplates, with} }

// Routes are the pages and the targets of their forms.
func (p *Pages) Routes() []route.Route {
	const at = "/{owner}/{repo}/attachments"
	on := p.kit.OnRepo
	return []route.Route{on("GET "+at, p.Show), on("POST "+at, p.Upload).Streamed(),
		on("POST "+at+"/{key}/delete", p.Remove)}
}

// view is the form, and what the viewer has attached in the repository.
type view struct {
	page.Frame
	page.Attachments
}

// GET /{owner}/{repo}/attachments
//
// Show answers the form that attaches a file, and what the viewer attached before, with the Markdown to copy.
// Callers who have not signed in are redirected to the sign-in page.
func (p *Pages) Show(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if a.Caller == nil {
		return page.SeeOther(w, r, page.LoginPath(r))
	}
	v, err := p.view(r, a)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "attach.html", v)
}

func (p *Pages) view(r *http.Request, a *repo.Access) (*view, error) {
	v := &view{}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "", "Attach a file"); err != nil {
		return nil, err
	}
	more, err := p.kit.Read(r, inside.Request{Path: api(a, "issues"), Query: page.Part(r, 30),
		Handler: p.with.List}, &v.Attachments)
	v.Pages = page.PagesOf(r, more)
	return v, err
}

func api(a *repo.Access, rest ...string) string {
	return web.Path(append([]string{"repos", a.Owner.Login, a.Name}, rest...)...)
}

// POST /{owner}/{repo}/attachments
//
// Upload attaches the file of a form, while it comes. It leads to the page that shows the Markdown; a program
// that does not ask for HTML gets name, url and markdown as JSON. Errors: 403, 415, 422, 507.
func (p *Pages) Upload(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	admission.As(r.Context(), admission.Push) // the client may be slow: others go first
	answer, err := p.upload(r, a)
	switch {
	case err == nil && page.Asked(r):
		return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "attachments"), "The file was attached.")
	case err == nil:
		return web.JSON(w, r, http.StatusCreated, json.RawMessage(answer.Body.Bytes()))
	}
	web.Drain(w, r)
	if !page.Asked(r) {
		return err
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.view(r, a)
	if err != nil {
		return err
	}
	v.Problem = problem
	r.ContentLength = 0 // nothing of the file stands in the page
	return p.t.Again(w, r, "attach.html", problem, v)
}

// upload hands the form's first file to package attachment.
func (p *Pages) upload(r *http.Request, a *repo.Access) (*web.Captured, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, errs.New(errs.UnsupportedMedia, "files are sent as multipart/form-data")
	}
	part, err := firstFile(form)
	if err != nil {
		return nil, err
	}
	return p.kit.Send(r, inside.Request{Method: http.MethodPost, Path: api(a, "issues"),
		Handler: p.with.Upload,
		Query:   page.Query("name", escapes.Replace(part.FileName())), Stream: part})
}

// escapes are what browsers make of characters in names that would break the form.
var escapes = strings.NewReplacer("%22", `"`, "%0D", "", "%0A", "")

// maxParts is how many fields may come before the file.
const maxParts = 20

func firstFile(form *multipart.Reader) (*multipart.Part, error) {
	for range maxParts {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errs.New(errs.Invalid, "Choose a file first.")
		case err != nil:
			return nil, errs.Wrap(errs.Malformed, "the form could not be read to its end", err)
		case part.FileName() != "":
			return part, nil
		}
	}
	return nil, errs.New(errs.Invalid, "Choose a file first.")
}

// POST /{owner}/{repo}/attachments/{key}/delete
//
// Remove removes an attachment, and leads back to the form's return_to. Errors: 403, 404.
func (p *Pages) Remove(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	_, err = p.kit.Send(r, inside.Request{Method: http.MethodDelete, Path: api(a, "labels", "x"),
		Handler: p.with.Remove,
		Query:   page.Query("key", web.Param(r, "key"))})
	if err != nil {
		return err
	}
	return page.SeeOther(w, r, page.ReturnTo(form.Get("return_to"),
		web.Path(a.Owner.Login, a.Name, "attachments")))
}
