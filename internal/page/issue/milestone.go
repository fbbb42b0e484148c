package issue

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"arbor/internal/page"
	"arbor/internal/page/listing"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const milestonesPerPage = 30

type milestonesView struct {
	page.Frame
	State      string // open or closed
	Milestones []page.Milestone
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
	more, err := p.kit.Get(r, "/repos"+v.Repo.Path+"/milestones",
		page.Part(r, milestonesPerPage, "state", v.State), &v.Milestones)
	if err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more)
	return p.t.Page(w, r, "milestones.html", v)
}

type milestoneView struct {
	page.Frame
	Milestone page.Milestone
	List      *listing.List
}

// GET /{owner}/{repo}/milestone/{number}
//
// Milestone shows a milestone with its issues and pull requests, or those of them that ?q= chooses. Error:
// 404.
func (p *Pages) Milestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &milestoneView{}
	if err := p.milestone(r, a, &v.Milestone); err != nil {
		return err
	}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", v.Milestone.Title); err != nil {
		return err
	}
	o := listing.Options{Repo: a.Owner.Login + "/" + a.Name, Noun: "issue",
		Query: "is:open " + page.Term("milestone", v.Milestone.Title),
		Path:  v.Repo.Path + "/milestone/" + strconv.FormatInt(v.Milestone.Number, 10)}
	if v.List, err = listing.Read(p.kit, r, o); err != nil {
		return err
	}
	return p.show(w, r, "milestone.html", v.List, v)
}

// milestone reads the milestone that the address numbers. Error: 404.
func (p *Pages) milestone(r *http.Request, a *repo.Access, into *page.Milestone) error {
	_, err := p.kit.Get(r, milestonePath(a, web.Param(r, "number")), nil, into)
	return err
}

func milestonePath(a *repo.Access, number string) string {
	return web.Path("repos", a.Owner.Login, a.Name, "milestones", number)
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
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "New milestone"); err != nil {
		return err
	}
	return p.t.Page(w, r, "milestoneform.html", v)
}

// GET /{owner}/{repo}/milestones/{number}/edit
//
// EditMilestone shows the form of a milestone. Error: 404.
func (p *Pages) EditMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var m page.Milestone
	err := p.milestone(r, a, &m)
	if err != nil {
		return err
	}
	v := &milestoneForm{Number: m.Number, Name: m.Title, Description: m.Description, Open: m.State == "open",
		Due: dueOf(&m)}
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "Edit milestone"); err != nil {
		return err
	}
	v.Shown = page.Shown(shownOf(&m))
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
// CreateMilestone makes a milestone, and leads to it.
func (p *Pages) CreateMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	return p.saveMilestone(w, r, a, f, http.MethodPost,
		web.Path("repos", a.Owner.Login, a.Name, "milestones"), milestoneOf(f))
}

// POST /{owner}/{repo}/milestones/{number}
//
// ChangeMilestone changes a milestone as its form has it; the buttons of "do" close, reopen or delete it.
func (p *Pages) ChangeMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	path := milestonePath(a, web.Param(r, "number"))
	list := web.Path(a.Owner.Login, a.Name, "milestones")
	switch do := f.Get("do"); do {
	case "open", "closed":
		if err := p.kit.Change(r, http.MethodPatch, path, map[string]any{"state": do}, nil); err != nil {
			return err
		}
		return page.SeeOther(w, r, page.ReturnTo(f.Get("return_to"), list))
	case "delete":
		if err := p.kit.Change(r, http.MethodDelete, path, nil, nil); err != nil {
			return err
		}
		return page.Done(w, r, list, "The milestone was deleted.")
	}
	return p.saveMilestone(w, r, a, f, http.MethodPatch, path, milestoneOf(f))
}

// milestoneOf is what a form says of a milestone. A day that is none stays as it is, for the API to refuse.
func milestoneOf(f page.Form) map[string]any {
	body := map[string]any{"title": f.Text("title"), "description": f.Text("description"), "due_on": nil}
	if due := f.Text("due"); due != "" {
		body["due_on"] = due
		if t, err := time.Parse(day, due); err == nil {
			body["due_on"] = t.Format(time.RFC3339)
		}
	}
	return body
}

func (p *Pages) saveMilestone(
	w http.ResponseWriter, r *http.Request, a *repo.Access, f page.Form, method, path string, body any,
) error {
	var m page.Milestone
	var err error
	if method == http.MethodPatch {
		if err := p.milestone(r, a, &m); err != nil {
			return err
		}
		body, err = f.Edit(body, shownOf(&m))
	}
	if err == nil {
		err = p.kit.Change(r, method, path, body, &m)
	}
	if err == nil {
		return page.SeeOther(w, r, web.Path(a.Owner.Login, a.Name, "milestone",
			strconv.FormatInt(m.Number, 10)))
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v := &milestoneForm{Name: f.Get("title"), Description: f.Get("description"),
		Due: f.Get("due"), Open: true}
	title := "New milestone"
	if method == http.MethodPatch {
		v.Number, _ = strconv.ParseInt(web.Param(r, "number"), 10, 64)
		title = "Edit milestone"
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", title); err != nil {
		return err
	}
	v.Problem, v.Shown = problem, f.Get("shown")
	return p.t.Again(w, r, "milestoneform.html", problem, v)
}
