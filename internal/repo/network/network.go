// Package network is about repositories that were forked from each other:
//
//	GET, POST /repos/{owner}/{repo}/forks             api.go, fork.go
//	what becomes of forks without their parent        network.go
//	objects that go from one to another               crossing.go
//
// They form a network, a tree whose root is the source of all. The repositories of a network are
// all public, or all private. Their directories are independent: a fork keeps all its objects even if
// the others are deleted (git.LinkObjects).
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
package network

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Service forks repositories, and finds them in their networks.
type Service struct {
	db    *db.DB
	repos *repo.Service
}

// New returns the service.
func New(d *db.DB, repos *repo.Service) *Service { return &Service{d, repos} }

// ForkOf finds the repository of a user or an organization in a network, which
// is named by Repo.NetworkID: a fork, or the root itself; of several the oldest.
// Error: 404 when there is none that the caller may see.
func (s *Service) ForkOf(
	ctx context.Context, caller *account.Caller, networkID repo.ID, ownerLogin string,
) (*repo.Access, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*repo.Access, error) {
		return ForkOf(tx, caller, networkID, ownerLogin)
	})
}

// ForkOf is Service.ForkOf within a transaction.
func ForkOf(tx *db.Tx, caller *account.Caller, networkID repo.ID, ownerLogin string) (*repo.Access, error) {
	owner, err := account.ByLogin(tx, ownerLogin)
	if err != nil {
		return nil, err
	}
	return inNetwork(tx, caller, networkID, owner.ID)
}

// InNetwork finds a repository by its name, which must be in the network of the access and seen by its
// caller. Error: 404.
func (s *Service) InNetwork(ctx context.Context, a *repo.Access, owner, name string) (*repo.Access, error) {
	found, err := s.repos.Find(ctx, a.Caller, owner, name)
	if err == nil && found.NetworkID != a.NetworkID {
		err = errs.Absent()
	}
	return &found.Access, err
}

// Forks reads a page of the repository's own forks that the caller may see, the newest, the oldest, or those with
// the most stars (stargazers) or watchers first.
func (s *Service) Forks(ctx context.Context, a *repo.Access, sort string, at web.Page) (list []*repo.Access, err error) {
	if at.Offset() >= a.Forks {
		return nil, nil
	}
	found, err := s.forks(ctx, []*repo.Access{a}, sort, at)
	return found[a.ID], err
}

func (s *Service) forks(
	ctx context.Context, of []*repo.Access, sort string, at web.Page,
) (found map[repo.ID][]*repo.Access, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[repo.ID][]*repo.Access, error) {
		return listForks(tx, of, sort, at)
	})
}

// ForksOf lists the forks of several repositories in the form of GET /repos/{owner}/{repo}/forks, with two
// statements.
func (s *Service) ForksOf(
	ctx context.Context, of []*repo.Access, sort string, at web.Page,
) (map[repo.ID]*web.List[*repo.Payload], error) {
	found, err := s.forks(ctx, of, sort, at)
	out := map[repo.ID]*web.List[*repo.Payload]{}
	for _, a := range of {
		out[a.ID] = &web.List[*repo.Payload]{Rows: repo.NewPayloads(found[a.ID], web.From(ctx)), Total: a.Forks,
			More: at.Number*at.Size < a.Forks}
	}
	return out, err
}

// GiveBack shows a withdrawn fork, whose root is gone, to its owner again: only the
// operator, nil, and site administrators can. Errors: 404; 422 for other repositories. A fork whose root exists comes
// back once its owner sees the root.
func (s *Service) GiveBack(ctx context.Context, by *account.Caller, id repo.ID) error {
	return s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if err := repo.Lock(tx, id); err != nil {
			return err
		}
		given, err := giveBack(tx, id)
		if err == nil && !given {
			err = errs.New(errs.Invalid,
				"only a hidden fork whose root was deleted can be given back: others return when their owners see the root again")
		}
		if err != nil {
			return err
		}
		a, err := repo.ByID(tx, nil, id)
		if err != nil {
			return err
		}
		return audit.Record(tx, a.Audited(audit.RepoGiveBack, nil))
	})
}

// Leave cuts a repository out of its network, in the transaction that hides,
// shows or, with deleted, deletes it. It costs as much as the repository has forks,
// and nothing when it has none and is none.
func Leave(tx *db.Tx, r *repo.Repo, deleted bool) error {
	root, err := NetworkOf(tx, r.ID)
	if err == nil && root != r.ID {
		err = repo.Lock(tx, root)
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
