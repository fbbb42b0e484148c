package repo

import (
	"context"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// Generate creates a repository from a template that is visible to the caller. It gets the template's
// default branch, or all branches, each with one commit of the caller with the template's files. The name
// must be valid. Errors: 422 for a repository that is not a template, and as for Create; 404 and 409 if the template is deleted or
// purged during the call.
func (s *Service) Generate(ctx context.Context, a *Access, n NewRepo, all bool) (*Repo, error) {
	if !a.IsTemplate {
		return nil, errs.New(errs.Invalid,
			"The repository is not a template: its administrators can set is_template.")
	}
	refs, err := s.Refs(ctx, a)
	if err != nil {
		return nil, err
	}
	n.template, n.branch = a, strings.TrimPrefix(refs.Head, git.Heads)
	for _, ref := range refs.List {
		if ref.Name == refs.Head || all && strings.HasPrefix(ref.Name, git.Heads) {
			n.branches = append(n.branches, RefUpdate{Name: ref.Name, Old: git.ZeroSHA, New: ref.SHA})
		}
	}
	if len(n.branches) == 0 {
		return s.insert(ctx, a.Caller, n, beginning{kb: 1})
	}
	return s.createWithCommit(ctx, a.Caller, n)
}

// copyTemplate copies the files of the template's branches, and writes the first commits of the new
// repository's branches.
func (s *Service) copyTemplate(
	ctx context.Context, n NewRepo, to *git.Repository, author git.Signature,
) ([]RefUpdate, error) {
	from, release, err := s.Git(ctx, n.template)
	if err != nil {
		return nil, err
	}
	defer release()
	first, objects := make([]RefUpdate, len(n.branches)), []git.NewObject{}
	var trees []git.SHA
	for k, branch := range n.branches {
		commit, err := from.Commit(ctx, branch.New)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(trees, commit.Tree) {
			trees = append(trees, commit.Tree)
		}
		begin := &git.Commit{Tree: commit.Tree, Author: author, Committer: author, Message: "Initial commit"}
		encoded, err := begin.Encode()
		if err != nil {
			return nil, err
		}
		first[k] = RefUpdate{Name: branch.Name, Old: git.ZeroSHA, New: encoded.SHA()}
		objects = append(objects, encoded)
	}
	if err := to.CopyHistories(ctx, from, trees); err != nil {
		return nil, err
	}
	slices.SortFunc(objects, func(a, b git.NewObject) int {
		return strings.Compare(string(a.SHA()), string(b.SHA()))
	})
	objects = slices.CompactFunc(objects, func(a, b git.NewObject) bool { return a.SHA() == b.SHA() })
	_, err = to.WriteObjects(ctx, objects)
	return first, err
}

// templateID is the id of the template; 0: there is none.
func (n *NewRepo) templateID() ID {
	if n.template == nil {
		return 0
	}
	return n.template.ID
}

// holds checks in the transaction of the new repository that the template is one still, as it was when its
// files were copied. Errors: 404, 409, 422.
func (n *NewRepo) holds(tx *db.Tx) error {
	if n.template == nil {
		return nil
	}
	if err := Lock(tx, n.template.ID); err != nil {
		return err
	}
	now, err := ByID(tx, n.template.Caller, n.template.ID)
	switch {
	case err != nil:
		return err
	case now.Role < account.Pull:
		return errs.Absent()
	case now.Purges != n.template.Purges || now.Private != n.template.Private || !now.IsTemplate:
		return errs.New(errs.Conflict, "The template has changed. Try again.")
	}
	return nil
}
