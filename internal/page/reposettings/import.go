package reposettings

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/migration"
	"arbor/internal/migration/job"
	"arbor/internal/page"
	"arbor/internal/repo"
)

// importView is the import into the repository.
type importView struct {
	view
	Job    *job.Job // nil: nobody has asked for one
	Lines  []cameLine
	Off    bool // the server has no imports
	Maps   bool // the viewer may say whose records become whose
	URL    string
	People string

	Strangers []stranger
}

// stranger is somebody who has no account here.
type stranger struct{ Name, Login string }

// cameLine is what came of a kind of records.
type cameLine struct {
	Kind migration.Kind
	migration.Count
}

// GET /{owner}/{repo}/settings/import
//
// Import shows how far the import into the repository is, or its report. Errors: 401, 403.
func (p *Pages) Import(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.importOf(r, a)
	return p.t.Show(w, r, "import.html", v, err)
}

func (p *Pages) importOf(r *http.Request, a *repo.Access) (*importView, error) {
	v := &importView{Off: p.of.Imports.Off()}
	var err error
	if v.view, err = p.frame(r, a, "import", "Import"); err != nil {
		return nil, err
	}
	v.Maps = a.Caller.SiteAdmin
	v.Job, err = p.of.Imports.Get(r.Context(), a)
	if errs.Is(err, errs.NotFound) {
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	v.URL = v.Job.URL
	if report := v.Job.Report; report != nil {
		for _, k := range migration.Kinds {
			if c := report.Counts[k]; c != nil && *c != (migration.Count{}) {
				v.Lines = append(v.Lines, cameLine{k, *c})
			}
		}
		for _, name := range report.Mannequins {
			there, host, _ := strings.Cut(name, " at ")
			v.Strangers = append(v.Strangers, stranger{name, there + "[" + host + "]"})
		}
	}
	return v, nil
}

// POST /{owner}/{repo}/settings/import
//
// ChangeImport starts or cancels an import, as do says. Errors: 401, 403; the page again, with 422.
func (p *Pages) ChangeImport(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayAdmin(a); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	done, err := p.changeImport(r, a, f)
	if err == nil {
		return page.Done(w, r, at(a, "/import"), done)
	}
	return page.RefuseWith(p.t, w, r, "import.html", err,
		func(r *http.Request) (*importView, error) { return p.importOf(r, a) },
		func(v *importView) { v.URL, v.People = f.Get("remote_url"), f.Get("people") })
}

// changeImport does what a form says, and returns what was done.
func (p *Pages) changeImport(r *http.Request, a *repo.Access, f page.Form) (done string, err error) {
	var ctx context.Context
	if f.Get("do") == "cancel" {
		if ctx, err = p.kit.DeleteArchived(r, a, account.Admin); err == nil {
			err = p.of.Imports.Cancel(ctx, a)
		}
		if errs.Is(err, errs.NotFound) {
			err = nil // somebody else was faster
		}
		if f.Get("ended") != "" {
			return "The report was removed. What has come stays.", err
		}
		return "The import was cancelled. What has come stays.", err
	}
	if ctx, err = p.kit.Write(r, a, account.Admin); err != nil {
		return "", err
	}
	q := job.Request{URL: f.Text("remote_url"), Token: f.Text("password")}
	if q.People, err = job.ReadMap(f.Get("people")); err != nil {
		return "", err
	}
	_, err = p.of.Imports.Start(ctx, a, q, job.PageFields)
	return "The import begins soon.", err
}
