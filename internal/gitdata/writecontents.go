package gitdata

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// fileChangeJSON is GitHub's file-commit: the file, or null if it was deleted, and the commit.
type fileChangeJSON struct {
	Content *contentJSON  `json:"content"`
	Commit  gitCommitJSON `json:"commit"`
}

// fileEdit is a file's change in progress.
type fileEdit struct {
	api     *API
	access  *repo.Access
	objects *git.Repository
	path    string
	branch  string  // without refs/heads/
	guard   git.SHA // expected blob; empty for a new file
	remove  bool
	blob    git.NewObject // unless remove
	commit  git.Commit    // message, author and committer
}

// PUT /repos/{owner}/{repo}/contents/{path...}
//
// PutContents writes a file in one commit on a branch, which must exist unless the repository is empty. To
// change an existing file, the sha of its blob is required, so that concurrent changes are not lost: 409 if
// it has changed, 422 without it. It returns 201 for a new file, 200 for a changed one.
func (api *API) PutContents(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.editFile(w, r, a, false)
}

// DELETE /repos/{owner}/{repo}/contents/{path...}
//
// DeleteContents deletes a file in one commit. The sha of its blob is required, so that concurrent changes
// are not lost.
func (api *API) DeleteContents(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.editFile(w, r, a, true)
}

func (api *API) editFile(w http.ResponseWriter, r *http.Request, a *repo.Access, remove bool) error {
	body, err := web.ReadObject(r, "Commit")
	if err != nil {
		return err
	}
	self, err := api.identity(r)
	if err != nil {
		return err
	}
	e := &fileEdit{api: api, access: a, path: web.Param(r, "path"), remove: remove}
	e.read(body, self)
	if err := body.Err(); err != nil {
		return err
	}
	objects, release, err := api.repos.Git(r.Context(), a)
	if err != nil {
		return err
	}
	defer release()
	e.objects = objects
	if err := e.checkSpecial(r.Context()); err != nil {
		return err
	}
	payload, created, err := e.run(r.Context())
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return web.JSON(w, r, status, payload)
}

// read reads the body and records errors in it.
func (e *fileEdit) read(body *web.Object, self git.Signature) {
	body.Require("message")
	e.commit.Message = body.String("message", 0).Value
	e.commit.Committer = readPerson(body, "committer", "Commit", self)
	e.commit.Author = readPerson(body, "author", "Commit", e.commit.Committer)
	e.guard = readSHA(body, "sha", e.remove)
	if e.branch = body.String("branch", 0).Value; e.branch == "" {
		e.branch = e.access.DefaultBranch
	}
	if problem := git.PathProblem(e.path, git.ModeFile); problem != "" {
		body.Wrong("path", errs.InvalidField, "path "+problem)
	}
	if e.remove {
		return
	}
	content := body.String("content", 0)
	if !content.Given() {
		body.Wrong("content", errs.MissingField, "")
		return
	}
	data, err := decodeBase64(content.Value)
	if err != nil {
		body.Wrong("content", errs.InvalidField, "content is not valid Base64")
	}
	e.blob = git.NewObject{Type: git.TypeBlob, Data: data}
}

// checkSpecial asks git to check .gitmodules and .gitattributes.
func (e *fileEdit) checkSpecial(ctx context.Context) error {
	if e.remove || !git.IsSpecial(e.path) {
		return nil
	}
	err := e.objects.CheckSpecial(ctx, map[string][]byte{e.path: e.blob.Data})
	if errs.Is(err, errs.Invalid) {
		return commitError("content", errs.InvalidField, "would be refused by git: "+err.Error())
	}
	return err
}

// run creates the commit. Concurrent edits of a branch wait for each other, because only one of those based
// on the same commit can succeed. Each checks the guard against the current branch.
func (e *fileEdit) run(ctx context.Context) (payload *fileChangeJSON, created bool, err error) {
	turn := "edit " + e.access.ID.String() + " " + e.branch
	for {
		alone, err := e.api.filling.Enter(ctx, turn)
		if err != nil {
			return nil, false, err
		}
		if alone {
			break
		}
	}
	defer e.api.filling.Leave(turn)
	err = e.api.repos.Again(ctx, errMoved, func() (err error) {
		payload, created, err = e.try(ctx)
		return err
	})
	if errors.Is(err, errMoved) {
		err = errs.Wrap(errs.Conflict, "The branch has changed. Review it and try again.", err)
	}
	return payload, created, err
}

// errMoved means that the branch has moved since the edit began.
var errMoved = errors.New("the branch has changed")

// try creates the commit on the current tip.
func (e *fileEdit) try(ctx context.Context) (*fileChangeJSON, bool, error) {
	tip, tree, err := e.tip(ctx)
	if err != nil {
		return nil, false, err
	}
	old, err := e.old(ctx, tree)
	if err != nil {
		return nil, false, err
	}
	edit := git.TreeEdit{Path: e.path}
	if !e.remove {
		edit.Mode, edit.SHA = git.ModeFile, e.blob.SHA()
		if old.SHA != "" {
			edit.Mode = old.Mode
		}
	}
	built, err := e.objects.BuildTree(ctx, tree, []git.TreeEdit{edit})
	if err != nil {
		return nil, false, explainTree(err)
	}
	commit, err := e.write(ctx, tip, built)
	if err != nil {
		return nil, false, err
	}
	payload := &fileChangeJSON{Commit: newPlace(ctx, e.access).gitCommit(commit)}
	if !e.remove {
		v := &view{place: newPlace(ctx, e.access), ref: e.branch}
		payload.Content = v.entry(&git.TreeEntry{Mode: edit.Mode, Path: e.path, SHA: edit.SHA,
			Type: git.TypeBlob, Size: int64(len(e.blob.Data))})
	}
	return payload, old.SHA == "", nil
}

