package releases

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// deletedView is what deleted.html shows.
type deletedView struct {
	page.Frame
	List []*release.Release
}

// GET /{owner}/{repo}/releases/deleted
//
// Deleted lists the deleted releases that can be restored. Errors: 401, 403.
func (p *Pages) Deleted(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if a.Caller == nil {
		return page.NoCaller()
	}
	list, err := p.with.Releases.Deleted(r.Context(), a)
	if err != nil {
		return err
	}
	f, err := p.kit.RepoFrame(r, a, "releases", "Deleted releases")
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "deleted.html", &deletedView{f, list})
}

// POST /{owner}/{repo}/releases/deleted
//
// ChangeDeleted restores the deleted release id as a draft, or, if do says so, removes it. Errors: 401, 403, 404.
func (p *Pages) ChangeDeleted(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(f.Get("id"), 10, 64)
	if err != nil {
		return errs.New(errs.Malformed, "The form does not say which release it is about.")
	}
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return err
	}
	if f.Get("do") == "remove" {
		if err := p.with.Releases.Remove(ctx, a, id); err != nil {
			return err
		}
		return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "releases", "deleted"), "The release was removed.")
	}
	if _, err := p.with.Releases.Restore(ctx, a, id); err != nil {
		return err
	}
	return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "releases"),
		"The release was restored as a draft. Publish it to show it to everyone again.")
}
