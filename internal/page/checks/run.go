package checks

import (
	"html/template"
	"net/http"

	"arbor/internal/checkrun"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Bounds of what the page of a run shows.
const (
	notesPerPage = 100      // annotations
	maxText      = 64 << 10 // bytes of a summary or a text
)

type runView struct {
	page.Frame
	Run           run
	Summary, Text said
	Extras        *checkrun.Extras
	Notes         []page.Annotation
}

// said is a text of an App's: Markdown, or as it is where it is too much for that.
type said struct {
	page.Clipped
	Body template.HTML
}

func (p *Pages) said(r *http.Request, a *repo.Access, text string) (s said, err error) {
	s.Clipped = page.Clip(text, maxText)
	s.Body, err = p.kit.Markdown(r, a, s.Clipped.Text)
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
// Run answers the page of a check run: what came of it, what its App says, and a hundred annotations. Error: 404.
func (p *Pages) Run(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &runView{}
	if _, err := p.kit.Get(r, runPath(a, r), nil, &v.Run); err != nil {
		return page.Absent(err)
	}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", v.Run.Name); err != nil {
		return err
	}
	if v.Extras, err = p.extras(r.Context(), a, v.Run.ID); err != nil {
		return err
	}
	for n := range v.Extras.Images {
		v.Extras.Images[n].URL = page.WebAddress(v.Extras.Images[n].URL)
	}
	more, err := p.kit.Get(r, runPath(a, r)+"/annotations", page.Part(r, notesPerPage), &v.Notes)
	if err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more)
	if v.Summary, err = p.said(r, a, v.Run.Output.Summary); err != nil {
		return err
	}
	if v.Text, err = p.said(r, a, v.Run.Output.Text); err != nil {
		return err
	}
	page.ClipAnnotations(v.Notes)
	return p.t.Page(w, r, "run.html", v)
}
