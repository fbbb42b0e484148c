package repo

import (
	"context"
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
)

// Forge is what happens to repositories and, in the same transaction, to features
// above this package. Package forge implements it: each method names all its steps in
// their order. The steps in this package are exported for it alone: [Push.Check] and
// [Landing], [Insert], [SetVisibility], [LeaveNetwork], [DeleteRow],
// [CountForOwner], [SetOwner], [FollowOwner], [PutCollaborator], [DropCollaborator].
//
// Push locks the repository's row; for all others but Create the caller has locked it.
// by is the account that wanted it; 0: nobody in particular did. An error undoes the
// transaction.
type Forge interface {
	// PreparePush does what waits for processes and files, before the transaction:
	// it copies objects to where Push will name them.
	PreparePush(ctx context.Context, p Push) error
	// Push moves the refs that can move, and tells for each update why it cannot.
	// Error: ErrUnprepared.
	Push(tx *db.Tx, p Push) (refused []error, err error)
	// Create adds a repository without refs. Errors: as of Insert.
	Create(tx *db.Tx, r *Repo, by *account.Caller) error
	// Edit follows a change of what people set of a repository.
	Edit(tx *db.Tx, before, after *Repo, by account.ID) error
	// ChangeVisibility shows a private repository to everyone, or hides a public one.
	ChangeVisibility(tx *db.Tx, r *Repo, by account.ID) error
	// Transfer gives the repository to another owner.
	Transfer(tx *db.Tx, r *Repo, h Handover, by account.ID) error
	// Delete removes the repository.
	Delete(tx *db.Tx, r *Repo, by account.ID) error
	// AddCollaborator grants a role to a user, in place of the one it had.
	AddCollaborator(tx *db.Tx, r *Repo, userID account.ID, role account.Role, by account.ID) error
	// RemoveCollaborator takes away what was granted.
	RemoveCollaborator(tx *db.Tx, r *Repo, userID, by account.ID) error
	// MaintainerBranches finds the branches to which the caller may push without push
	// access: those of open pull requests to repositories where the caller has it, if
	// their authors allow that (decision 49). With hold, that stays so until the
	// transaction, which writes, ends.
	MaintainerBranches(tx *db.Tx, a *Access, hold bool) (map[string]bool, error)
}

// ErrUnprepared is Forge.Push's error for a push that needs more than PreparePush
// did, since something changed in between. WritePush begins anew.
var ErrUnprepared = errors.New("repo: the push needs another preparation")
