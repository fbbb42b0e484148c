package repo

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Lender tells which branches of a repository the caller may push to without
// push access to it (decision 49). With hold, that stays so until the
// transaction, which writes, ends.
type Lender func(tx *db.Tx, a *Access, hold bool) (map[string]bool, error)

// lent asks the Lender.
func (s *Service) lent(tx *db.Tx, a *Access, hold bool) (map[string]bool, error) {
	if s.observers.Lent == nil || a.Caller == nil || a.Role < account.Pull {
		return nil, nil
	}
	return s.observers.Lent(tx, a, hold)
}

// lentNow is lent in a transaction of its own, which only reads.
func (s *Service) lentNow(ctx context.Context, a *Access) (branches map[string]bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		branches, err = s.lent(tx, a, false)
		return err
	})
	return branches, err
}

// checkLent refuses all but the branches that are lent to a caller without push
// access, before anything is received.
func (p *push) checkLent(ctx context.Context) error {
	if p.access.Role >= account.Push {
		return nil
	}
	lent, err := p.s.lentNow(ctx, p.access)
	if err == nil {
		p.refuseOthers(lent, "you may push only to branches of pull requests whose authors let you")
	}
	return err
}

// refuseOthers refuses what is not lent. Nobody deletes what is.
func (p *push) refuseOthers(lent map[string]bool, reason string) {
	for i, c := range p.request.Commands {
		branch, ok := strings.CutPrefix(c.Name, heads)
		switch {
		case !ok || !lent[branch]:
			p.refuse(i, reason)
		case c.IsDelete():
			p.refuse(i, "only who has push access may delete the branch of a pull request")
		}
	}
}

// noLonger is why a push is refused whose caller has lost the right meanwhile.
const noLonger = "you may no longer push here"

// stillMay is the condition of every push: the caller still has the role and the token,
// and a branch that was lent is still lent. So these end before a push or after it.
func (p *push) stillMay(tx *db.Tx, updates []RefUpdate) ([]error, error) {
	refused := make([]error, len(updates))
	now, err := p.accessNow(tx)
	if err != nil || now.Role >= account.Push {
		return refused, err
	}
	lent, err := p.s.lent(tx, now, true)
	for i, u := range updates {
		if !lent[strings.TrimPrefix(u.Name, heads)] {
			refused[i] = errs.New(errs.Conflict, noLonger)
		}
	}
	return refused, err
}
