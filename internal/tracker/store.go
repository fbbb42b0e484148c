package tracker

import (
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// Lock takes the repository's row for the rest of the transaction, and raises
// its issues_generation: payloads of its issues change. Error: 404 when the
// repository is gone.
func Lock(tx *db.Tx, repoID repo.ID) error {
	n, err := tx.Exec(`UPDATE repos SET issues_generation = issues_generation + 1 WHERE id = $1`, repoID)
	if err == nil && n == 0 {
		return errs.Absent()
	}
	return err
}

// RaiseLegend says that what issues show besides themselves changed: labels,
// milestones. The repository's row is locked already.
func RaiseLegend(tx *db.Tx, repoID repo.ID) error {
	err := tx.Run(`UPDATE repos SET legend_generation = legend_generation + 1 WHERE id = $1`, repoID)
	return err
}
