package repo

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/license"
)

// createWithCommit creates a repository with a first commit of a README, templates or another repository's
// files. It first reserves the id in a separate transaction, then writes the objects, and then inserts the
// row and the ref in one transaction. If the server dies, the repository exists completely or not at all;
// at most a directory is left, which is removed after a day.
func (s *Service) createWithCommit(ctx context.Context, by *account.Caller, n NewRepo) (*Repo, error) {
	if err := n.checkTemplates(); err != nil {
		return nil, err
	}
	var id ID
	var author git.Signature
	err := s.db.WriteAs(ctx, n.right(by), func(tx *db.Tx) error {
		owner, err := account.ByLogin(tx, n.Owner)
		if err != nil {
			return err
		}
		if _, err := MayCreate(tx, by, owner, n.Private); err != nil {
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
		id, err = ReserveID(tx, owner.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	kept, err := s.keepsNew(ctx)
	if err != nil {
		return nil, err
	}
	made, err := s.fillAndInsert(ctx, by, n, beginning{id: id, kept: kept}, author)
	if err != nil {
		s.Abandon(ctx, id)
	}
	return made, err
}

// fillAndInsert writes the first commit and then inserts the repository.
func (s *Service) fillAndInsert(
	ctx context.Context, by *account.Caller, n NewRepo, first beginning, author git.Signature,
) (*Repo, error) {
	objects, release, err := s.OpenNew(ctx, Folder{ID: first.id}, first.kept)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := objects.Init(); err != nil {
		return nil, err
	}
	if n.template != nil {
		first.refs, err = s.copyTemplate(ctx, n, objects, author)
		first.kb = 1 + objects.PackedBytes()/1024
	} else {
		first.refs, err = writeFirst(ctx, objects, n, author)
		first.kb = 1
	}
	if err != nil {
		return nil, err
	}
	return s.insert(context.WithoutCancel(ctx), by, n, first)
}

// writeFirst writes the first commit and returns the branch for it.
func writeFirst(
	ctx context.Context, objects *git.Repository, n NewRepo, author git.Signature,
) ([]RefUpdate, error) {
	edits, blobs := firstFiles(n, author)
	tree, err := objects.BuildTree(ctx, "", edits)
	if err != nil {
		return nil, err
	}
	commit := &git.Commit{Tree: tree.SHA, Author: author, Committer: author, Message: "Initial commit"}
	encoded, err := commit.Encode()
	if err != nil {
		return nil, err
	}
	if _, err := objects.WriteObjects(ctx, append(append(tree.Objects, blobs...), encoded)); err != nil {
		return nil, err
	}
	return []RefUpdate{{Name: git.Heads + DefaultBranch, Old: git.ZeroSHA, New: encoded.SHA()}}, nil
}

// checkTemplates returns 422 for unknown templates.
func (n NewRepo) checkTemplates() error {
	if _, known := Gitignore(n.Gitignore); n.Gitignore != "" && !known {
		return errs.Validation(errs.Field{Resource: Resource, Field: "gitignore_template",
			Code:  errs.InvalidField,
			Value: errs.Clip(n.Gitignore), Message: "Unknown template."})
	}
	if n.License != "" && license.ByKey(n.License) == nil {
		return errs.Validation(errs.Field{Resource: Resource, Field: "license_template",
			Code:  errs.InvalidField,
			Value: errs.Clip(n.License), Message: "Unknown license."})
	}
	return nil
}

// firstFiles returns the files of the first commit. The license's placeholders are filled with the author and
// the commit's year.
func firstFiles(n NewRepo, author git.Signature) (edits []git.TreeEdit, blobs []git.NewObject) {
	add := func(path, text string) {
		blob := git.NewObject{Type: git.TypeBlob, Data: []byte(text)}
		blobs = append(blobs, blob)
		edits = append(edits, git.TreeEdit{Path: path, Mode: git.ModeFile, SHA: blob.SHA()})
	}
	if n.AutoInit {
		readme := "# " + n.Name + "\n"
		if n.Description != nil {
			readme += "\n" + *n.Description + "\n"
		}
		add("README.md", readme)
	}
	if text, known := Gitignore(n.Gitignore); known {
		add(".gitignore", text)
	}
	if l := license.ByKey(n.License); l != nil {
		add("LICENSE", l.Signed(author.Name, author.When.Year()))
	}
	return edits, blobs
}
