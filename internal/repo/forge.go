package repo

import (
	"context"
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
)

// Forge makes the changes of repositories that also affect features above this package, in the same
// transaction. Package forge implements it: each method lists its steps in order. The steps in this package
// are exported only for it: [Push.Check] and [Landing], [BranchRename.Check], [Insert], [DeleteRow], [CountForOwner],
// [PutCollaborator], [DropCollaborator], [DropInOrg].
//
// Push locks the repository's row; for the others except Create the caller must have locked it. by is the
// acting account, or 0 if unknown. An error rolls the transaction back.
type Forge interface {
	// PreparePush does the work with processes and files before the transaction: it copies the objects that
	// Push will refer to and, if p.Again is set, finds what rules say about the commits.
	PreparePush(ctx context.Context, p Push) error
	// Push updates the refs, and returns for each update the reason why it was rejected, or nil. Error:
	// ErrUnprepared.
	Push(tx *db.Tx, p Push) (refused []error, err error)
	// SetDefaultBranch sets the default branch to an existing branch.
	SetDefaultBranch(tx *db.Tx, id ID, branch string) error
	// RenameBranch gives a branch a new name. The right was checked. Error: as for BranchRename.Check.
	RenameBranch(tx *db.Tx, a *Access, n *BranchRename, p Push) error
	// Create inserts a repository without refs. Errors: as for Insert.
	Create(tx *db.Tx, r *Repo, by *account.Caller) error
	// AddCollaborator grants a role to a user and replaces a former one.
	AddCollaborator(tx *db.Tx, r *Repo, userID account.ID, role account.Role, by account.ID) error
	// RemoveCollaborator revokes a user's role.
	RemoveCollaborator(tx *db.Tx, r *Repo, userID, by account.ID) error
	// RevokeInOrg revokes a user's roles on all repositories of an organization, none of which is locked.
	RevokeInOrg(tx *db.Tx, orgID, userID, by account.ID) error
	// CarryFiles prepares what a fork gets besides Git's objects, before the transaction that makes it. nil: nothing.
	CarryFiles(ctx context.Context, from ID) (*Carried, error)
	// CarriedKB returns the size of what CarryFiles prepares, in KiB.
	CarriedKB(tx *db.Tx, from ID) (int64, error)
	// FollowObjects is called after Git's objects were brought from one repository into another for a person: the history
	// of a commit, without those of have.
	FollowObjects(ctx context.Context, right db.Right, b Brought) error
}

// Carried are files that a fork gets. Either Add has been called in the transaction that makes the fork, or Discard is
// called.
type Carried struct {
	Add     func(tx *db.Tx, to ID) error // error: 403 for the quota
	Discard func(ctx context.Context)
}

// Brought are Git's objects that were copied from one repository into another.
type Brought struct {
	From, To ID
	UserID   account.ID // the person for whom they came, who pays
	Tip      git.SHA
	Have     []git.SHA
}

// CarryFiles is Forge.CarryFiles.
func (s *Service) CarryFiles(ctx context.Context, from ID) (*Carried, error) {
	return s.forge.CarryFiles(ctx, from)
}

// CarriedKB is Forge.CarriedKB.
func (s *Service) CarriedKB(tx *db.Tx, from ID) (int64, error) { return s.forge.CarriedKB(tx, from) }

// FollowObjects is Forge.FollowObjects.
func (s *Service) FollowObjects(ctx context.Context, right db.Right, b Brought) error {
	return s.forge.FollowObjects(ctx, right, b)
}

// ErrUnprepared is the error of Forge.Push if a change since PreparePush requires another preparation.
// WritePush then starts again.
var ErrUnprepared = errors.New("repo: the push needs another preparation")
