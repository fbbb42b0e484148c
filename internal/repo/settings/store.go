package settings

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// checkOnlyOne refuses that an account gets a second repository of a network: where it
// is, forks look for theirs. Error: 422.
func checkOnlyOne(tx *db.Tx, r *repo.Repo, to *account.Account) error {
	var other repo.ID
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

// SetOwner changes the repository's owner: in its row, in the counters of both, with a
// redirect from the address that it had. Error: 422 for a name that is taken.
func SetOwner(tx *db.Tx, r *repo.Repo, h Handover) error {
	var taken repo.ID
	folded := account.Fold(h.Name)
	err := tx.QueryRow(`SELECT id FROM repos WHERE owner_id = $1 AND name_folded = $2`,
		h.To.ID, folded).Scan(&taken)
	if err == nil {
		return repo.ErrNameTaken()
	}
	if !errors.Is(err, db.ErrNoRows) {
		return err
	}
	if err := repo.CountForOwner(tx, r, -1); err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE repos SET owner_id = $2, name = $3, name_folded = $4, updated_at = $5,
			refs_generation = refs_generation + 1 WHERE id = $1`, r.ID, h.To.ID, h.Name, folded, tx.Now)
	switch {
	case errors.Is(err, db.ErrUnique):
		return repo.ErrNameTaken()
	case err != nil:
		return err
	}
	if err := repo.DropRedirect(tx, h.To.ID, folded); err != nil {
		return err
	}
	if err := putRedirect(tx, r.OwnerID, account.Fold(r.Name), r.ID); err != nil {
		return err
	}
	r.OwnerID, r.Owner, r.Name, r.UpdatedAt = h.To.ID, *h.To, h.Name, tx.Now
	return repo.CountForOwner(tx, r, 1)
}

// FollowOwner grants the roles of a handover, and takes that of the new owner away, who
// needs none any more. All others stay as they are; what was had by membership in the
// former organization alone is gone with it.
func FollowOwner(tx *db.Tx, r *repo.Repo, h Handover) error {
	if _, err := repo.DropCollaborator(tx, r.ID, r.OwnerID); err != nil {
		return err
	}
	for id, role := range h.Join {
		if _, err := repo.PutCollaborator(tx, r.ID, id, role); err != nil {
			return err
		}
	}
	return nil
}

// Retire hides a private repository that is being deleted: it is withdrawn, under the name of one that is
// deleted, no former name leads to it, and no token, key or installation is for it. Its owner may use the name
// that it had.
func Retire(tx *db.Tx, r *repo.Repo) error {
	r.Name = repo.DeletedName(r.ID)
	for _, table := range []string{"repo_redirects", "token_repos", "installation_repos", "ssh_keys"} {
		if err := tx.Run(`DELETE FROM `+table+` WHERE repo_id = $1`, r.ID); err != nil {
			return err
		}
	}
	return tx.Run(`UPDATE repos SET name = $2, name_folded = $2, withdrawn = TRUE,
		refs_generation = refs_generation + 1 WHERE id = $1`, r.ID, r.Name)
}

// Restore shows a repository again that [Retire] hid, under a name, which leads to it from now on.
// Error: 422 when the name is taken.
func Restore(tx *db.Tx, r *repo.Repo, name string) error {
	folded := account.Fold(name)
	err := tx.Run(`UPDATE repos SET name = $2, name_folded = $3, withdrawn = FALSE,
		refs_generation = refs_generation + 1 WHERE id = $1`, r.ID, name, folded)
	if errors.Is(err, db.ErrUnique) {
		return repo.ErrNameTaken()
	}
	if err != nil {
		return err
	}
	r.Name, r.Withdrawn, r.UpdatedAt = name, false, tx.Now
	return repo.DropRedirect(tx, r.OwnerID, folded)
}

// updateRepo writes the columns that an edit may change.
func updateRepo(tx *db.Tx, r *repo.Repo) error {
	_, err := tx.Exec(`UPDATE repos SET description = $2, homepage = $3, private = $4, default_branch = $5,
			has_issues = $6, updated_at = $7, archived = $8, merging = $9, is_template = $10,
			refs_generation = refs_generation + 1
			WHERE id = $1`,
		r.ID, r.Description, r.Homepage, r.Private, r.DefaultBranch, r.HasIssues, r.UpdatedAt, r.Archived,
		int64(r.Merging), r.IsTemplate)
	return err
}

// renameRepo changes the repository's name and leaves a redirect behind.
// Error: 422 when the name is taken.
func renameRepo(tx *db.Tx, r *repo.Repo, name string) error {
	from, to := account.Fold(r.Name), account.Fold(name)
	if from != to {
		var taken repo.ID
		err := tx.QueryRow(`SELECT id FROM repos WHERE owner_id = $1 AND name_folded = $2`,
			r.OwnerID, to).Scan(&taken)
		if err == nil {
			return repo.ErrNameTaken()
		}
		if !errors.Is(err, db.ErrNoRows) {
			return err
		}
		if err := repo.DropRedirect(tx, r.OwnerID, to); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(`UPDATE repos SET name = $2, name_folded = $3 WHERE id = $1`,
		r.ID, name, to); err != nil {
		if errors.Is(err, db.ErrUnique) {
			return repo.ErrNameTaken()
		}
		return err
	}
	r.Name = name
	if from == to {
		return nil
	}
	return putRedirect(tx, r.OwnerID, from, r.ID)
}

func putRedirect(tx *db.Tx, ownerID account.ID, folded string, id repo.ID) error {
	_, err := tx.Exec(`INSERT INTO repo_redirects (owner_id, name_folded, repo_id) VALUES ($1, $2, $3)
		ON CONFLICT (owner_id, name_folded) DO UPDATE SET repo_id = excluded.repo_id`, ownerID, folded, id)
	return err
}

// ownedKB is a repository's share of a quota, in KiB.
func ownedKB(tx *db.Tx, id repo.ID) (kb int64, err error) {
	err = tx.QueryRow(`SELECT size_kb + files_kb FROM repos WHERE id = $1`, id).Scan(&kb)
	return kb, err
}
