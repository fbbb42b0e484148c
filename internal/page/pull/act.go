package pull

import (
	"net/http"
	"strings"

	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// POST /{owner}/{repo}/pull/{number}/draft
//
// SetDraft converts the pull request to a draft, or with ready=1 marks it as ready for review.
func (p *Pages) SetDraft(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	q := inside.Request{Method: http.MethodPatch, Path: api(r, a), Handler: p.with.Draft}
	return p.led(w, r, a, f, "", p.kit.Do(r, q, map[string]any{"draft": !f.Checked("ready")}, nil))
}

// POST /{owner}/{repo}/pull/{number}/base
//
// SetBase changes the base branch of the pull request, and whether maintainers may push to
// its head.
func (p *Pages) SetBase(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	body := map[string]any{}
	if base := f.Text("base"); base != "" {
		body["base"] = base
	}
	if f.Has("modify") {
		body["maintainer_can_modify"] = f.Get("modify") == "1"
	}
	return p.led(w, r, a, f, "", p.kit.Change(r, http.MethodPatch, api(r, a), body, nil))
}

// POST /{owner}/{repo}/pull/{number}/branch
//
// DeleteBranch deletes the head branch of a pull request that is no longer open, if it still is at the head.
func (p *Pages) DeleteBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	var of pull
	if _, err := p.kit.Get(r, api(r, a), nil, &of); err != nil {
		return err
	}
	var o outlook
	if _, err := p.kit.Read(r, inside.Request{Path: api(r, a), Handler: p.with.Outlook}, &o); err != nil {
		return err
	}
	if o.CanDelete {
		path := web.Path("repos", a.Owner.Login, a.Name, "git",
			"refs", "heads") + web.Path(strings.Split(of.Head.Ref, "/")...)
		err = orEmpty(p.kit.Change(r, http.MethodDelete, path, nil, nil))
	}
	return p.led(w, r, a, f, "merge", err)
}

// POST /{owner}/{repo}/pull/{number}/viewed
//
// SetViewed marks a file as viewed, as the blob that it is: view=BLOB PATH; or takes that back: unview=BLOB
// PATH.
func (p *Pages) SetViewed(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	blob, path, _ := strings.Cut(f.Get("view")+f.Get("unview"), " ")
	body := map[string]any{"path": path}
	if f.Get("unview") == "" {
		body["blob"] = blob
	}
	q := inside.Request{Method: http.MethodPatch, Path: api(r, a), Handler: p.with.MarkViewed}
	return p.led(w, r, a, f, "diff-"+diff.ID(path), p.kit.Do(r, q, body, nil))
}

// POST /{owner}/{repo}/pull/{number}/threads
//
// Resolve settles the thread of a comment, or with off=1 opens it again.
func (p *Pages) Resolve(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	id := f.Get("comment")
	q := inside.Request{Method: http.MethodPatch, Handler: p.with.ResolveThread,
		Path: web.Path("repos", a.Owner.Login, a.Name, "pulls", "comments", id)}
	return p.led(w, r, a, f, "discussion_r"+id,
		p.kit.Do(r, q, map[string]any{"resolved": !f.Checked("off")}, nil))
}
