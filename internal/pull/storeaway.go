package pull

import (
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// GiveAwayBranches changes the owner of the branches in the index from one account to another. If the new
// owner has a branch with the same name, the two are merged.
func GiveAwayBranches(tx *db.Tx, from, to account.ID) error {
	const both = `pull_branches x JOIN pull_branches g ON g.repo_id = x.repo_id AND g.name = x.name AND g.owner_id = $2`
	for _, s := range [...]struct {
		text string
		args []any
	}{
		{`UPDATE repos SET issues_generation = issues_generation + 1
			WHERE id IN (SELECT repo_id FROM pull_branches WHERE owner_id = $1)`, []any{from}},
		{`UPDATE pull_branches SET owner_id = $2 WHERE owner_id = $1 AND NOT EXISTS (SELECT 1
			FROM pull_branches g
			WHERE g.repo_id = pull_branches.repo_id AND g.name = pull_branches.name
			AND g.owner_id = $2)`, []any{from, to}},
		{`INSERT INTO posting_counts (repo_id, kind, value, state, n)
			SELECT c.repo_id, c.kind, g.id, c.state, c.n FROM ` + both + `
				JOIN posting_counts c ON c.value = x.id WHERE c.kind = KIND AND x.owner_id = $1
			ON CONFLICT (repo_id, kind, value, state) DO UPDATE
			SET n = posting_counts.n + excluded.n`, []any{from, to}},
		{`DELETE FROM posting_counts WHERE kind = KIND
			AND value IN (SELECT id FROM pull_branches WHERE owner_id = $1)`, []any{from}},
		{`UPDATE postings SET value = (SELECT g.id FROM ` + both + ` WHERE x.id = postings.value)
			WHERE kind = KIND AND value IN (SELECT id FROM pull_branches
			WHERE owner_id = $1)`, []any{from, to}},
		{`DELETE FROM pull_branches WHERE owner_id = $1`, []any{from}},
	} {
		text := strings.ReplaceAll(s.text, "KIND", strconv.Itoa(int(posting.ByBranch)))
		if _, err := tx.Exec(text, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// FollowTransfer changes the owner of the head branches of a repository in the index. Pull requests that
// have lost their head keep the former owner.
func FollowTransfer(tx *db.Tx, id repo.ID, from, to account.ID) error {
	const (
		asked  = `SELECT issue_id FROM pulls WHERE head_repo_id = $1`
		listed = `FROM postings WHERE kind = KIND AND issue_id IN (` + asked + `)
			AND value IN (SELECT id FROM pull_branches WHERE owner_id = $2)`
		count = `INSERT INTO posting_counts (repo_id, kind, value, state, n)
			SELECT repo_id, kind, value, state,
			SIGN COUNT(*) ` + listed + ` GROUP BY repo_id, kind, value, state
			ON CONFLICT (repo_id, kind, value, state) DO UPDATE SET n = posting_counts.n + excluded.n`
	)
	for _, s := range [...]struct {
		text string
		args []any
	}{
		{`UPDATE repos SET issues_generation = issues_generation + 1
			WHERE id IN (SELECT repo_id FROM pulls WHERE head_repo_id = $1)`, []any{id}},
		{`INSERT INTO pull_branches (repo_id, owner_id, name)
			SELECT DISTINCT repo_id, CAST($2 AS BIGINT), head_ref FROM pulls WHERE head_repo_id = $1
			ON CONFLICT (repo_id, owner_id, name) DO NOTHING`, []any{id, to}},
		{strings.Replace(count, "SIGN", "-", 1), []any{id, from}},
		{`UPDATE postings SET value = (SELECT g.id FROM pull_branches x
				JOIN pull_branches g ON g.repo_id = x.repo_id AND g.name = x.name AND g.owner_id = $3
				WHERE x.id = postings.value)
			WHERE kind = KIND AND issue_id IN (` + asked + `)
				AND value IN (SELECT id FROM pull_branches WHERE owner_id = $2)`, []any{id, from, to}},
		{strings.Replace(count, "SIGN", "", 1), []any{id, to}},
		{`UPDATE pulls SET head_owner_id = $2 WHERE head_repo_id = $1`, []any{id, to}},
	} {
		text := strings.ReplaceAll(s.text, "KIND", strconv.Itoa(int(posting.ByBranch)))
		if _, err := tx.Exec(text, s.args...); err != nil {
			return err
		}
	}
	return nil
}
