package rule

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/team"
)

// MayDismiss returns a 403 if a protection of the base branch lets only others than the caller dismiss reviews.
// Administrators of the repository always may.
func MayDismiss(tx *db.Tx, a *repo.Access, branch string) error {
	if !a.Ruled || a.Role >= account.Admin {
		return nil
	}
	book, err := readRulebook(tx, a.ID)
	if err != nil {
		return err
	}
	for _, r := range book.on(git.Heads + branch) {
		p, is := r.Find(PullRequest).parameters().(*PullRequestRule)
		if !is || p.Dismissers == nil || r.Enforcement != Active {
			continue
		}
		in, err := team.Joined(tx, a.Caller.ID, p.Dismissers.Teams)
		if err != nil {
			return err
		}
		if !p.Dismissers.has(person{id: a.Caller.ID, app: a.Caller.App, teams: belonging(in, book.owner)}) {
			return errs.New(errs.Forbidden, "You are not allowed to dismiss reviews of pull requests into this branch.")
		}
	}
	return nil
}

// parameters returns the parameters of a rule, which may be nil.
func (r *Rule) parameters() parameters {
	if r == nil {
		return nil
	}
	return r.Parameters
}
