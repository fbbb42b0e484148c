package code

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/repo"
)

// deleteView is the form that deletes a file.
type deleteView struct {
	at
	proposal
	Blob string
}

// GET /{owner}/{repo}/delete/{path...}
//
// DeleteForm answers the form that deletes a file of a branch. Errors: 403, 404.
func (p *Pages) DeleteForm(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.deleting(r, a)
	return p.t.Show(w, r, "delete.html", v, err)
}

func (p *Pages) deleting(r *http.Request, a *repo.Access) (*deleteView, error) {
	place, err := p.place(r, a, "blob")
	if err != nil {
		return nil, err
	}
	v := &deleteView{at: place, Blob: string(place.At.Object)}
	v.Title, v.Suggested = "Delete "+v.At.Path, "Delete "+v.Name()
	if err := v.checkWritable(); err != nil {
		return nil, err
	}
	if v.At.Type != "blob" {
		return nil, errs.New(errs.Forbidden, "Only a file can be deleted here.")
	}
	return v, nil
}

// POST /{owner}/{repo}/delete/{path...}
//
// Delete commits that the file is gone. A file that changed since the form was shown is a conflict. Errors:
// those of the API.
func (p *Pages) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.deleting(r, a)
	if err != nil {
		return err
	}
	suggested := v.Suggested
	v.proposal = v.readProposal(form)
	v.Suggested = suggested
	if form.Get("blob") != v.Blob {
		v.Problem = &page.Problem{Status: http.StatusConflict,
			Message: "The file has changed. Review it before you delete it."}
		return p.t.Again(w, r, "delete.html", v.Problem, v)
	}
	done := v.Repo.Path + "/tree" + segments(v.At.Ref)
	to, err := p.write(r, a, &v.at, &v.proposal, nil, []gitdata.FileChange{{Path: v.At.Path}}, done)
	if err == nil {
		return committed(w, r, to, done, v.At.Path+" was deleted.")
	}
	return p.t.Refuse(w, r, "delete.html", err, v)
}
