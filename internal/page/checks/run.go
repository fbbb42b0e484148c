package checks

import (
	"html/template"
	"net/http"

	"arbor/internal/checkrun"
	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// notesPerPage is how many annotations a page shows, of long ones the beginnings.
const notesPerPage = 100

type runView struct {
	page.Frame
	Run           run
	Summary, Text said
	Extras        *checkrun.Extras
	Notes         []page.Annotation
	// the one annotation of ?annotation=ID is shown, all of it, in place of what the App says of the run
	Alone bool
}

// said is a text of an App's: Markdown, or as it is where it is too much for that.
type said struct {
	Text string
	Body template.HTML
}

func (p *Pages) said(r *http.Request, a *repo.Access, text string) (s said, err error) {
	s.Text = text
	s.Body, err = p.kit.Markdown(r, a, text)
	if errs.Is(err, errs.TooLarge) || errs.Is(err, errs.Invalid) || errs.Is(err, errs.Forbidden) {
		err = nil
	}
	return s, err
}

func runPath(a *repo.Access, r *http.Request) string {
	return web.Path("repos", a.Owner.Login, a.Name, "check-runs", web.Param(r, "check_run_id"))
}

// GET /{owner}/{repo}/runs/{check_run_id}
//
// Run answers the page of a check run: what came of it, what its App says, and the beginnings of a hundred
// annotations. With ?annotation=ID it shows all of that annotation. Error: 404.
func (p *Pages) Run(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &runView{}
	if _, err := p.kit.Get(r, runPath(a, r), nil, &v.Run); err != nil {
		return page.Absent(err)
	}
	one := web.QueryOf(r).Get("annotation")
	v.Alone = one != ""
	q := inside.Request{Path: runPath(a, r) + "/annotations", Query: page.Part(r, notesPerPage),
		Handler: p.do.Annotations}
	if v.Alone {
		q.Query = page.Query("annotation", one)
	}
	more, err := p.kit.Read(r, q, &v.Notes)
	if err == nil && v.Alone && len(v.Notes) == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	for n := range v.Notes {
		v.Notes[n].Above, v.Notes[n].Alone = true, v.Alone
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", v.Run.Name); err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more)
	if !v.Alone {
		err = p.told(r, a, v)
	}
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "run.html", v)
}

// told reads what the App says of the run.
func (p *Pages) told(r *http.Request, a *repo.Access, v *runView) (err error) {
	if v.Extras, err = p.do.Extras(r.Context(), a, v.Run.ID); err != nil {
		return err
	}
	for n := range v.Extras.Images {
		v.Extras.Images[n].URL = page.WebAddress(v.Extras.Images[n].URL)
	}
	if v.Summary, err = p.said(r, a, v.Run.Output.Summary); err != nil {
		return err
	}
	v.Text, err = p.said(r, a, v.Run.Output.Text)
	return err
}
