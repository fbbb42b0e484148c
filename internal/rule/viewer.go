package rule

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Words for what the caller may do with a ruleset.
const (
	bypassNever = "never"
	bypassPulls = "pull_requests_only"
)

// callersBypass returns whether the caller may bypass a ruleset that applies to a repository: always,
// pull_requests_only or never. It asks what judges pushes.
func (s *Service) callersBypass(ctx context.Context, a *repo.Access, set *Ruleset) (word string, err error) {
	if a.Caller == nil || len(set.Bypass) == 0 {
		return bypassNever, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		word = bypassNever
		book, err := readRulebook(tx, a.ID)
		if err != nil {
			return err
		}
		j := &judgement{s: s, tx: tx, push: &repo.Push{RepoID: a.ID}, book: book}
		for _, actor := range set.Bypass {
			is, err := j.isActor(actor, &repo.RefUpdate{By: a.Caller.ID})
			switch {
			case err != nil:
				return err
			case is && actor.Mode != byPullRequest:
				word = always
				return nil
			case is:
				word = bypassPulls
			}
		}
		return nil
	})
	return word, err
}

// Requires reports whether an active rule of a branch requires a status or a check of a name, of an App if app is
// not 0.
func (r *Rules) Requires(branch, context string, app account.AppID) bool {
	if r == nil || r.book == nil {
		return false
	}
	for _, set := range r.book.on(git.Heads + branch) {
		if set.Enforcement != Active {
			continue
		}
		for _, one := range set.Rules {
			p, is := one.Parameters.(*ChecksRule)
			if is && slices.ContainsFunc(p.Checks, func(c Check) bool {
				return account.Fold(c.Context) == account.Fold(context) && (c.App == 0 || c.App == app)
			}) {
				return true
			}
		}
	}
	return false
}

// On returns the active rulesets, without protections, that apply to a ref.
func (r *Rules) On(ref string) (list []*Ruleset) {
	if r == nil || r.book == nil {
		return nil
	}
	for _, set := range r.book.on(ref) {
		if set.Enforcement == Active && !set.Protection {
			list = append(list, set)
		}
	}
	return list
}
