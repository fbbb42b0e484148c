package closing

import (
	"cmp"
	"errors"
	"slices"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// maxBranches is how many branches stand in one statement.
const maxBranches = 400

// insert leaves work for later: branches that a push has moved.
func insert(tx *db.Tx, repoID int64, list []repo.RefUpdate) error {
	for part := range slices.Chunk(list, maxBranches) {
		args := make([]any, 0, 7*len(part))
		for _, u := range part {
			args = append(args, repoID, u.By, u.Name, string(u.Old), string(u.New), tx.Now, tx.Now)
		}
		_, err := tx.Exec(`INSERT INTO pushed_commits (repo_id, actor_id, name, old_sha, new_sha, created_at, due_at)
			VALUES `+db.Values(len(part), 7), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// numbered reports whether a repository has, or had, any issue.
func numbered(tx *db.Tx, repoID int64) (yes bool, err error) {
	err = tx.QueryRow(`SELECT next_number > 1 FROM repos WHERE id = $1`, repoID).Scan(&yes)
	return yes, err
}

// due reports whether there is work that nobody does.
func due(tx *db.Tx) (due bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM pushed_commits WHERE due_at <= $1)`, tx.Now).Scan(&due)
	return due, err
}

// lease takes what is longest due: branches that one account has pushed to one
// repository, until the time; nothing is no error. What failed before comes alone.
func lease(tx *db.Tx, until db.Time) ([]pushed, error) {
	var repoID, actorID, firstID, tries int64
	err := tx.QueryRow(`SELECT repo_id, actor_id, id, tries FROM pushed_commits WHERE due_at <= $1
		ORDER BY due_at, id LIMIT 1`, tx.Now).Scan(&repoID, &actorID, &firstID, &tries)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	where, args := `id = $3`, []any{tx.Now, until, firstID}
	if tries == 0 {
		where = `id IN (SELECT id FROM pushed_commits WHERE repo_id = $3 AND actor_id = $4 AND due_at <= $1 AND tries = 0
			ORDER BY id LIMIT $5)`
		args = []any{tx.Now, until, repoID, actorID, maxBranches}
	}
	rows, err := tx.Query(`UPDATE pushed_commits SET due_at = $2, tries = tries + 1 WHERE due_at <= $1 AND `+where+`
		RETURNING id, repo_id, actor_id, name, old_sha, new_sha, tries`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []pushed
	for rows.Next() {
		var p pushed
		if err := rows.Scan(&p.id, &p.repoID, &p.actorID, &p.name, &p.old, &p.new, &p.tries); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b pushed) int { return cmp.Compare(a.id, b.id) })
	return list, rows.Err()
}

// postpone makes leased work due at another time.
func postpone(tx *db.Tx, list []pushed, due db.Time) error {
	where, args := among(list, 2)
	_, err := tx.Exec(`UPDATE pushed_commits SET due_at = $1 WHERE `+where, append([]any{due}, args...)...)
	return err
}

// remove removes work that is done.
func remove(tx *db.Tx, list []pushed) error {
	where, args := among(list, 1)
	_, err := tx.Exec(`DELETE FROM pushed_commits WHERE `+where, args...)
	return err
}

func among(list []pushed, first int) (where string, args []any) {
	for _, p := range list {
		args = append(args, p.id)
	}
	return `id IN ` + db.ValuesFrom(first, 1, len(list)), args
}

// unreadBranches gives what branches of the repository named before the first of
// the pushes to them that are not read yet.
func unreadBranches(tx *db.Tx, repoID int64) (map[string]git.SHA, error) {
	rows, err := tx.Query(`SELECT name, old_sha FROM pushed_commits WHERE repo_id = $1 ORDER BY id DESC`, repoID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string]git.SHA{}
	for rows.Next() {
		var name string
		var old git.SHA
		if err := rows.Scan(&name, &old); err != nil {
			return nil, err
		}
		found[name] = old
	}
	return found, rows.Err()
}

// closedBy tells which of the issues were closed by which commits, ever.
func closedBy(tx *db.Tx, issues []int64) (map[commitOfIssue]bool, error) {
	found := map[commitOfIssue]bool{}
	if len(issues) == 0 {
		return found, nil
	}
	args := []any{int64(issue.EventClosed)}
	for _, id := range issues {
		args = append(args, id)
	}
	rows, err := tx.Query(`SELECT issue_id, commit_sha FROM issue_events WHERE kind = $1 AND commit_sha IS NOT NULL
		AND issue_id IN `+db.ValuesFrom(2, 1, len(issues)), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var k commitOfIssue
		if err := rows.Scan(&k.issue, &k.sha); err != nil {
			return nil, err
		}
		found[k] = true
	}
	return found, rows.Err()
}
