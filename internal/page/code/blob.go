package code

import (
	"html/template"
	"net/http"
	"path"
	"strings"

	"arbor/internal/codeowner"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxText bounds a file's text on its pages, in bytes; the rest is at its raw address.
const maxText = 512 << 10

// maxPDF is the size in bytes of the largest PDF that a page shows; browsers read it whole.
const maxPDF = 20 << 20

type blobView struct {
	at
	part
	File   *gitdata.File
	Latest *page.Commit
	Mark   *mark
	Kind   string // text, picture, pdf, markdown, table, notebook, binary, large, submodule
	HTML   template.HTML
	Source bool   // the source of what could be shown rendered
	Wrong  string // why the file cannot be used as the template of issues that it should be; empty: it can
	Module string // the address of a submodule
	Table  *dataTable
	Cells  []bookCell // of a notebook

	Large bool // stored with Git LFS: File has what was read of the object, and Git a pointer

	Owners *codeowner.File // with its errors, if this is a CODEOWNERS file
	Files  *folder         // beside the file
}

// HasForms reports a file that is shown rendered and as its source.
func (v *blobView) HasForms() bool {
	return v.Source || v.HTML != "" || v.Table != nil || v.Cells != nil || v.Kind == "picture" && v.IsSVG()
}

// IsSVG reports a picture that has a source to read.
func (v *blobView) IsSVG() bool { return strings.EqualFold(path.Ext(v.Name()), ".svg") }

// Rows are the rows of the text's table: a number that is a link, and the line.
func (v *blobView) Rows() template.HTML {
	var b strings.Builder
	for n, line := range v.Lines {
		writeRow(&b, v.From+n, line)
	}
	return template.HTML(b.String()) // lines are escaped
}

// GET /{owner}/{repo}/blob/{path...}
//
// Blob answers the page of a file: its text highlighted, 1,500 lines a page (?line= leads to that of a line),
// a picture, a PDF by the browser's own viewer, or Markdown rendered (?plain=1: its source). What is
// stored with Git LFS is shown in the place of its pointer. ?raw=true leads to the bytes. A directory leads to its own page. Error: 404.
func (p *Pages) Blob(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	place, err := p.place(r, a, "blob")
	if err != nil {
		return err
	}
	if raw := web.QueryOf(r).Get("raw"); raw == "1" || raw == "true" { // links to files at GitHub have it
		return page.SeeOther(w, r, place.Link("raw", place.At.Path))
	}
	if place.At.Type == "tree" {
		return page.SeeOther(w, r, place.Link("tree", place.At.Path))
	}
	v := &blobView{at: place}
	v.File, err = p.file(r, a, &v.At)
	if errs.Is(err, errs.Forbidden) { // too large for the API
		v.File, err = &gitdata.File{TreeEntry: git.TreeEntry{Mode: git.ModeFile, Type: git.TypeBlob}}, nil
	}
	if err != nil {
		return page.Absent(err)
	}
	if v.Large, err = p.large(r, a, v.File); err != nil {
		return err
	}
	changes, err := p.with.Git.LastChanges(r.Context(), a, v.At.SHA, v.At.Path, false)
	if err != nil {
		return err
	}
	if v.Latest, v.Mark, err = p.latestOf(r.Context(), a, changes); err != nil {
		return err
	}
	if codeowner.IsPlace(v.At.Path) {
		if v.Owners, err = p.with.Owners.File(r.Context(), a, string(v.At.SHA)); err != nil {
			return page.Absent(err)
		}
	}
	to, err := p.show(r, v)
	if err != nil {
		return err
	}
	if to != "" {
		return page.SeeOther(w, r, v.Link("blob", v.At.Path)+to)
	}
	v.Files, err = p.beside(r, a, &v.at)
	return p.t.Show(w, r, "blob.html", v, err)
}

// maxLarge bounds the object of Git LFS that is read to be shown, in bytes.
const maxLarge = 1 << 20

// large puts the object of Git LFS into the place of a pointer, and reports whether there is one.
func (p *Pages) large(r *http.Request, a *repo.Access, f *gitdata.File) (bool, error) {
	o, ok, err := p.with.Git.Large(r.Context(), a, f)
	if err != nil || !ok {
		return false, err
	}
	f.Size = o.Size
	f.Data, f.Read, err = p.with.Git.LFS.Read(r.Context(), o, maxLarge)
	return true, err
}

// show decides how the file is shown. It gives the query of another page where a line is asked for that is
// there.
func (p *Pages) show(r *http.Request, v *blobView) (to string, err error) {
	kind := kindOf(v.File.Mode)
	if kind == "submodule" {
		v.Kind, v.Module = kind, page.WebAddress(page.Valid(text(v.File.Submodule)))
		return "", nil
	}
	if page.IsPicture(v.Name()) && kind == "file" {
		v.Kind = "picture"
		if !v.IsSVG() || web.QueryOf(r).Get("plain") != "1" {
			return "", nil
		}
		v.Source = true
	}
	if strings.EqualFold(path.Ext(v.Name()), ".pdf") && kind == "file" && v.File.Size > 0 && v.File.Size <= maxPDF {
		v.Kind = "pdf"
		return "", nil
	}
	data, ok := v.File.Data, v.File.Read
	if v.File.Link != nil {
		data, ok = []byte(*v.File.Link), true
	}
	text, isText := textOf(data)
	switch {
	case !ok:
		v.Kind = "large"
		return "", nil
	case !isText:
		v.Kind = "binary"
		return "", nil
	}
	v.Kind = "text"
	if !v.Large {
		v.Wrong = gitdata.TemplateProblem(v.At.Path, text)
	}
	if isMarkdown(v.Name()) && !v.Large {
		v.Kind, v.Source = "markdown", web.QueryOf(r).Get("plain") == "1"
		if !v.Source {
			if v.HTML, err = p.rendered(r, &v.at, v.At.Path); err != nil || v.HTML != "" {
				return "", err
			}
			v.Kind = "text"
		}
	}
	if shown, err := p.showData(r, v, text, web.QueryOf(r).Get("plain") == "1"); err != nil || shown {
		return "", err
	}
	list, total, cut := p.lines(r.Context(), v.Name(), text)
	v.part = partOf(r, list, total, cut)
	return lineAsked(r, list), nil
}

// textOf is the contents as text, with LF; ok is false for anything else.
func textOf(data []byte) (text string, ok bool) {
	text = string(data)
	if strings.IndexByte(text, 0) >= 0 {
		return "", false
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n"), true
}

func isMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mkdn", ".mkd":
		return true
	}
	return false
}
