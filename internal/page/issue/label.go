package issue

import (
	"net/http"
	"strings"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const labelsPerPage = 50

type labelsView struct {
	page.Frame
	Labels []page.Label
	New    page.Label // what the form of a new one holds
	Edit   page.Label // what the form of the label Was holds
	Was    string
}

// GET /{owner}/{repo}/labels
//
// Labels shows the labels of a repository, with a form for a new one. ?edit= names the label whose form is
// open, also when it stands on another page of the list. Error: 404.
func (p *Pages) Labels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.labels(r, a)
	if err != nil {
		return err
	}
	if name := web.QueryOf(r).Get("edit"); name != "" {
		if _, err := p.kit.Get(r, labelPath(a, name), nil, &v.Edit); err != nil {
			return page.Absent(err)
		}
		v.Was, v.Shown = v.Edit.Name, page.Shown(labelEdit(v.Edit))
	}
	return p.t.Page(w, r, "labels.html", v)
}

func (p *Pages) labels(r *http.Request, a *repo.Access) (*labelsView, error) {
	v := &labelsView{New: page.Label{Color: "1d76db"}}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "Labels"); err != nil {
		return nil, err
	}
	more, err := p.kit.Get(r, "/repos"+v.Repo.Path+"/labels", page.Part(r, labelsPerPage), &v.Labels)
	v.Pages = page.PagesOf(r, more)
	return v, err
}

// labelEdit is what a form says of a label that is there.
func labelEdit(l page.Label) map[string]any {
	return map[string]any{"new_name": l.Name, "color": l.Color, "description": l.Description}
}

func labelPath(a *repo.Access, name string) string {
	return web.Path("repos", a.Owner.Login, a.Name, "labels", name)
}

// editLabel changes the label that was there under a name, as the form f says. Errors: those of the API and
// of page.Form.Edit.
func (p *Pages) editLabel(r *http.Request, a *repo.Access, f page.Form, was string, l page.Label) error {
	var now page.Label
	if _, err := p.kit.Get(r, labelPath(a, was), nil, &now); err != nil {
		return page.Absent(err)
	}
	fields, err := f.Edit(labelEdit(l), labelEdit(now))
	if err != nil {
		return err
	}
	return p.kit.Change(r, http.MethodPatch, labelPath(a, was), fields, nil)
}

// POST /{owner}/{repo}/labels
//
// SaveLabel makes a label; with the field "was" it changes the one of that name, or deletes it where the
// button delete was pressed.
func (p *Pages) SaveLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	l := page.Label{Name: f.Text("name"), Color: strings.TrimPrefix(f.Text("color"), "#"),
		Description: f.Text("description")}
	body := map[string]any{"name": l.Name, "color": l.Color, "description": l.Description}
	var done string
	switch was := f.Get("was"); {
	case was == "":
		done = "The label " + l.Name + " was created."
		err = p.kit.Change(r, http.MethodPost, web.Path("repos", a.Owner.Login, a.Name, "labels"), body, nil)
	case f.Checked("delete"):
		done = "The label " + was + " was deleted."
		err = p.kit.Change(r, http.MethodDelete, labelPath(a, was), nil, nil)
	default:
		done = "The label " + l.Name + " was saved."
		err = p.editLabel(r, a, f, was, l)
	}
	if err == nil {
		return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "labels"), done)
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.labels(r, a)
	if err != nil {
		return err
	}
	if v.Problem = problem; f.Get("was") == "" {
		v.New = l
	} else {
		v.Edit = l
		v.Was, v.Shown = f.Get("was"), f.Get("shown")
	}
	return p.t.Again(w, r, "labels.html", problem, v)
}
