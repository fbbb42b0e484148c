package code

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/license"
	"arbor/internal/mirror"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// homeView is the root of the default branch, with its sidebar.
type homeView struct {
	listing
	Clone
	Home      bool
	About     about
	Languages []language
	Release   *latestRelease // nil: there is none
	Pushed    []pushed
	Mirror    *mirror.Mirror // for administrators; nil: it is none
}

// pushed is a branch to which the viewer pushed a moment ago, without a pull request.
type pushed struct {
	Branch string
	At     time.Time
}

// maxPushed is how many branches the page offers to propose.
const maxPushed = 3

// pushed returns the branches that the viewer may want to propose.
func (p *Pages) pushed(r *http.Request, a *repo.Access) (list []pushed, err error) {
	recent, err := p.with.Activities.RecentPushes(r.Context(), a)
	if err != nil || len(recent) == 0 {
		return nil, err
	}
	names := make([]string, len(recent))
	for n, x := range recent {
		names[n] = x.Branch
	}
	pulls, err := p.with.Pulls.NewestOfBranches(r.Context(), a, names)
	for _, x := range recent {
		if x.Branch != a.DefaultBranch && pulls[x.Branch] == nil && len(list) < maxPushed {
			list = append(list, pushed{x.Branch, page.Moment(x.At)})
		}
	}
	return list, err
}

// Clone is how git gets at the repository.
type Clone struct{ HTTP, SSH string } // SSH is empty where it is not served

// about is the repository's description of itself.
type about struct {
	Description, Homepage string
	Topics                []string
	License               string
}

type language struct {
	Name    string
	Color   string // in the drawing: a class
	Bytes   int64
	Percent float64
	X, W    float64 // in the bar, of 100
}

type latestRelease struct {
	Title, Tag  string
	PublishedAt time.Time
}

// withoutGit leads from the address for git, with .git at its end, to the page.
func withoutGit(h web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if name, ok := strings.CutSuffix(web.Param(r, "repo"), ".git"); ok && name != "" {
			// Whether there is such a repository or not: no name ends in .git.
			http.Redirect(w, r, web.From(r.Context()).Page(web.Path(web.Param(r, "owner"), name)),
				http.StatusFound)
			return nil
		}
		return h(w, r)
	}
}

// GET /{owner}/{repo}
//
// Home answers a repository's page: the files of its default branch, and what it is. Error: 404.
func (p *Pages) Home(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &homeView{Home: true, Clone: p.clone(r, a)}
	place, err := p.locate(r, a, "tree", "")
	if errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound) {
		return p.empty(w, r, a, errs.Is(err, errs.NotFound))
	}
	if err != nil {
		return err
	}
	v.at = place
	v.Title = a.FullName()
	v.Frame.Repo.Access = a
	v.About = aboutOf(a)
	if v.About.Description != "" {
		v.Title += ": " + page.Clip(v.About.Description, 100).Text
	}
	if err := p.fill(r, a, &v.listing); err != nil {
		return err
	}
	if err := p.readmeElsewhere(r, v); err != nil {
		return err
	}
	if v.Repo.CanWrite() {
		if v.Pushed, err = p.pushed(r, a); err != nil {
			return err
		}
	}
	if v.Languages, err = p.languages(r.Context(), a); err != nil {
		return err
	}
	if v.Mirror, err = p.mirrorOf(r, a); err != nil {
		return err
	}
	switch latest, err := p.with.Releases.Latest(r.Context(), a); {
	case err == nil:
		v.Release = &latestRelease{cmp.Or(text(latest.Name), latest.Tag), latest.Tag, page.Moment(latest.PublishedAt)}
	case !errs.Is(err, errs.NotFound):
		return err
	}
	return p.t.Page(w, r, "home.html", v)
}

// mirrorOf returns the repository's pull mirror to its administrators, and nil to others or if there is none.
func (p *Pages) mirrorOf(r *http.Request, a *repo.Access) (*mirror.Mirror, error) {
	if a.MirrorURL == "" || a.Role < account.Admin {
		return nil, nil //nolint:nilnil // most repositories are none
	}
	m, err := p.with.Mirrors.Get(r.Context(), a)
	if errs.Is(err, errs.NotFound) {
		return nil, nil //nolint:nilnil // it ended meanwhile
	}
	return m, err
}

// readmeElsewhere finds the readme in .github or docs, where the root has none.
func (p *Pages) readmeElsewhere(r *http.Request, v *homeView) error {
	if v.Readme != nil || !slices.ContainsFunc(v.Entries, func(e listed) bool {
		return e.Kind == "dir" && (e.Name == ".github" || e.Name == "docs")
	}) {
		return nil
	}
	at, err := p.with.Git.ReadmePath(r.Context(), v.Repo.Access, string(v.At.SHA))
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	html, err := p.rendered(r, &v.at, at)
	if html != "" {
		v.Readme = &readmeView{Name: path.Base(at), Path: at, HTML: html}
	}
	return err
}

// clone holds the addresses for git.
func (p *Pages) clone(r *http.Request, a *repo.Access) Clone {
	info := web.From(r.Context())
	c := Clone{HTTP: info.Page(web.Path(a.Owner.Login, a.Name)) + ".git"}
	if info.SSHPort != "" {
		c.SSH = info.SSH(a.FullName())
	}
	return c
}

func aboutOf(a *repo.Access) (x about) {
	if a.Description != nil {
		x.Description = *a.Description
	}
	if a.Homepage != nil {
		x.Homepage = page.WebAddress(*a.Homepage)
	}
	x.Topics = strings.Fields(string(a.Topics))
	if a.License != nil {
		x.License = *a.License
		if l := license.ByKey(*a.License); l != nil {
			x.License = l.Name
		}
	}
	return x
}

// maxLanguages is how many languages are named; the rest is "Other".
const maxLanguages = 6

// languages are the languages, those of most of the code first.
func (p *Pages) languages(ctx context.Context, a *repo.Access) (list []language, err error) {
	bytes, err := p.with.Detect.Languages(ctx, a)
	if err != nil {
		return nil, err
	}
	var sum int64
	for name, n := range bytes {
		list, sum = append(list, language{Name: name, Bytes: n}), sum+n
	}
	slices.SortFunc(list, func(a, b language) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	if len(list) > maxLanguages {
		other := language{Name: "Other"}
		for _, l := range list[maxLanguages-1:] {
			other.Bytes += l.Bytes
		}
		list = append(list[:maxLanguages-1], other)
	}
	x := 0.0
	for n := range list {
		l := &list[n]
		l.Percent = float64(l.Bytes*1000/max(sum, 1)) / 10
		l.X, l.W = x, float64(l.Bytes)*100/float64(max(sum, 1))
		x += l.W
		l.Color = "tone" + string(rune('0'+n))
	}
	return list, nil
}

// emptyView is a repository without a commit on its default branch.
type emptyView struct {
	page.Frame
	Clone
	About   about
	Branch  string
	Others  bool           // there are other branches or tags
	Mirror  *mirror.Mirror // for administrators; nil: it is none
	Default string
}

// empty answers how to begin.
func (p *Pages) empty(w http.ResponseWriter, r *http.Request, a *repo.Access, others bool) error {
	frame, err := p.kit.RepoFrame(r, a, "code", a.FullName())
	if err != nil {
		return err
	}
	m, err := p.mirrorOf(r, a)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "empty.html", &emptyView{Frame: frame, Clone: p.clone(r, a), About: aboutOf(a),
		Branch: a.DefaultBranch, Others: others, Mirror: m})
}

// readmeView is a readme below a directory.
type readmeView struct {
	Name, Path string
	HTML       template.HTML
}
