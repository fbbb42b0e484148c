package reposettings

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/repo/settings"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// dangerView is a page on which something that matters is confirmed.
type dangerView struct {
	view
	Typed    string // in place of the full name
	NewOwner string
	NewName  string
}

func (p *Pages) danger(w http.ResponseWriter, r *http.Request, a *repo.Access, name, title string) error {
	f, err := p.frame(r, a, "general", title)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, name, &dangerView{view: f})
}

// confirm reads a form whose field confirm has the repository's full name, and runs change. What is wrong
// with it is shown on the page again.
func (p *Pages) confirm(w http.ResponseWriter, r *http.Request, a *repo.Access, name, title string,
	change func(page.Form) (to, done string, err error),
) error {
	if err := mayAdmin(a); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	var to, done string
	if f.Text("confirm") != a.FullName() {
		err = errs.Newf(errs.Invalid, "Nothing was done: type %s to confirm.", a.FullName())
	} else {
		to, done, err = change(f)
	}
	if err == nil {
		return page.Done(w, r, to, done)
	}
	return page.RefuseWith(p.t, w, r, name, err, func(r *http.Request) (*dangerView, error) {
		frame, err := p.frame(r, a, "general", title)
		return &dangerView{frame, f.Get("confirm"), f.Get("new_owner"), f.Get("new_name")}, err
	}, nil)
}

// GET /{owner}/{repo}/settings/visibility
//
// Visibility shows the consequences of changing the repository's visibility. Errors: 401, 403.
func (p *Pages) Visibility(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.danger(w, r, a, "visibility.html", "Change visibility")
}

// POST /{owner}/{repo}/settings/visibility
//
// ChangeVisibility sets whether the repository is private, as the field private says: 1 or 0. Errors: 401,
// 403.
func (p *Pages) ChangeVisibility(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.confirm(w, r, a, "visibility.html", "Change visibility", func(f page.Form) (string, string, error) {
		private, done := f.Get("private") == "1", a.FullName()+" is public now."
		if private {
			done = a.FullName() + " is private now."
		}
		_, err := p.edit(r, a, settings.Edit{Private: web.Some(private)})
		return at(a, ""), done, err
	})
}

// GET /{owner}/{repo}/settings/archive
//
// Archive explains what an archived repository is. Errors: 401, 403.
func (p *Pages) Archive(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.danger(w, r, a, "archive.html", "Archive")
}

// POST /{owner}/{repo}/settings/archive
//
// ChangeArchived archives or unarchives the repository, as the field archived says: 1 or 0. Errors: 401, 403.
func (p *Pages) ChangeArchived(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.confirm(w, r, a, "archive.html", "Archive", func(f page.Form) (string, string, error) {
		archived, done := f.Get("archived") == "1", a.FullName()+" is no longer archived."
		if archived {
			done = a.FullName() + " was archived."
		}
		_, err := p.edit(r, a, settings.Edit{Archived: web.Some(archived)})
		return at(a, ""), done, err
	})
}

// GET /{owner}/{repo}/settings/transfer
//
// Transfer asks for the new owner. Errors: 401, 403.
func (p *Pages) Transfer(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.danger(w, r, a, "transfer.html", "Transfer")
}

// POST /{owner}/{repo}/settings/transfer
//
// ChangeOwner transfers the repository to new_owner, as new_name if set. Errors: 401, 403.
func (p *Pages) ChangeOwner(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.confirm(w, r, a, "transfer.html", "Transfer", func(f page.Form) (string, string, error) {
		ctx, err := p.kit.WriteArchived(r, a, account.Admin)
		if err != nil {
			return "", "", err
		}
		moved, err := p.of.Settings.Transfer(ctx, a,
			settings.Transfer{Owner: f.Text("new_owner"), Name: f.Text("new_name")})
		if err != nil {
			return "", "", err
		}
		return "/" + escaped(moved.FullName()), "The repository is " + moved.FullName() + " now.", nil
	})
}

// GET /{owner}/{repo}/settings/delete
//
// Delete shows what is deleted with the repository. Errors: 401, 403.
func (p *Pages) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.danger(w, r, a, "delete.html", "Delete")
}

// POST /{owner}/{repo}/settings/delete
//
// ChangeDeleted deletes the repository, which its owner can restore for a while. Errors: 401, 403.
func (p *Pages) ChangeDeleted(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.confirm(w, r, a, "delete.html", "Delete", func(page.Form) (string, string, error) {
		if err := a.Caller.Allows(scope.DeleteRepo, true); err != nil {
			return "", "", err
		}
		ctx, err := p.kit.DeleteArchived(r, a, account.Admin)
		if err == nil {
			err = p.of.Settings.Delete(ctx, a)
		}
		done := a.FullName() + " was deleted."
		if p.of.Deleted.For > 0 {
			done += " Its owner can restore it in the settings, under Deleted repositories."
		}
		return "/" + a.Owner.Login, done, err
	})
}
