package pull

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/pull"
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
	return p.led(w, r, a, f, "", p.change(r, a, account.Pull, func(ctx context.Context, number int64) error {
		return p.of.Pulls.SetDraft(ctx, a, number, !f.Checked("ready"))
	}))
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
	var e pull.Edit
	if base := f.Text("base"); base != "" {
		e.Base = web.Some(base)
	}
	if f.Has("modify") {
		e.Modifiable = web.Some(f.Get("modify") == "1")
	}
	return p.led(w, r, a, f, "", p.change(r, a, account.Pull, func(ctx context.Context, number int64) error {
		return p.of.Pulls.Edit(ctx, a, number, e)
	}))
}

// POST /{owner}/{repo}/pull/{number}/branch
//
// DeleteBranch deletes the head branch of a pull request that is no longer open, if it still is at the head; or with
// restore=1 creates a deleted one again.
func (p *Pages) DeleteBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	of, i, err := p.of.Pulls.Find(r.Context(), a, number)
	if err != nil {
		return err
	}
	o, err := p.of.Pulls.MergeBox(r.Context(), a, of, i)
	if err != nil {
		return err
	}
	if f.Checked("restore") {
		if !mayRestore(a, of, o.HeadGone) {
			return errs.New(errs.Conflict, "The branch cannot be restored: it is there, or belongs elsewhere.")
		}
		ctx, err := p.kit.Write(r, a, account.Push)
		if err == nil {
			_, err = p.kit.Repos.CreateRef(ctx, a, "refs/heads/"+of.HeadRef, of.HeadSHA)
		}
		return p.led(w, r, a, f, "merge", err)
	}
	if o.CanDelete {
		ctx, err := p.kit.Delete(r, a, account.Push)
		if err == nil {
			err = orEmpty(p.kit.Repos.DeleteRef(ctx, a, "refs/heads/"+of.HeadRef))
		}
		return p.led(w, r, a, f, "merge", err)
	}
	return page.SeeOther(w, r, back(r, a, f, "merge"))
}

// mayRestore reports that the head branch of a pull request was one of its repository and was deleted.
func mayRestore(a *repo.Access, of *pull.Pull, gone bool) bool {
	return gone && !of.Open && of.HeadRepoID == a.ID
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
	if f.Get("unview") != "" {
		blob = ""
	}
	err = p.change(r, a, account.Pull, func(ctx context.Context, number int64) error {
		return p.talk.Reviews.MarkViewed(ctx, a, number, path, blob)
	})
	return p.led(w, r, a, f, "diff-"+diff.ID(path), err)
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
	return p.led(w, r, a, f, "discussion_r"+id, p.resolve(r, a, id, !f.Checked("off")))
}

// resolve settles the thread of a comment, or opens it again.
func (p *Pages) resolve(r *http.Request, a *repo.Access, comment string, resolved bool) error {
	id, ok := web.ParseNumber(comment)
	if !ok {
		return errs.Absent()
	}
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return err
	}
	c, err := p.talk.Reviews.FindComment(ctx, a, id)
	if err != nil {
		return err
	}
	return p.talk.Reviews.Resolve(ctx, a, c, resolved)
}

// change runs an operation that stores something on the request's pull request, for callers with at least the role.
// Errors: those of [page.Kit.Write] and of the operation, 404.
func (p *Pages) change(
	r *http.Request, a *repo.Access, need account.Role, do func(ctx context.Context, number int64) error,
) error {
	ctx, err := p.kit.Write(r, a, need)
	if err != nil {
		return err
	}
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	return do(ctx, number)
}
