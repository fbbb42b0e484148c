// Package issuekit is what issues, labels and milestones share.
//
//	place.go     the addresses of a repository's resources
//	state.go     open and closed
//	store.go     how a change says that payloads change, of the table repos
//
// Invariant: each transaction that changes what a payload of issues shows locks the repository's row first and
// raises its issues_generation, see [Lock]: answers kept under the generation before ([repo.Answers]) are
// no longer used.
package issuekit

import (
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/repo"
)

// Lock takes the repository's row for the rest of the transaction, and raises
// its issues_generation: payloads of its issues change. Error: 404 when the repository is gone.
func Lock(tx *db.Tx, repoID repo.ID) error {
	n, err := tx.Exec(`UPDATE repos SET issues_generation = issues_generation + 1 WHERE id = $1`, repoID)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	return hook.Watch(tx, repoID)
}

// TellReaders has open pages of an issue load what they do not learn from its row otherwise: reactions, and comments that
// are hidden or shown. issue is its id, an expression with the parameter $1, which is id.
func TellReaders(tx *db.Tx, issue string, id int64) error {
	return tx.Run(`UPDATE issues SET readers_generation = readers_generation + 1 WHERE id = `+issue, id)
}
