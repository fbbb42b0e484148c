package repo

import (
	"context"
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// maxRenames is the number of former branch names that a repository keeps. The oldest are dropped.
const maxRenames = 1000

// BranchRename is a branch that gets a new name. Names are without refs/heads/.
type BranchRename struct {
	From, To string
	SHA      git.SHA // the tip
	Default  bool    // it is the default branch
	Admin    bool    // the caller has admin access
	By       account.ID
}

// Updates returns the rename as updates of refs.
func (n *BranchRename) Updates() []RefUpdate {
	return []RefUpdate{{Name: git.Heads + n.To, Old: git.ZeroSHA, New: n.SHA, By: n.By, Forward: true},
		{Name: git.Heads + n.From, Old: n.SHA, New: git.ZeroSHA, By: n.By, Forward: true}}
}

// RenameBranch renames a branch in one transaction with all effects ([Forge.RenameBranch]), and returns its
// name and tip. The caller must have push access, and admin access for the default branch. Errors: 403; 404
// for an unknown branch; 422 for a name that is invalid or taken.
func (s *Service) RenameBranch(ctx context.Context, a *Access, from, to string) (name string, sha git.SHA, err error) {
	to = strings.TrimPrefix(to, git.Heads)
	if err := CheckNewRef(git.Heads + to); err != nil {
		return "", "", renameError(to, ErrText(err))
	}
	err = s.Again(ctx, errRenameMoved, func() error {
		sha, err = s.renameBranch(ctx, a, from, to)
		return err
	})
	return to, sha, err
}

// errRenameMoved means that the branch moved while its rename was prepared.
var errRenameMoved = errs.New(errs.Conflict, "The branch moved; try again.")

// renameBranch is RenameBranch for the tip that the branch has now.
func (s *Service) renameBranch(ctx context.Context, a *Access, from, to string) (sha git.SHA, err error) {
	n, err := db.Get(ctx, s.db, func(tx *db.Tx) (*BranchRename, error) { return findRename(tx, a, from, to) })
	if err != nil {
		return "", err
	}
	push := Push{RepoID: a.ID, Purges: a.Purges, Updates: n.Updates(), Atomic: true, As: a}
	err = s.WritePush(ctx, push, func(tx *db.Tx) error {
		if err := Lock(tx, a.ID); err != nil {
			return err
		}
		now, err := findRename(tx, a, from, to)
		if err != nil {
			return err
		}
		if now.SHA != n.SHA {
			return errRenameMoved
		}
		return s.forge.RenameBranch(tx, a, now, push)
	})
	if errors.Is(err, ErrUnprepared) { // what rules say of the commits was found for the former default branch
		err = errs.New(errs.Invalid, "Rules look at the commits of the default branch: make another branch the "+
			"default one first.")
	}
	return n.SHA, err
}

// findRename reads the branch and checks the caller's right. Errors: those of RenameBranch.
func findRename(tx *db.Tx, a *Access, from, to string) (*BranchRename, error) {
	now, err := a.Now(tx)
	if err != nil {
		return nil, err
	}
	n := &BranchRename{From: from, To: to, Default: from == now.DefaultBranch,
		Admin: now.Role >= account.Admin, By: a.DoneBy(a.Caller)}
	found, err := refsNamed(tx, a.ID, []string{git.Heads + from, git.Heads + to})
	if err != nil {
		return nil, err
	}
	switch n.SHA = found[git.Heads+from]; {
	case n.SHA == "":
		return nil, errs.New(errs.NotFound, "Branch not found")
	case n.Default && !n.Admin:
		return nil, errs.New(errs.Forbidden, "Must have admin rights to rename the default branch.")
	case found[git.Heads+to] != "":
		return nil, errs.Validation(errs.Field{Resource: "Branch", Field: "new_name", Code: errs.AlreadyExists,
			Message: "A branch already exists with this name."})
	}
	return n, nil
}

func renameError(name, message string) error {
	return errs.Validation(errs.Field{Resource: "Branch", Field: "new_name", Code: errs.InvalidField, Value: name,
		Message: message})
}

// Check checks the updates of the refs, after the default branch has got its new name: for rules a rename creates the
// new name and deletes the old one. Only [Forge.RenameBranch] calls it. Errors: 422 if rules forbid either, or if the
// new name conflicts with another ref; 503 during a purge.
func (n *BranchRename) Check(tx *db.Tx, p Push, judges Judges) (*Landing, error) {
	if err := p.Lock(tx); err != nil {
		return nil, err
	}
	landing, err := p.Check(tx, judges)
	if err != nil {
		return nil, err
	}
	for _, refused := range landing.Refused { // what rules refuse explains why the other update was not made
		if err := RuledOut(refused, errs.Invalid); err != nil {
			return nil, err
		}
	}
	for _, refused := range landing.Refused {
		if refused != nil {
			return nil, renameError(n.To, ErrText(refused))
		}
	}
	return landing, nil
}

// Redirect makes the old name, and all that led to it, lead to the new name.
func (n *BranchRename) Redirect(tx *db.Tx, id ID) error {
	for _, statement := range [...]string{
		`DELETE FROM branch_renames WHERE repo_id = $1 AND (from_name = $3 OR from_name = $2)`,
		`UPDATE branch_renames SET to_name = $3 WHERE repo_id = $1 AND to_name = $2`,
	} {
		if err := tx.Run(statement, id, n.From, n.To); err != nil {
			return err
		}
	}
	err := tx.Run(`INSERT INTO branch_renames (repo_id, from_name, to_name, at) VALUES ($1, $2, $3, $4)`,
		id, n.From, n.To, tx.Now)
	if err != nil {
		return err
	}
	return tx.Run(`DELETE FROM branch_renames WHERE repo_id = $1 AND from_name IN (SELECT from_name
		FROM branch_renames WHERE repo_id = $1 ORDER BY at DESC, from_name LIMIT 1000000 OFFSET $2)`, id, maxRenames)
}

// DropRenames removes redirects from names that the push gives to new branches, and to branches that it deletes.
func (l *Landing) DropRenames(tx *db.Tx) error {
	var names []string
	for _, u := range l.Moved {
		name, isBranch := strings.CutPrefix(u.Name, git.Heads)
		if isBranch && (u.Old == git.ZeroSHA || u.New == git.ZeroSHA) {
			names = append(names, name)
		}
	}
	return db.InParts(names, func(part []string) error {
		in := db.ValuesFrom(2, 1, len(part))
		return tx.Send(`DELETE FROM branch_renames WHERE repo_id = $1 AND (from_name IN `+in+
			` OR to_name IN `+in+`)`, db.Args(part, l.push.RepoID)...)
	})
}

// RenamedBranch finds the first of some names that a branch of the repository had before, and returns it with the
// branch's name now. Error: 404 if there is none.
func (s *Service) RenamedBranch(ctx context.Context, a *Access, names ...string) (from, to string, err error) {
	err = s.db.ReadOne(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT n.from_name, n.to_name FROM branch_renames n
			JOIN refs f ON f.repo_id = n.repo_id AND f.name = 'refs/heads/' || n.to_name
			WHERE n.repo_id = $1 AND n.from_name IN `+db.ValuesFrom(2, 1, len(names))+asStranger(a)+
			` ORDER BY LENGTH(n.from_name) LIMIT 1`, db.Args(names, a.ID)...).Scan(&from, &to)
	})
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return from, to, err
}
