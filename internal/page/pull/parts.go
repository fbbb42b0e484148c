package pull

import (
	"net/http"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const perPage = 100 // commits

type commitsView struct {
	*scene
	Commits []page.Commit
	Beyond  bool // there are more than the API lists
}

// GET /{owner}/{repo}/pull/{number}/commits
//
// Commits shows the commits that the pull request brings, the oldest first. Error: 404.
func (p *Pages) Commits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := p.scene(r, a, "commits")
	if err != nil {
		return err
	}
	v := &commitsView{scene: s}
	more, err := p.kit.Get(r, api(r, a, "commits"), page.Part(r, perPage), &v.Commits)
	if err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more)
	v.Beyond = !more && s.Pull.Commits > maxListed
	return p.t.Page(w, r, "commits.html", v)
}

// maxListed is how many commits the API lists of a pull request.
const maxListed = 250

type checksView struct {
	*scene
	Sum rollup
}

// GET /{owner}/{repo}/pull/{number}/checks
//
// Checks shows what checks and statuses say of the head. Error: 404.
func (p *Pages) Checks(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := p.scene(r, a, "checks")
	if err != nil {
		return err
	}
	v := &checksView{scene: s}
	if v.Sum, err = p.rollup(r, a, s.Pull.Head.SHA); err != nil {
		return err
	}
	return p.t.Page(w, r, "checks.html", v)
}

// rollup is what checks and statuses of a commit come to.
type rollup struct {
	List                             []check
	Failed, Waiting, Passed, Skipped int
	More                             bool // there are more than the list has
}

// Mark is what they come to in one word; empty: there are none.
func (s *rollup) Mark() string {
	switch {
	case s.Failed > 0:
		return "failure"
	case s.Waiting > 0:
		return "pending"
	case len(s.List) > 0:
		return "success"
	}
	return ""
}

func (s *rollup) add(c check) {
	switch c.Mark {
	case "success":
		s.Passed++
	case "failure":
		s.Failed++
	case "pending":
		s.Waiting++
	default:
		s.Skipped++
	}
	s.List = append(s.List, c)
}

// rollup reads the checks and statuses of a commit.
func (p *Pages) rollup(r *http.Request, a *repo.Access, sha string) (sum rollup, err error) {
	of := web.Path("repos", a.Owner.Login, a.Name, "commits", sha)
	var runs struct {
		Total int        `json:"total_count"`
		Runs  []*runJSON `json:"check_runs"`
	}
	if _, err := p.kit.Get(r, of+"/check-runs", page.Query("per_page", "100"), &runs); orEmpty(err) != nil {
		return sum, err
	}
	for _, run := range runs.Runs {
		sum.add(run.check())
	}
	var combined struct {
		Total    int `json:"total_count"`
		Statuses []statusJSON
	}
	if _, err := p.kit.Get(r, of+"/status", page.Query("per_page", "100"), &combined); orEmpty(err) != nil {
		return sum, err
	}
	for _, s := range combined.Statuses {
		c := check{Name: s.Context, Text: s.Description, Mark: s.State, Href: page.WebAddress(s.Target)}
		if c.Mark == "error" {
			c.Mark = "failure"
		}
		sum.add(c)
	}
	sum.More = runs.Total > len(runs.Runs) || combined.Total > len(combined.Statuses)
	return sum, nil
}

func (run *runJSON) check() check {
	c := check{Name: run.Name, Text: run.Output.Title, Mark: "pending", Href: page.WebAddress(run.HTMLURL)}
	if run.App != nil {
		c.App = run.App.Name
	}
	if run.Status != "completed" {
		return c
	}
	switch run.Conclusion {
	case "success":
		c.Mark = "success"
	case "neutral", "skipped":
		c.Mark = "neutral"
	default:
		c.Mark = "failure"
	}
	if c.Text == "" {
		c.Text = run.Conclusion
	}
	return c
}
