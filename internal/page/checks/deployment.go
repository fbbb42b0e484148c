package checks

import (
	"net/http"
	"time"

	"arbor/internal/deployment"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// deployed is what pages show of a deployment.
type deployed struct {
	Environment string
	State       string
	SHA, Ref    string
	By          string // a login
	Description string
	URL, Log    string // where a browser may safely go
	At          time.Time
}

// Mark is the kind of picture that stands for it.
func (d *deployed) Mark() string {
	switch d.State {
	case "success":
		return "good"
	case "error", "failure":
		return "bad"
	case "inactive":
		return ""
	}
	return "wait"
}

func newDeployed(list []deployment.View) []deployed {
	out := make([]deployed, len(list))
	for n, v := range list {
		d := deployed{Environment: v.Environment, State: v.State.String(), SHA: string(v.SHA), Ref: v.Ref,
			Description: page.TextOf(v.Description), At: page.Moment(v.UpdatedAt)}
		if v.Creator != nil {
			d.By = v.Creator.Login
		}
		if v.Latest != nil {
			d.URL, d.Log = page.WebAddress(v.Latest.URL), page.WebAddress(v.Latest.LogURL)
		}
		out[n] = d
	}
	return out
}

// deploymentsView is what deployments.html shows.
type deploymentsView struct {
	page.Frame
	Environment string // of which alone; empty: all
	Current     []deployed
	List        []deployed
}

// deploymentsPerPage is how many deployments, and how many environments, a page shows.
const deploymentsPerPage = 50

// GET /{owner}/{repo}/deployments
//
// Deployments answers the latest deployment to each environment, and all of them, the newest first, or those to the
// query's environment.
func (p *Pages) Deployments(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &deploymentsView{Environment: page.Clip(web.QueryOf(r).Get("environment"), 255).Text}
	at := page.At(r, deploymentsPerPage)
	list, err := p.of.Deployments.List(r.Context(), a, deployment.Filter{Environment: v.Environment}, at)
	if err != nil {
		return err
	}
	v.List = newDeployed(list.Rows)
	if at.Number == 1 && v.Environment == "" {
		current, err := p.of.Deployments.Current(r.Context(), a, at)
		if err != nil {
			return err
		}
		v.Current = newDeployed(current)
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", "Deployments"); err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, list.More)
	return p.t.Page(w, r, "deployments.html", v)
}
