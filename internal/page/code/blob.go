package code

import (
	"html/template"
	"net/http"
	"path"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxText bounds a file's text on its pages, in bytes; the rest is at its raw address.
const maxText = 512 << 10

type blobView struct {
	at
	part
	File   *entry
	Latest *page.Commit
	Mark   *mark
	Kind   string // text, picture, markdown, binary, large, submodule
	HTML   template.HTML
	Source bool   // the source of what could be shown rendered
	Module string // the address of a submodule
}

// IsSVG reports a picture that has a source to read.
func (v *blobView) IsSVG() bool { return strings.EqualFold(path.Ext(v.File.Name), ".svg") }

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
// a picture, or Markdown rendered (?plain=1: its source). A directory leads to its own page. Error: 404.
func (p *Pages) Blob(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	place, err := p.place(r, a, "blob")
	if err != nil {
		return err
	}
	if place.At.Type == "tree" {
		return page.SeeOther(w, r, place.Link("tree", place.At.Path))
	}
	v := &blobView{at: place}
	v.File, err = p.file(r, a, &v.At)
	if errs.Is(err, errs.Forbidden) { // too large for the API
		v.File, err = &entry{Name: place.Name(), Path: place.At.Path, Type: "file", Encoding: "none"}, nil
	}
	if err != nil {
		return page.Absent(err)
	}
	changes, err := p.changes(r, a, &v.At, false)
	if err != nil {
		return err
	}
	if v.Latest = changes.Latest; v.Latest != nil {
		marks, err := p.marks(r, a, []string{v.Latest.SHA})
		if err != nil {
			return err
		}
		v.Mark = marks[v.Latest.SHA]
	}
	to, err := p.show(r, v)
	if err != nil {
		return err
	}
	if to != "" {
		return page.SeeOther(w, r, v.Link("blob", v.At.Path)+to)
	}
	return p.t.Page(w, r, "blob.html", v)
}

// show decides how the file is shown. It gives the query of another page where a line is asked for that is
// there.
func (p *Pages) show(r *http.Request, v *blobView) (to string, err error) {
	if v.File.Type == "submodule" {
		v.Kind, v.Module = "submodule", page.WebAddress(v.File.Submodule)
		return "", nil
	}
	if isPicture(v.File.Name) && v.File.Type == "file" {
		v.Kind = "picture"
		if !v.IsSVG() || web.QueryOf(r).Get("plain") != "1" {
			return "", nil
		}
		v.Source = true
	}
	data, ok := v.File.bytes()
	if v.File.Type == "symlink" {
		data, ok = []byte(v.File.Target), true
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
	if isMarkdown(v.File.Name) {
		v.Kind, v.Source = "markdown", web.QueryOf(r).Get("plain") == "1"
		if !v.Source {
			if v.HTML, err = p.rendered(r, &v.at, v.At.Path); err != nil || v.HTML != "" {
				return "", err
			}
			v.Kind = "text"
		}
	}
	list, total, cut := p.lines(r.Context(), v.File.Name, text)
	v.part = partOf(r, list, total, cut)
	return lineAsked(r, list), nil
}

// textOf is the contents as text, with LF; ok is false for what is none.
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

// isPicture reports a name of a picture that browsers show.
func isPicture(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".ico", ".svg":
		return true
	}
	return false
}
