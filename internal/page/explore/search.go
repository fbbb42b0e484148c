package explore

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/page"
	"arbor/internal/search"
	"arbor/internal/web"
)

const perPage = 30

// kind is what is searched for.
type kind struct {
	Name  string // of the query's type
	Label string
	add   string // to the query
	sorts []order
	In    bool // one repository can be searched
}

// order is one of the orders of results; the first is by how well they match.
type order struct{ Name, Label string }

var kinds = [...]kind{
	{Name: "repositories", Label: "Repositories",
		sorts: []order{{"", "Best match"}, {"stars", "Most stars"}, {"forks", "Most forks"},
			{"updated", "Last pushed"}}},
	{Name: "code", Label: "Code", In: true,
		sorts: []order{{"", "Best match"}}},
	{Name: "issues", Label: "Issues", add: " is:issue", In: true,
		sorts: threadSorts},
	{Name: "pullrequests", Label: "Pull requests", add: " is:pr",
		In: true, sorts: threadSorts},
	{Name: "commits", Label: "Commits", In: true,
		sorts: []order{{"", "Best match"}, {"committer-date", "Newest"}}},
	{Name: "users", Label: "People",
		sorts: []order{{"", "Best match"}, {"followers", "Most followers"},
			{"repositories", "Most repositories"}, {"joined", "Joined last"}}},
}

var threadSorts = []order{{"", "Best match"}, {"created", "Newest"}, {"updated", "Updated last"},
	{"comments", "Most comments"}}

// searchView is what search.html shows.
type searchView struct {
	page.Frame
	Text    string // what was typed
	In      string // OWNER/NAME that is searched alone; empty: everything
	Kind    kind
	Kinds   []kind
	Sort    string
	Asked   bool // there is something to search for
	Total   int64
	Partial bool // there may be more
	Repos   []page.Repository
	Issues  []page.Issue
	Users   []page.User
	Commits []foundCommit
	Code    []hit
}

// Sorts are the orders in which the results can be.
func (v *searchView) Sorts() []order { return v.Kind.sorts }

// Link is the query of the same search of another kind.
func (v *searchView) Link(name string) string {
	return "?" + page.Query("q", v.Text, "in", v.In, "type", name).Encode()
}

// Everywhere is the query of the same search in all repositories.
func (v *searchView) Everywhere() string {
	return "?" + page.Query("q", v.Text, "type", v.Kind.Name).Encode()
}

// InPath is the address of the repository that is searched.
func (v *searchView) InPath() string {
	owner, name, _ := strings.Cut(v.In, "/")
	return web.Path(owner, name)
}

// GET /search
//
// Search answers a page of what the query's q finds: of the type repositories, code, issues, pullrequests,
// commits or users; with in=OWNER/NAME in one repository. A query that cannot be understood is shown again,
// 422.
func (p *Pages) Search(w http.ResponseWriter, r *http.Request) error {
	v := newSearchView(r)
	var err error
	if v.Frame, err = p.kit.Frame(r, "Search"); err != nil {
		return err
	}
	if !v.Asked {
		return p.t.Page(w, r, "search.html", v)
	}
	err = p.find(r, v)
	if errs.Is(err, errs.Invalid) {
		return p.t.Refuse(w, r, "search.html", err, v)
	}
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "search.html", v)
}

func newSearchView(r *http.Request) *searchView {
	q := web.QueryOf(r)
	v := &searchView{Text: strings.TrimSpace(q.Get("q")), Kinds: kinds[:], Kind: kinds[0]}
	if owner, name, ok := strings.Cut(q.Get("in"), "/"); ok && owner != "" && name != "" &&
		!strings.ContainsAny(q.Get("in"), " \"\t\n") {
		v.In, v.Kinds, v.Kind = q.Get("in"), nil, kinds[1]
		for _, k := range kinds {
			if k.In {
				v.Kinds = append(v.Kinds, k)
			}
		}
	}
	for _, k := range v.Kinds {
		if k.Name == q.Get("type") {
			v.Kind = k
		}
	}
	for _, s := range v.Kind.sorts {
		if s.Name == q.Get("sort") {
			v.Sort = s.Name
		}
	}
	v.Asked = v.Text != ""
	return v
}

// find finds a page of the results.
func (p *Pages) find(r *http.Request, v *searchView) error {
	ctx, of := r.Context(), search.Question{Text: v.Text + v.Kind.add, Sort: v.Sort, Caller: page.Reader(r),
		Page: web.Page{Number: web.ReadPage(r).Number, Size: perPage}, Fragments: v.Kind.Name == "code"}
	if v.In != "" {
		of.Text += " repo:" + v.In
	}
	switch v.Kind.Name {
	case "repositories":
		found, err := p.searches.Repositories.Find(ctx, of)
		return take(v, r, found, err, page.NewRepository, &v.Repos)
	case "users":
		of.Caller = account.CallerFrom(ctx)
		found, err := p.searches.People.Find(ctx, of)
		return take(v, r, found, err, func(a *account.Account) page.User { return *page.NewUser(a) }, &v.Users)
	case "commits":
		found, err := p.searches.Commits.Find(ctx, of)
		return take(v, r, found, err, newFoundCommit, &v.Commits)
	case "code":
		found, err := p.searches.Code.Find(ctx, of)
		return take(v, r, found, err, newHit, &v.Code)
	}
	found, err := p.findIssues(ctx, of)
	return take(v, r, found, err, func(i *issue.View) page.Issue { return *page.NewIssue(i) }, &v.Issues)
}

// findIssues finds a page of issues or pull requests.
func (p *Pages) findIssues(ctx context.Context, of search.Question) (*search.Hits[*issue.View], error) {
	q, err := search.Parse(of.Text)
	if err != nil {
		return nil, err
	}
	if q.Sort.By == search.BestMatch {
		q.Sort.By, _ = search.ParseBy(cmp.Or(of.Sort, search.BestMatch.String()))
	}
	found, err := p.searches.Issues.Search(ctx, of.Caller, q, of.Page)
	if err != nil {
		return nil, err
	}
	return &search.Hits[*issue.View]{Total: found.Total, Part: found.Part, Items: found.Views()}, nil
}

// take shows what a search of a kind found.
func take[T, V any](
	v *searchView, r *http.Request, found *search.Hits[T], err error, show func(T) V, into *[]V,
) error {
	if err != nil {
		return err
	}
	v.Total, v.Partial = found.Total, found.Part
	for _, x := range found.Items {
		*into = append(*into, show(x))
	}
	v.Pages = page.PagesOf(r, found.More(web.Page{Number: web.ReadPage(r).Number, Size: perPage}))
	return nil
}
