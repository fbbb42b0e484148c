package transport

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// maintainerBranches asks the features above.
func (s *Service) maintainerBranches(tx *db.Tx, a *repo.Access, hold bool) (map[string]bool, error) {
	if a.Caller == nil || a.Role < account.Pull || !a.MayChange() {
		return nil, nil
	}
	return s.maintainers.MaintainerBranches(tx, a, hold)
}

// maintainerBranchesNow is maintainerBranches in a transaction of its own, which
// only reads.
func (s *Service) maintainerBranchesNow(
	ctx context.Context, a *repo.Access,
) (branches map[string]bool, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[string]bool, error) {
		return s.maintainerBranches(tx, a, false)
	})
}

// MayPushSome reports whether a caller without push access may push to some branch. With hold, that stays so until the
// transaction, which writes, ends.
func (s *Service) MayPushSome(tx *db.Tx, a *repo.Access, hold bool) (bool, error) {
	branches, err := s.maintainerBranches(tx, a, hold)
	return len(branches) > 0, err
}

// checkMaintainer refuses all but the branches to which a caller without push access
// may push, before anything is received.
func (p *push) checkMaintainer(ctx context.Context) error {
	if p.access.Role >= account.Push {
		return nil
	}
	branches, err := p.s.maintainerBranchesNow(ctx, p.access)
	if err == nil {
		p.refuseOthers(branches, "you may push only to branches of pull requests whose authors let you")
	}
	return err
}

// refuseOthers refuses all refs but the branches, and to delete these.
func (p *push) refuseOthers(branches map[string]bool, reason string) {
	for i, c := range p.request.Commands {
		branch, ok := strings.CutPrefix(c.Name, git.Heads)
		switch {
		case !ok || !branches[branch]:
			p.refuse(i, reason)
		case c.IsDelete():
			p.refuse(i, "you need push access to delete the branch of a pull request")
		}
	}
}

// noLonger is the reason for refusing a push whose caller has lost the right since it began.
const noLonger = "you may no longer push here"

// stillMay is the condition of every push: the caller still has the role and the token,
// and may still push to the branch as a maintainer. So these end before a push or after
// it.
func (p *push) stillMay(tx *db.Tx, updates []repo.RefUpdate) ([]error, error) {
	refused := make([]error, len(updates))
	now, err := p.accessNow(tx)
	if err != nil || now.Role >= account.Push {
		return refused, err
	}
	branches, err := p.s.maintainerBranches(tx, now, true)
	for i, u := range updates {
		if !branches[strings.TrimPrefix(u.Name, git.Heads)] {
			refused[i] = errs.New(errs.Conflict, noLonger)
		}
	}
	return refused, err
}
