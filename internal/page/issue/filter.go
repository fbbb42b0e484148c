package issue

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/page/listing"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// atOnce is how many labels, people or milestones a menu offers.
const atOnce = 100

// offered is the part of a list that a menu offers.
func offered() web.Page { return web.Page{Number: 1, Size: atOnce} }

// option is one line of a menu of filters.
type option struct {
	Text  string
	Label *page.Label
	Face  *page.User
	To    string // the list with it
	On    bool
}

type filterView struct {
	page.Frame
	What    string
	Options []option
	More    bool   // there are more than the menu offers
	Back    string // the list as it was
}

// menu builds the options of a filter page.
type menu struct {
	filterView
	at string
	q  listing.Query
}

func newMenu(r *http.Request, what, path string) *menu {
	at := page.ReturnTo(web.QueryOf(r).Get("at"), path)
	at, _, _ = strings.Cut(at, "?")
	m := &menu{at: at, q: listing.Parse(page.Clip(web.QueryOf(r).Get("q"), 1000).Text)}
	m.What, m.Back = what, m.to(m.q)
	return m
}

func (m *menu) to(q listing.Query) string {
	return (&listing.List{Options: listing.Options{Path: m.at}}).At(q)
}

// add adds an option; one that is on leads to the list without it.
func (m *menu) add(o option, on bool, with, without listing.Query) {
	if o.On = on; on {
		with = without
	}
	o.To = m.to(with)
	m.Options = append(m.Options, o)
}

// none adds the option of what has no label, assignee or milestone.
func (m *menu) none(text string) {
	m.add(option{Text: text}, m.q.Has("no", m.What), m.q.WithNo(m.What), m.q.Without(m.What))
}

// sorts are the orders of a list.
var sorts = [...][2]string{{"created-desc", "Newest"}, {"created-asc", "Oldest"},
	{"comments-desc", "Most commented"},
	{"comments-asc", "Least commented"}, {"updated-desc", "Recently updated"},
	{"updated-asc", "Least recently updated"}}

func (m *menu) sorts() {
	now := m.q.Value("sort")
	for _, s := range sorts {
		m.add(option{Text: s[1]}, s[0] == now || now == "" &&
			s[0] == "created-desc", m.q.With("sort", s[0]), m.q.Without("sort"))
	}
}

// reviews and checks are the values by which pull requests are narrowed.
var (
	reviews = [...][2]string{{"none", "No reviews"}, {"approved", "Approved"},
		{"changes_requested", "Changes requested"}}
	checks = [...][2]string{{"pending", "Pending"}, {"success", "Success"}, {"failure", "Failure"}}
)

// values adds an option for each value of the qualifier that the menu is about.
func (m *menu) values(list [3][2]string) {
	for _, v := range list {
		m.add(option{Text: v[1]}, m.q.Has(m.What, v[0]), m.q.With(m.What, v[0]), m.q.Without(m.What))
	}
}

// GET /{owner}/{repo}/issues/filter/{what}
//
// Filter shows what a list of the repository can be narrowed to, by author, label, milestone, assignee, review
// or checks, and its orders: links to the list ?at= with another ?q=. The script shows it as a menu. Errors:
// 404, 410.
func (p *Pages) Filter(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	m := newMenu(r, web.Param(r, "what"), web.Path(a.Owner.Login, a.Name, "issues"))
	var err error
	switch m.What {
	case "label":
		err = p.labelOptions(r, a, m)
	case "author", "assignee":
		err = p.peopleOptions(r, a, m)
	case "milestone":
		err = p.milestoneOptions(r, a, m)
	case "review":
		m.values(reviews)
	case "status":
		m.values(checks)
	case "sort":
		m.sorts()
	default:
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	if m.Frame, err = p.kit.RepoFrame(r, a, "issues", "Filter by "+m.What); err != nil {
		return err
	}
	return p.t.Page(w, r, "filter.html", &m.filterView)
}

func (p *Pages) labelOptions(r *http.Request, a *repo.Access, m *menu) error {
	list, total, err := p.of.Services.Labels.List(r.Context(), a, offered())
	if err != nil {
		return err
	}
	m.More = total > atOnce
	m.none("Without labels")
	for _, one := range list {
		l := page.NewLabel(one)
		other := m.q.Toggled("label", l.Name)
		m.add(option{Label: &l}, m.q.Has("label", l.Name), other, other)
	}
	return nil
}

func (p *Pages) peopleOptions(r *http.Request, a *repo.Access, m *menu) error {
	list, total, err := p.of.Issues.Assignable(r.Context(), a, offered())
	if err != nil {
		return err
	}
	m.More = total > atOnce
	if m.What == "assignee" {
		m.none("Assigned to nobody")
	}
	for _, one := range list {
		u := page.NewUser(one)
		m.add(option{Text: u.Login, Face: u}, m.q.Has(m.What, u.Login), m.q.With(m.What, u.Login),
			m.q.Without(m.What))
	}
	return nil
}

func (p *Pages) milestoneOptions(r *http.Request, a *repo.Access, m *menu) error {
	list, total, err := p.of.Milestones.List(r.Context(), a, milestone.Order{State: issuekit.Open}, offered())
	if err != nil {
		return err
	}
	m.More = total > atOnce
	m.none("Without a milestone")
	for _, one := range list {
		t := one.Title
		m.add(option{Text: t}, m.q.Has("milestone", t), m.q.With("milestone", t), m.q.Without("milestone"))
	}
	return nil
}

// GET /dashboard/filter/{what}
//
// Order shows the orders of the viewer's lists, the only filter there. Error: 404.
func (p *Pages) Order(w http.ResponseWriter, r *http.Request) error {
	m := newMenu(r, web.Param(r, "what"), "/dashboard/issues")
	if m.What != "sort" {
		return errs.Absent()
	}
	m.sorts()
	var err error
	if m.Frame, err = p.kit.Frame(r, "Sort"); err != nil {
		return err
	}
	return p.t.Page(w, r, "filter.html", &m.filterView)
}
