package pull

import (
	"slices"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/repo/network"
)

// Queries of the pull requests between two repositories, by issue: with their head in the repository $1,
// with their base in it, and those within the network of the root $1 with their base in a fork. Each reads
// one range of an index.
const (
	acrossFrom   = `SELECT p.issue_id FROM pulls p WHERE p.head_repo_id = $1 AND p.head_repo_id <> p.repo_id`
	acrossTo     = `SELECT p.issue_id FROM pulls p WHERE p.repo_id = $1 AND p.head_repo_id <> p.repo_id`
	acrossWithin = `SELECT p.issue_id FROM repos n JOIN pulls p ON p.repo_id = n.id
		WHERE n.root_id = $1 AND p.head_repo_id <> p.repo_id`
)

// rootsOf selects the roots of networks with a private repository of the account $1.
const rootsOf = `SELECT COALESCE(q.root_id, q.id) FROM repos q WHERE q.owner_id = $1 AND q.private = TRUE`

// rootsAsked selects the roots of private networks in which the account $1 opened an issue or pull request.
var rootsAsked = `SELECT COALESCE(q.root_id, q.id) FROM postings x JOIN repos q ON q.id = x.repo_id
	WHERE x.kind = ` + strconv.Itoa(int(posting.ByAuthor)) + ` AND x.value = $1 AND q.private = TRUE`

// lostIn selects the pull requests that are no longer allowed in the networks of some roots.
func lostIn(roots string) string {
	return `SELECT p.issue_id FROM (SELECT y.id FROM repos y WHERE y.id IN (` + roots + `)
			UNION ALL SELECT y.id FROM repos y WHERE y.root_id IN (` + roots + `)) n
		JOIN pulls p ON p.repo_id = n.id AND p.head_repo_id <> p.repo_id JOIN issues i ON i.id = p.issue_id
		WHERE NOT ` + network.Crosses("p.head_repo_id", "p.repo_id", "i.author_id")
}

// setHeadsGone removes the head repository from the pull requests whose issue ids a query selects; $1 in it
// is id. It returns the open ones.
func setHeadsGone(tx *db.Tx, which string, id any) (open []issue.ID, err error) {
	all, err := db.QueryIDs[issue.ID](tx, `UPDATE pulls SET head_repo_id = NULL WHERE issue_id IN (`+which+`)
		RETURNING CASE WHEN open THEN issue_id ELSE 0 END`, id)
	for _, id := range all {
		if id != 0 {
			open = append(open, id)
		}
	}
	slices.Sort(open)
	return open, err
}

// headless returns some open pull requests without a head repository.
func headless(tx *db.Tx, most int) ([]issue.ID, error) {
	return db.QueryIDs[issue.ID](tx, `SELECT issue_id FROM pulls WHERE open = TRUE AND head_repo_id IS NULL
		ORDER BY issue_id LIMIT $1`, most)
}
