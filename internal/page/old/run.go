package old

import (
	"net/http"
	"time"

	"arbor/internal/checkrun"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// annotationsPerPage is how many annotations the page of a check run shows.
const annotationsPerPage = 100

// runJSON is what the page reads of a check run.
type runJSON struct {
	ID         int64
	Name       string
	SHA        string `json:"head_sha"`
	Status     string
	Conclusion string
	HTMLURL    string    `json:"html_url"`
	DetailsURL string    `json:"details_url"`
	Started    time.Time `json:"started_at"`
	Completed  time.Time `json:"completed_at"`
	Output     struct{ Title, Summary, Text string }
	App        *struct {
		Name    string
		HTMLURL string `json:"html_url"`
	}
}

// State is the conclusion, or how far the run is.
func (r *runJSON) State() string {
	if r.Conclusion != "" {
		return r.Conclusion
	}
	return r.Status
}

type noteJSON struct {
	Path    string
	Href    string `json:"blob_href"`
	Start   int64  `json:"start_line"`
	End     int64  `json:"end_line"`
	Level   string `json:"annotation_level"`
	Title   string
	Message string
	Details string `json:"raw_details"`
}

type runView struct {
	where
	Run           runJSON
	Commit        string // its page
	Summary, Text clipped
	Extras        *checkrun.Extras
	Annotations   []noteView
}

type noteView struct {
	noteJSON
	Shown, More clipped // the message and the details
}

// GET /{owner}/{repo}/runs/{check_run_id}
//
// Run answers the page of a check run: what came of it, what its App says, and a hundred annotations. Error: 404.
func (p *Pages) Run(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id := web.Param(r, "check_run_id")
	v := &runView{}
	q := question{handler: p.from.Checks.Get, path: "/check-runs" + web.Path(id), params: []string{"check_run_id", id}}
	if _, err := ask(r, a, q, &v.Run); err != nil {
		return err
	}
	extras, err := p.from.Checks.Extras(r.Context(), a, v.Run.ID)
	if err != nil {
		return err
	}
	q.handler, q.path, q.query = p.from.Checks.ListAnnotations, q.path+"/annotations", part(r, annotationsPerPage)
	var notes []noteJSON
	more, err := ask(r, a, q, &notes)
	if err != nil {
		return err
	}
	v.Extras = extras
	v.where = at(a, v.Run.Name)
	v.Next = next(r, more)
	v.Commit = v.RepoPath + "/commit/" + v.Run.SHA
	v.Summary, v.Text = clip(v.Run.Output.Summary, maxMessage), clip(v.Run.Output.Text, maxMessage)
	left := maxAllPatches
	for _, n := range notes {
		shown := noteView{noteJSON: n, Shown: clip(n.Message, min(left, maxPatch))}
		left -= len(shown.Shown.Text)
		shown.More = clip(n.Details, min(left, maxPatch))
		left -= len(shown.More.Text)
		v.Annotations = append(v.Annotations, shown)
	}
	return p.render.page(w, r, "run.html", v)
}
