package code

import (
	"cmp"
	"html/template"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/highlight"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// editView is the form of a file: to change it, or to make one.
type editView struct {
	at
	proposal
	IsNew bool
	File  string // the path in the form
	Text  string
	Blob  string // the SHA of what the person saw; empty: of a new file

	Conflict bool // the file has changed since the form was opened
	Gone     bool // the file no longer exists
	Preview  *diff.View
	HTML     template.HTML // of Markdown, in a preview

	was  string // the file's text now
	crlf bool   // its lines end in CRLF
}

// GET /{owner}/{repo}/edit/{path...}
//
// EditForm answers the form that changes a text file of a branch. Errors: 403, 404.
func (p *Pages) EditForm(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.editing(r, a)
	if err != nil {
		return err
	}
	v.File, v.Text, v.Blob = v.At.Path, v.was, string(v.At.Object)
	return p.t.Page(w, r, "edit.html", v)
}

// editing finds the file, which must be a text that fits into a form.
func (p *Pages) editing(r *http.Request, a *repo.Access) (*editView, error) {
	place, err := p.place(r, a, "blob")
	if err != nil {
		return nil, err
	}
	v := &editView{at: place}
	if err := v.checkWritable(); err != nil {
		return nil, err
	}
	if v.At.Type != "blob" || v.At.Mode == "120000" {
		return nil, errs.New(errs.Forbidden, "This file cannot be edited in the browser.")
	}
	v.Title, v.Suggested = "Edit "+v.At.Path, "Update "+v.Name()
	f, err := p.file(r, a, &v.At)
	if err != nil {
		return nil, err
	}
	data := f.Data
	if !f.Read || strings.IndexByte(string(data), 0) >= 0 || !utf8.Valid(data) {
		return nil, errs.New(errs.Forbidden,
			"The file is too large to be edited here, or is not UTF-8 text.")
	}
	v.was = string(data)
	if plain := strings.ReplaceAll(v.was, "\r\n", "\n"); plain != v.was {
		v.crlf = strings.Count(plain, "\n") == strings.Count(v.was, "\r\n")
	}
	if strings.Count(v.was, "\r") != strings.Count(v.was, "\r\n") ||
		strings.Contains(v.was, "\r") && !v.crlf {
		return nil, errs.New(errs.Forbidden,
			"The file has line ends of several kinds, which a form would change.")
	}
	v.was = strings.ReplaceAll(v.was, "\r\n", "\n")
	return v, nil
}

// GET /{owner}/{repo}/new/{path...}
//
// NewForm answers the form that makes a file in a directory of a branch; ?filename= and ?value= fill it in.
// Errors: 403, 404.
func (p *Pages) NewForm(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.making(r, a)
	if err != nil {
		return err
	}
	q := web.QueryOf(r)
	v.File = path.Join(v.At.Path, q.Get("filename"))
	if v.At.Path != "" && q.Get("filename") == "" {
		v.File += "/"
	}
	v.Text = strings.ReplaceAll(q.Get("value"), "\r\n", "\n")
	return p.t.Page(w, r, "edit.html", v)
}

func (p *Pages) making(r *http.Request, a *repo.Access) (*editView, error) {
	place, err := p.placeOrEmpty(r, a, web.Param(r, "path"))
	if err != nil {
		return nil, err
	}
	v := &editView{at: place, IsNew: true}
	v.Title, v.Suggested = "New file", "Create a file"
	if v.At.Type != "tree" {
		return nil, errs.Absent()
	}
	return v, v.checkWritable()
}

// read takes the form.
func (v *editView) read(form page.Form) {
	v.proposal = v.readProposal(form)
	v.File, v.Text, v.Blob = strings.Trim(form.Text("path"), "/"), form.Get("text"), form.Get("blob")
	switch base := path.Base("/" + v.File); {
	case v.IsNew:
		v.Suggested = "Create " + base
	case v.File != v.At.Path:
		v.Suggested = "Rename " + v.Name() + " to " + base
	default:
		v.Suggested = "Update " + base
	}
}

// POST /{owner}/{repo}/edit/{path...}
//
// Edit commits the changed file, under another path if the form has one, to the branch or to a new one;
// preview shows what would change. A file that somebody else has changed since is a conflict, which shows the
// form again with the text in it. Errors: those of the API.
func (p *Pages) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.editing(r, a)
	if errs.Is(err, errs.NotFound) && form.Get("blob") != "" {
		return p.gone(w, r, a, form)
	}
	if err != nil {
		return err
	}
	v.read(form)
	switch {
	case form.Get("blob") != string(v.At.Object):
		v.Conflict = true
		v.Blob = string(v.At.Object) // to commit again is to take the other's change back, knowingly
		v.preview(r, p.kit.Texts)
		return p.t.Again(w, r, "edit.html", &page.Problem{Status: http.StatusConflict}, v)
	case form.Checked("preview"):
		return p.showPreview(w, r, v)
	}
	err = p.checkPath(r, a, v)
	if err == nil {
		text := v.Text
		if v.crlf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		add, remove := []gitdata.FileChange{{Path: v.File, Data: []byte(text), From: v.At.Path}}, []gitdata.FileChange{}
		if v.File != v.At.Path {
			remove = append(remove, gitdata.FileChange{Path: v.At.Path})
		}
		var to string
		done := v.Link("blob", v.File)
		if to, err = p.write(r, a, &v.at, &v.proposal, add, remove, done); err == nil {
			return committed(w, r, to, done, v.File+" was saved.")
		}
	}
	return p.again(w, r, v, err)
}

