package project

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/migration/job"
	"arbor/internal/mirror"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// importView is what import.html shows: the form as it was sent, without the password.
type importView struct {
	newView
	URL      string
	Username string
	Bring    string // all, git or mirror
	People   string // whose texts become whose
	Maps     bool   // the viewer may say so
	Off      bool   // the server has no mirrors and imports
}

// GET /new/import
//
// NewImport shows the form that imports a repository from another server. The query's url, owner, name and
// visibility fill it in.
func (p *Pages) NewImport(w http.ResponseWriter, r *http.Request) error {
	q := web.QueryOf(r)
	v := &importView{newView: newView{Owner: q.Get("owner"), Name: q.Get("name"), Private: q.Get("visibility") == "private"},
		URL: q.Get("url"), Bring: "all"}
	return p.t.Show(w, r, "import.html", v, p.fillImport(r, v))
}

// fillImport reads what can be chosen.
func (p *Pages) fillImport(r *http.Request, v *importView) error {
	v.Off, v.Maps = p.Mirrors.Off, account.CallerFrom(r.Context()).SiteAdmin
	if err := p.fill(r, &v.newView); err != nil {
		return err
	}
	v.Title = "Import a repository"
	return nil
}

// POST /new/import
//
// Import creates a repository, starts its import from another server (everything, only Git, or as a mirror), and
// redirects to it. Errors in the input are shown in the form.
func (p *Pages) Import(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &importView{newView: newView{Owner: form.Text("owner"), Name: form.Text("name"),
		Private: form.Get("visibility") == "private"},
		URL: form.Text("remote_url"), Username: form.Text("username"), Bring: form.Get("bring"), People: form.Get("people")}
	made, err := p.importFrom(r, v, form.Get("password"))
	rest, say := "", " was created. It will be copied soon."
	if v.Bring == "all" {
		rest, say = "/settings/import", " was created. The import begins soon."
	}
	if err == nil {
		return page.Done(w, r, pathOf(made)+rest, made+say)
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	if made != "" {
		if rest == "" {
			rest = "/settings/mirrors"
		}
		return page.PartlyDone(w, r, pathOf(made)+rest, made+" was created, but nothing is copied: "+problem.Message)
	}
	if err := p.fillImport(r, v); err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "import.html", problem, v)
}

// importFrom creates the repository, and has it filled. It returns the OWNER/NAME of a repository that it created, also
// with an error.
func (p *Pages) importFrom(r *http.Request, v *importView, password string) (fullName string, err error) {
	check, start := p.copies(v, password)
	if v.Bring == "all" {
		if check, start, err = p.imports(v, password); err != nil {
			return "", err
		}
	}
	if err := check(account.CallerFrom(r.Context())); err != nil { // before there is a repository
		return "", err
	}
	made, err := p.create(r, &v.newView)
	if err != nil {
		return "", err
	}
	owner, name, _ := strings.Cut(made, "/")
	a, err := p.kit.Repos.Find(r.Context(), account.CallerFrom(r.Context()), owner, name)
	if err != nil {
		return made, err
	}
	ctx, err := p.kit.Write(r, &a.Access, account.Admin)
	if err == nil { // even if the browser has gone: the repository is there
		err = start(context.WithoutCancel(ctx), &a.Access)
	}
	return made, err
}

// copies returns what checks and starts a copy of Git, once or as a mirror.
func (p *Pages) copies(v *importView, password string) (
	check func(*account.Caller) error, start func(context.Context, *repo.Access) error,
) {
	e := mirror.Edit{URL: v.URL, Username: v.Username, FollowHead: true, Once: v.Bring != "mirror"}
	if password != "" {
		e.Password = web.Some(password)
	}
	return func(*account.Caller) error { return p.Mirrors.Check(e) },
		func(ctx context.Context, a *repo.Access) error {
			_, _, err := p.Mirrors.Set(ctx, a, e)
			return err
		}
}

// imports returns what checks and starts an import of everything.
func (p *Pages) imports(v *importView, token string) (
	check func(*account.Caller) error, start func(context.Context, *repo.Access) error, err error,
) {
	q := job.Request{URL: v.URL, Token: strings.TrimSpace(token)}
	if q.People, err = job.ReadMap(v.People); err != nil {
		return nil, nil, err
	}
	return func(by *account.Caller) error { return p.Imports.Check(by, q, job.PageFields) },
		func(ctx context.Context, a *repo.Access) error {
			_, err := p.Imports.Start(ctx, a, q, job.PageFields)
			return err
		}, nil
}
