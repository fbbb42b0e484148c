package issue

import (
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"arbor/internal/account"
	"arbor/internal/issuekit"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/page/listing"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const milestonesPerPage = 30

type milestonesView struct {
	page.Frame
	State      string // open or closed
	Milestones []stone
}

// GET /{owner}/{repo}/milestones
//
// Milestones shows the open milestones of a repository, or with ?state=closed the closed ones. Error: 404.
func (p *Pages) Milestones(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &milestonesView{State: "open"}
	if web.QueryOf(r).Get("state") == "closed" {
		v.State = "closed"
	}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "Milestones"); err != nil {
		return err
	}
	state, _ := issuekit.ParseState(v.State)
	at := web.Page{Number: web.ReadPage(r).Number, Size: milestonesPerPage}
	list, total, err := p.of.Milestones.List(r.Context(), a, milestone.Order{State: state}, at)
	if err != nil {
		return err
	}
	for _, m := range page.NewMilestones(list) {
		shown, err := p.stone(r, &m, 300)
		if err != nil {
			return err
		}
		v.Milestones = append(v.Milestones, shown)
	}
	v.Pages = page.PagesOf(r, at.Offset()+int64(len(list)) < total)
	return p.t.Page(w, r, "milestones.html", v)
}

// stone is a milestone with its description rendered.
type stone struct {
	*page.Milestone
	Said template.HTML
}

// stone renders the first bytes of a milestone's description.
func (p *Pages) stone(r *http.Request, m *page.Milestone, bytes int) (stone, error) {
	html, err := p.kit.Markups.HTML(r.Context(), nil, page.Clip(m.Description, bytes).Text, "", false)
	return stone{m, template.HTML(html)}, err // sanitized by package markdown
}

// maxStone is how many bytes of a description the page of a milestone shows.
const maxStone = 64 << 10

type milestoneView struct {
	page.Frame
	Milestone stone
	List      *listing.List
}

// GET /{owner}/{repo}/milestone/{number}
//
// Milestone shows a milestone with its issues and pull requests, or those of them that ?q= chooses. Error:
// 404.
func (p *Pages) Milestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	m, err := p.milestone(r, a)
	if err != nil {
		return err
	}
	v := &milestoneView{}
	if v.Milestone, err = p.stone(r, m, maxStone); err != nil {
		return err
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", v.Milestone.Title); err != nil {
		return err
	}
	o := listing.Options{Repo: a.Owner.Login + "/" + a.Name, Noun: "issue",
		Query: "is:open " + page.Term("milestone", v.Milestone.Title),
		Path:  v.Repo.Path + "/milestone/" + strconv.FormatInt(v.Milestone.Number, 10)}
	if v.List, err = listing.Read(p.of.Searches, r, o); err != nil {
		return err
	}
	return p.show(w, r, "milestone.html", v.List, v)
}

// milestone reads the milestone that the address numbers. Error: 404.
func (p *Pages) milestone(r *http.Request, a *repo.Access) (*page.Milestone, error) {
	number, err := web.Number(r, "number")
	if err != nil {
		return nil, err
	}
	m, err := p.of.Milestones.Get(r.Context(), a, number)
	if err != nil {
		return nil, err
	}
	return page.NewMilestone(m.Milestone, m.Creator), nil
}

type milestoneForm struct {
	page.Frame
	Number      int64 // 0: of a new one
	Name        string
	Description string
	Due         string // a day, as forms write it; empty: none
	Open        bool
}

const day = "2006-01-02"

// GET /{owner}/{repo}/milestones/new
//
// NewMilestone shows the form of a new milestone. Error: 404.
func (p *Pages) NewMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &milestoneForm{Open: true}
	var err error
	v.Frame, err = p.kit.RepoFrame(r, a, "issues", "New milestone")
	return p.t.Show(w, r, "milestoneform.html", v, err)
}

// GET /{owner}/{repo}/milestones/{number}/edit
//
// EditMilestone shows the form of a milestone. Error: 404.
func (p *Pages) EditMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	m, err := p.milestone(r, a)
	if err != nil {
		return err
	}
	v := &milestoneForm{Number: m.Number, Name: m.Title, Description: m.Description, Open: m.State == "open",
		Due: dueOf(m)}
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "Edit milestone"); err != nil {
		return err
	}
	v.Shown = page.Shown(shownOf(m))
	return p.t.Page(w, r, "milestoneform.html", v)
}

// dueOf is a milestone's day; empty: it has none.
func dueOf(m *page.Milestone) string {
	if m.DueOn.IsZero() {
		return ""
	}
	return m.DueOn.UTC().Format(day)
}

