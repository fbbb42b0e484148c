package signin

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/repo/list"
	"arbor/internal/search"
	"arbor/internal/web"
)

// homeView is what home.html shows: to a member what waits, and the member's repositories; to others public
// ones.
type homeView struct {
	page.Frame
	Site    string // scheme and host
	Repos   []page.Repository
	More    bool // repositories
	Waiting []waiting
	Events  []*page.Group
	Empty   bool // the server has no users
}

// waiting is a list of issues that wait for the member.
type waiting struct {
	Title, Query, Kind string // Kind: issues or pulls, where all of them are
	Issues             []*page.Issue
	Total              int64
	Above              int // how many of the first ones are in lists above
}

// Home answers the page at the site's root.
func (p *Pages) Home(w http.ResponseWriter, r *http.Request) error {
	info := web.From(r.Context())
	info.Form = web.Form(p.kit.Errors).For(r)
	frame, err := p.kit.Frame(r, "Home")
	if err != nil {
		return err
	}
	v := &homeView{Frame: frame, Site: info.Site}
	if caller := account.CallerFrom(r.Context()); caller == nil {
		err = p.strangersHome(r, v)
	} else {
		err = p.membersHome(r, caller, v)
	}
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "home.html", v)
}

// strangersHome finds public repositories, the last pushed ones first.
func (p *Pages) strangersHome(r *http.Request, v *homeView) error {
	some, err := p.sessions.HasUsers(r.Context())
	if err != nil {
		return err
	}
	v.Empty = !some
	at := page.First(20)
	found, err := p.of.Repositories.Find(r.Context(), search.Question{Text: "is:public", Sort: "updated", Page: at})
	if err != nil {
		return err
	}
	v.Repos, v.More = page.NewRepositories(found.Items), found.More(at)
	return nil
}

// waitingShown is how many issues of each list the page shows.
const waitingShown = 8

// waits are the lists of what waits for somebody.
func waits(login string) []waiting {
	return []waiting{
		{Title: "Review requests", Kind: "pulls", Query: "is:open is:pr review-requested:" + login},
		{Title: "Assigned to you", Kind: "issues", Query: "is:open assignee:" + login},
		{Title: "Mentioning you", Kind: "issues", Query: "is:open mentions:" + login},
		{Title: "Your open pull requests", Kind: "pulls", Query: "is:open is:pr author:" + login},
	}
}

// membersHome finds what waits for the member, each issue once, the member's repositories, and what happened.
func (p *Pages) membersHome(r *http.Request, caller *account.Caller, v *homeView) error {
	lists := waits(caller.Login)
	queries := make([]*search.Query, len(lists))
	for n, wait := range lists {
		q, err := search.Parse(wait.Query)
		if err != nil {
			return err
		}
		q.Sort.By, queries[n] = search.Updated, q
	}
	found, err := p.of.Issues.SearchEach(r.Context(), page.Reader(r), queries, waitingShown)
	if err != nil {
		return err
	}
	seen := map[int64]bool{}
	for n, wait := range lists {
		for _, view := range found[n].Views() {
			i := page.NewIssue(view)
			if seen[i.ID] {
				wait.Above++
				continue
			}
			seen[i.ID], wait.Issues = true, append(wait.Issues, i)
		}
		if wait.Total = found[n].Total; len(wait.Issues) > 0 {
			v.Waiting = append(v.Waiting, wait)
		}
	}
	at := page.First(12)
	repos, total, err := p.of.Lists.Own(r.Context(), caller, list.Part{Uncounted: true},
		list.Order{By: "pushed", Desc: true}, at)
	if err != nil {
		return err
	}
	v.Repos, v.More = page.NewRepositories(repos), total > at.Size
	events, _, err := p.of.Activities.Received(r.Context(), page.Reader(r), caller.Login, page.First(20))
	v.Events = page.Feed(events)
	return err
}
