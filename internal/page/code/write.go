package code

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/scope"
)

// proposal is what a form says of the commit that it makes, and shows again when it was not taken.
type proposal struct {
	Message     string // the first line
	Description string
	New         bool   // to a new branch
	Branch      string // its name
	Suggested   string // the message where none was given
}

// readProposal reads the form's fields. The name of a new branch counts even if the page's own branch is
// still selected: choosing that one with the script empties the name.
func (v *at) readProposal(form page.Form) proposal {
	c := proposal{Message: form.Text("message"), Description: form.Text("description"),
		Branch: form.Text("branch")}
	c.New = form.Get("target") == "new" || c.Branch != "" && c.Branch != v.FirstPatch()
	return c
}

// text is the commit's message.
func (c *proposal) text() string {
	message := c.Message
	if message == "" {
		message = c.Suggested
	}
	if c.Description != "" {
		message += "\n\n" + c.Description
	}
	return message
}

// Proposes reports that the viewer may not push: a change goes to a branch of a fork, and leads to a pull
// request.
func (v *at) Proposes() bool {
	return v.Viewer != nil && !v.Repo.Archived && !v.Repo.Importing && v.Repo.MirrorURL == "" && !v.Repo.CanPush()
}

// checkWritable returns why the viewer can neither commit to the page's revision nor propose a change. The
// API checks again.
func (v *at) checkWritable() error {
	switch {
	case v.Viewer == nil:
		return errs.New(errs.Unauthenticated, "Requires authentication")
	case v.Repo.Archived:
		return errs.New(errs.Forbidden, "This repository is archived, so nothing in it changes.")
	case v.Repo.MirrorURL != "":
		return repo.ErrMirror()
	case !v.Repo.CanPush() && v.At.SHA == "":
		return errs.New(errs.Forbidden,
			"You may not push to this repository, and it has nothing yet to which you could propose a change.")
	case v.At.Kind != "branch":
		return errs.New(errs.Forbidden,
			"Files are changed on a branch. This is the state of a tag or a commit: choose a branch first.")
	}
	return nil
}

// write commits to the branch of the place, or to a new branch from there, and returns where the
// browser goes then: to done, a page of the branch, or to a new pull request. Errors: those of the API.
func (p *Pages) write(
	r *http.Request, a *repo.Access, v *at, c *proposal, add, remove []gitdata.FileChange, done string,
) (string, error) {
	branch, to, fresh := v.At.Ref, a, v.At.SHA != "" && (c.New || v.Proposes()) // the first commit makes its branch
	if fresh {
		branch = c.Branch
	}
	var err error
	head := "" // what a pull request calls the branch
	if v.Proposes() {
		ctx, err := p.mayFork(r, a)
		if err != nil {
			return "", err
		}
		// Before the fork, since one that is made stays.
		kb, err := p.checkProposal(r, a, v, c, add, remove)
		if err != nil {
			return "", err
		}
		if to, err = p.forkOf(ctx, a, kb); err != nil {
			return "", err
		}
		head = v.Viewer.Login + ":"
	}
	if fresh {
		if branch, err = p.freeBranch(r.Context(), v, to, branch); err != nil {
			return "", err
		}
		if err := p.beginBranch(r, a, v, to, branch); err != nil {
			return "", err
		}
		head += branch
	}
	err = p.commitFiles(r, to, gitdata.FilesCommit{Message: c.text(), Branch: branch, Tip: v.At.SHA, Add: add,
		Remove: remove})
	switch {
	case err != nil && fresh: // nobody has seen it
		_ = p.removeBranch(r, to, branch)
		return "", err
	case fresh:
		return v.Repo.Path + "/pulls/new?" + url.Values{"base": {v.At.Ref}, "head": {head}}.Encode(), nil
	}
	return done, err
}

// committed leads to where write says, with a message. done is what write was given: elsewhere is the form of a
// pull request.
func committed(w http.ResponseWriter, r *http.Request, to, done, what string) error {
	if to != done {
		what = "Your change was committed to a new branch. Open a pull request for it."
	}
	return page.Done(w, r, to, what)
}

// checkProposal returns how many KiB a change adds to a fork, at most, or the error of one that no fork would take.
func (p *Pages) checkProposal(
	r *http.Request, a *repo.Access, v *at, c *proposal, add, remove []gitdata.FileChange,
) (kb int64, err error) {
	if err := checkBranch(c.Branch); err != nil {
		return 0, err
	}
	return p.with.Git.CheckCommit(r.Context(), a, gitdata.FilesCommit{Message: c.text(), Branch: c.Branch,
		Tip: v.At.SHA, Add: add, Remove: remove})
}

