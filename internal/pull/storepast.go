package pull

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// Branch is a branch by which pull requests are listed.
type Branch struct {
	Owner account.ID // of a head; 0: a base branch
	Name  string
}

// BranchProperties returns the properties of branches, which are added where they are missing.
func BranchProperties(tx *db.Tx, repoID repo.ID, list []Branch) (map[Branch]posting.Property, error) {
	found := map[Branch]posting.Property{}
	var missing []Branch
	for _, b := range list {
		if _, seen := found[b]; !seen {
			found[b] = posting.Property{}
			missing = append(missing, b)
		}
	}
	return found, db.InParts(missing, func(part []Branch) error {
		args := make([]any, 0, 3*len(part))
		for _, b := range part {
			args = append(args, repoID, b.Owner, b.Name)
		}
		return db.QueryEach(tx, func(row db.Scanner) error {
			var b Branch
			var id int64
			err := row.Scan(&b.Owner, &b.Name, &id)
			found[b] = posting.ByBranch.Of(id)
			return err
		}, `INSERT INTO pull_branches (repo_id, owner_id, name) VALUES `+db.Values(len(part), 3)+`
			ON CONFLICT (repo_id, owner_id, name) DO UPDATE SET name = excluded.name RETURNING owner_id, name, id`, args...)
	})
}

// InsertPast inserts pull requests as they are at another server. Test merges of open ones are wanted.
func InsertPast(tx *db.Tx, list []*Pull) error {
	const columns = 19
	args := make([]any, 0, columns*len(list))
	for _, p := range list {
		args = append(args, p.IssueID, p.RepoID, p.Number, p.Open, p.BaseRef, string(p.BaseSHA), db.OrNull(p.HeadRepoID),
			p.HeadOwnerID, p.HeadRef, string(p.HeadSHA), p.Modifiable, db.OrNull(p.MergedBy), db.OrNull(string(p.MergeSHA)),
			p.Additions, p.Deletions, p.Files, p.Commits, p.Open, p.ReviewComments)
	}
	if len(args) == 0 {
		return nil
	}
	return tx.Run(`INSERT INTO pulls (issue_id, repo_id, number, open, base_ref, base_sha, head_repo_id, head_owner_id,
		head_ref, head_sha, modifiable, merged_by, merge_sha, additions, deletions, changed_files, commits, wanted,
		review_comments) VALUES `+db.Values(len(list), columns), args...)
}

// UpdatePast writes a pull request that has changed at another server.
func UpdatePast(tx *db.Tx, p *Pull) error {
	return tx.Run(`UPDATE pulls SET open = $2, base_ref = $3, base_sha = $4, head_repo_id = $5, head_owner_id = $6,
		head_ref = $7, head_sha = $8, merged_by = $9, merge_sha = $10, additions = $11, deletions = $12, changed_files = $13,
		commits = $14, wanted = $2, due_at = 0, tries = 0, tested_base = NULL WHERE issue_id = $1`,
		p.IssueID, p.Open, p.BaseRef, string(p.BaseSHA), db.OrNull(p.HeadRepoID), p.HeadOwnerID, p.HeadRef,
		string(p.HeadSHA), db.OrNull(p.MergedBy), db.OrNull(string(p.MergeSHA)), p.Additions, p.Deletions, p.Files,
		p.Commits)
}
