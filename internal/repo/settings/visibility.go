package settings

import (
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// checkVisibility refuses that a fork is seen by others than its parent is, in
// GitHub's words.
func checkVisibility(r *repo.Repo) error {
	if r.ParentID == 0 && !r.Withdrawn {
		return nil
	}
	message := "Public forks can't be made private. Please duplicate the repository."
	switch {
	case r.Withdrawn:
		message = "Withdrawn forks can't be made public."
	case r.Private:
		message = "Private forks can't be made public. Please duplicate the repository."
	}
	return errs.Validation(errs.Field{Resource: repo.Resource, Field: "private", Code: errs.Custom,
		Message: message})
}

// readPrivate reads private, or visibility, which means the same and wins.
func readPrivate(body *web.Object) web.Opt[bool] {
	private := body.Bool("private")
	if v := body.Enum("visibility", "public", "private"); v.Given() {
		return web.Opt[bool]{Set: true, Value: v.Value == "private"}
	}
	return private
}

// text turns an empty text into an absent one (decision 19).
func text(v web.Opt[string]) *string {
	if v.Value == "" {
		return nil
	}
	return &v.Value
}

// SetVisibility shows a private repository, or hides a public one: in its row, which
// gets what else was changed of r as well, and in its owner's counters.
func SetVisibility(tx *db.Tx, r *repo.Repo, private bool) error {
	if err := repo.CountForOwner(tx, r, -1); err != nil {
		return err
	}
	r.Private = private
	// A killed server may have left objects of the private time that no ref names.
	if err := repo.MarkUnreachedIn(tx, r.ID); err != nil {
		return err
	}
	if err := repo.CountForOwner(tx, r, 1); err != nil {
		return err
	}
	return updateRepo(tx, r)
}
