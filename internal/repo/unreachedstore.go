package repo

import (
	"slices"

	"arbor/internal/db"
	"arbor/internal/git"
)

func isMarked(tx *db.Tx, repoID ID) (marked bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM repos WHERE id = $1 AND unreached = TRUE)`,
		repoID).Scan(&marked)
	return marked, err
}

// MarkUnreachedIn sets Repo.Unreached, which stays: it would be false again once
// every object that no ref leads to had been removed.
func MarkUnreachedIn(tx *db.Tx, repoID ID) error {
	return tx.Send(`UPDATE repos SET unreached = TRUE WHERE id = $1 AND unreached = FALSE`, repoID)
}

// noteUnreached notes objects to which perhaps no ref leads.
func noteUnreached(tx *db.Tx, repoID ID, shas []git.SHA) error {
	if len(shas) == 0 {
		return nil
	}
	shas = slices.Compact(slices.Sorted(slices.Values(shas)))
	err := db.InParts(shas, func(part []git.SHA) error {
		args := make([]any, 0, 3*len(part))
		for _, sha := range part {
			args = append(args, repoID, string(sha), tx.Now)
		}
		return tx.Send(`INSERT INTO unreached_objects (repo_id, sha, at) VALUES `+db.Values(len(part), 3)+
			` ON CONFLICT (repo_id, sha) DO UPDATE SET at = excluded.at`, args...)
	})
	if err != nil {
		return err
	}
	if err := capNoted(tx, repoID); err != nil {
		return err
	}
	return MarkUnreachedIn(tx, repoID)
}

// noteRef notes the object that a ref names, unless that is sha.
func noteRef(tx *db.Tx, repoID ID, name string, sha git.SHA) error {
	n, err := tx.Exec(`INSERT INTO unreached_objects (repo_id, sha, at)
		SELECT r.repo_id, r.sha, CAST($4 AS BIGINT) FROM refs r
		WHERE r.repo_id = $1 AND r.name = $2 AND r.sha <> $3
		ON CONFLICT (repo_id, sha) DO UPDATE SET at = excluded.at`, repoID, name, string(sha), tx.Now)
	if err != nil || n == 0 {
		return err
	}
	if err := capNoted(tx, repoID); err != nil {
		return err
	}
	return MarkUnreachedIn(tx, repoID)
}

// capNoted removes the oldest notes of a repository that has too many.
func capNoted(tx *db.Tx, repoID ID) error {
	return tx.Send(`DELETE FROM unreached_objects
		WHERE repo_id = $1 AND at < (SELECT u.at FROM unreached_objects u
			WHERE u.repo_id = $1 ORDER BY u.at DESC LIMIT 1 OFFSET $2)`, repoID, maxUnreached)
}

// notedOf reads which of the objects were noted since a time.
func notedOf(tx *db.Tx, repoID ID, since db.Time, shas []git.SHA) ([]git.SHA, error) {
	var list []git.SHA
	err := db.InParts(shas, func(part []git.SHA) error {
		args := make([]any, 0, len(part)+2)
		args = append(args, repoID, since)
		for _, sha := range part {
			args = append(args, string(sha))
		}
		found, err := db.QueryColumn[git.SHA](tx, `SELECT sha FROM unreached_objects
			WHERE repo_id = $1 AND at > $2 AND sha IN `+db.ValuesFrom(3, 1, len(part)), args...)
		list = append(list, found...)
		return err
	})
	return list, err
}

// listNoted reads the objects that were noted since a time, the newest first.
func listNoted(tx *db.Tx, repoID ID, since db.Time) ([]git.SHA, error) {
	return db.QueryColumn[git.SHA](tx, `SELECT sha FROM unreached_objects WHERE repo_id = $1 AND at > $2
		ORDER BY at DESC LIMIT $3`, repoID, since, maxUnreached)
}
