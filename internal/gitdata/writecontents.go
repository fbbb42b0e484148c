package gitdata

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// FileEdit is a change of one file of a branch.
type FileEdit struct {
	Path              string
	Branch            string // without refs/heads/; empty: the default branch
	Message           string
	Author, Committer git.Signature
	Guard             git.SHA // the blob that the caller knows; empty for a new file
	Remove            bool
	Data              []byte // unless Remove

	signs bool // the server signs it
}

// fileEdit is a FileEdit on its way to a commit.
type fileEdit struct {
	s       *Service
	access  *repo.Access
	objects *git.Repository
	path    string
	branch  string
	guard   git.SHA
	remove  bool
	blob    git.NewObject // unless remove
	commit  git.Commit    // message, author and committer
}

// fileCommit is the commit that changed a file.
type fileCommit struct {
	*git.Commit
	entry   git.TreeEntry // the file now
	created bool
}

// checkPath notes a path that cannot be that of a file.
func (e *FileEdit) checkPath(f *web.Faults) {
	if problem := git.PathProblem(e.Path, git.ModeFile); problem != "" {
		f.Wrong("path", errs.InvalidField, "path "+problem)
	}
}

// editFile commits an edit whose values are checked.
func (s *Service) editFile(ctx context.Context, a *repo.Access, given *FileEdit) (*fileCommit, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	e := &fileEdit{s: s, access: a, objects: objects, path: given.Path,
		branch: cmp.Or(given.Branch, a.DefaultBranch), guard: given.Guard, remove: given.Remove,
		commit: git.Commit{Message: given.Message, Author: given.Author, Committer: given.Committer}}
	if given.signs {
		e.commit.Sign = s.signatures.Sign
	}
	if !e.remove {
		e.blob = git.NewObject{Type: git.TypeBlob, Data: given.Data}
	}
	if err := e.checkSpecial(ctx); err != nil {
		return nil, err
	}
	return e.run(ctx)
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

// run creates the commit. Concurrent edits of a branch wait for each other, and each checks the guard against
// the current branch.
func (e *fileEdit) run(ctx context.Context) (made *fileCommit, err error) {
	err = e.s.repos.InTurn(ctx, e.access.ID, e.branch, errMoved, func() (err error) {
		made, err = e.try(ctx)
		return err
	})
	if errors.Is(err, errMoved) {
		err = errs.Wrap(errs.Conflict, "The branch has changed. Review it and try again.", err)
	}
	return made, err
}

// errMoved means that the branch has moved since the edit began.
var errMoved = errors.New("the branch has changed")

// try creates the commit on the current tip.
func (e *fileEdit) try(ctx context.Context) (*fileCommit, error) {
	tip, tree, err := e.tip(ctx)
	if err != nil {
		return nil, err
	}
	old, err := e.old(ctx, tree)
	if err != nil {
		return nil, err
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
		return nil, explainTree(err)
	}
	commit, err := e.write(ctx, tip, built)
	if err != nil {
		return nil, err
	}
	now := git.TreeEntry{Mode: edit.Mode, Path: e.path, SHA: edit.SHA, Type: git.TypeBlob,
		Size: int64(len(e.blob.Data))}
	return &fileCommit{commit, now, old.SHA == ""}, nil
}

// tip returns the branch's commit and its tree, both empty in a repository without refs. Error: 404 for an
// unknown branch.
func (e *fileEdit) tip(ctx context.Context) (tip, tree git.SHA, err error) {
	tip, err = e.s.repos.Ref(ctx, e.access, "refs/heads/"+e.branch)
	switch {
	case errs.Is(err, errs.NotFound):
		absent := errs.Newf(errs.NotFound, "Branch %s not found", e.branch)
		err = e.s.orEmpty(ctx, e.access, absent)
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
	if problem, ok := errors.AsType[*git.TreeProblem](err); ok {
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
	return e.s.commitTo(ctx, e.access, e.branch, tip, commit, made)
}

// commitTo writes a commit and its objects and updates a branch from tip. An empty tip creates the branch.
// Errors: errMoved if the branch has moved, 403 for a quota, 422.
func (s *Service) commitTo(ctx context.Context, a *repo.Access, branch string, tip git.SHA, commit git.Commit,
	objects []git.NewObject,
) (*git.Commit, error) {
	if tip != "" {
		commit.Parents = []git.SHA{tip}
	}
	encoded, err := encode(&commit)
	if err != nil {
		return nil, err
	}
	commit.SHA = encoded.SHA()
	objects = append(objects, encoded)
	if err := s.repos.MayGrow(ctx, a, objects); err != nil {
		return nil, err
	}
	if _, err := s.repos.WriteObjects(ctx, a, objects); err != nil {
		return nil, err
	}
	move := repo.RefUpdate{Name: "refs/heads/" + branch, Old: tip, New: commit.SHA, By: a.Caller.ID,
		Forward: true}
	if tip == "" {
		move.Old = git.ZeroSHA
	}
	refused, err := s.repos.MoveRefs(ctx,
		repo.Push{RepoID: a.ID, Purges: a.Purges, Updates: []repo.RefUpdate{move},
			Atomic: true, GrownKB: repo.Kilobytes(objects), As: a})
	if err != nil {
		return nil, err
	}
	if err := repo.RuledOut(refused[0], errs.Conflict); err != nil {
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
