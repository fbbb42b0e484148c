package settings

import (
	"net/http"
	"net/url"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/repo/deleted"
)

type deletedView struct {
	view
	Days int64 // for which deleted repositories are kept; 0: they are not
	List []deletedRepo
}

// deletedRepo is a row of the list.
type deletedRepo struct {
	deleted.Repo
	As string // what was typed for its name, if that was refused
}

// GET /settings/deleted
//
// Deleted lists the deleted repositories that the caller may restore: own ones and those of organizations that the
// caller owns.
func (p *Pages) Deleted(w http.ResponseWriter, r *http.Request) error {
	v, err := p.deletedView(r)
	return p.t.Show(w, r, "deleted.html", v, err)
}

func (p *Pages) deletedView(r *http.Request) (*deletedView, error) {
	f, err := p.frame(r, "deleted", "Deleted repositories")
	if err != nil {
		return nil, err
	}
	v := &deletedView{view: f, Days: p.deleted.Days()}
	list, more, err := p.deleted.List(r.Context(), caller(r), page.At(r, 50))
	for _, d := range list {
		v.List = append(v.List, deletedRepo{d, d.Name})
	}
	v.Pages = page.PagesOf(r, more)
	return v, err
}

// POST /settings/deleted
//
// ChangeDeleted restores the deleted repository id under the name name, or, if do says so, removes it.
func (p *Pages) ChangeDeleted(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(f.Get("id"), 10, 64)
	if err != nil {
		return errs.New(errs.Malformed, "The form does not say which repository it is about.")
	}
	id := repo.ID(n)
	if f.Get("do") == "remove" {
		if err := p.deleted.Remove(r.Context(), caller(r), id); err != nil {
			return err
		}
		return page.Done(w, r, "/settings/deleted", "The repository is being removed.")
	}
	restored, err := p.deleted.Restore(r.Context(), caller(r), id, f.Text("name"))
	if err == nil {
		to := "/" + restored.Owner.Login + "/" + url.PathEscape(restored.Name)
		return page.Done(w, r, to, restored.FullName()+" was restored.")
	}
	return page.RefuseWith(p.t, w, r, "deleted.html", err, p.deletedView, func(v *deletedView) {
		for i := range v.List {
			if v.List[i].ID == id {
				v.List[i].As = f.Get("name")
			}
		}
	})
}
