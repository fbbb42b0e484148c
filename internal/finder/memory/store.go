package memory

import (
	"errors"
	"slices"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/tracker"
)

// generationOf reads the generation of a repository's issues. Error: 404.
func generationOf(tx *db.Tx, repoID repo.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT issues_generation FROM repos WHERE id = $1`, repoID).Scan(&n)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return n, err
}

// sizesOf reads how many issues have each property that indexes hold, and how many
// there are in all.
func sizesOf(tx *db.Tx, repoID repo.ID) (map[posting.Property]int64, error) {
	sizes := map[posting.Property]int64{}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var kind, value, n int64
		if err := row.Scan(&kind, &value, &n); err != nil {
			return err
		}
		if p := posting.Kind(kind).Of(value); holds(p.Kind) || p.Kind == posting.ByAll {
			sizes[p] += n // in each of the states
		}
		return nil
	}, `SELECT kind, value, n FROM posting_counts WHERE repo_id = $1 AND n > 0`, repoID)
	return sizes, err
}

// departed is the id of an entry that stands for issues that are gone.
const departed = -1

const entryColumns = `id, number, updated_at, comments, changed, state`

// queryEntries reads issues without their properties, and the number of the last
// one.
func queryEntries(tx *db.Tx, query string, args ...any) (list []entry, last int64, err error) {
	list, err = db.QueryList(tx, func(row db.Scanner) (e entry, err error) {
		var state int64
		if err := row.Scan(&e.id, &last, &e.updated, &e.comments, &e.changed, &state); err != nil {
			return e, err
		}
		e.closed = tracker.State(state) == tracker.Closed
		return e, nil
	}, query, args...)
	return list, last, err
}

// issuesAfter reads the next issues after a number, and the number of the last.
func issuesAfter(tx *db.Tx, repoID repo.ID, number int64) (list []entry, last int64, err error) {
	list, last, err = queryEntries(tx, `SELECT `+entryColumns+` FROM issues WHERE repo_id = $1 AND number > $2
		ORDER BY number LIMIT $3`, repoID, number, fillChunk)
	if err == nil {
		err = readProperties(tx, list)
	}
	return list, last, err
}

// changedSince reads the issues of a repository that changed after a generation,
// maxCatchUp and one at most. Where some departed meanwhile, an entry has the id departed.
func changedSince(tx *db.Tx, repoID repo.ID, generation int64) ([]entry, error) {
	list, _, err := queryEntries(tx, `SELECT * FROM (SELECT `+entryColumns+` FROM issues
			WHERE repo_id = $1 AND changed > $2 LIMIT $3) x
		UNION ALL SELECT * FROM (SELECT -1, number, 0, 0, generation, 0 FROM departed_issues
			WHERE repo_id = $1 AND generation > $2 LIMIT 1) y`, repoID, generation, maxCatchUp+1)
	if err != nil || len(list) > maxCatchUp || slices.ContainsFunc(list, func(e entry) bool {
		return e.id == departed
	}) {
		return list, err
	}
	return list, readProperties(tx, list)
}

// readProperties reads the properties of issues.
func readProperties(tx *db.Tx, list []entry) error {
	for chunk := range slices.Chunk(list, db.MaxValues) {
		if err := readSomeProperties(tx, chunk); err != nil {
			return err
		}
	}
	return nil
}

func readSomeProperties(tx *db.Tx, list []entry) error {
	args, byID := make([]any, len(list)), make(map[int64]*entry, len(list))
	for n := range list {
		args[n], byID[list[n].id] = list[n].id, &list[n]
	}
	return db.QueryEach(tx, func(row db.Scanner) error {
		var id, kind, value int64
		if err := row.Scan(&id, &kind, &value); err != nil {
			return err
		}
		byID[id].has = append(byID[id].has, posting.Kind(kind).Of(value))
		return nil
	}, `SELECT issue_id, kind, value FROM postings
		WHERE issue_id IN `+db.Values(1, len(list)), args...)
}