// tip returns the branch's commit and its tree, both empty in a repository without refs. Error: 404 for an
// unknown branch.
func (e *fileEdit) tip(ctx context.Context) (tip, tree git.SHA, err error) {
	tip, err = e.api.repos.Ref(ctx, e.access, "refs/heads/"+e.branch)
	switch {
	case errs.Is(err, errs.NotFound):
		absent := errs.Newf(errs.NotFound, "Branch %s not found", e.branch)
		err = e.api.orEmpty(ctx, e.access, absent)
		if !errs.Is(err, errs.Conflict) || e.remove {
			return "", "", err
		}
		if err := git.CheckRefName("refs/heads/" + e.branch); err != nil {
			return "", "", commitError("branch", errs.InvalidField, "branch is not a valid branch name")
		}
		return "", "", nil
	case err != nil:
		return "", "", err
	}
	tree, err = e.objects.PeelToTree(ctx, tip)
	return tip, tree, err
}

// old returns the current file after checking the guard. Errors: 404, 409, 422.
func (e *fileEdit) old(ctx context.Context, tree git.SHA) (git.TreeEntry, error) {
	var old git.TreeEntry
	err := error(errs.Absent())
	if tree != "" {
		old, err = e.objects.Lookup(ctx, tree, e.path)
	}
	switch {
	case errs.Is(err, errs.NotFound) && e.remove:
		return old, errs.Absent()
	case errs.Is(err, errs.NotFound) && e.guard != "":
		return old, e.mismatch()
	case errs.Is(err, errs.NotFound):
		return git.TreeEntry{}, nil
	case err != nil:
		return old, err
	case old.Type != git.TypeBlob:
		return old, commitError("path", errs.InvalidField,
			"path is a "+map[git.Type]string{git.TypeTree: "directory",
				git.TypeCommit: "submodule"}[old.Type]+
				", not a file")
	case e.guard == "":
		return old, errs.New(errs.Invalid, "Invalid request.\n\n\"sha\" wasn't supplied.")
	case e.guard != old.SHA:
		return old, e.mismatch()
	}
	return old, nil
}

func (e *fileEdit) mismatch() error {
	return errs.Newf(errs.Conflict, "%s does not match %s", e.path, e.guard)
}

// explainTree translates errors of BuildTree to validation errors of a commit request.
func explainTree(err error) error {
	var problem *git.TreeProblem
	if errors.As(err, &problem) {
		return commitError("path", errs.InvalidField, "path "+problem.Reason)
	}
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) || errs.Is(err, errs.TooLarge) {
		return commitError("branch", errs.InvalidField,
			"a tree that is to be changed is incomplete or too large")
	}
	return err
}

// write makes the objects durable and then updates the branch. Error: errMoved if the branch has moved.
func (e *fileEdit) write(ctx context.Context, tip git.SHA, built *git.BuiltTree) (*git.Commit, error) {
	made := built.Objects
	if !e.remove {
		made = append(made, e.blob)
	}
	commit := e.commit
	commit.Tree = built.SHA
	return e.api.commitTo(ctx, e.access, e.branch, tip, commit, made)
}

// commitTo writes a commit and its objects and updates a branch from tip. An empty tip creates the branch.
// Errors: errMoved if the branch has moved, 403 for a quota, 422.
func (api *API) commitTo(ctx context.Context, a *repo.Access, branch string, tip git.SHA, commit git.Commit,
	objects []git.NewObject,
) (*git.Commit, error) {
	if tip != "" {
		commit.Parents = []git.SHA{tip}
	}
	encoded, err := commit.Encode()
	if err != nil {
		return nil, commitError("message", errs.InvalidField, err.Error())
	}
	commit.SHA = encoded.SHA()
	objects = append(objects, encoded)
	if err := api.repos.MayGrow(ctx, a, objects); err != nil {
		return nil, err
	}
	if _, err := api.repos.WriteObjects(ctx, a, objects); err != nil {
		return nil, err
	}
	move := repo.RefUpdate{Name: "refs/heads/" + branch, Old: tip, New: commit.SHA, By: a.Caller.ID,
		Forward: true}
	if tip == "" {
		move.Old = git.ZeroSHA
	}
	refused, err := api.repos.MoveRefs(ctx,
		repo.Push{RepoID: a.ID, Purges: a.Purges, Updates: []repo.RefUpdate{move},
			Atomic: true, GrownKB: repo.Kilobytes(objects)})
	if err != nil {
		return nil, err
	}
	if refused[0] != nil {
		if errs.Is(refused[0], errs.Forbidden) { // the owner's quota
			return nil, refused[0]
		}
		if strings.Contains(refused[0].Error(), "name conflicts") {
			return nil, commitError("branch", errs.InvalidField, refused[0].Error())
		}
		return nil, errors.Join(errMoved, refused[0])
	}
	return &commit, nil
}
