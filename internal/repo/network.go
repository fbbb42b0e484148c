package repo

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Repositories that were forked from each other are a network, a tree whose
// root is the source of all. All of one network are public, or all private. No
// object file is in two of its directories' care: a fork keeps all that it has
// whatever becomes of the others (git.LinkObjects).
//
// A repository leaves its network when it is deleted or changes its visibility,
// which only roots do. The forks of a deleted fork become its parent's. Of a public
// network the oldest fork of the root takes its place. Each fork of a private network,
// which sees nothing of the others, becomes a network of its own.
//
// A private fork is withdrawn while its owner does not see the root (decision 62):
// only site administrators see it, until the owner sees the root again. The view
// withdrawn_forks computes that together with roles, so no operation that takes access
// away can forget it. For the fork of an organization, one of its owners must see the
// root, since the owners are responsible for it. A fork that is withdrawn when its root
// is deleted stays withdrawn, until the operator gives it back.

// Lineage is where a repository comes from, as far as the caller may see it.
type Lineage struct {
	Parent *Access
	Source *Access // the root of the network

	Template *Access // that a repository was made of, which is no fork of it
}

// Lineage finds where a repository comes from; all nil for one that is no fork, and was made of no template.
func (s *Service) Lineage(ctx context.Context, a *Access) (Lineage, error) {
	if a.ParentID == 0 && a.TemplateID == 0 {
		return Lineage{}, nil
	}
	var l Lineage
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		list, err := ByIDs(tx, a.Caller, []ID{a.ParentID, a.NetworkID, a.TemplateID})
		l = Lineage{Template: list[a.TemplateID]}
		if a.ParentID != 0 {
			l.Parent, l.Source = list[a.ParentID], list[a.NetworkID]
		}
		return err
	})
	return l, err
}

// ByIDs finds those of the repositories that the caller may see, in one query.
// Ids may repeat; what is not there, or not to be seen, is missing from the map.
func ByIDs(tx *db.Tx, caller *account.Caller, ids []ID) (map[ID]*Access, error) {
	list, err := accessInOrder(tx, caller, ids)
	found := make(map[ID]*Access, len(list))
	for _, a := range list {
		if a.Role >= account.Pull {
			found[a.ID] = a
		}
	}
	return found, err
}

// InNetwork reports whether two repositories are of one network now (decision
// 38). Error: 404 when one of them is gone.
func InNetwork(tx *db.Tx, a, b ID) (bool, error) {
	x, err := networkOf(tx, a)
	if err != nil {
		return false, err
	}
	y, err := networkOf(tx, b)
	return x == y, err
}

// ForkOf finds the repository of a user or an organization in a network, which
// is named by Repo.NetworkID: a fork, or the root itself; of several the oldest.
// Error: 404 when there is none that the caller may see.
func (s *Service) ForkOf(ctx context.Context, caller *account.Caller, networkID ID, ownerLogin string) (*Access, error) {
	var found *Access
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		found, err = ForkOf(tx, caller, networkID, ownerLogin)
		return err
	})
	return found, err
}

// ForkOf is Service.ForkOf within a transaction.
func ForkOf(tx *db.Tx, caller *account.Caller, networkID ID, ownerLogin string) (*Access, error) {
	owner, err := account.ByLogin(tx, ownerLogin)
	if err != nil {
		return nil, err
	}
	return inNetwork(tx, caller, networkID, owner.ID)
}

// InNetwork finds a repository by its name, which must be in the network of the access and seen by its caller.
// Error: 404.
func (s *Service) InNetwork(ctx context.Context, a *Access, owner, name string) (*Access, error) {
	found, err := s.Find(ctx, a.Caller, owner, name)
	if err == nil && found.NetworkID != a.NetworkID {
		err = errs.Absent()
	}
	return &found.Access, err
}

// GiveBack shows a withdrawn fork, whose root is gone, to its owner again: only the
// operator can. Errors: 404; 422 for other repositories. A fork whose root exists comes
// back once its owner sees the root.
func (s *Service) GiveBack(ctx context.Context, id ID) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := lockRepo(tx, id); err != nil {
			return err
		}
		given, err := giveBack(tx, id)
		if err == nil && !given {
			err = errs.New(errs.Invalid,
				"no withdrawn fork without a root: others come back when their owners see the root again")
		}
		if err != nil {
			return err
		}
		a, err := accessByID(tx, nil, id)
		if err != nil {
			return err
		}
		return audit.Record(tx, a.Audited(audit.RepoGiveBack, nil))
	})
}

// checkVisibility refuses that a fork is seen by others than its parent is, in
// GitHub's words.
func checkVisibility(r *Repo) error {
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
	return errs.Validation(errs.Field{Resource: resource, Field: "private", Code: errs.Custom, Message: message})
}

// LeaveNetwork cuts a repository out of its network, in the transaction that hides,
// shows or, with deleted, deletes it. It costs as much as the repository has forks,
// and nothing when it has none and is none.
func LeaveNetwork(tx *db.Tx, r *Repo, deleted bool) error {
	root, err := networkOf(tx, r.ID)
	if err == nil && root != r.ID {
		err = lockRepo(tx, root)
	}
	if err != nil {
		return err
	}
	k, err := kinOf(tx, r.ID)
	if err != nil || k.parent == nil && k.forks == 0 {
		return err
	}
	switch {
	case k.parent != nil:
		err = passOn(tx, r.ID, k)
	case r.Private:
		err = setFree(tx, r.ID, deleted)
	default:
		err = succeed(tx, r.ID, k)
	}
	if err != nil {
		return err
	}
	return standAlone(tx, r.ID)
}
