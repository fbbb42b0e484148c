package releases

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxParts is how many files one form may bring.
const maxParts = 50

// POST /{owner}/{repo}/releases/{release_id}/assets
//
// Upload adds the files of a form to a release, each while it comes, and leads to the release. A file that is
// refused ends that: the page says why, and those before it stay. Errors: 403, 404, 415.
func (p *Pages) Upload(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := a.Require(account.Push); err != nil {
		return err
	}
	id, err := web.Number(r, "release_id")
	if err != nil {
		return err
	}
	of, err := p.with.Releases.Get(r.Context(), a, id)
	if err != nil {
		return err
	}
	form, err := r.MultipartReader()
	if err != nil {
		return errs.New(errs.UnsupportedMedia, "files are sent as multipart/form-data")
	}
	admission.As(r.Context(), admission.Push) // the client may be slow: others go first
	if err = p.upload(r, a, id, form); err == nil {
		return page.Done(w, r, of.PagePath(), "The files were added.")
	}
	load := func(r *http.Request) (_ *listView, err error) {
		if of, err = p.with.Releases.Get(r.Context(), a, id); err != nil {
			return nil, err
		}
		return p.one(r, a, newView(of))
	}
	return page.RefuseWith(p.t, w, r, "releases.html", err, load, func(v *listView) { v.Here = of.PagePath() })
}

// upload adds each file as it comes.
func (p *Pages) upload(r *http.Request, a *repo.Access, id int64, form *multipart.Reader) error {
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return err
	}
	files := 0
	for range maxParts {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			if files == 0 {
				return errs.New(errs.Invalid, "Choose a file first.")
			}
			return nil
		}
		if err != nil {
			return errs.Wrap(errs.Malformed, "the form could not be read to its end", err)
		}
		if part.FileName() == "" { // a field, or no file chosen
			continue
		}
		_, err = p.with.Releases.Upload(ctx, a, id, release.NewAsset{Name: part.FileName(),
			ContentType: part.Header.Get("Content-Type"), Size: -1, From: part})
		if err != nil {
			return err
		}
		files++
	}
	return errs.Newf(errs.Invalid, "at most %d files at a time", maxParts)
}

// POST /{owner}/{repo}/releases/assets/{asset_id}/delete
//
// DeleteAsset removes a file of a release, and leads back to the form's return_to. Errors: 403, 404.
func (p *Pages) DeleteAsset(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	id, err := web.Number(r, "asset_id")
	if err != nil {
		return err
	}
	ctx, err := p.kit.Delete(r, a, account.Push)
	if err != nil {
		return err
	}
	if err := p.with.Releases.DeleteAsset(ctx, a, id); err != nil {
		return err
	}
	return page.SeeOther(w, r, page.ReturnTo(form.Get("return_to"),
		web.Path(a.Owner.Login, a.Name, "releases")))
}
