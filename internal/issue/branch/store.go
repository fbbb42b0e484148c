package branch

import (
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

func insert(tx *db.Tx, l *Link) (id int64, err error) {
	err = tx.QueryRow(`INSERT INTO linked_branches (issue_id, repo_id, name, created_at)
		VALUES ($1, $2, $3, $4)
		RETURNING id`, l.IssueID, l.RepoID, l.Name, tx.Now).Scan(&id)
	return id, err
}

func count(tx *db.Tx, of issue.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM linked_branches WHERE issue_id = $1`, of).Scan(&n)
	return n, err
}

// remove removes a link from an issue. Error: 404.
func remove(tx *db.Tx, of issue.ID, id int64) error {
	n, err := tx.Exec(`DELETE FROM linked_branches WHERE id = $1 AND issue_id = $2`, id, of)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	return err
}

// removeNamed removes all links to the named branches of a repository.
func removeNamed(tx *db.Tx, repoID repo.ID, names []string) error {
	const most = 500
	for len(names) > 0 {
		part := names[:min(most, len(names))]
		names = names[len(part):]
		args := []any{repoID}
		for _, name := range part {
			args = append(args, name)
		}
		if err := tx.Run(`DELETE FROM linked_branches WHERE repo_id = $1 AND name IN `+
			db.ValuesFrom(2, 1, len(part)), args...); err != nil {
			return err
		}
	}
	return nil
}

// listed is a link with the tip of its branch.
type listed struct {
	Link
	issueRepo repo.ID
	number    int64 // of the issue
	tip       git.SHA
}

// of lists the links of issues in the order of their creation.
func of(tx *db.Tx, issues []repo.Of[int64]) (list []listed, err error) {
	if len(issues) == 0 {
		return nil, nil
	}
	with, args := repo.Pairs(issues, "BIGINT")
	return db.QueryList(tx, func(row db.Scanner) (l listed, err error) {
		err = row.Scan(&l.ID, &l.IssueID, &l.RepoID, &l.Name, &l.issueRepo, &l.number, &l.tip)
		return l, err
	}, with+`SELECT l.id, l.issue_id, l.repo_id, l.name, i.repo_id, i.number, f.sha
		FROM v JOIN issues i ON i.repo_id = v.repo AND i.number = v.key
		JOIN linked_branches l ON l.issue_id = i.id
		JOIN refs f ON f.repo_id = l.repo_id AND f.name = 'refs/heads/' || l.name
		ORDER BY l.id`, args...)
}

// Spot is where the issue of a link is.
type Spot struct {
	Repo   repo.ID
	Number int64
}

// Places finds the issues of links. It checks no rights. It omits those that do not exist.
func Places(tx *db.Tx, ids []int64) (map[int64]Spot, error) {
	return db.QueryMapOf[int64](tx, func(at *Spot) []any { return []any{&at.Repo, &at.Number} },
		`SELECT l.id, i.repo_id, i.number FROM linked_branches l JOIN issues i ON i.id = l.issue_id
		WHERE l.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}
