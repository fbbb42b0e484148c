package checkrun

import (
	"net/http"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// briefRun is what lists of runs have for pages: a run without its texts, of which those of a hundred may
// take many megabytes, and of its App the name.
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

// scanBrief reads briefColumns, without the address.
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

// listBrief is list for pages. What all runs of the commit come to a page often knows already: of none it
// need not ask.
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

// maxMany is of how many commits one request asks for the runs.
const maxMany = 100

// ListManyBrief answers the latest runs of the commits of the parameter shas for pages: for each an object as
// listBrief's. The commits were found for the caller before.
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

// complete gives runs the addresses of their pages.
func complete(r *http.Request, a *repo.Access, list []*briefRun) {
	at := newView(r.Context(), a).at
	for _, b := range list {
		b.HTMLURL = at.Page + "/runs/" + strconv.FormatInt(b.ID, 10)
	}
}
