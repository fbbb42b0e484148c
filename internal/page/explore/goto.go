package explore

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/search"
	"arbor/internal/web"
)

// perKind is how many repositories, people and issues the page Go to offers.
const perKind = 5

// place is a page that one can go to.
type place struct{ Kind, Name, Path string }

// goView is what go.html shows.
type goView struct {
	page.Frame
	Text   string
	In     string // OWNER/NAME of the repository that the viewer comes from; may be empty
	Places []place
}

// pages are the pages of the site; those of the kind yours need an account.
var pages = [...]place{{"page", "Home", "/"}, {"yours", "Your issues", "/dashboard/issues"},
	{"yours", "Your pull requests", "/dashboard/pulls"}, {"yours", "Notifications", "/dashboard/notifications"},
	{"yours", "New repository", "/new"}, {"yours", "Settings", "/settings/profile"},
	{"yours", "Access tokens", "/settings/tokens"}, {"page", "Explore", "/explore"},
	{"page", "Help", "/help"}, {"page", "API reference", "/docs"}}

// repoPages are the pages of a repository, below its address.
var repoPages = [...]place{{"repository", "Code", ""}, {"repository", "Issues", "/issues"},
	{"repository", "Pull requests", "/pulls"}, {"repository", "New issue", "/issues/new"},
	{"repository", "New pull request", "/pulls/new"}, {"repository", "Branches", "/branches"},
	{"repository", "Tags", "/tags"}, {"repository", "Releases", "/releases"}, {"repository", "Labels", "/labels"},
	{"repository", "Milestones", "/milestones"}, {"repository", "Forks", "/forks"}}

// GET /explore/go
//
// Go answers the pages, repositories, people and issues that the query's q names. With in=OWNER/NAME it offers
// the pages and issues of that repository first. The script shows it as a dialog.
func (p *Pages) Go(w http.ResponseWriter, r *http.Request) error {
	q := newSearchView(r)
	v := &goView{Text: page.Clip(q.Text, 200).Text, In: q.In}
	var err error
	if v.Frame, err = p.kit.Frame(r, "Go to"); err != nil {
		return err
	}
	if v.In != "" {
		at := q.InPath()
		if number, err := strconv.ParseInt(strings.TrimPrefix(v.Text, "#"), 10, 64); err == nil && number > 0 {
			v.Places = append(v.Places, place{"issue", "#" + strconv.FormatInt(number, 10),
				at + "/issues/" + strconv.FormatInt(number, 10)})
		}
		for _, one := range repoPages {
			one.Path = at + one.Path
			v.offer(one)
		}
	}
	for _, one := range pages {
		if one.Kind == "yours" && v.Viewer == nil {
			continue
		}
		one.Kind = "page"
		v.offer(one)
	}
	if v.Text != "" {
		if err := p.findPlaces(r, v); err != nil {
			return err
		}
	}
	return p.t.Page(w, r, "go.html", v)
}

// offer adds a place whose name has what was typed.
func (v *goView) offer(one place) {
	if strings.Contains(strings.ToLower(one.Name), strings.ToLower(v.Text)) {
		v.Places = append(v.Places, one)
	}
}

// findPlaces adds the repositories, people and issues that a text finds. A text that is not a valid search
// finds none.
func (p *Pages) findPlaces(r *http.Request, v *goView) error {
	ctx, of := r.Context(), search.Question{Text: v.Text + " in:name", Caller: page.Reader(r),
		Page: page.First(perKind)}
	repos, err := p.searches.Repositories.Find(ctx, of)
	if errs.Is(err, errs.Invalid) {
		return nil
	}
	if err != nil {
		return page.Absent(err)
	}
	for _, one := range page.NewRepositories(repos.Items) {
		v.Places = append(v.Places, place{"repository", one.FullName, web.Path(one.Owner.Login, one.Name)})
	}
	of.Text, of.Caller = v.Text+" in:login", account.CallerFrom(ctx)
	people, err := p.searches.People.Find(ctx, of)
	if err != nil && !errs.Is(err, errs.Invalid) {
		return err
	}
	if err == nil {
		for _, one := range page.NewUsers(people.Items) {
			v.Places = append(v.Places, place{"person", one.Login, web.Path(one.Login)})
		}
	}
	if v.In == "" {
		return nil
	}
	of.Text, of.Caller = v.Text+" in:title repo:"+v.In, page.Reader(r)
	issues, err := p.findIssues(ctx, of)
	if errs.Is(err, errs.Invalid) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, i := range issues.Items {
		one := page.NewIssue(i)
		v.Places = append(v.Places, place{"issue", "#" + strconv.FormatInt(one.Number, 10) + " " + one.Title,
			one.Path()})
	}
	return nil
}
