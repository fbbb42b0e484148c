package issue

import (
	"net/http"

	"arbor/internal/page"
	"arbor/internal/page/listing"
)

// tab is one of the viewer's lists.
type tab struct {
	Name, To string
	On       bool
}

type dashboardView struct {
	page.Frame
	List *listing.List
	Tabs []tab
}

// GET /dashboard/issues
//
// Issues shows the viewer's issues across repositories: those that ?q= chooses, or the open ones that the
// viewer made.
func (p *Pages) Issues(w http.ResponseWriter, r *http.Request) error {
	return p.dashboard(w, r, "issue", "Issues", "/dashboard/issues", "is:issue is:open")
}

// GET /dashboard/pulls
//
// Pulls shows the viewer's pull requests across repositories, as Issues does issues.
func (p *Pages) Pulls(w http.ResponseWriter, r *http.Request) error {
	return p.dashboard(w, r, "pull request", "Pull requests", "/dashboard/pulls", "is:pr is:open")
}

func (p *Pages) dashboard(w http.ResponseWriter, r *http.Request, noun, title, path, base string) error {
	frame, err := p.kit.Frame(r, title)
	if err != nil {
		return err
	}
	who := frame.Viewer.Login
	queries := [][2]string{{"Created", "author"}, {"Assigned", "assignee"}, {"Mentioned", "mentions"}}
	if noun != "issue" {
		queries = append(queries, [2]string{"Review requests", "review-requested"})
	}
	of := func(what string) listing.Query {
		return append(listing.Parse(base), page.Term(what, who), "archived:false")
	}
	v := &dashboardView{Frame: frame}
	if v.List, err = listing.Read(p.of.Searches, r, listing.Options{Path: path, Query: of("author").String(),
		Noun: noun}); err != nil {
		return err
	}
	for _, q := range queries {
		now := v.List.Query.Value(q[1]) == who
		v.Tabs = append(v.Tabs, tab{Name: q[0], To: v.List.At(of(q[1])), On: now})
	}
	return p.show(w, r, "dashboard.html", v.List, v)
}
