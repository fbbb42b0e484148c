package posting

import (
	"fmt"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// Add adds postings that are not there yet, and counts them.
func Add(tx *db.Tx, r Row, list []Property) error {
	args := make([]any, 0, 7*len(list))
	for _, p := range list {
		args = append(args, r.IssueID, int64(p.Kind), p.Value, r.RepoID, int64(r.State),
			r.UpdatedAt, r.Comments)
	}
	err := tx.Run(`INSERT INTO postings (issue_id, kind, value, repo_id, state, updated_at, comments) VALUES `+
		db.Values(len(list), 7), args...)
	if err != nil {
		return err
	}
	return Count(tx, r.RepoID, list, r.State, 1)
}

// Posted are properties of an issue.
type Posted struct {
	Row
	Properties []Property
}

// addedAtOnce is the number of postings that one statement of AddMissing adds.
const addedAtOnce = 1000

// AddMissing adds the postings of many issues of one repository that are not there yet, and counts them.
func AddMissing(tx *db.Tx, list []Posted) error {
	type key struct {
		of    Property
		state issuekit.State
	}
	counts := map[issuekit.State]map[Property]int64{}
	var args []any
	var in repo.ID
	add := func() error {
		if len(args) == 0 {
			return nil
		}
		err := db.QueryEach(tx, func(row db.Scanner) error {
			var k key
			if err := row.Scan(&k.of.Kind, &k.of.Value, &k.state); err != nil {
				return err
			}
			if counts[k.state] == nil {
				counts[k.state] = map[Property]int64{}
			}
			counts[k.state][k.of]++
			return nil
		}, `INSERT INTO postings (issue_id, kind, value, repo_id, state, updated_at, comments) VALUES `+
			db.Values(len(args)/7, 7)+` ON CONFLICT DO NOTHING RETURNING kind, value, state`, args...)
		args = args[:0]
		return err
	}
	for _, r := range list {
		in = r.RepoID
		for _, p := range r.Properties {
			args = append(args, r.IssueID, int64(p.Kind), p.Value, r.RepoID, int64(r.State), r.UpdatedAt, r.Comments)
			if len(args) == 7*addedAtOnce {
				if err := add(); err != nil {
					return err
				}
			}
		}
	}
	if err := add(); err != nil {
		return err
	}
	for state, of := range counts {
		if err := countAll(tx, in, state, of); err != nil {
			return err
		}
	}
	return nil
}

// countAll adds to the counters of properties in one state.
func countAll(tx *db.Tx, repoID repo.ID, state issuekit.State, by map[Property]int64) error {
	args := make([]any, 0, 5*len(by))
	for p, n := range by {
		args = append(args, repoID, int64(p.Kind), p.Value, int64(state), n)
	}
	for part := range slices.Chunk(args, 5*addedAtOnce) {
		err := tx.Run(`INSERT INTO posting_counts (repo_id, kind, value, state, n) VALUES `+
			db.Values(len(part)/5, 5)+` ON CONFLICT (repo_id, kind, value, state)
			DO UPDATE SET n = posting_counts.n + excluded.n`, part...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Drop removes postings that are there, and counts them off.
func Drop(tx *db.Tx, r Row, list []Property) error {
	where, args := make([]string, len(list)), []any{r.IssueID}
	for n, p := range list {
		where[n] = fmt.Sprintf("kind = $%d AND value = $%d", 2*n+2, 2*n+3)
		args = append(args, int64(p.Kind), p.Value)
	}
	err := tx.Run(`DELETE FROM postings WHERE issue_id = $1 AND (`+strings.Join(where, " OR ")+`)`, args...)
	if err != nil {
		return err
	}
	return Count(tx, r.RepoID, list, r.State, -1)
}

// Move updates the sort keys of all postings of an issue.
func Move(tx *db.Tx, r Row) error {
	err := tx.Run(`UPDATE postings SET state = $2, updated_at = $3, comments = $4 WHERE issue_id = $1`,
		r.IssueID, int64(r.State), r.UpdatedAt, r.Comments)
	return err
}

// Count adds to the counters of the properties.
func Count(tx *db.Tx, repoID repo.ID, list []Property, s issuekit.State, by int64) error {
	args := make([]any, 0, 5*len(list))
	for _, p := range list {
		args = append(args, repoID, int64(p.Kind), p.Value, int64(s), by)
	}
	err := tx.Run(`INSERT INTO posting_counts (repo_id, kind, value, state, n) VALUES `+db.Values(len(list), 5)+`
		ON CONFLICT (repo_id, kind, value, state) DO UPDATE SET n = posting_counts.n + excluded.n`, args...)
	return err
}

// MoveCounts counts all postings of an issue from one state to another.
func MoveCounts[ID ~int64](tx *db.Tx, issueID ID, from, to issuekit.State) error {
	err := tx.Run(`INSERT INTO posting_counts (repo_id, kind, value, state, n)
		SELECT repo_id, kind, value, CAST($2 AS SMALLINT), -1 FROM postings WHERE issue_id = $1
		UNION ALL SELECT repo_id, kind, value, CAST($3 AS SMALLINT), 1 FROM postings WHERE issue_id = $1
		ON CONFLICT (repo_id, kind, value, state) DO UPDATE
		SET n = posting_counts.n + excluded.n`, issueID, int64(from), int64(to))
	return err
}

// Which returns which of the ids the issue has as properties of the kind.
func Which[ID, V ~int64](tx *db.Tx, issueID ID, k Kind, ids []V) (map[V]bool, error) {
	has := map[V]bool{}
	if len(ids) == 0 {
		return has, nil
	}
	there, err := db.QueryIDs[V](tx,
		`SELECT value FROM postings WHERE issue_id = $1 AND kind = $2 AND value IN `+
			db.ValuesFrom(3, 1, len(ids)), db.Args(ids, issueID, int64(k))...)
	for _, id := range there {
		has[id] = true
	}
	return has, err
}

// CountStates adds numbers of issues, times by, to the counters of a property.
func CountStates(tx *db.Tx, repoID repo.ID, p Property, states map[issuekit.State]int64, by int64) error {
	for _, s := range [...]issuekit.State{issuekit.Open, issuekit.Closed} {
		if n := states[s]; n > 0 {
			if err := Count(tx, repoID, []Property{p}, s, by*n); err != nil {
				return err
			}
		}
	}
	return nil
}

// Total returns the number of issues with a property, open and closed.
func Total(tx *db.Tx, repoID repo.ID, p Property) (n int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(CAST(SUM(n) AS BIGINT), 0) FROM posting_counts WHERE repo_id = $1 AND kind = $2 AND value = $3`,
		repoID, int64(p.Kind), p.Value).Scan(&n)
	return n, err
}

// Forget removes a property from all issues, since what it names is deleted.
func Forget(tx *db.Tx, p Property) error {
	for _, s := range [...]string{
		`DELETE FROM posting_counts WHERE kind = $1 AND value = $2
			AND repo_id IN (SELECT repo_id FROM postings WHERE kind = $1 AND value = $2)`,
		`DELETE FROM postings WHERE kind = $1 AND value = $2`,
	} {
		if err := tx.Run(s, int64(p.Kind), p.Value); err != nil {
			return err
		}
	}
	return nil
}

// DropCounts removes the counters of a property that no issue has any longer.
func DropCounts(tx *db.Tx, repoID repo.ID, p Property) error {
	err := tx.Run(`DELETE FROM posting_counts WHERE repo_id = $1 AND kind = $2 AND value = $3`, repoID,
		int64(p.Kind), p.Value)
	return err
}

// TotalIn returns the number of issues with a property in one state.
func TotalIn(tx *db.Tx, repoID repo.ID, p Property, s issuekit.State) (n int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(CAST(SUM(n) AS BIGINT), 0) FROM posting_counts
		WHERE repo_id = $1 AND kind = $2 AND value = $3
		AND state = $4`, repoID, int64(p.Kind), p.Value, int64(s)).Scan(&n)
	return n, err
}
