package pull

import (
	"strconv"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// noteCommits sets the commits by which a pull request can be found. It writes only differences, which is
// nothing after a base has moved.
func noteCommits(tx *db.Tx, repoID repo.ID, issueID issue.ID, commits []git.SHA) error {
	noted, err := db.QueryColumn[git.SHA](tx, `SELECT sha FROM pull_commits WHERE issue_id = $1`, issueID)
	if err != nil {
		return err
	}
	gone := make(map[git.SHA]bool, len(noted))
	for _, sha := range noted {
		gone[sha] = true
	}
	var more []any
	for _, sha := range commits {
		if gone[sha] {
			delete(gone, sha)
			continue
		}
		more = append(more, repoID, string(sha), issueID)
	}
	if len(gone) > 0 {
		args := []any{issueID}
		for sha := range gone {
			args = append(args, string(sha))
		}
		err := tx.Run(`DELETE FROM pull_commits
			WHERE issue_id = $1 AND sha IN `+db.ValuesFrom(2, 1, len(gone)), args...)
		if err != nil {
			return err
		}
	}
	if len(more) == 0 {
		return nil
	}
	err = tx.Run(`INSERT INTO pull_commits (repo_id, sha, issue_id) VALUES `+db.Values(len(more)/3, 3)+`
		ON CONFLICT DO NOTHING`, more...)
	return err
}

// withCommit selects the pull requests p that contain a commit or were merged as it.
const withCommit = ` FROM pulls p WHERE p.issue_id IN (SELECT issue_id FROM pull_commits WHERE repo_id = $1
	AND sha = $2
	UNION SELECT issue_id FROM pulls WHERE repo_id = $1 AND merge_sha = $2)`

// ofCommit reads a page of the issue ids of the merged pull requests of a commit, or also of open ones if
// open is true, and their total number.
func ofCommit(
	tx *db.Tx, repoID repo.ID, sha git.SHA, open bool, page web.Page,
) (ids []issue.ID, total int64, err error) {
	which := withCommit + ` AND (p.merge_sha IS NOT NULL OR p.open AND CAST($3 AS BOOLEAN))`
	if err := tx.QueryRow(`SELECT count(*)`+which, repoID, string(sha), open).Scan(&total); err != nil {
		return nil, 0, err
	}
	ids, err = db.QueryIDs[issue.ID](tx,
		`SELECT p.issue_id`+which+` ORDER BY p.number DESC LIMIT $4 OFFSET $5`,
		repoID, string(sha), open, page.Size, page.Offset())
	return ids, total, err
}

func anyOpenOf(tx *db.Tx, repoID repo.ID, sha git.SHA) (some bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1`+withCommit+` AND p.open)`, repoID, string(sha)).Scan(&some)
	return some, err
}

// ofOne is a pull request that contains a commit.
type ofOne struct {
	of     repo.Of[git.SHA]
	number int64
	merged bool // false: open
}

// mostOfCommits is the maximum number of results of ofCommits.
const mostOfCommits = 10_000

// ofCommits reads the merged and open pull requests of several commits, oldest first.
func ofCommits(tx *db.Tx, commits []repo.Of[git.SHA]) (list []ofOne, err error) {
	in := repo.In(commits)
	with, args := repo.Pairs(commits, "TEXT")
	return db.QueryList(tx, func(row db.Scanner) (p ofOne, err error) {
		var id repo.ID
		err = row.Scan(&id, &p.of.Key, &p.number, &p.merged)
		p.of.In = in[id]
		return p, err
	}, with+`SELECT p.repo_id, c.sha, p.number, p.merge_sha IS NOT NULL FROM (
			SELECT x.sha, x.issue_id FROM v JOIN pull_commits x ON x.repo_id = v.repo AND x.sha = v.key
			UNION SELECT x.merge_sha, x.issue_id FROM v JOIN pulls x ON x.repo_id = v.repo AND x.merge_sha = v.key) c
		JOIN pulls p ON p.issue_id = c.issue_id
		WHERE p.merge_sha IS NOT NULL OR p.open
		ORDER BY p.number LIMIT `+strconv.Itoa(mostOfCommits), args...)
}
