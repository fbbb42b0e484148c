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
	"strconv"
	"strings"

	"arbor/internal/inside"
	"arbor/internal/page"
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
	Filters []string      // the menus: author, label, milestone, assignee, sort
	Short   bool          // there are more than can be browsed
	MaySort bool          // each row can be chosen, for a form with the id "bulk"
}

// maxReach is how many results of a search can be read.
const maxReach = 1000

type answer struct {
	Total int64 `json:"total_count"`
	Items []*page.Issue
}

// Read reads the page of a list that the request asks for. What is wrong with the search is the list's
// problem, which the page shows. Errors: others of the API.
func Read(kit *page.Kit, r *http.Request, o Options) (*List, error) {
	text := o.Query
	if r.URL.Query().Has("q") {
		text = page.Clip(strings.TrimSpace(web.QueryOf(r).Get("q")), maxQuery).Text
	}
	l := &List{Options: o, Query: Parse(text),
		Filters: []string{"author", "label", "milestone", "assignee", "sort"}}
	if o.Repo == "" {
		l.Filters = []string{"sort"}
	}
	l.Default = l.Query.String() == Parse(o.Query).String()
	l.State = l.Query.State()
	var found answer
	more, err := l.ask(kit, r, l.Query, page.Part(r, Size), &found)
	if err != nil {
		l.Problem, err = page.ProblemOf(err)
		return l, err
	}
	l.Issues, l.Total = found.Items, found.Total
	l.Pages, l.Short = page.PagesOf(r, more), found.Total > maxReach
	return l, l.count(kit, r)
}

// count counts what matches apart from its state.
func (l *List) count(kit *page.Kit, r *http.Request) error {
	none := page.Query("per_page", "1", "page", strconv.Itoa(maxReach)) // whose rows nobody reads
	for state, into := range map[string]*int64{"open": &l.Open, "closed": &l.Closed} {
		if state == l.State {
			*into = l.Total
			continue
		}
		var found answer
		if _, err := l.ask(kit, r, l.Query.WithState(state), none, &found); err != nil {
			return err
		}
		*into = found.Total
	}
	return nil
}

func (l *List) ask(
	kit *page.Kit, r *http.Request, q Query, with map[string][]string, into *answer,
) (more bool, err error) {
	text := q.String()
	if l.Repo != "" {
		if q.isLarge() {
			text = "(" + text + ")"
		}
		text += " repo:" + l.Repo
	}
	with["q"] = []string{text}
	if q.Value("sort") == "" {
		with["sort"] = []string{"created"}
	}
	return kit.Read(r, inside.Request{Path: "/search/issues", Query: with, Media: "raw"}, into)
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
