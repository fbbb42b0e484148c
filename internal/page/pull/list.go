package pull

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
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
	Checks string
	Review string
}

const (
	listed    = 25
	usual     = "is:open"
	inMenus   = 50
	maxSearch = 200 // characters of a search; the API takes 256, with what this page adds
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
	within := "repo:" + a.Owner.Login + "/" + a.Name + " is:pr "
	var found struct {
		Total int64 `json:"total_count"`
		Part  bool  `json:"incomplete_results"`
		Items []page.Issue
	}
	asked := inside.Request{Path: "/search/issues", Query: page.Part(r, listed, "q", within+v.Query),
		Media: "raw"}
	more, err := p.kit.Read(r, asked, &found)
	if err != nil {
		return page.ProblemOf(err)
	}
	v.Count, v.Part, v.Pages = found.Total, found.Part, page.PagesOf(r, more)
	other := f.state("closed")
	if v.IsClosed {
		other = f.state("open")
	}
	var rest struct {
		Total int64 `json:"total_count"`
	}
	q := inside.Request{Path: "/search/issues", Media: "raw",
		Query: page.Query("q", within+other, "per_page", "1", "page", "1000")} // whose rows nobody reads
	if _, err := p.kit.Read(r, q, &rest); err != nil {
		return page.ProblemOf(err)
	}
	v.Other = rest.Total
	return nil, p.marks(r, a, v, found.Items)
}

// marks reads how checks and reviews of the listed pull requests stand.
func (p *Pages) marks(r *http.Request, a *repo.Access, v *listView, list []page.Issue) error {
	numbers := make([]string, len(list))
	for n, i := range list {
		numbers[n] = strconv.FormatInt(i.Number, 10)
	}
	marks := map[int64]struct{ Checks, Review string }{}
	if len(list) > 0 {
		q := inside.Request{Path: web.Path("repos", a.Owner.Login, a.Name, "pulls"), Handler: p.with.Marks,
			Query: page.Query("numbers", strings.Join(numbers, ","))}
		if _, err := p.kit.Read(r, q, &marks); err != nil {
			return err
		}
	}
	for _, i := range list {
		m := marks[i.Number]
		v.Items = append(v.Items, item{i, m.Checks, m.Review})
	}
	return nil
}

// menus returns the menus above the list.
func (p *Pages) menus(r *http.Request, a *repo.Access, v *listView, f filter) error {
	base, size := web.Path("repos", a.Owner.Login, a.Name), page.Query("per_page", strconv.Itoa(inMenus))
	var labels []page.Label
	if _, err := p.kit.Get(r, base+"/labels", size, &labels); err != nil {
		return err
	}
	var people []page.User
	if _, err := p.kit.Get(r, base+"/assignees", size, &people); err != nil {
		return err
	}
	var stones []page.Milestone
	if _, err := p.kit.Get(r, base+"/milestones", size, &stones); err != nil {
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
