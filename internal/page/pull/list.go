package pull

import (
	"net/http"
	"strings"

	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/search"
	"arbor/internal/web"
)

type listView struct {
	page.Frame
	Query        string
	Typed        bool // the search is another than that of all open ones
	Items        []item
	Open, Closed string // addresses
	IsClosed     bool
	Count        int64
	Other        int64 // closed ones while open ones are shown, and the other way round
	Part         bool  // not all is searched yet
	Menus        []menu
	Problems     []string
}

// item is one pull request of a list.
type item struct {
	page.Issue
	review.Mark
}

const (
	listed    = 25
	usual     = "is:open"
	inMenus   = 50
	maxSearch = 200 // characters of a search; package search takes 256, with what this page adds
)

// GET /{owner}/{repo}/pulls
//
// List shows the pull requests that ?q= finds, in the language of searches; without it those that are open.
// Error: 404.
func (p *Pages) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &listView{Query: usual}
	if q := r.URL.Query(); q.Has("q") {
		v.Query = strings.TrimSpace(page.Clip(strings.ToValidUTF8(strings.ReplaceAll(q.Get("q"), "\x00", ""),
			""), 4*maxSearch).Text)
	}
	v.Typed = v.Query != usual
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "pulls", "Pull requests"); err != nil {
		return err
	}
	f := readFilter(v.Query)
	v.IsClosed = f.has("is", "closed") || f.has("is", "merged") || f.has("state", "closed")
	v.Open, v.Closed = href(f.state("open")), href(f.state("closed"))
	if err := p.menus(r, a, v, f); err != nil {
		return err
	}
	problem, err := p.search(r, a, v, f)
	if err != nil {
		return err
	}
	if problem != nil {
		v.Problem = problem
		return p.t.Again(w, r, "list.html", problem, v)
	}
	return p.t.Page(w, r, "list.html", v)
}

// search finds the pull requests, counts those of the other state, and reads their marks.
func (p *Pages) search(r *http.Request, a *repo.Access, v *listView, f filter) (*page.Problem, error) {
	at := web.Page{Number: web.ReadPage(r).Number, Size: listed}
	found, err := p.find(r, a, v.Query, at)
	if err != nil {
		return page.ProblemOf(err)
	}
	v.Count, v.Part = found.Total, found.Part
	v.Pages = page.PagesOf(r, at.Offset()+at.Size < min(found.Total, search.MaxReach))
	other := f.state("closed")
	if v.IsClosed {
		other = f.state("open")
	}
	rest, err := p.find(r, a, other, web.Page{Number: search.MaxReach, Size: 1}) // whose row nobody reads
	if err != nil {
		return page.ProblemOf(err)
	}
	v.Other = rest.Total
	return nil, p.marks(r, a, v, found.Views())
}

// find searches the pull requests of the repository as the page's caller.
func (p *Pages) find(r *http.Request, a *repo.Access, text string, at web.Page) (*search.Results, error) {
	q, err := search.Parse("repo:" + a.Owner.Login + "/" + a.Name + " is:pr " + text)
	if err != nil {
		return nil, err
	}
	return p.talk.Searches.Search(r.Context(), page.Reader(r), q, at)
}

// marks reads how checks and reviews of the listed pull requests stand.
func (p *Pages) marks(r *http.Request, a *repo.Access, v *listView, list []*issue.View) error {
	numbers := make([]int64, len(list))
	for n, i := range list {
		numbers[n] = i.Number
	}
	marks, err := p.talk.Reviews.Marks(r.Context(), a, numbers)
	for _, i := range list {
		one := item{Issue: *page.NewIssue(i)}
		if m := marks[i.Number]; m != nil {
			one.Mark = *m
		}
		v.Items = append(v.Items, one)
	}
	return err
}

// menus returns the menus above the list.
func (p *Pages) menus(r *http.Request, a *repo.Access, v *listView, f filter) error {
	first, ctx := web.Page{Number: 1, Size: inMenus}, r.Context()
	labels, _, err := p.talk.Services.Labels.List(ctx, a, first)
	if err != nil {
		return err
	}
	people, _, err := p.talk.Issues.Assignable(ctx, a, first)
	if err != nil {
		return err
	}
	stones, _, err := p.talk.Milestones.List(ctx, a, milestone.Order{State: issuekit.Open}, first)
	if err != nil {
		return err
	}
	var logins, names, titles []string
	for _, u := range people {
		logins = append(logins, u.Login, u.Login)
	}
	for _, m := range stones {
		titles = append(titles, m.Title, m.Title)
	}
	for _, l := range labels {
		names = append(names, l.Name, l.Name)
	}
	byLabel := f.menu("Label", "label", names...)
	for n, l := range labels {
		byLabel.Options[n].Color = l.Color
	}
	v.Menus = []menu{f.menu("Author", "author", logins...), byLabel,
		f.menu("Milestone", "milestone", titles...),
		f.menu("Reviews", "review", "No reviews", "none", "Approved", "approved", "Changes requested",
			"changes_requested"),
		f.menu("Checks", "status", "Pending", "pending", "Success", "success", "Failure", "failure"),
		f.menu("Assignee", "assignee", logins...),
		f.menu("Sort", "sort", "Newest", "created-desc", "Oldest", "created-asc", "Most commented",
			"comments-desc", "Recently updated", "updated-desc", "Least recently updated", "updated-asc")}
	return nil
}
