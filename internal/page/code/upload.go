package code

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Limits of one upload besides maxUpload.
const (
	maxUploaded    = 100     // files
	maxUploadField = 1 << 16 // bytes of a field that is not a file
)

// uploadView is the form that uploads files.
type uploadView struct {
	at
	proposal
	Max int64 // bytes of all files
}

// GET /{owner}/{repo}/upload/{path...}
//
// UploadForm answers the form that uploads files into a directory of a branch. Errors: 403, 404.
func (p *Pages) UploadForm(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.uploading(r, a)
	return p.t.Show(w, r, "upload.html", v, err)
}

func (p *Pages) uploading(r *http.Request, a *repo.Access) (*uploadView, error) {
	place, err := p.placeOrEmpty(r, a, web.Param(r, "path"))
	if err != nil {
		return nil, err
	}
	v := &uploadView{at: place, Max: maxUpload}
	v.Title, v.Suggested = "Upload files", "Add files"
	if v.At.Type != "tree" {
		return nil, errs.Absent()
	}
	return v, v.checkWritable()
}

// POST /{owner}/{repo}/upload/{path...}
//
// Upload commits the files of a form at one time; those that are there already are replaced. Errors: those of
// the API.
func (p *Pages) Upload(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.uploading(r, a)
	if err != nil {
		return err
	}
	// as it came, and read of that
	release, err := admission.Memory(r.Context(), 2*sent(r))
	if err != nil {
		return err
	}
	defer release()
	form, add, err := readUpload(r, v.At.Path)
	if err == nil && len(add) == 0 {
		err = errs.New(errs.Invalid, "Choose a file first.")
	}
	v.proposal = v.readProposal(form)
	v.Suggested = "Add " + plural(len(add))
	if len(add) == 1 {
		v.Suggested = "Add " + path.Base(add[0].Path)
	}
	if err == nil {
		var to string
		done := v.Link("tree", v.At.Path)
		if to, err = p.write(r, a, &v.at, &v.proposal, add, nil, done); err == nil {
			return committed(w, r, to, done, uploaded(len(add)))
		}
	}
	return p.t.Refuse(w, r, "upload.html", err, v)
}

// sent is how many bytes a body has. One that came in pieces did not say so before.
func sent(r *http.Request) int64 {
	if body, ok := r.Body.(*web.Body); ok {
		return int64(len(body.Data))
	}
	return max(r.ContentLength, 0)
}

func plural(n int) string { return decimal(int64(n)) + " files" }

// uploaded is the message about a number of files.
func uploaded(n int) string {
	if n == 1 {
		return "The file was uploaded."
	}
	return plural(n) + " were uploaded."
}

// readUpload reads a form with files, which go into a directory. Errors: 400, 413, 415, 422.
func readUpload(r *http.Request, dir string) (form page.Form, add []gitdata.FileChange, err error) {
	form = page.Form{Values: url.Values{}}
	parts, err := r.MultipartReader()
	if err != nil {
		return form, nil, errs.New(errs.UnsupportedMedia, "files are sent as multipart/form-data")
	}
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return form, add, nil
		}
		if err != nil {
			return form, nil, badUpload(err)
		}
		if n == page.MaxFields {
			return form, nil, errs.Newf(errs.Malformed, "a form has at most %d fields", page.MaxFields)
		}
		if part.FormName() != "files" {
			err = readField(form, part)
		} else if name := nameOf(part.FileName()); name != "" {
			if len(add) == maxUploaded {
				return form, nil, errs.Newf(errs.Invalid,
					"One commit takes at most %d files here.", maxUploaded)
			}
			var data []byte
			if data, err = io.ReadAll(part); err == nil {
				add = append(add, gitdata.FileChange{Path: path.Join(dir, name), Data: data})
			}
		}
		if err != nil {
			return form, nil, badUpload(err)
		}
	}
}

func badUpload(err error) error {
	if _, ok := errors.AsType[*errs.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errs.Newf(errs.TooLarge, "All files together may have at most %s.", page.Bytes(maxUpload))
	}
	return errs.New(errs.Malformed, "the form is not encoded as forms with files are")
}

// readField reads a field that is not a file.
func readField(form page.Form, part *multipart.Part) error {
	data, err := io.ReadAll(io.LimitReader(part, maxUploadField+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxUploadField:
		return errs.New(errs.Malformed, "a field of the form is too long")
	case !utf8.Valid(data) || strings.IndexByte(string(data), 0) >= 0:
		return errs.New(errs.Malformed, "a field of the form is not UTF-8 text")
	}
	form.Set(part.FormName(), strings.ReplaceAll(string(data), "\r\n", "\n"))
	return nil
}

// nameOf is the last part of what a browser calls a file.
func nameOf(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if !utf8.ValidString(name) {
		return ""
	}
	return name
}
