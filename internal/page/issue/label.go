package issue

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/label"
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
// open, even if it is on another page of the list. Error: 404.
func (p *Pages) Labels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.labels(r, a)
	if err != nil {
		return err
	}
	if name := web.QueryOf(r).Get("edit"); name != "" {
		l, err := p.of.Services.Labels.Get(r.Context(), a, name)
		if err != nil {
			return err
		}
		v.Edit = page.NewLabel(l)
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
	at := web.Page{Number: web.ReadPage(r).Number, Size: labelsPerPage}
	list, total, err := p.of.Services.Labels.List(r.Context(), a, at)
	v.Labels, v.Pages = page.NewLabels(list), page.PagesOf(r, at.Offset()+int64(len(list)) < total)
	return v, err
}

// labelEdit is what a form says of a label that is there.
func labelEdit(l page.Label) map[string]any {
	return map[string]any{"new_name": l.Name, "color": l.Color, "description": l.Description}
}

// editLabel changes the label that was there under a name, as the form f says. Errors: those of the API and
// of page.Form.Edit.
func (p *Pages) editLabel(r *http.Request, a *repo.Access, f page.Form, was string, l page.Label) error {
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return err
	}
	now, err := p.of.Services.Labels.Get(ctx, a, was)
	if err != nil {
		return err
	}
	changed, err := f.Edit(labelEdit(l), labelEdit(page.NewLabel(now)))
	if err != nil {
		return err
	}
	var e label.Edit
	if _, ok := changed["new_name"]; ok {
		e.Name = web.Some(l.Name)
	}
	if _, ok := changed["color"]; ok {
		e.Color = web.Some(l.Color)
	}
	if _, ok := changed["description"]; ok {
		e.Description = web.Some(l.Description)
	}
	_, err = p.of.Services.Labels.Edit(ctx, a, was, e)
	return err
}

// createLabel creates a label. Errors: those of kit.Write and label.Service.Create.
func (p *Pages) createLabel(r *http.Request, a *repo.Access, l page.Label) error {
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return err
	}
	_, err = p.of.Services.Labels.Create(ctx, a, label.Edit{Name: web.Some(l.Name), Color: web.Some(l.Color),
		Description: web.Some(l.Description)})
	return err
}

func (p *Pages) deleteLabel(r *http.Request, a *repo.Access, name string) error {
	ctx, err := p.kit.Delete(r, a, account.Push)
	if err != nil {
		return err
	}
	return p.of.Deletions.DeleteLabel(ctx, a, name)
}

// POST /{owner}/{repo}/labels
//
// SaveLabel creates a label. With the field "was" it changes the label with that name, or deletes it if the
// button delete was pressed.
func (p *Pages) SaveLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	l := page.Label{Name: f.Text("name"), Color: strings.TrimPrefix(f.Text("color"), "#"),
		Description: f.Text("description")}
	var done string
	switch was := f.Get("was"); {
	case was == "":
		done = "The label " + l.Name + " was created."
		err = p.createLabel(r, a, l)
	case f.Checked("delete"):
		done = "The label " + was + " was deleted."
		err = p.deleteLabel(r, a, was)
	default:
		done = "The label " + l.Name + " was saved."
		err = p.editLabel(r, a, f, was, l)
	}
	if err == nil {
		return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "labels"), done)
	}
	return page.RefuseWith(p.t, w, r, "labels.html", err,
		func(r *http.Request) (*labelsView, error) { return p.labels(r, a) },
		func(v *labelsView) {
			if f.Get("was") == "" {
				v.New = l
			} else {
				v.Edit = l
				v.Was, v.Shown = f.Get("was"), f.Get("shown")
			}
		})
}
