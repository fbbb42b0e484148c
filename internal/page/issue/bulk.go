package issue

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue"
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
	var change issue.Edit
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
		change.State, change.Reason = web.Some("closed"), web.Some(do)
	case "open":
		change.State = web.Some(do)
	case "apply":
		if n, err := strconv.ParseInt(f.Get("milestone"), 10, 64); err == nil {
			change.Milestone = web.Some(n)
		} else if f.Get("milestone") == "none" {
			change.Milestone = web.Opt[int64]{Set: true, Null: true}
		}
	default:
		return errs.New(errs.Invalid, "Unknown action.")
	}
	for _, number := range v.Numbers {
		if err := p.sort(r, a, number, change, f); err != nil {
			return err
		}
	}
	return page.SeeOther(w, r, v.Return)
}

// sort changes one issue: what all have in common, and the labels and assignees that the form adds.
func (p *Pages) sort(r *http.Request, a *repo.Access, text string, change issue.Edit, f page.Form) error {
	number, ok := web.ParseNumber(text)
	if !ok {
		return errs.Absent()
	}
	apply := f.Get("do") == "apply"
	labels, people := f.List("label"), f.List("assignee")
	need := account.Pull // which Update asks for more
	if apply && len(labels)+len(people) > 0 {
		need = account.Triage
	}
	ctx, err := p.kit.Write(r, a, need)
	if err != nil {
		return err
	}
	i, err := p.of.Issues.ByNumber(ctx, a, number)
	if err != nil {
		return err
	}
	if change.State.Set || change.Milestone.Set {
		if _, err := p.of.Issues.Update(ctx, a, i, change); err != nil {
			return err
		}
	}
	if apply && len(labels) > 0 {
		if _, err := p.of.Issues.AddLabels(ctx, a, number, labels); err != nil {
			return err
		}
	}
	if apply && len(people) > 0 {
		_, err = p.of.Issues.Assign(ctx, a, number, people)
	}
	return err
}
