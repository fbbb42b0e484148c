package release

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// mergedBy lists the pull requests that some commits merged, in the order in which they were merged.
func mergedBy(tx *db.Tx, repoID repo.ID, commits []git.SHA) (list []mergedPull, err error) {
	for part := range slices.Chunk(commits, db.MaxValues) {
		args := []any{repoID}
		for _, sha := range part {
			args = append(args, string(sha))
		}
		found, err := queryMerged(tx,
			` WHERE p.repo_id = $1 AND p.merge_sha IN `+db.ValuesFrom(2, 1, len(part)), args...)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	slices.SortFunc(list, func(a, b mergedPull) int {
		if a.mergedAt != b.mergedAt {
			return int(min(max(a.mergedAt-b.mergedAt, -1), 1))
		}
		return int(min(max(a.number-b.number, -1), 1))
	})
	return list, nil
}

func queryMerged(tx *db.Tx, where string, args ...any) (list []mergedPull, err error) {
	return db.QueryList(tx, func(row db.Scanner) (p mergedPull, err error) {
		err = row.Scan(&p.number, &p.title, &p.authorID, &p.mergedAt)
		return p, err
	}, `SELECT i.number, i.title, i.author_id, i.merged_at FROM pulls p
		JOIN issues i ON i.id = p.issue_id AND i.merged_at IS NOT NULL`+where, args...)
}

// contributedBefore finds those of some authors who had a pull request merged before a time.
func contributedBefore(
	tx *db.Tx, repoID repo.ID, authors []account.ID, at db.Time,
) (map[account.ID]bool, error) {
	before := map[account.ID]bool{}
	for part := range slices.Chunk(authors, db.MaxValues) {
		args := []any{repoID, at, int64(posting.ByAuthor)}
		for _, id := range part {
			args = append(args, id)
		}
		ids, err := db.QueryIDs[account.ID](tx, `SELECT u.id FROM accounts u WHERE u.id IN `+
			db.ValuesFrom(4, 1, len(part))+`
			AND EXISTS (SELECT 1 FROM postings o JOIN issues i ON i.id = o.issue_id
				WHERE o.repo_id = $1 AND o.kind = $3 AND o.value = u.id AND i.merged_at < $2)`, args...)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			before[id] = true
		}
	}
	return before, nil
}
