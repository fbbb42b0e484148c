// Package listing is lists of issues and pull requests with a search box, as several rooms show them.
//
//   - query.go: what stands in the box (?q=), taken apart and put together, so that menus can change a part
//     of it
//   - listing.go: reading a list with its counts
//
// A room calls [Read] with the frame of its page and shows the [List] by the parts of
// ../templates/listing.html: "listing-search" (the box), "listing-box" (the rows below tabs of states and
// menus of filters). The menus lead to /{owner}/{repo}/issues/filter/{what}, pages of the room thread, which
// the script opens in place.
package listing

import (
	"net/http"
	"slices"
	"strings"

	"arbor/internal/page"
	"arbor/internal/review"
	"arbor/internal/search"
	"arbor/internal/web"
)

// Size is how many rows a page has.
const Size = 25

// Options describe the contents of a list.
type Options struct {
	Repo  string // OWNER/NAME; empty: of all repositories that the viewer sees
	Path  string // of the page
	Query string // what the box holds when the address has no ?q=
	Noun  string // issue or pull request

	Always string // what each search of the list asks as well
}

// List is a page of a list.
type List struct {
	Options
	Query   Query
	Issues  []*page.Issue
	Total   int64
	Open    int64 // that match apart from their state
	Closed  int64
	State   string // open, closed, or empty for both
	Pages   page.Pager
	Problem *page.Problem // what is wrong with the search
	Default bool          // the box holds what it holds at first
	Filters []string      // the menus: author, label, milestone, review, status, assignee, sort
	Short   bool          // there are more than can be browsed
	MaySort bool          // each row can be chosen, for a form with the id "bulk"

	Marks map[int64]*review.Mark // of pull requests by number; nil: they are not shown
}

// Read reads the page of a list that the request asks for. What is wrong with the search is the list's
// problem, which the page shows. Errors: others of package search.
func Read(searches *search.Service, r *http.Request, o Options) (*List, error) {
	text := o.Query
	if r.URL.Query().Has("q") {
		text = page.Clip(strings.TrimSpace(web.QueryOf(r).Get("q")), maxQuery).Text
	}
	l := &List{Options: o, Query: Parse(text),
		Filters: []string{"author", "label", "milestone", "assignee", "sort"}}
	switch {
	case o.Repo == "":
		l.Filters = []string{"sort"}
	case o.Always != "":
		l.Filters = slices.Insert(l.Filters, 3, "review", "status")
	}
	l.Default = l.Query.String() == Parse(o.Query).String()
	l.State = l.Query.State()
	at := web.Page{Number: web.ReadPage(r).Number, Size: Size}
	found, err := l.find(searches, r, l.Query, at)
	if err != nil {
		l.Problem, err = page.ProblemOf(err)
		return l, err
	}
	for _, i := range found.Views() {
		l.Issues = append(l.Issues, page.NewIssue(i))
	}
	l.Total, l.Short = found.Total, found.Total > search.MaxReach
	l.Pages = page.PagesOf(r, at.Offset()+at.Size < min(l.Total, search.MaxReach))
	return l, l.count(searches, r)
}

// count counts what matches apart from its state.
func (l *List) count(searches *search.Service, r *http.Request) error {
	none := web.Page{Number: search.MaxReach, Size: 1} // whose row nobody reads
	for state, into := range map[string]*int64{"open": &l.Open, "closed": &l.Closed} {
		if state == l.State {
			*into = l.Total
			continue
		}
		found, err := l.find(searches, r, l.Query.WithState(state), none)
		if err != nil {
			return err
		}
		*into = found.Total
	}
	return nil
}

// find searches as the page's caller, the newest first unless the query says otherwise.
func (l *List) find(
	searches *search.Service, r *http.Request, q Query, at web.Page,
) (*search.Results, error) {
	text := q.String()
	if l.Repo != "" {
		if q.isLarge() {
			text = "(" + text + ")"
		}
		text += " repo:" + l.Repo
	}
	if l.Always != "" {
		text += " " + l.Always
	}
	query, err := search.Parse(text)
	if err != nil {
		return nil, err
	}
	if q.Value("sort") == "" {
		query.Sort.By = search.Created
	}
	return searches.Search(r.Context(), page.Reader(r), query, at)
}

// At is the address of the list with another query.
func (l *List) At(q Query) string { return l.Path + "?q=" + escape(q.String()) }

// OfState is the address of the list of a state: open, closed.
func (l *List) OfState(state string) string { return l.At(l.Query.WithState(state)) }

// Filter is the address of the page that a menu of filters leads to.
func (l *List) Filter(what string) string {
	base := "/dashboard"
	if l.Repo != "" {
		base = "/" + l.Repo + "/issues"
	}
	return base + "/filter/" + what + "?at=" + escape(l.Path) + "&q=" + escape(l.Query.String())
}

// WithLabel is the address of the list with a label more.
func (l *List) WithLabel(name string) string {
	q := l.Query
	if !q.Has("label", name) {
		q = q.Toggled("label", name)
	}
	return l.At(q)
}