// shownOf is what the form says that shows a milestone.
func shownOf(m *page.Milestone) map[string]any {
	return milestoneOf(page.Form{Values: url.Values{"title": {m.Title}, "description": {m.Description},
		"due": {dueOf(m)}}})
}

// POST /{owner}/{repo}/milestones
//
// CreateMilestone creates a milestone and redirects to it.
func (p *Pages) CreateMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	return p.saveMilestone(w, r, a, f, true)
}

// POST /{owner}/{repo}/milestones/{number}
//
// ChangeMilestone changes a milestone as its form has it; the buttons of "do" close, reopen or delete it.
func (p *Pages) ChangeMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	list := web.Path(a.Owner.Login, a.Name, "milestones")
	switch do := f.Get("do"); do {
	case "open", "closed":
		ctx, err := p.kit.Write(r, a, account.Push)
		if err != nil {
			return err
		}
		if _, err := p.of.Milestones.Edit(ctx, a, number, milestone.Edit{State: web.Some(do)}); err != nil {
			return err
		}
		return page.SeeOther(w, r, page.ReturnTo(f.Get("return_to"), list))
	case "delete":
		ctx, err := p.kit.Delete(r, a, account.Push)
		if err != nil {
			return err
		}
		if err := p.of.Deletions.DeleteMilestone(ctx, a, number); err != nil {
			return err
		}
		return page.Done(w, r, list, "The milestone was deleted.")
	}
	return p.saveMilestone(w, r, a, f, false)
}

// milestoneOf is what a form says of a milestone.
func milestoneOf(f page.Form) map[string]any {
	body := map[string]any{"title": f.Text("title"), "description": f.Text("description"), "due_on": nil}
	if due := dueIn(f); due != "" {
		body["due_on"] = due
	}
	return body
}

// dueIn returns the day in a form as a time. An invalid day is returned unchanged, so that package
// milestone rejects it.
func dueIn(f page.Form) string {
	due := f.Text("due")
	if t, err := time.Parse(day, due); err == nil {
		return t.Format(time.RFC3339)
	}
	return due
}

// milestoneEdit returns the fields of a form that were changed. Error: 422 for an invalid date.
func milestoneEdit(f page.Form, changed map[string]json.RawMessage) (e milestone.Edit, err error) {
	if _, ok := changed["title"]; ok {
		e.Title = web.Some(f.Text("title"))
	}
	if _, ok := changed["description"]; ok {
		e.Description = web.Some(f.Text("description"))
	}
	if _, ok := changed["due_on"]; ok {
		e.DueOn, err = milestone.ReadDueOn(dueIn(f))
	}
	return e, err
}

// writeMilestone creates a milestone from a form, or updates the one with the number in the address.
// Errors: those of kit.Write, of page.Form.Edit and of package milestone.
func (p *Pages) writeMilestone(
	r *http.Request, a *repo.Access, f page.Form, create bool,
) (*milestone.Milestone, error) {
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return nil, err
	}
	if create {
		e, err := milestoneEdit(f, f.Changed(milestoneOf(f)))
		if err != nil {
			return nil, err
		}
		return p.of.Milestones.Create(ctx, a, e)
	}
	now, err := p.milestone(r, a)
	if err != nil {
		return nil, err
	}
	changed, err := f.Edit(milestoneOf(f), shownOf(now))
	if err != nil {
		return nil, err
	}
	e, err := milestoneEdit(f, changed)
	if err != nil {
		return nil, err
	}
	return p.of.Milestones.Edit(ctx, a, now.Number, e)
}

func (p *Pages) saveMilestone(
	w http.ResponseWriter, r *http.Request, a *repo.Access, f page.Form, create bool,
) error {
	m, err := p.writeMilestone(r, a, f, create)
	if err == nil {
		return page.SeeOther(w, r, web.Path(a.Owner.Login, a.Name, "milestone",
			strconv.FormatInt(m.Number, 10)))
	}
	v := &milestoneForm{Name: f.Get("title"), Description: f.Get("description"),
		Due: f.Get("due"), Open: true}
	title := "New milestone"
	if !create {
		v.Number, _ = strconv.ParseInt(web.Param(r, "number"), 10, 64)
		title = "Edit milestone"
	}
	load := func(r *http.Request) (_ *milestoneForm, err error) {
		v.Frame, err = p.kit.RepoFrame(r, a, "issues", title)
		return v, err
	}
	return page.RefuseWith(p.t, w, r, "milestoneform.html", err, load,
		func(v *milestoneForm) { v.Shown = f.Get("shown") })
}
