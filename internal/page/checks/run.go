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
	notesPerPage = 100       // annotations
	maxText      = 64 << 10  // bytes of a summary or a text
	maxNote      = 32 << 10  // bytes of an annotation's message or details
	maxNotes     = 512 << 10 // bytes of all of them
)

type note struct {
	Path    string
	Href    string `json:"blob_href"`
	Start   int64  `json:"start_line"`
	End     int64  `json:"end_line"`
	Level   string `json:"annotation_level"`
	Title   string
	Message string
	Details string `json:"raw_details"`

	Shown, More page.Clipped `json:"-"` // the message and the details
}

// Mark is the kind of picture that stands for it.
func (n *note) Mark() string {
	switch n.Level {
	case "failure":
		return "bad"
	case "warning":
		return "wait"
	}
	return "none"
}

// Address is that of the lines on this site.
func (n *note) Address() string { return page.Local(n.Href) }

type runView struct {
	page.Frame
	Run           run
	Summary, Text said
	Extras        *checkrun.Extras
	Notes         []note
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
	left := maxNotes
	for i := range v.Notes {
		n := &v.Notes[i]
		n.Shown = page.Clip(n.Message, min(left, maxNote))
		left -= len(n.Shown.Text)
		n.More = page.Clip(n.Details, min(left, maxNote))
		left -= len(n.More.Text)
	}
	return p.t.Page(w, r, "run.html", v)
}
