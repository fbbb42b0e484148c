package code

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// proposal is what a form says of the commit that it makes, and shows again when it was not taken.
type proposal struct {
	Message     string // the first line
	Description string
	New         bool   // to a new branch
	Branch      string // its name
	Suggested   string // the message where none was given
}

// readProposal reads the form's fields. The name of a new branch counts, also where the page's own branch is
// still chosen: choosing that one with the script empties the name.
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

// fileChange is a file that a commit adds, changes or deletes.
type fileChange struct {
	Path     string `json:"path"`
	Contents string `json:"contents,omitempty"` // Base64
	From     string `json:"from,omitempty"`     // the file whose mode it keeps
}

func encoded(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// Proposes reports that the viewer may not push: a change goes to a branch of a fork, and leads to a pull
// request.
func (v *at) Proposes() bool { return v.Viewer != nil && !v.Repo.Archived && !v.Repo.CanPush() }

// checkWritable returns why the viewer can neither commit to the page's revision nor propose a change. The
// API checks again.
func (v *at) checkWritable() error {
	switch {
	case v.Viewer == nil:
		return errs.New(errs.Unauthenticated, "Requires authentication")
	case v.Repo.Archived:
		return errs.New(errs.Forbidden, "This repository is archived, so nothing in it changes.")
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
	r *http.Request, a *repo.Access, v *at, c *proposal, add, remove []fileChange, done string,
) (string, error) {
	if v.At.SHA == "" { // the repository is empty
		return done, p.writeFirst(r, a, v, c, add)
	}
	branch, to, fresh := v.At.Ref, of(a), c.New || v.Proposes()
	if fresh {
		branch = c.Branch
	}
	head := "" // what a pull request calls the branch
	if v.Proposes() {
		fork, err := p.forkOf(r, a)
		if err != nil {
			return "", err
		}
		to = "/repos" + fork
		head = v.Viewer.Login + ":"
	}
	if fresh {
		var err error
		if branch, err = p.freeBranch(r, v, to, branch); err != nil {
			return "", err
		}
		if err := p.beginBranch(r, a, v, to, branch); err != nil {
			return "", err
		}
		head += branch
	}
	body, err := json.Marshal(map[string]any{"message": c.text(), "branch": branch,
		"expectedHeadOid": v.At.SHA,
		"additions":       add, "deletions": remove})
	if err != nil {
		return "", err
	}
	_, err = p.kit.Send(r, inside.Request{Method: http.MethodPut, Path: to + "/contents/-", Body: body,
		Handler: p.do.CommitFiles})
	if err != nil {
		if fresh { // nobody has seen it
			_ = p.kit.Change(r, http.MethodDelete, to+"/git/refs/heads"+segments(branch), nil, nil)
		}
		return "", err
	}
	if fresh {
		return v.Repo.Path + "/pulls/new?" + url.Values{"base": {v.At.Ref}, "head": {head}}.Encode(), nil
	}
	return done, nil
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

// freeBranch returns the name of a new branch in the repository at an address of the API: the one of the form,
// or, if that is the form's default, the first such name that is free.
func (p *Pages) freeBranch(r *http.Request, v *at, to, name string) (string, error) {
	if name != v.FirstPatch() {
		return name, nil
	}
	for n := 1; n <= maxPatches; n++ {
		next := v.patchBranch() + strconv.Itoa(n)
		taken, err := p.kit.Holds(r, to+"/git/ref/heads/"+next)
		if err != nil || !taken {
			return next, err
		}
	}
	return name, nil
}

// forkOf finds the viewer's fork of a repository, or creates it, and returns its path. What the viewer owns
// decides:
//
//	nothing of that name              a fork of that name
//	another repository of that name   a fork named NAME-1, also if a fork has left the network
//	a fork of any name                that fork
//	a fork that is archived           403, which names it
//
// Errors: those of the API, as 403 where the quota is full or the organization lets nobody fork.
func (p *Pages) forkOf(r *http.Request, a *repo.Access) (string, error) {
	var fork struct {
		FullName string `json:"full_name"`
		Archived bool
	}
	err := p.kit.Change(r, http.MethodPost, of(a, "/forks"),
		map[string]any{"default_branch_only": true}, &fork)
	owner, name, _ := strings.Cut(fork.FullName, "/")
	if err == nil && fork.Archived {
		err = errs.Newf(errs.Forbidden, "The change would go to your fork, %s, which is archived. "+
			"Unarchive it in its settings, and propose the change again.", fork.FullName)
	}
	return web.Path(owner, name), err
}

// beginBranch creates the branch of a change, at the place's commit: in its repository, or in a fork at an
// address of the API.
func (p *Pages) beginBranch(r *http.Request, a *repo.Access, v *at, to, name string) error {
	if !v.Proposes() || name == "" {
		return p.makeBranch(r, to, name, string(v.At.SHA))
	}
	body, err := json.Marshal(map[string]any{"name": name, "repository_id": a.ID, "base": v.At.Ref,
		"sha": v.At.SHA})
	if err != nil {
		return err
	}
	_, err = p.kit.Send(r, inside.Request{Method: http.MethodPost, Path: to + "/merge-upstream", Body: body,
		Handler: p.do.BranchFrom})
	return err
}

// makeBranch creates a branch at a commit, in the repository at an address of the API. Errors: those of the
// API.
func (p *Pages) makeBranch(r *http.Request, to, name, sha string) error {
	if name == "" {
		return errs.New(errs.Invalid, "The new branch needs a name.")
	}
	return p.kit.Change(r, http.MethodPost, to+"/git/refs",
		map[string]any{"ref": "refs/heads/" + name, "sha": sha}, nil)
}

// writeFirst creates the first commit of a repository, with one file.
func (p *Pages) writeFirst(r *http.Request, a *repo.Access, v *at, c *proposal, add []fileChange) error {
	if len(add) != 1 || c.New {
		return errs.New(errs.Invalid,
			"The first commit of a repository has one file here, and makes its default branch.")
	}
	return p.kit.Change(r, http.MethodPut, of(a, "/contents", segments(add[0].Path)),
		map[string]any{"message": c.text(), "content": add[0].Contents, "branch": v.At.Ref}, nil)
}

// placeOrEmpty is place, also for the default branch of a repository without a commit.
func (p *Pages) placeOrEmpty(r *http.Request, a *repo.Access, view, text string) (at, error) {
	v, err := p.locate(r, a, view, text)
	if errs.Is(err, errs.Conflict) && strings.Trim(text, "/") == a.DefaultBranch {
		v = at{View: view, At: gitdata.Located{Ref: a.DefaultBranch, Kind: "branch", Type: "tree"}}
		v.Frame, err = p.kit.RepoFrame(r, a, "code", a.DefaultBranch)
	}
	return v, page.Absent(err)
}

// there asks whether something is at a path of the place.
func (p *Pages) there(r *http.Request, a *repo.Access, v *at, path string) (bool, error) {
	if v.At.SHA == "" {
		return false, nil
	}
	err := p.ask(r, p.do.Locate, of(a, "/contents/", string(v.At.SHA), segments(path)), nil,
		&gitdata.Located{})
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	return err == nil, err
}
