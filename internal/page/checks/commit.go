package checks

import (
	"net/http"
	"time"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// status is what a build says of a commit.
type status struct {
	Context     string
	State       string
	Description string
	TargetURL   string    `json:"target_url"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Mark is the kind of picture that stands for it.
func (s *status) Mark() string { return markOf(s.State) }

// Details is the build's page with details, if a browser may safely follow it.
func (s *status) Details() string { return page.WebAddress(s.TargetURL) }

// commitView is what commit.html shows.
type commitView struct {
	page.Frame
	SHA      string
	Runs     []run
	Statuses []status
	Total    int64 // of the check runs
}

// GET /{owner}/{repo}/commit/{sha}/checks
//
// Commit answers the check runs and the statuses of a commit, a hundred of each at a time. Error: 404.
func (p *Pages) Commit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &commitView{}
	at := web.Path("repos", a.Owner.Login, a.Name, "commits", web.Param(r, "sha"))
	var runs struct {
		Total int64 `json:"total_count"`
		Runs  []run `json:"check_runs"`
	}
	moreRuns, err := p.kit.Get(r, at+"/check-runs", page.Part(r, 100), &runs)
	if err != nil {
		return page.Absent(err)
	}
	var combined struct {
		SHA      string
		Statuses []status
	}
	more, err := p.kit.Get(r, at+"/status", page.Part(r, 100), &combined)
	if err != nil {
		return page.Absent(err)
	}
	v.SHA, v.Runs, v.Statuses, v.Total = combined.SHA, runs.Runs, combined.Statuses, runs.Total
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", "Checks of "+page.Short(v.SHA)); err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more || moreRuns)
	return p.t.Page(w, r, "commit.html", v)
}
