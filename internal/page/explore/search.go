package explore

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/web"
)

const perPage = 30

// kind is what is searched for.
type kind struct {
	Name  string // of the query's type
	Label string
	path  string // of the API
	add   string // to the query
	media string
	sorts []order
	In    bool // one repository can be searched
}

// order is one of the orders of results; the first is by how well they match.
type order struct{ Name, Label string }

var kinds = [...]kind{
	{Name: "repositories", Label: "Repositories", path: "/search/repositories", media: "raw",
		sorts: []order{{"", "Best match"}, {"stars", "Most stars"}, {"forks", "Most forks"},
			{"updated", "Last pushed"}}},
	{Name: "code", Label: "Code", path: "/search/code", media: "text-match", In: true,
		sorts: []order{{"", "Best match"}}},
	{Name: "issues", Label: "Issues", path: "/search/issues", add: " is:issue", media: "raw", In: true,
		sorts: threadSorts},
	{Name: "pullrequests", Label: "Pull requests", path: "/search/issues", add: " is:pr", media: "raw",
		In: true, sorts: threadSorts},
	{Name: "commits", Label: "Commits", path: "/search/commits", media: "raw", In: true,
		sorts: []order{{"", "Best match"}, {"committer-date", "Newest"}}},
	{Name: "users", Label: "People", path: "/search/users", media: "raw",
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
	Commits []commit
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
		if v.Problem, err = page.ProblemOf(err); err == nil {
			return p.t.Again(w, r, "search.html", v.Problem, v)
		}
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

// find asks for a page of the results.
func (p *Pages) find(r *http.Request, v *searchView) error {
	text := v.Text + v.Kind.add
	if v.In != "" {
		text += " repo:" + v.In
	}
	ask := inside.Request{Path: v.Kind.path, Media: v.Kind.media,
		Query: page.Part(r, perPage, "q", text, "sort", v.Sort)}
	var more bool
	var err error
	switch v.Kind.Name {
	case "repositories":
		more, err = read(p, r, ask, v, &v.Repos)
	case "users":
		more, err = read(p, r, ask, v, &v.Users)
	case "commits":
		more, err = read(p, r, ask, v, &v.Commits)
	case "code":
		more, err = read(p, r, ask, v, &v.Code)
	default:
		more, err = read(p, r, ask, v, &v.Issues)
	}
	v.Pages = page.PagesOf(r, more)
	return err
}

func read[T any](
	p *Pages, r *http.Request, ask inside.Request, v *searchView, into *[]T,
) (more bool, err error) {
	var found struct {
		Total   int64 `json:"total_count"`
		Partial bool  `json:"incomplete_results"`
		Items   []T
	}
	more, err = p.kit.Read(r, ask, &found)
	v.Total, v.Partial, *into = found.Total, found.Partial, found.Items
	return more, err
}
