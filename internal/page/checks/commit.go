package checks

import (
	"net/http"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// statusLine is what a build says of a commit.
type statusLine struct {
	Context     string
	State       string
	Description string
	Details     string // the build's page, if a browser may safely follow it
}

// Mark is the kind of picture that stands for it.
func (s *statusLine) Mark() string { return markOf(s.State) }

// perPage is how many check runs, and how many statuses, a page shows.
const perPage = 100

// commitView is what commit.html shows.
type commitView struct {
	page.Frame
	SHA      string
	Runs     []run
	Statuses []statusLine
	Total    int64 // of the check runs
	Deployed []deployed
}

// GET /{owner}/{repo}/commit/{sha}/checks
//
// Commit answers the check runs and the statuses of a commit, a hundred of each at a time. Error: 404.
func (p *Pages) Commit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := p.of.Git.CommitNamed(r.Context(), a, web.Param(r, "sha"))
	if err != nil {
		return page.Absent(err)
	}
	at := web.Page{Number: web.ReadPage(r).Number, Size: perPage}
	runs, total, err := p.of.Checks.Latest(r.Context(), a, sha, at)
	if err != nil {
		return err
	}
	statuses, contexts, err := p.of.Statuses.Latest(r.Context(), a, sha, at)
	if err != nil {
		return err
	}
	live, err := p.of.Deployments.OfCommit(r.Context(), a, sha)
	if err != nil {
		return err
	}
	v := &commitView{SHA: string(sha), Runs: newRuns(runs, a), Total: total, Deployed: newDeployed(live)}
	for _, s := range statuses {
		v.Statuses = append(v.Statuses, statusLine{s.Context, s.State.String(), page.TextOf(s.Description),
			page.WebAddress(page.TextOf(s.TargetURL))})
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", "Checks of "+page.Short(v.SHA)); err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, at.Offset()+at.Size < max(total, contexts))
	return p.t.Page(w, r, "commit.html", v)
}
