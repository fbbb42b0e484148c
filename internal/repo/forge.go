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
// [Landing], [Insert], [DeleteRow], [CountForOwner], [PutCollaborator], [DropCollaborator].
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
	// SetDefaultBranch sets the default branch to an existing branch.
	SetDefaultBranch(tx *db.Tx, id ID, branch string) error
	// Create adds a repository without refs. Errors: as of Insert.
	Create(tx *db.Tx, r *Repo, by *account.Caller) error
	// AddCollaborator grants a role to a user, in place of the one it had.
	AddCollaborator(tx *db.Tx, r *Repo, userID account.ID, role account.Role, by account.ID) error
	// RemoveCollaborator takes away what was granted.
	RemoveCollaborator(tx *db.Tx, r *Repo, userID, by account.ID) error
}

// ErrUnprepared is Forge.Push's error for a push that needs more than PreparePush
// did, since something changed in between. WritePush then starts again.
var ErrUnprepared = errors.New("repo: the push needs another preparation")
