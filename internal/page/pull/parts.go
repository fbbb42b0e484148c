package pull

import (
	"context"
	"net/http"
	"strconv"

	"arbor/internal/checkrun"
	"arbor/internal/git"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/status"
	"arbor/internal/web"
)

const perPage = 100 // commits, check runs, statuses

type commitsView struct {
	*scene
	Days   []page.CommitDay
	Beyond bool // there are more than are listed
}

// GET /{owner}/{repo}/pull/{number}/commits
//
// Commits shows the commits that the pull request brings, the oldest first. Error: 404.
func (p *Pages) Commits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := p.scene(r, a, "commits")
	if err != nil {
		return err
	}
	at := web.Page{Number: web.ReadPage(r).Number, Size: perPage}
	list, err := p.of.Git.CommitsOfRange(r.Context(), a, s.of.Range(), at)
	if err != nil {
		return err
	}
	v := &commitsView{scene: s, Days: page.CommitDaysOf(r, s.Repo.Path, page.NewCommits(list.Rows))}
	for _, day := range v.Days {
		for n := range day.Commits {
			// its changes, among those of the pull request
			day.Commits[n].Page = s.Act + "/commits/" + day.Commits[n].SHA
		}
	}
	v.Pages = page.PagesOf(r, list.More)
	v.Beyond = !list.More && s.Pull.Commits > maxListed
	return p.t.Page(w, r, "commits.html", v)
}

// maxListed is how many commits of a pull request are listed.
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
	v.Sum, err = p.rollup(r.Context(), a, s.Pull.Head.SHA)
	return p.t.Show(w, r, "checks.html", v, err)
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
func (p *Pages) rollup(ctx context.Context, a *repo.Access, sha string) (sum rollup, err error) {
	first := web.Page{Number: 1, Size: perPage}
	runs, all, err := p.of.Checks.Latest(ctx, a, git.SHA(sha), first)
	if err != nil {
		return sum, err
	}
	for _, run := range runs {
		sum.add(newCheck(ctx, a, run))
	}
	statuses, contexts, err := p.of.Statuses.Latest(ctx, a, git.SHA(sha), first)
	if err != nil {
		return sum, err
	}
	for _, s := range statuses {
		c := check{Name: s.Context, Text: page.TextOf(s.Description), Mark: s.State.String(),
			Href: page.WebAddress(page.TextOf(s.TargetURL))}
		if s.State == status.Error {
			c.Mark = "failure"
		}
		sum.add(c)
	}
	sum.More = all > int64(len(runs)) || contexts > int64(len(statuses))
	return sum, nil
}

func newCheck(ctx context.Context, a *repo.Access, run *checkrun.Brief) check {
	c := check{Name: run.Name, Text: page.TextOf(run.Title), Mark: "pending", App: run.App,
		Href: web.From(ctx).Page(web.Path(a.Owner.Login, a.Name, "runs", strconv.FormatInt(run.ID, 10)))}
	if run.Status != checkrun.Completed {
		return c
	}
	switch run.Conclusion.String() {
	case "success":
		c.Mark = "success"
	case "neutral", "skipped":
		c.Mark = "neutral"
	default:
		c.Mark = "failure"
	}
	if c.Text == "" {
		c.Text = run.Conclusion.String()
	}
	return c
}
