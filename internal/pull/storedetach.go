package pull

import (
	"slices"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/repo/network"
)

// The pull requests between two repositories, by issue: whose head is in the
// repository $1, that ask to merge into it, and that are within the network of the
// root $1 and ask to merge into a fork. Each is a range of an index.
const (
	acrossFrom   = `SELECT p.issue_id FROM pulls p WHERE p.head_repo_id = $1 AND p.head_repo_id <> p.repo_id`
	acrossTo     = `SELECT p.issue_id FROM pulls p WHERE p.repo_id = $1 AND p.head_repo_id <> p.repo_id`
	acrossWithin = `SELECT p.issue_id FROM repos n JOIN pulls p ON p.repo_id = n.id
		WHERE n.root_id = $1 AND p.head_repo_id <> p.repo_id`
)

// rootsOf are the roots of networks with a private repository of the account $1.
const rootsOf = `SELECT COALESCE(q.root_id, q.id) FROM repos q WHERE q.owner_id = $1 AND q.private = TRUE`

// rootsAsked are the roots of private networks in which the account $1 opened something.
var rootsAsked = `SELECT COALESCE(q.root_id, q.id) FROM postings x JOIN repos q ON q.id = x.repo_id
	WHERE x.kind = ` + strconv.Itoa(int(posting.ByAuthor)) + ` AND x.value = $1 AND q.private = TRUE`

// lostIn are the pull requests that do not hold any more in the networks of some
// roots.
func lostIn(roots string) string {
	return `SELECT p.issue_id FROM (SELECT y.id FROM repos y WHERE y.id IN (` + roots + `)
			UNION ALL SELECT y.id FROM repos y WHERE y.root_id IN (` + roots + `)) n
		JOIN pulls p ON p.repo_id = n.id AND p.head_repo_id <> p.repo_id JOIN issues i ON i.id = p.issue_id
		WHERE NOT ` + network.Crosses("p.head_repo_id", "p.repo_id", "i.author_id")
}

// setHeadsGone takes the head repository from the pull requests that a SELECT of
// their issues' ids finds, in which $1 is id. It gives those that are open.
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

// headless finds some open pull requests whose head is gone.
func headless(tx *db.Tx, most int) ([]issue.ID, error) {
	return db.QueryIDs[issue.ID](tx, `SELECT issue_id FROM pulls WHERE open = TRUE AND head_repo_id IS NULL
		ORDER BY issue_id LIMIT $1`, most)
}
