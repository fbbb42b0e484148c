package repo

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
)

// createWithCommit makes a repository whose default branch begins with a
// commit of a README. The id is reserved first, in a transaction of its own; then
// the objects are written; then one transaction adds the row and the ref. Whenever
// the server dies there is a whole repository or none, and at most a folder that
// is swept away after a day.
func (s *Service) createWithCommit(ctx context.Context, by *account.Caller, n NewRepo) (*Repo, error) {
	var id ID
	var author git.Signature
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		owner, err := account.ByLogin(tx, n.Owner)
		if err != nil {
			return err
		}
		if _, err := mayCreate(tx, by, owner); err != nil {
			return err
		}
		who := owner
		if by != nil {
			if who, err = account.ByID(tx, by.ID); err != nil {
				return err
			}
		}
		if author, err = identity(tx, who); err != nil {
			return err
		}
		id, err = reserveID(tx, owner.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	made, err := s.fillAndInsert(ctx, by, n, id, author)
	if err != nil {
		s.abandon(ctx, id)
	}
	return made, err
}

// fillAndInsert writes the first commit and then adds the repository.
func (s *Service) fillAndInsert(
	ctx context.Context, by *account.Caller, n NewRepo, id ID, author git.Signature,
) (*Repo, error) {
	readme := "# " + n.Name + "\n"
	if n.Description != nil {
		readme += "\n" + *n.Description + "\n"
	}
	blob := git.NewObject{Type: git.TypeBlob, Data: []byte(readme)}
	objects, release, err := s.GitOf(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := objects.Init(); err != nil {
		return nil, err
	}
	tree, err := objects.BuildTree(ctx, "", []git.TreeEdit{{Path: "README.md", Mode: git.ModeFile, SHA: blob.SHA()}})
	if err != nil {
		return nil, err
	}
	commit := &git.Commit{Tree: tree.SHA, Author: author, Committer: author, Message: "Initial commit"}
	encoded, err := commit.Encode()
	if err != nil {
		return nil, err
	}
	if _, err := objects.WriteObjects(ctx, append(tree.Objects, blob, encoded)); err != nil {
		return nil, err
	}
	first := RefUpdate{Name: heads + DefaultBranch, Old: git.ZeroSHA, New: encoded.SHA()}
	return s.insert(context.WithoutCancel(ctx), by, n, id, &first)
}
