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

// said is a text of an App: rendered Markdown, or the plain text if it is too long to render.
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

// GET /{owner}/{repo}/runs/{check_run_id}
//
// Run answers the page of a check run: what came of it, what its App says, and the beginnings of a hundred
// annotations. With ?annotation=ID it shows all of that annotation. Error: 404.
func (p *Pages) Run(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx := r.Context()
	id, err := web.Number(r, "check_run_id")
	if err != nil {
		return err
	}
	of, err := p.of.Checks.Get(ctx, a, id)
	if err != nil {
		return err
	}
	v := &runView{Run: newRun(of, a)}
	one := web.QueryOf(r).Get("annotation")
	v.Alone = one != ""
	at := web.Page{Number: web.ReadPage(r).Number, Size: notesPerPage}
	if v.Alone {
		err = p.alone(r, a, v, one)
	} else {
		err = p.notes(r, a, v, at)
	}
	if err != nil {
		return err
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", v.Run.Name); err != nil {
		return err
	}
	if !v.Alone {
		v.Pages = page.PagesOf(r, len(v.Notes) > 0 && at.Offset()+at.Size < of.Annotations)
		if err := p.told(r, a, v, of.Run); err != nil {
			return err
		}
	}
	return p.t.Page(w, r, "run.html", v)
}

// alone reads all of the annotation of an id. Error: 404.
func (p *Pages) alone(r *http.Request, a *repo.Access, v *runView, id string) error {
	n, ok := web.ParseNumber(id)
	if !ok {
		return errs.Absent()
	}
	one, err := p.of.Checks.Note(r.Context(), a, v.Run.ID, n)
	if err != nil {
		return err
	}
	v.add(one, a)
	return nil
}

// notes reads the beginnings of a page of annotations.
func (p *Pages) notes(r *http.Request, a *repo.Access, v *runView, at web.Page) error {
	list, err := p.of.Checks.Notes(r.Context(), a, v.Run.ID, at)
	for n := range list {
		v.add(&list[n], a)
	}
	return err
}

func (v *runView) add(n *checkrun.Note, a *repo.Access) {
	note := page.NewAnnotation(n, a)
	note.Above, note.Alone = true, v.Alone
	v.Notes = append(v.Notes, note)
}

// told reads what the App says of the run.
func (p *Pages) told(r *http.Request, a *repo.Access, v *runView, of *checkrun.Run) error {
	extras, err := of.Extras()
	if err != nil {
		return err
	}
	for n := range extras.Images {
		extras.Images[n].URL = page.WebAddress(extras.Images[n].URL)
	}
	v.Extras = &extras
	if v.Summary, err = p.said(r, a, page.TextOf(of.Summary)); err != nil {
		return err
	}
	v.Text, err = p.said(r, a, page.TextOf(of.Text))
	return err
}
