package checkrun

import (
	"net/http"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// briefRun is a run in the lists that pages show. It omits the texts, which can be megabytes for a hundred
// runs, and has only the name of its App.
type briefRun struct {
	sha         git.SHA
	ID          int64       `json:"id"`
	Name        string      `json:"name"`
	HTMLURL     string      `json:"html_url"`
	Status      string      `json:"status"`
	Conclusion  *string     `json:"conclusion"`
	StartedAt   db.Time     `json:"started_at"`
	CompletedAt db.Time     `json:"completed_at"`
	Output      briefOutput `json:"output"`
	App         *briefApp   `json:"app"`
}

type briefOutput struct {
	Title       *string `json:"title"`
	Annotations int64   `json:"annotations_count"`
}

type briefApp struct {
	Name string `json:"name"`
}

const briefColumns = `r.head_sha, r.id, r.name, r.status, r.conclusion, r.started_at, r.completed_at, r.title, r.annotations,
	(SELECT a.name FROM apps a WHERE a.id = r.app_id)`

// scanBrief reads briefColumns. HTMLURL is set by complete.
func scanBrief(row db.Scanner) (*briefRun, error) {
	var b briefRun
	var status Status
	var conclusion Conclusion
	var app *string
	err := row.Scan(&b.sha, &b.ID, &b.Name, &status, &conclusion, &b.StartedAt, &b.CompletedAt,
		&b.Output.Title, &b.Output.Annotations, &app)
	b.Status, b.Conclusion = status.String(), web.OrNil(conclusion.String())
	if app != nil {
		b.App = &briefApp{*app}
	}
	return &b, err
}

// briefList is a page of runs.
type briefList struct {
	Total int64       `json:"total_count"`
	Runs  []*briefRun `json:"check_runs"`
}

// listBrief is list for pages. A page has often loaded the commit's summary before: if that counts no runs,
// listBrief does not query them.
func (api *API) listBrief(w http.ResponseWriter, r *http.Request, a *repo.Access, f *filter) error {
	page := web.ReadPage(r)
	out := briefList{Runs: []*briefRun{}}
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if !f.all && db.Recalls(tx) {
			if sums, err := Combined(tx, a.ID, f.sha); err != nil || sums[f.sha].Runs == 0 {
				return err
			}
		}
		out.Runs, out.Total, err = runsOf(tx, scanBrief, briefColumns, a.ID, f, page)
		return err
	})
	if err != nil {
		return err
	}
	complete(r, a, out.Runs)
	web.Link(w, r, page, out.Total)
	return web.JSON(w, r, http.StatusOK, out)
}

// maxMany is the number of commits in one request of ListManyBrief.
const maxMany = 100

// ListManyBrief returns the latest runs of several commits, given by the parameter shas, each as a
// briefList. The caller must have access to the commits.
func (api *API) ListManyBrief(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	shas := git.ParseSHAs(web.QueryOf(r).Get("shas"), maxMany)
	var runs []*briefRun
	var totals map[git.SHA]int64
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if totals, err = countOfMany(tx, a.ID, shas); err == nil && len(totals) > 0 {
			runs, err = latestOfMany(tx, scanBrief, briefColumns, a.ID, shas, web.ReadPageSize(r))
		}
		return err
	})
	if err != nil {
		return err
	}
	out := map[git.SHA]*briefList{}
	for _, sha := range shas {
		out[sha] = &briefList{totals[sha], []*briefRun{}}
	}
	complete(r, a, runs)
	for _, b := range runs {
		out[b.sha].Runs = append(out[b.sha].Runs, b)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// complete sets the HTMLURL of each run.
func complete(r *http.Request, a *repo.Access, list []*briefRun) {
	at := newView(r.Context(), a).at
	for _, b := range list {
		b.HTMLURL = at.Page + "/runs/" + strconv.FormatInt(b.ID, 10)
	}
}
