package deletion

import (
	"errors"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

func insertDeletedLabel(tx *db.Tx, repoID repo.ID, labelID int64) error {
	return tx.SendRing(topic, `INSERT INTO deleted_labels (label_id, repo_id) VALUES ($1, $2)`,
		labelID, repoID)
}

// nextDeletedLabel returns the first deleted label with an id larger than after that issues still have, or
// 0.
func nextDeletedLabel(tx *db.Tx, after int64) (repoID repo.ID, labelID int64, err error) {
	err = tx.QueryRow(`SELECT repo_id, label_id FROM deleted_labels WHERE label_id > $1
		ORDER BY label_id LIMIT 1`, after).Scan(&repoID, &labelID)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return repoID, labelID, err
}

func finishDeletedLabel(tx *db.Tx, labelID int64) error {
	return tx.Run(`DELETE FROM deleted_labels WHERE label_id = $1`, labelID)
}

// stripLabel removes a label's id from up to atOnce issues with a fixed number of statements, and returns
// their number. Issues without other labels get the posting for no label.
func stripLabel(tx *db.Tx, repoID repo.ID, labelID int64) (n int64, err error) {
	ids, states, err := issuesWith(tx, repoID, posting.ByLabel.Of(labelID))
	if err != nil {
		return 0, err
	}
	if n = int64(len(ids)); n == 0 {
		return 0, posting.DropCounts(tx, repoID, posting.ByLabel.Of(labelID))
	}
	// The list of ids starts and ends with a comma while the id is cut out of it.
	id, in := strconv.FormatInt(labelID, 10), ` IN `+db.ValuesFrom(2, 1, len(ids))
	if err := tx.Run(`UPDATE issues SET labels = trim(replace(',' || labels || ',', $1, ','), ',')
		WHERE id`+in,
		append([]any{"," + id + ","}, ids...)...); err != nil {
		return 0, err
	}
	args := append([]any{labelID}, ids...)
	if err := tx.Run(`DELETE FROM postings WHERE value = $1 AND kind = 5 AND issue_id`+in,
		args...); err != nil {
		return 0, err
	}
	if n < atOnce {
		err = posting.DropCounts(tx, repoID, posting.ByLabel.Of(labelID))
	} else {
		err = posting.CountStates(tx, repoID, posting.ByLabel.Of(labelID), states, -1)
	}
	if err != nil {
		return 0, err
	}
	bare := ` FROM issues WHERE labels = '' AND repo_id = $1 AND id` + in
	args[0] = repoID
	states, err = db.QueryMap[issuekit.State, int64](tx,
		`SELECT state, count(*)`+bare+` GROUP BY state`, args...)
	if err != nil || len(states) == 0 {
		return n, err
	}
	if err := tx.Run(`INSERT INTO postings (issue_id, kind, value, repo_id, state, updated_at, comments)
		SELECT id, 5, 0, repo_id, state, updated_at, comments`+bare, args...); err != nil {
		return 0, err
	}
	return n, posting.CountStates(tx, repoID, posting.ByLabel.Of(posting.None), states, 1)
}

// issuesWith returns some issues with a property, and their number in each state.
func issuesWith(
	tx *db.Tx, repoID repo.ID, p posting.Property,
) (ids []any, states map[issuekit.State]int64, err error) {
	states = map[issuekit.State]int64{}
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var id issue.ID
		var state int64
		if err := row.Scan(&id, &state); err != nil {
			return err
		}
		ids = append(ids, id)
		states[issuekit.State(state)]++
		return nil
	}, `SELECT issue_id, state FROM postings WHERE kind = $1 AND value = $2 AND repo_id = $3 LIMIT $4`,
		int64(p.Kind), p.Value, repoID, atOnce)
	return ids, states, err
}
