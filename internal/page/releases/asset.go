package releases

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxParts is how many files one form may bring.
const maxParts = 50

func releasePath(a *repo.Access, id int64) string {
	return web.Path("repos", a.Owner.Login, a.Name, "releases", strconv.FormatInt(id, 10))
}

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
	var of release
	if _, err := p.kit.Get(r, releasePath(a, id), nil, &of); err != nil {
		return page.Absent(err)
	}
	form, err := r.MultipartReader()
	if err != nil {
		return errs.New(errs.UnsupportedMedia, "files are sent as multipart/form-data")
	}
	admission.As(r.Context(), admission.Push) // the client may be slow: others go first
	if err = p.upload(r, a, id, form); err == nil {
		return page.Done(w, r, of.Path(), "The files were added.")
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	if _, err := p.kit.Get(r, releasePath(a, id), nil, &of); err != nil {
		return page.Absent(err)
	}
	v, err := p.one(r, a, &of)
	if err != nil {
		return err
	}
	v.Problem, v.Here = problem, of.Path()
	return p.t.Again(w, r, "releases.html", problem, v)
}

// upload hands each file to the API as it comes.
func (p *Pages) upload(r *http.Request, a *repo.Access, id int64, form *multipart.Reader) error {
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
		_, err = p.kit.Send(r, inside.Request{Method: http.MethodPost, Path: releasePath(a, id) + "/assets",
			Query: page.Query("name", part.FileName()), Stream: part, Type: part.Header.Get("Content-Type")})
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
	at := web.Path("repos", a.Owner.Login, a.Name, "releases", "assets", web.Param(r, "asset_id"))
	if err := p.kit.Change(r, http.MethodDelete, at, nil, nil); err != nil {
		return err
	}
	return page.SeeOther(w, r, page.ReturnTo(form.Get("return_to"),
		web.Path(a.Owner.Login, a.Name, "releases")))
}
