package live

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// selectMarks reads what the pages of issues and pull requests show and others change: states, titles, labels,
// comments and their edits, reviews that were submitted, threads, the head, the tip of the base, test merges,
// statuses and checks, the merge queue of the base with what is in it, and the rules of the repository and its
// owner; reactions and hidden comments by the issue's readers_generation. Each part is one look into an index, or a few
// rows. What pending reviews hold, and references from other issues, which may be private, are no changes.
const selectMarks = `SELECT i.id,
	i.repo_id, i.title, i.state, i.state_reason, i.locked, COALESCE(i.milestone_id, 0), i.labels, i.assignees,
		i.comments, i.readers_generation,
	i.updated_at, i.draft, COALESCE(i.pinned_at, 0),
	COALESCE((SELECT e.id FROM issue_events e WHERE e.issue_id = i.id AND e.source_id IS NULL ORDER BY e.created_at DESC, e.id DESC LIMIT 1), 0),
	(SELECT COUNT(*) FROM reviews v WHERE v.issue_id = i.id AND v.state <> 1),
	CAST(COALESCE((SELECT SUM(v.state) FROM reviews v WHERE v.issue_id = i.id AND v.state <> 1), 0) AS BIGINT),
	(SELECT COUNT(*) FROM resolved_threads t WHERE t.issue_id = i.id),
	COALESCE(p.review_comments, 0), COALESCE(p.base_ref, ''), COALESCE(p.head_sha, ''), COALESCE(p.head_repo_id, 0),
	COALESCE(p.tested_base, ''), COALESCE(p.tested_head, ''), COALESCE(p.test_sha, ''),
	COALESCE((SELECT r.sha FROM refs r WHERE r.repo_id = p.repo_id AND r.name = 'refs/heads/' || p.base_ref), ''),
	COALESCE((SELECT m.id FROM auto_merges m WHERE m.issue_id = i.id), 0),
	CAST(COALESCE((SELECT SUM(e.enqueued_at + CASE WHEN e.jumped THEN 1 ELSE 0 END) FROM merge_queues q
		JOIN queue_entries e ON e.queue_id = q.id WHERE q.repo_id = p.repo_id AND q.base_ref = p.base_ref),
			0) AS BIGINT),
	CAST(COALESCE((SELECT SUM(g.id * (g.ended + 1)) FROM merge_queues q
		JOIN merge_groups g ON g.queue_id = q.id WHERE q.repo_id = p.repo_id AND q.base_ref = p.base_ref),
			0) AS BIGINT),
	CAST(COALESCE((SELECT SUM(l.updated_at) FROM rulesets l WHERE l.repo_id = p.repo_id), 0) AS BIGINT),
	CAST(COALESCE((SELECT SUM(l.updated_at) FROM repos r JOIN rulesets l ON l.org_id = r.owner_id
		WHERE r.id = p.repo_id), 0) AS BIGINT),
	COALESCE((SELECT MAX(s.id) FROM statuses s WHERE s.repo_id = p.repo_id AND s.sha = p.head_sha), 0),
	CAST(COALESCE((SELECT SUM(c.updated_at) FROM check_suites c WHERE c.repo_id = p.repo_id AND c.head_sha = p.head_sha), 0) AS BIGINT),
	COALESCE((SELECT MAX(c.updated_at) FROM check_runs c WHERE c.repo_id = p.repo_id AND c.head_sha = p.head_sha), 0)
	FROM issues i LEFT JOIN pulls p ON p.issue_id = i.id WHERE `

// columns is how many selectMarks reads besides the id.
const columns = 33

// readMarks returns a mark of each issue, which is another one after a change. Issues that are gone have none.
func readMarks(tx *db.Tx, list []issue.ID) (map[issue.ID]string, error) {
	args, places := make([]any, len(list)), make([]string, len(list))
	for n, id := range list {
		args[n], places[n] = id, "$"+strconv.Itoa(n+1)
	}
	marks := make(map[issue.ID]string, len(list))
	err := db.QueryEach(tx, func(row db.Scanner) error {
		id, mark, err := scanMark(row)
		marks[id] = mark
		return err
	}, selectMarks+`i.id IN (`+strings.Join(places, ", ")+`)`, args...)
	return marks, err
}

// readMark returns the mark of an issue; empty: there is none with this number.
func readMark(tx *db.Tx, in repo.ID, number int64) (mark string, err error) {
	_, mark, err = scanMark(tx.QueryRow(selectMarks+`i.repo_id = $1 AND i.number = $2`, in, number))
	if errors.Is(err, db.ErrNoRows) {
		return "", nil
	}
	return mark, err
}

func scanMark(row db.Scanner) (id issue.ID, mark string, err error) {
	var values [columns]any
	into := []any{&id}
	for n := range values {
		into = append(into, &values[n])
	}
	err = row.Scan(into...)
	sum := sha256.Sum256(fmt.Appendf(nil, "%v", values))
	return id, hex.EncodeToString(sum[:12]), err
}

// isIn reports whether an issue is in a repository.
func isIn(tx *db.Tx, id issue.ID, in repo.ID) (bool, error) {
	var n int64
	err := tx.QueryRow(`SELECT COUNT(*) FROM issues WHERE id = $1 AND repo_id = $2`, id, in).Scan(&n)
	return n > 0, err
}