// gone answers for a file that was deleted or renamed since the form was opened: the form then creates a new
// file with the text.
func (p *Pages) gone(w http.ResponseWriter, r *http.Request, a *repo.Access, form page.Form) error {
	ref, _, _ := strings.Cut(web.Param(r, "path"), "/")
	place, err := p.placeOrEmpty(r, a, cmp.Or(form.Text("ref"), ref))
	if err != nil {
		return err
	}
	v := &editView{at: place, IsNew: true, Gone: true}
	if err := v.checkWritable(); err != nil {
		return err
	}
	v.Title = "Edit"
	v.read(form)
	v.Blob = ""
	return p.t.Again(w, r, "edit.html", &page.Problem{Status: http.StatusConflict}, v)
}

// POST /{owner}/{repo}/new/{path...}
//
// Create commits a new file. Errors: those of the API; 422 if there is one already.
func (p *Pages) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.making(r, a)
	if err != nil {
		return err
	}
	v.read(form)
	if form.Checked("preview") {
		return p.showPreview(w, r, v)
	}
	err = p.checkPath(r, a, v)
	if err == nil {
		var to string
		add := []gitdata.FileChange{{Path: v.File, Data: []byte(v.Text)}}
		done := v.Link("blob", v.File)
		if to, err = p.write(r, a, &v.at, &v.proposal, add, nil, done); err == nil {
			return committed(w, r, to, done, v.File+" was created.")
		}
	}
	return p.again(w, r, v, err)
}

// checkPath refuses a path that has a file already, or names none.
func (p *Pages) checkPath(r *http.Request, a *repo.Access, v *editView) error {
	if v.File == "" {
		return errs.New(errs.Invalid, "The file needs a name.")
	}
	if !v.IsNew && v.File == v.At.Path {
		return nil
	}
	there, err := p.there(r, a, &v.at, v.File)
	if there {
		err = errs.Newf(errs.Invalid, "There is something at %q already.", errs.Clip(v.File))
	}
	return err
}

// again shows the form with what was wrong and what was typed.
func (p *Pages) again(w http.ResponseWriter, r *http.Request, v *editView, err error) error {
	return p.t.Refuse(w, r, "edit.html", err, v)
}

// showPreview shows the form with what it would change.
func (p *Pages) showPreview(w http.ResponseWriter, r *http.Request, v *editView) error {
	v.preview(r, p.kit.Texts)
	if isMarkdown(v.File) {
		html, err := p.kit.Markups.HTML(r.Context(), account.CallerFrom(r.Context()), v.Text, "", false)
		if err != nil {
			return err
		}
		v.HTML = template.HTML(html)
	}
	return p.t.Again(w, r, "edit.html", &page.Problem{Status: http.StatusOK}, v)
}

// preview compares the text with the file's.
func (v *editView) preview(r *http.Request, texts *highlight.Texts) {
	f := page.ChangedFile{Filename: v.File, Status: "modified"}
	switch {
	case v.IsNew:
		f.Status = "added"
	case v.File != v.At.Path:
		f.Status, f.Previous = "renamed", v.At.Path
	}
	diff.Between(&f, v.was, v.Text)
	v.Preview = diff.New(r, []page.ChangedFile{f}, diff.Options{Texts: texts})
}
