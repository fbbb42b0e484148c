// Package attach is the pages with which people put files into texts of a repository.
//
//	GET, POST /{owner}/{repo}/attachments             the form, and what one has there; the script sends files here, too
//	POST /{owner}/{repo}/attachments/{key}/delete     removes one
//
// Package attachment has the rules, and serves the files.
package attach

import (
	"embed"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/attachment"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the pages of this room.
type Pages struct {
	kit   *page.Kit
	t     *page.Templates
	files *attachment.Service
}

// New returns the pages.
func New(kit *page.Kit, files *attachment.Service) *Pages { return &Pages{kit, roomTemplates, files} }

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
	return p.t.Show(w, r, "attach.html", v, err)
}

func (p *Pages) view(r *http.Request, a *repo.Access) (*view, error) {
	v := &view{}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "", "Attach a file"); err != nil {
		return nil, err
	}
	at := web.Page{Number: web.ReadPage(r).Number, Size: perPage}
	found, err := p.files.ListOwn(r.Context(), a, at)
	if err != nil {
		return nil, err
	}
	v.Attachments = page.NewAttachments(found, a)
	v.Pages = page.PagesOf(r, at.Offset()+at.Size < found.Files)
	return v, nil
}

// perPage is how many attachments a page shows.
const perPage = 30

// POST /{owner}/{repo}/attachments
//
// Upload attaches the file of a form, while it comes. It leads to the page that shows the Markdown; a program
// that does not ask for HTML gets name, url and markdown as JSON. Errors: 403, 415, 422, 507.
func (p *Pages) Upload(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	admission.As(r.Context(), admission.Push) // the client may be slow: others go first
	made, err := p.upload(r, a)
	switch {
	case err == nil && page.Asked(r):
		return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "attachments"), "The file was attached.")
	case err == nil:
		return web.JSON(w, r, http.StatusCreated, attachment.NewPayload(r.Context(), a, made, a.Caller.Login))
	}
	web.Drain(w, r)
	if !page.Asked(r) {
		return err
	}
	r.ContentLength = 0 // nothing of the file stands in the page
	return page.RefuseWith(p.t, w, r, "attach.html", err,
		func(r *http.Request) (*view, error) { return p.view(r, a) }, nil)
}

// upload hands the form's first file to package attachment.
func (p *Pages) upload(r *http.Request, a *repo.Access) (*attachment.Attachment, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, errs.New(errs.UnsupportedMedia, "files are sent as multipart/form-data")
	}
	part, err := firstFile(form)
	if err != nil {
		return nil, err
	}
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return nil, err
	}
	return p.files.Upload(ctx, a, escapes.Replace(part.FileName()), part)
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
	ctx, err := p.kit.Delete(r, a, account.Pull)
	if err != nil {
		return err
	}
	if err := p.files.Remove(ctx, a, web.Param(r, "key")); err != nil {
		return err
	}
	return page.SeeOther(w, r, page.ReturnTo(form.Get("return_to"),
		web.Path(a.Owner.Login, a.Name, "attachments")))
}
