package gitdata

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxFiles is the number of files in one request of CommitFiles.
const maxFiles = 1000

// FilesCommit is a commit that changes several files of a branch.
type FilesCommit struct {
	Message     string
	Branch      string  // without refs/heads/
	Tip         git.SHA // where the caller wants the branch to be; empty: nowhere, in a repository without refs
	Add, Remove []FileChange
}

// FileChange is a file that a commit adds, changes or deletes.
type FileChange struct {
	Path string
	Data []byte // of a file that is added or changed
	From string // the file whose mode an added one keeps, as a renamed one does; empty: Path
}

// filesCommit is a FilesCommit on its way.
type filesCommit struct {
	FilesCommit
	s       *Service
	access  *repo.Access
	objects *git.Repository
	edits   []git.TreeEdit
	blobs   []git.NewObject
	special map[string][]byte // what git looks into, by path
	commit  git.Commit
}

// NewFileChange returns the change of a file to contents in Base64. Error: 422.
func NewFileChange(path, contents string) (FileChange, error) {
	data, err := decodeBase64(contents)
	if err != nil {
		err = wrongFile(path, "has contents that are not valid Base64")
	}
	return FileChange{Path: path, Data: data}, err
}

// Commit changes files of a branch with one commit. A file that is there keeps its mode. Errors: 404 for a
// branch that is not there, 409 where it is elsewhere, 422 for files, each with its path.
func (s *Service) Commit(ctx context.Context, a *repo.Access, n FilesCommit) (made *git.Commit, err error) {
	err = s.prepared(ctx, a, n, func(c *filesCommit) error {
		made, err = c.run(ctx)
		return err
	})
	return made, err
}

// CheckCommit returns how many KiB Commit would add to the repository, at most, or its error for values that no
// branch at the tip accepts. It writes nothing, and does not look for the branch. The tip must be a commit of
// the repository.
func (s *Service) CheckCommit(ctx context.Context, a *repo.Access, n FilesCommit) (kb int64, err error) {
	err = s.prepared(ctx, a, n, func(c *filesCommit) error {
		objects, err := c.build(ctx)
		kb = repo.Kilobytes(append(objects, git.NewObject{Data: []byte(n.Message)})) + 1 // the header of the commit
		return err
	})
	return kb, err
}

