package code

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

type deletedView struct {
	page.Frame
	List []deletedBranch
}

// deletedBranch is a branch that can be restored.
type deletedBranch struct {
	activity.DeletedBranch
	Person *page.User // who deleted it; nil: unknown
}

// GET /{owner}/{repo}/branches/deleted
//
// DeletedBranches lists the branches that were deleted within 30 days, for those who may restore them. Errors: 401,
// 403, 404.
func (p *Pages) DeletedBranches(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.deletedBranches(r, a)
	return p.t.Show(w, r, "deletedbranches.html", v, err)
}

func (p *Pages) deletedBranches(r *http.Request, a *repo.Access) (*deletedView, error) {
	if a.Caller == nil {
		return nil, page.NoCaller()
	}
	if err := a.Require(account.Push); err != nil {
		return nil, err
	}
	f, err := p.kit.RepoFrame(r, a, "code", "Deleted branches")
	if err != nil {
		return nil, err
	}
	v := &deletedView{Frame: f}
	list, err := p.restorable(r, a)
	for _, b := range list {
		d := deletedBranch{DeletedBranch: b}
		if b.By != nil {
			d.Person = page.NewUser(b.By)
		}
		v.List = append(v.List, d)
	}
	return v, err
}

// restorable lists the deleted branches that are not there again.
func (p *Pages) restorable(r *http.Request, a *repo.Access) ([]activity.DeletedBranch, error) {
	list, err := p.with.Activities.DeletedBranches(r.Context(), a)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	refs, err := p.kit.Repos.Refs(r.Context(), a)
	there := map[string]bool{}
	for _, ref := range refs.List {
		there[ref.Name] = true
	}
	return slices.DeleteFunc(list, func(b activity.DeletedBranch) bool { return there[git.Heads+b.Name] }), err
}

// POST /{owner}/{repo}/branches/deleted
//
// RestoreBranch makes the branch again whose deletion has the id that the form names. Errors: those of the API.
func (p *Pages) RestoreBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	name, err := p.restoreBranch(r, a, form.Get("id"))
	if err == nil {
		return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "tree")+segments(name),
			"The branch "+name+" was restored.")
	}
	return page.RefuseWith(p.t, w, r, "deletedbranches.html", err,
		func(r *http.Request) (*deletedView, error) { return p.deletedBranches(r, a) }, nil)
}

func (p *Pages) restoreBranch(r *http.Request, a *repo.Access, id string) (name string, err error) {
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return "", err
	}
	list, err := p.restorable(r, a)
	if err != nil {
		return "", err
	}
	for _, b := range list {
		if strconv.FormatInt(b.ID, 10) == strings.TrimSpace(id) {
			_, err := p.kit.Repos.CreateRef(ctx, a, git.Heads+b.Name, b.SHA)
			return b.Name, err
		}
	}
	return "", errs.New(errs.Invalid, "The branch cannot be restored: it is there again, or was deleted long ago.")
}