// checkBranch checks the name of a new branch. Error: 422.
func checkBranch(name string) error {
	if name == "" {
		return errs.New(errs.Invalid, "The new branch needs a name.")
	}
	return repo.CheckNewRef("refs/heads/" + name)
}

func (p *Pages) commitFiles(r *http.Request, a *repo.Access, c gitdata.FilesCommit) error {
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return err
	}
	_, err = p.with.Git.Commit(ctx, a, c)
	return err
}

// FirstPatch is the name that the form suggests for a new branch.
func (v *at) FirstPatch() string { return v.patchBranch() + "1" }

// patchBranch is the beginning of such a name. A number follows.
func (v *at) patchBranch() string {
	if v.Proposes() {
		return "patch-"
	}
	return strings.ToLower(v.Viewer.Login) + "-patch-"
}

// maxPatches bounds how many numbers are tried for the name of a branch.
const maxPatches = 50

// freeBranch returns the name of a new branch in a repository: the one of the form, or, if that is the form's
// default, the first such name that is free.
func (p *Pages) freeBranch(ctx context.Context, v *at, to *repo.Access, name string) (string, error) {
	if name != v.FirstPatch() {
		return name, nil
	}
	for n := 1; n <= maxPatches; n++ {
		next := v.patchBranch() + strconv.Itoa(n)
		_, err := p.kit.Repos.Ref(ctx, to, "refs/heads/"+next)
		if errs.Is(err, errs.NotFound) {
			return next, nil
		}
		if err != nil {
			return "", err
		}
	}
	return name, nil
}

// mayFork returns the context of the changes that make a fork. Error: 403 for a token that may not.
func (p *Pages) mayFork(r *http.Request, a *repo.Access) (context.Context, error) {
	if err := a.Caller.Allows(scope.PublicRepo, false); err != nil {
		return nil, err
	}
	return p.kit.Write(r, a, account.Pull)
}

// forkOf finds the viewer's fork of a repository, or creates it if the viewer's quota also has room for the KiB of a
// change. What the viewer owns decides:
//
//	nothing of that name              a fork of that name
//	another repository of that name   a fork named NAME-1, even if a fork has left the network
//	a fork of any name                that fork
//	a fork that is archived           403, which names it
//
// Errors: those of the API, such as 403 if the quota is full or the organization allows no forks.
func (p *Pages) forkOf(ctx context.Context, a *repo.Access, kb int64) (*repo.Access, error) {
	fork, err := p.with.Forks.Fork(ctx, a, network.NewFork{DefaultBranchOnly: true, RoomKB: kb})
	if err != nil {
		return nil, err
	}
	if fork.Archived {
		return nil, errs.Newf(errs.Forbidden, "The change would go to your fork, %s, which is archived. "+
			"Unarchive it in its settings, and propose the change again.", fork.FullName())
	}
	found, err := p.kit.Repos.Find(ctx, a.Caller, fork.Owner.Login, fork.Name)
	return &found.Access, err
}

// beginBranch creates the branch of a change, at the place's commit: in its repository, or in a fork.
func (p *Pages) beginBranch(r *http.Request, a *repo.Access, v *at, to *repo.Access, name string) error {
	if to == a {
		return p.makeBranch(r, to, name, v.At.SHA)
	}
	ctx, err := p.kit.Write(r, to, account.Push)
	if err != nil {
		return err
	}
	return p.with.Pulls.BranchFrom(ctx, to, pull.NewBranch{Name: name, From: a.ID, Base: v.At.Ref, SHA: v.At.SHA})
}

// makeBranch creates a branch at a commit. Errors: those of the API.
func (p *Pages) makeBranch(r *http.Request, a *repo.Access, name string, sha git.SHA) error {
	if err := checkBranch(name); err != nil {
		return err
	}
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return err
	}
	_, err = p.with.Git.MakeRef(ctx, a, "refs/heads/"+name, sha)
	return err
}

// placeOrEmpty is like place, but accepts the default branch of a repository without commits.
func (p *Pages) placeOrEmpty(r *http.Request, a *repo.Access, text string) (at, error) {
	v, err := p.locate(r, a, "tree", text)
	if errs.Is(err, errs.Conflict) && strings.Trim(text, "/") == a.DefaultBranch {
		v = at{View: "tree", At: gitdata.Located{Ref: a.DefaultBranch, Kind: "branch", Type: "tree"}}
		v.Frame, err = p.kit.RepoFrame(r, a, "code", a.DefaultBranch)
	}
	return v, page.Absent(err)
}

// there asks whether something is at a path of the place.
func (p *Pages) there(r *http.Request, a *repo.Access, v *at, path string) (bool, error) {
	if v.At.SHA == "" {
		return false, nil
	}
	_, err := p.with.Git.Locate(r.Context(), a, string(v.At.SHA)+"/"+path)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	return err == nil, err
}
