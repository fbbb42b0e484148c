package reposettings

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
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
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	frame, err := p.frame(r, a, "general", title)
	if err != nil {
		return err
	}
	frame.Problem = problem
	return p.t.Again(w, r, name, problem,
		&dangerView{frame, f.Get("confirm"), f.Get("new_owner"), f.Get("new_name")})
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
		return at(a, ""), done, p.kit.Change(r, "PATCH", api(a), map[string]any{"private": private}, nil)
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
// ChangeArchived archives or unarchives the repository, as the field archived says: 1 or 0.
// Errors: 401,
// 403.
func (p *Pages) ChangeArchived(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.confirm(w, r, a, "archive.html", "Archive", func(f page.Form) (string, string, error) {
		archived, done := f.Get("archived") == "1", a.FullName()+" is no longer archived."
		if archived {
			done = a.FullName() + " was archived."
		}
		return at(a, ""), done, p.kit.Change(r, "PATCH", api(a), map[string]any{"archived": archived}, nil)
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
		body := map[string]string{"new_owner": f.Text("new_owner"), "new_name": f.Text("new_name")}
		if body["new_name"] == "" {
			delete(body, "new_name")
		}
		var moved struct {
			FullName string `json:"full_name"`
		}
		err := p.kit.Change(r, "POST", api(a)+"/transfer", body, &moved)
		return "/" + escaped(moved.FullName), "The repository is " + moved.FullName + " now.", err
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
// ChangeDeleted deletes the repository, for good. Errors: 401, 403.
func (p *Pages) ChangeDeleted(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.confirm(w, r, a, "delete.html", "Delete", func(page.Form) (string, string, error) {
		return "/" + a.Owner.Login, a.FullName() + " was deleted.", p.kit.Change(r, "DELETE", api(a), nil, nil)
	})
}
