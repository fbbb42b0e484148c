package issue

import (
	"net/http"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/page/listing"
	"arbor/internal/repo"
	"arbor/internal/web"
)

type bulkView struct {
	page.Frame
	Numbers []string
	Return  string
	Choose  chosen
}

// POST /{owner}/{repo}/issues/bulk
//
// Bulk does one thing to the issues whose numbers were chosen in a list: "do" closes them (completed,
// not_planned), reopens them (open), shows a form to sort them (sort), or applies that form (apply). Errors:
// 422 for none chosen or more than a page has; those of the API, at the first issue that is not changed.
func (p *Pages) Bulk(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &bulkView{Numbers: f.List("number"),
		Return: page.ReturnTo(f.Get("return_to"), web.Path(a.Owner.Login, a.Name, "issues"))}
	if n := len(v.Numbers); n == 0 || n > listing.Size {
		return errs.Newf(errs.Invalid, "Choose between 1 and %d issues first.", listing.Size)
	}
	change := map[string]any{}
	switch do := f.Get("do"); do {
	case "sort":
		v.Choose.Bulk, v.Choose.On = true, map[string]bool{}
		if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "Sort issues"); err != nil {
			return err
		}
		if err := p.choices(r, v.Repo, &v.Choose, ""); err != nil {
			return err
		}
		return p.t.Page(w, r, "bulk.html", v)
	case "completed", "not_planned":
		change["state"], change["state_reason"] = "closed", do
	case "open":
		change["state"] = do
	case "apply":
		if n, err := strconv.ParseInt(f.Get("milestone"), 10, 64); err == nil {
			change["milestone"] = n
		} else if f.Get("milestone") == "none" {
			change["milestone"] = nil
		}
	default:
		return errs.New(errs.Invalid, "Unknown action.")
	}
	for _, number := range v.Numbers {
		if err := p.sort(r, web.Path("repos", a.Owner.Login, a.Name, "issues", number), change,
			f); err != nil {
			return err
		}
	}
	return page.SeeOther(w, r, v.Return)
}

// sort changes one issue: what all have in common, and the labels and assignees that the form adds.
func (p *Pages) sort(r *http.Request, path string, change map[string]any, f page.Form) error {
	if len(change) > 0 {
		if err := p.kit.Change(r, http.MethodPatch, path, change, nil); err != nil {
			return err
		}
	}
	for field, of := range map[string]string{"label": "labels", "assignee": "assignees"} {
		names := f.List(field)
		if len(names) == 0 || f.Get("do") != "apply" {
			continue
		}
		if err := p.kit.Change(r, http.MethodPost, path+"/"+of, map[string]any{of: names}, nil); err != nil {
			return err
		}
	}
	return nil
}