// prepared calls fn with a commit whose values are possible.
func (s *Service) prepared(
	ctx context.Context, a *repo.Access, n FilesCommit, fn func(c *filesCommit) error,
) error {
	self, err := s.repos.Identity(ctx, a.Caller)
	if err != nil {
		return err
	}
	c := &filesCommit{FilesCommit: n, s: s, access: a, special: map[string][]byte{},
		commit: git.Commit{Message: n.Message, Author: self, Committer: self, Sign: s.signatures.Sign}}
	if err := c.prepare(); err != nil {
		return err
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	c.objects = objects
	return fn(c)
}

// prepare checks the files and makes the edits of the tree.
func (c *filesCommit) prepare() error {
	f := web.Faults{Resource: CommitResource}
	f.CheckText("message", c.Message, 0)
	for _, one := range [...]struct{ name, value string }{{"message", c.Message}, {"branch", c.Branch}} {
		if one.value == "" {
			f.Wrong(one.name, errs.MissingField, "")
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	if len(c.Add)+len(c.Remove) > maxFiles {
		return commitError("files", errs.InvalidField,
			fmt.Sprintf("one commit changes at most %d files here", maxFiles))
	}
	named := map[string]bool{}
	for n, f := range slices.Concat(c.Add, c.Remove) {
		if problem := git.PathProblem(f.Path, git.ModeFile); problem != "" {
			return wrongFile(f.Path, problem)
		}
		if named[f.Path] {
			return wrongFile(f.Path, "is named twice")
		}
		named[f.Path] = true
		edit := git.TreeEdit{Path: f.Path}
		if n < len(c.Add) {
			blob := git.NewObject{Type: git.TypeBlob, Data: f.Data}
			c.blobs = append(c.blobs, blob)
			edit.Mode, edit.SHA = git.ModeFile, blob.SHA()
			if git.IsSpecial(f.Path) {
				c.special[f.Path] = f.Data
			}
		}
		c.edits = append(c.edits, edit)
	}
	return nil
}

func wrongFile(path, problem string) error {
	return commitError("path", errs.InvalidField, fmt.Sprintf("path %q %s", errs.Clip(path), problem))
}

// run creates the commit.
func (c *filesCommit) run(ctx context.Context) (*git.Commit, error) {
	if err := c.checkTip(ctx); err != nil {
		return nil, err
	}
	objects, err := c.build(ctx)
	if err != nil {
		return nil, err
	}
	made, err := c.s.commitTo(ctx, c.access, c.Branch, c.Tip, c.commit, objects)
	if errors.Is(err, errMoved) {
		if err := c.checkTip(ctx); err != nil { // whose error has the current tip
			return nil, err
		}
		err = errs.Wrap(errs.Conflict, "The branch has changed. Review it and try again.", err)
	}
	return made, err
}

// build makes the commit's tree and returns the new objects, which are not written. Error: 422.
func (c *filesCommit) build(ctx context.Context) ([]git.NewObject, error) {
	var tree git.SHA
	var err error
	if c.Tip != "" {
		if tree, err = c.objects.PeelToTree(ctx, c.Tip); err != nil {
			return nil, err
		}
		if err := c.keepModes(ctx, tree); err != nil {
			return nil, err
		}
	}
	if len(c.special) > 0 {
		err := c.objects.CheckSpecial(ctx, c.special)
		if errs.Is(err, errs.Invalid) {
			return nil, commitError("contents", errs.InvalidField, "would be refused by git: "+err.Error())
		}
		if err != nil {
			return nil, err
		}
	}
	built := &git.BuiltTree{SHA: tree}
	if len(c.edits) > 0 {
		var problem *git.TreeProblem
		switch built, err = c.objects.BuildTree(ctx, tree, c.edits); {
		case errors.As(err, &problem):
			return nil, wrongFile(c.edits[problem.Edit].Path, problem.Reason)
		case err != nil:
			return nil, explainTree(err)
		}
	}
	c.commit.Tree = built.SHA
	return append(built.Objects, c.blobs...), nil
}

// checkTip checks that the branch has the expected tip.
func (c *filesCommit) checkTip(ctx context.Context) error {
	at, err := c.s.repos.Ref(ctx, c.access, "refs/heads/"+c.Branch)
	switch {
	case errs.Is(err, errs.NotFound):
		err = c.s.orEmpty(ctx, c.access, errs.Newf(errs.NotFound, "Branch %s not found", c.Branch))
		if c.Tip == "" && errs.Is(err, errs.Conflict) {
			return nil
		}
		return err
	case err != nil:
		return err
	case at != c.Tip:
		return errs.Newf(errs.Conflict,
			"Expected branch to point to %q but it points to %q. Pull and try again.", c.Tip, at)
	}
	return nil
}

// keepModes sets the modes of changed files to those in the tree. Error: 422 for a deleted file that does
// not exist.
func (c *filesCommit) keepModes(ctx context.Context, tree git.SHA) error {
	for n := range c.edits {
		e := &c.edits[n]
		from, renamed := e.Path, false
		if n < len(c.Add) && c.Add[n].From != "" {
			from, renamed = c.Add[n].From, true
		}
		old, err := c.objects.Lookup(ctx, tree, from)
		switch {
		case renamed && errs.Is(err, errs.Invalid):
			continue
		case errs.Is(err, errs.NotFound) && e.SHA == "":
			return wrongFile(e.Path, "is not there")
		case errs.Is(err, errs.NotFound):
			continue
		case err != nil:
			return err
		case old.Type != git.TypeBlob:
			return wrongFile(e.Path, "is not a file")
		case e.SHA != "":
			e.Mode = old.Mode
		}
	}
	return nil
}
