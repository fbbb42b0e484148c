package repo

import (
	"context"
	"errors"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// Resolve resolves a client's revision to a SHA before git is called: a full SHA, else a branch, else a tag
// (decision 50). Error: 404, also for an object that is hidden from the caller (decision 60).
func (s *Service) Resolve(ctx context.Context, a *Access, name string) (git.SHA, error) {
	if sha, err := git.ParseSHA(name); err == nil {
		return sha, s.CheckNamed(ctx, a, sha)
	}
	var sha git.SHA
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := refsNamedIf(tx, a.ID, []string{git.Heads + name, "refs/tags/" + name, name},
			asStranger(a))
		if err != nil {
			return err
		}
		for _, candidate := range []string{git.Heads + name, "refs/tags/" + name, name} {
			if sha = found[candidate]; sha != "" {
				return nil
			}
		}
		return errs.Absent()
	})
	return sha, err
}

// Ref returns the current object of the ref with exactly this full name. Unlike Resolve it does not try
// branches. Error: 404.
func (s *Service) Ref(ctx context.Context, a *Access, name string) (git.SHA, error) {
	var sha git.SHA
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := refsNamedIf(tx, a.ID, []string{name}, asStranger(a))
		if sha = found[name]; err == nil && sha == "" {
			err = errs.Absent()
		}
		return err
	})
	return sha, err
}

// TagNow returns the current object of a tag, or "".
func TagNow(tx *db.Tx, id ID, name string) (git.SHA, error) {
	found, err := refsNamed(tx, id, []string{git.Tags + name})
	return found[git.Tags+name], err
}

// BranchTip returns the tip of a branch, or "".
func BranchTip(tx *db.Tx, repoID ID, branch string) (git.SHA, error) {
	found, err := refsNamed(tx, repoID, []string{git.Heads + branch})
	return found[git.Heads+branch], err
}

// HoldBranch is BranchTip for a transaction that relies on it: the branch cannot move until it ends.
func HoldBranch(tx *db.Tx, repoID ID, branch string) (git.SHA, error) {
	if _, err := tx.Exec(`UPDATE repos SET refs_generation = refs_generation WHERE id = $1`,
		repoID); err != nil {
		return "", err
	}
	return BranchTip(tx, repoID, branch)
}

// BranchAt returns the first branch by name whose tip is a commit, or "".
func BranchAt(tx *db.Tx, repoID ID, sha git.SHA) (name string, err error) {
	err = tx.QueryRow(`SELECT name FROM refs WHERE repo_id = $1 AND name >= $2 AND name < $3 AND sha = $4
		ORDER BY name LIMIT 1`, repoID, git.Heads, "refs/heads0", string(sha)).Scan(&name)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return strings.TrimPrefix(name, git.Heads), err
}

// Branches reads the tips of a repository's branches, by full name.
func Branches(tx *db.Tx, repoID ID) (map[string]git.SHA, error) {
	return db.QueryMap[string, git.SHA](tx,
		`SELECT name, sha FROM refs WHERE repo_id = $1 AND name >= $2 AND name < $3`,
		repoID, git.Heads, "refs/heads0")
}

// Tips reads the objects of a repository's refs, by full name.
func (s *Service) Tips(ctx context.Context, repoID ID) (tips map[string]git.SHA, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[string]git.SHA, error) {
		return db.QueryMap[string, git.SHA](tx, `SELECT name, sha FROM refs WHERE repo_id = $1`, repoID)
	})
}
