package repo

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// checkOnlyOne refuses that an account gets a second repository of a network: where it
// is, forks look for theirs. Error: 422.
func checkOnlyOne(tx *db.Tx, r *Repo, to *account.Account) error {
	var other ID
	err := tx.QueryRow(`SELECT id FROM repos WHERE owner_id = $1 AND id <> $2 AND id IN (
		SELECT id FROM repos WHERE root_id = $3 AND owner_id = $1 UNION ALL SELECT id FROM repos
			WHERE id = $3) LIMIT 1`,
		to.ID, r.ID, r.NetworkID).Scan(&other)
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = transferError("new_owner", errs.Custom, to.Login,
			"This owner has a repository of the same network already.")
	}
	return err
}

// SetOwner gives the repository to another owner: in its row, in the counters of both, with a
// redirect from the address that it had. Error: 422 for a name that is taken.
func SetOwner(tx *db.Tx, r *Repo, h Handover) error {
	var taken ID
	folded := account.Fold(h.Name)
	err := tx.QueryRow(`SELECT id FROM repos WHERE owner_id = $1 AND name_folded = $2`, h.To.ID, folded).Scan(&taken)
	if err == nil {
		return errNameTaken()
	}
	if !errors.Is(err, db.ErrNoRows) {
		return err
	}
	if err := CountForOwner(tx, r, -1); err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE repos SET owner_id = $2, name = $3, name_folded = $4, updated_at = $5,
			refs_generation = refs_generation + 1 WHERE id = $1`, r.ID, h.To.ID, h.Name, folded, tx.Now)
	switch {
	case errors.Is(err, db.ErrUnique):
		return errNameTaken()
	case err != nil:
		return err
	}
	if err := dropRedirect(tx, h.To.ID, folded); err != nil {
		return err
	}
	if err := putRedirect(tx, r.OwnerID, account.Fold(r.Name), r.ID); err != nil {
		return err
	}
	r.OwnerID, r.Owner, r.Name, r.UpdatedAt = h.To.ID, *h.To, h.Name, tx.Now
	return CountForOwner(tx, r, 1)
}

// FollowOwner grants the roles of a handover, and takes that of the new owner away, who
// needs none any more. All others stay as they are; what was had by membership in the
// former organization alone is gone with it.
func FollowOwner(tx *db.Tx, r *Repo, h Handover) error {
	if _, err := DropCollaborator(tx, r.ID, r.OwnerID); err != nil {
		return err
	}
	for id, role := range h.Join {
		if err := putCollaborator(tx, r.ID, id, role); err != nil {
			return err
		}
	}
	return nil
}
