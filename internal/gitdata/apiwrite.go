package gitdata

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// PUT /repos/{owner}/{repo}/contents/{path...}
//
// PutContents writes a file in one commit on a branch, which must exist unless the repository is empty. To
// change an existing file, the sha of its blob is required, so that concurrent changes are not lost: 409 if
// it has changed, 422 without it. It returns 201 for a new file, 200 for a changed one.
func (api *API) PutContents(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changeFile(w, r, a, false)
}

// DELETE /repos/{owner}/{repo}/contents/{path...}
//
// DeleteContents deletes a file in one commit. The sha of its blob is required, so that concurrent changes
// are not lost.
func (api *API) DeleteContents(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changeFile(w, r, a, true)
}

func (api *API) changeFile(w http.ResponseWriter, r *http.Request, a *repo.Access, remove bool) error {
	body, err := web.ReadObject(r, "Commit")
	if err != nil {
		return err
	}
	self, err := api.identity(r)
	if err != nil {
		return err
	}
	e := FileEdit{Path: web.Param(r, "path"), Remove: remove, signs: signsFor(r, body)}
	e.read(body, self)
	if err := body.Err(); err != nil {
		return err
	}
	made, err := api.s.editFile(r.Context(), a, &e)
	if err != nil {
		return err
	}
	verified, err := api.s.verifyCommit(r.Context(), made.Commit)
	if err != nil {
		return err
	}
	payload := &fileChangeJSON{Commit: newPlace(r.Context(), a).gitCommit(made.Commit, verified)}
	if !remove {
		v := &view{addresses: newPlace(r.Context(), a), ref: cmp.Or(e.Branch, a.DefaultBranch)}
		payload.Content = v.entry(&made.entry)
	}
	status := http.StatusOK
	if made.created {
		status = http.StatusCreated
	}
	return web.JSON(w, r, status, payload)
}

// fileChangeJSON is GitHub's file-commit: the file, or null if it was deleted, and the commit.
type fileChangeJSON struct {
	Content *contentJSON  `json:"content"`
	Commit  gitCommitJSON `json:"commit"`
}

// read decodes the body and records its faults.
func (e *FileEdit) read(body *web.Object, self git.Signature) {
	body.Require("message")
	e.Message = body.String("message", 0).Value
	e.Committer = readPerson(body, "committer", "Commit", self)
	e.Author = readPerson(body, "author", "Commit", e.Committer)
	e.Guard = readSHA(body, "sha", e.Remove)
	e.Branch = body.String("branch", 0).Value
	e.checkPath(&body.Faults)
	if e.Remove {
		return
	}
	content := body.String("content", 0)
	if !content.Given() {
		body.Wrong("content", errs.MissingField, "")
		return
	}
	data, err := decodeBase64(content.Value)
	if err != nil {
		body.Wrong("content", errs.InvalidField, "content is not valid Base64")
	}
	e.Data = data
}

// signsFor reports whether the server signs the commit of a body: one of an App that is its author and committer.
func signsFor(r *http.Request, body *web.Object) bool {
	return account.CallerFrom(r.Context()).App != 0 && !body.Has("author") && !body.Has("committer")
}

// identity returns the caller as author.
func (api *API) identity(r *http.Request) (git.Signature, error) {
	return api.s.repos.Identity(r.Context(), account.CallerFrom(r.Context()))
}

// readPerson reads author, committer or tagger: an object of name, email and date. Both the object and its
// date default to fallback.
func readPerson(o *web.Object, field, resource string, fallback git.Signature) git.Signature {
	raw := o.Raw(field)
	if len(raw) == 0 || string(raw) == "null" {
		return fallback
	}
	person, err := web.ParseObject(raw, resource)
	if err != nil {
		o.Wrong(field, errs.InvalidField, field+" must be an object of name, email and date")
		return fallback
	}
	person.Require("name", "email")
	who := git.Signature{Name: strings.TrimSpace(person.String("name", 0).Value),
		Email: strings.TrimSpace(person.String("email", 0).Value), When: fallback.When}
	if date := person.String("date", 0); date.Given() {
		if who.When, err = git.ParseDate(date.Value); err != nil {
			o.Wrong(field+".date", errs.InvalidField, err.Error())
			return fallback
		}
	}
	if wrong := fieldsOf(person.Err()); len(wrong) > 0 {
		for _, f := range wrong {
			o.Wrong(field+"."+f.Field, f.Code, f.Message)
		}
		return fallback
	}
	if err := who.Check(); err != nil {
		o.Wrong(field, errs.InvalidField, field+": "+err.Error())
	}
	return who
}

// readSHA reads a field with a SHA. It reports a missing one if it is required, and always one that is not
// a full SHA.
func readSHA(o *web.Object, field string, required bool) git.SHA {
	if required {
		o.Require(field)
	}
	v := o.String(field, 0)
	if !v.Given() || v.Value == "" {
		return ""
	}
	return parseSHA(&o.Faults, field, v.Value)
}

// fullSHA reads the SHA in an address. Its error is GitHub's.
func fullSHA(r *http.Request) (git.SHA, error) {
	sha, err := git.ParseSHA(web.Param(r, "sha"))
	if err != nil || sha.IsZero() {
		return "", errs.New(errs.Invalid,
			"The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
	}
	return sha, nil
}

func fieldsOf(err error) []errs.Field {
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e.Fields
	}
	return nil
}
