package repo

import (
	"context"
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// sendLockForRefs locks the repository's row and increments the refs' generation, as [db.Tx.Send] does.
func sendLockForRefs(tx *db.Tx, repoID ID) error {
	return tx.Send(`UPDATE repos SET refs_generation = refs_generation + 1 WHERE id = $1`, repoID)
}

// lockForRefs is sendLockForRefs followed by stateForRefs.
func lockForRefs(tx *db.Tx, repoID ID) (branchState, error) {
	if err := sendLockForRefs(tx, repoID); err != nil {
		return branchState{}, err
	}
	return stateForRefs(tx, repoID)
}

// stateForRefs reads the default branch, whether the repository is archived, a mirror, being imported, or has rules,
// and Repo.Purges. It follows sendLockForRefs as a statement of its own: a statement that waits for a lock does not see what
// others commit to other rows during the wait. Errors: 404; 503 while a purge copies the last objects.
func stateForRefs(tx *db.Tx, repoID ID) (branchState, error) {
	var b branchState
	err := tx.QueryRow(`SELECT default_branch, archived, purges, next_number > 1, `+paused(tx, "repos.id")+`,
		ruled OR (SELECT a.ruled FROM accounts a WHERE a.id = repos.owner_id),
		EXISTS (SELECT 1 FROM lfs_locks l WHERE l.repo_id = repos.id),
		EXISTS (SELECT 1 FROM mirrors z WHERE z.repo_id = repos.id AND z.push = FALSE),
		EXISTS (SELECT 1 FROM import_jobs z WHERE z.repo_id = repos.id AND z.active = TRUE)
		FROM repos WHERE id = $1`, repoID).
		Scan(&b.name, &b.archived, &b.purges, &b.numbered, &b.paused, &b.ruled, &b.locked, &b.mirror, &b.imports)
	if errors.Is(err, db.ErrNoRows) {
		return b, errs.Absent()
	}
	if err == nil && b.paused {
		err = errPaused()
	}
	return b, err
}

// refsNamed reads those of the named refs that exist.
func refsNamed(tx *db.Tx, repoID ID, names []string) (map[string]git.SHA, error) {
	return refsNamedIf(tx, repoID, names, "")
}

// stillPublic is the condition that the repository $1 is public. It is part of the statement that reads
// refs for callers who see the repository only because it is public, so that they do not see refs pushed
// after it became private.
const stillPublic = ` AND NOT EXISTS (SELECT 1 FROM repos WHERE id = $1 AND private = TRUE)`

// asStranger returns stillPublic for an access that ends when the repository becomes private.
func asStranger(a *Access) string {
	if a.Private || a.Role > account.Pull {
		return ""
	}
	return stillPublic
}

func refsNamedIf(tx *db.Tx, repoID ID, names []string, condition string) (map[string]git.SHA, error) {
	found := map[string]git.SHA{}
	err := sendRefsNamed(tx, func(row db.Scanner) error {
		var name, sha string
		err := row.Scan(&name, &sha)
		found[name] = git.SHA(sha)
		return err
	}, repoID, names, condition)
	if err == nil {
		err = tx.Flush()
	}
	return found, err
}

// sendRefsNamed reads names and SHAs as [db.Tx.SendEach] does.
func sendRefsNamed(tx *db.Tx, each func(db.Scanner) error, repoID ID, names []string, condition string) error {
	return db.InParts(names, func(part []string) error {
		return tx.SendEach(each, `SELECT name, sha FROM refs
			WHERE repo_id = $1 AND name IN `+db.ValuesFrom(2, 1, len(part))+condition, db.Args(part, repoID)...)
	})
}

// FirstRefs writes the first refs of a fork in the transaction that creates it. All other refs are moved by
// MoveRefs.
func FirstRefs(tx *db.Tx, repoID ID, refs []RefUpdate) error { return writeRefs(tx, repoID, refs) }

// writeRefs writes ref updates.
func writeRefs(tx *db.Tx, repoID ID, updates []RefUpdate) error {
	var set []RefUpdate
	var gone []string
	for _, u := range updates {
		if u.New == git.ZeroSHA {
			gone = append(gone, u.Name)
		} else {
			set = append(set, u)
		}
	}
	err := db.InParts(gone, func(part []string) error {
		args := []any{repoID}
		for _, n := range part {
			args = append(args, n)
		}
		return tx.Send(`DELETE FROM refs WHERE repo_id = $1 AND name IN `+db.ValuesFrom(2, 1, len(part)), args...)
	})
	if err != nil {
		return err
	}
	return db.InParts(set, func(part []RefUpdate) error {
		args := make([]any, 0, 4*len(part))
		for _, u := range part {
			var peeled any
			if u.Peeled != "" {
				peeled = string(u.Peeled)
			}
			args = append(args, repoID, u.Name, string(u.New), peeled)
		}
		return tx.Send(`INSERT INTO refs (repo_id, name, sha, peeled) VALUES `+db.Values(len(part), 4)+
			` ON CONFLICT (repo_id, name) DO UPDATE SET sha = excluded.sha, peeled = excluded.peeled`,
			args...)
	})
}

// touchPushed sets the time of a push, and the default branch unless branch is empty or the default branch exists.
func touchPushed(tx *db.Tx, repoID ID, branch string, grownKB int64) error {
	return tx.Send(`UPDATE repos SET pushed_at = $2, updated_at = $2, size_kb = size_kb + $3,
			default_branch = CASE WHEN CAST($4 AS TEXT) = '' OR EXISTS (SELECT 1 FROM refs f
				WHERE f.repo_id = $1 AND f.name = '`+git.Heads+`' || default_branch) THEN default_branch ELSE $4 END
		WHERE id = $1`,
		repoID, tx.Now, grownKB, branch)
}

// ReadRefs reads all refs of a repository in the order of their names. Error: 404 if it was deleted, or the
// condition does not hold.
func ReadRefs(tx *db.Tx, repoID ID, condition string) (git.Refs, error) {
	var refs git.Refs
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var name, sha, peeled string
		err := row.Scan(&refs.Head, &refs.Generation, &name, &sha, &peeled)
		if name != "" { // else it has no refs
			refs.List = append(refs.List, git.Ref{Name: name, SHA: git.SHA(sha), Peeled: git.SHA(peeled)})
		}
		return err
	}, `SELECT r.default_branch, r.refs_generation, COALESCE(f.name, ''), COALESCE(f.sha,
		''), COALESCE(f.peeled, '')
		FROM (SELECT id AS of, default_branch, refs_generation FROM repos WHERE id = $1`+condition+`) r
		LEFT JOIN refs f ON f.repo_id = r.of ORDER BY f.name`, repoID)
	if err != nil {
		return git.Refs{}, err
	}
	if refs.Head == "" {
		return git.Refs{}, errs.Absent()
	}
	refs.Head = git.Heads + refs.Head
	return refs, nil
}

// SetDefaultBranch sets the default branch to an existing branch. Only [Forge.SetDefaultBranch] calls it.
func SetDefaultBranch(tx *db.Tx, repoID ID, branch string) error {
	_, err := tx.Exec(`UPDATE repos SET default_branch = $2, refs_generation = refs_generation + 1 WHERE id = $1`, repoID, branch)
	return err
}

// HasRefs reports whether a repository has refs, without reading them. Error: 404 if it was deleted.
func (s *Service) HasRefs(ctx context.Context, id ID) (bool, error) {
	now, err := s.standing(ctx, id)
	if err == nil && !now.there {
		err = errs.Absent()
	}
	return now.hasRefs, err
}

// AllRefs reads all refs of a repository, for work without a caller.
func (s *Service) AllRefs(ctx context.Context, id ID) (refs map[string]git.SHA, err error) {
	return db.GetOne(ctx, s.db, func(tx *db.Tx) (map[string]git.SHA, error) {
		return db.QueryMap[string, git.SHA](tx, `SELECT name, sha FROM refs WHERE repo_id = $1`, id)
	})
}
