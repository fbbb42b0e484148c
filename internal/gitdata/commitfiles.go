package gitdata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxFiles is the number of files in one request of CommitFiles.
const maxFiles = 1000

// filesCommit is a commit in progress that changes several files of a branch.
type filesCommit struct {
	api     *API
	access  *repo.Access
	objects *git.Repository
	branch  string  // without refs/heads/
	tip     git.SHA // expected tip of the branch
	edits   []git.TreeEdit
	blobs   []git.NewObject
	special map[string][]byte // contents that git must check, by path
	from    map[string]string // path of the file whose mode is kept, by path
	commit  git.Commit
}

// fileChange is a file that the body of CommitFiles adds or deletes.
type fileChange struct {
	Path     string `json:"path"`
	Contents string `json:"contents"` // Base64
	// the file whose mode an added file gets, for a rename; empty: Path
	From string `json:"from"`
}

// CommitFiles adds, changes and deletes files of a branch in one commit. It is for GraphQL; REST has no
// such endpoint. The body has message, branch, expectedHeadOid, additions and deletions. An existing file
// keeps its mode. It returns the commit. Errors: 404 for an unknown branch, 409 if it has another tip, 422
// for invalid files, each with its path.
func (api *API) CommitFiles(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx := r.Context()
	body, err := web.ReadObject(r, "Commit")
	if err != nil {
		return err
	}
	self, err := api.identity(r)
	if err != nil {
		return err
	}
	c := &filesCommit{api: api, access: a, special: map[string][]byte{}, from: map[string]string{}}
	body.Require("message", "branch", "expectedHeadOid")
	c.commit = git.Commit{Message: body.String("message", 0).Value, Author: self, Committer: self}
	c.branch, c.tip = body.String("branch", 0).Value, readSHA(body, "expectedHeadOid", true)
	if err := body.Err(); err != nil {
		return err
	}
	if err := c.read(body.Raw("additions"), body.Raw("deletions")); err != nil {
		return err
	}
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	c.objects = objects
	made, err := c.run(ctx)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusCreated, newPlace(ctx, a).gitCommit(made))
}

// read reads the changes.
func (c *filesCommit) read(additions, deletions json.RawMessage) error {
	var add, remove []fileChange
	for raw, list := range map[*json.RawMessage]*[]fileChange{&additions: &add, &deletions: &remove} {
		if len(*raw) > 0 && json.Unmarshal(*raw, list) != nil {
			return errs.New(errs.Malformed, "Problems parsing JSON")
		}
	}
	if len(add)+len(remove) > maxFiles {
		return commitError("files", errs.InvalidField,
			fmt.Sprintf("one commit changes at most %d files here", maxFiles))
	}
	named := map[string]bool{}
	for n, f := range append(add, remove...) {
		if problem := git.PathProblem(f.Path, git.ModeFile); problem != "" {
			return c.wrong(f.Path, problem)
		}
		if named[f.Path] {
			return c.wrong(f.Path, "is named twice")
		}
		named[f.Path] = true
		edit := git.TreeEdit{Path: f.Path}
		if n < len(add) {
			data, err := decodeBase64(f.Contents)
			if err != nil {
				return c.wrong(f.Path, "has contents that are not valid Base64")
			}
			blob := git.NewObject{Type: git.TypeBlob, Data: data}
			c.blobs = append(c.blobs, blob)
			edit.Mode, edit.SHA = git.ModeFile, blob.SHA()
			if f.From != "" {
				c.from[f.Path] = f.From
			}
			if git.IsSpecial(f.Path) {
				c.special[f.Path] = data
			}
		}
		c.edits = append(c.edits, edit)
	}
	return nil
}

func (c *filesCommit) wrong(path, problem string) error {
	return commitError("path", errs.InvalidField, fmt.Sprintf("path %q %s", errs.Clip(path), problem))
}

// run creates the commit.
func (c *filesCommit) run(ctx context.Context) (*git.Commit, error) {
	if err := c.checkTip(ctx); err != nil {
		return nil, err
	}
	tree, err := c.objects.PeelToTree(ctx, c.tip)
	if err != nil {
		return nil, err
	}
	if err := c.keepModes(ctx, tree); err != nil {
		return nil, err
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
			return nil, c.wrong(c.edits[problem.Edit].Path, problem.Reason)
		case err != nil:
			return nil, explainTree(err)
		}
	}
	c.commit.Tree = built.SHA
	made, err := c.api.commitTo(ctx, c.access, c.branch, c.tip, c.commit, append(built.Objects, c.blobs...))
	if errors.Is(err, errMoved) {
		if err := c.checkTip(ctx); err != nil { // whose error has the current tip
			return nil, err
		}
		err = errs.Wrap(errs.Conflict, "The branch has changed. Review it and try again.", err)
	}
	return made, err
}

// checkTip checks that the branch has the expected tip.
func (c *filesCommit) checkTip(ctx context.Context) error {
	at, err := c.api.repos.Ref(ctx, c.access, "refs/heads/"+c.branch)
	switch {
	case errs.Is(err, errs.NotFound):
		return errs.Newf(errs.NotFound, "Branch %s not found", c.branch)
	case err != nil:
		return err
	case at != c.tip:
		return errs.Newf(errs.Conflict,
			"Expected branch to point to %q but it points to %q. Pull and try again.", c.tip, at)
	}
	return nil
}

// keepModes sets the modes of changed files to those in the tree. Error: 422 for a deleted file that does
// not exist.
func (c *filesCommit) keepModes(ctx context.Context, tree git.SHA) error {
	for n := range c.edits {
		e := &c.edits[n]
		from, renamed := c.from[e.Path]
		if !renamed {
			from = e.Path
		}
		old, err := c.objects.Lookup(ctx, tree, from)
		switch {
		case renamed && errs.Is(err, errs.Invalid):
			continue
		case errs.Is(err, errs.NotFound) && e.SHA == "":
			return c.wrong(e.Path, "is not there")
		case errs.Is(err, errs.NotFound):
			continue
		case err != nil:
			return err
		case old.Type != git.TypeBlob:
			return c.wrong(e.Path, "is not a file")
		case e.SHA != "":
			e.Mode = old.Mode
		}
	}
	return nil
}
