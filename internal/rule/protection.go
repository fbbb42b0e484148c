package rule

import (
	"context"
	"slices"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Protection is a ruleset in the form of a branch protection.
type Protection struct {
	Pattern       string
	Checks        *ChecksRule      // nil: none are required
	Reviews       *PullRequestRule // nil: none are required
	Pushers       Actors           // those who may push
	Restricted    bool             // only the pushers may push
	Admins        bool             // the rules apply to administrators, too
	Linear        bool
	ForcePushes   bool    // are allowed
	ForcePushers  *Actors // those who may force-push although others may not; nil: Protect leaves them as they are
	Deletions     bool    // are allowed
	NoCreations   bool    // only those who may push may create matching branches
	Conversations bool
	Locked        bool
	ForkSyncing   bool // a locked branch may be updated from the repository's parent
	Signatures    bool

	KeepSignatures bool // Protect leaves Signatures as they are
}

// AsProtection returns the form of a ruleset that is a protection.
func AsProtection(r *Ruleset) *Protection {
	p := &Protection{Pattern: r.Name, ForcePushes: true, Deletions: true, Admins: len(r.Bypass) == 0}
	for _, rule := range r.Rules {
		switch rule.Kind {
		case Checks:
			p.Checks = rule.Parameters.(*ChecksRule)
		case PullRequest:
			p.Reviews = rule.Parameters.(*PullRequestRule)
		case Pushers:
			pushers := rule.Parameters.(*PushersRule)
			p.Restricted, p.Pushers, p.NoCreations = true, pushers.Actors, pushers.BlocksCreation
		case Update:
			p.Locked, p.ForkSyncing = true, rule.Parameters.(*UpdateRule).FetchAndMerge
		case Creation:
			p.NoCreations = true
		case NonFastForward:
			p.ForcePushes = false
		case ForcePushers:
			p.ForcePushers = &rule.Parameters.(*ForcePushersRule).Actors
		case Deletion:
			p.Deletions = false
		case Linear:
			p.Linear = true
		case Conversations:
			p.Conversations = true
		case Signatures:
			p.Signatures = true
		}
	}
	return p
}

// apply stores the protection in a ruleset.
func (p *Protection) apply(r *Ruleset) {
	r.Protection, r.Name, r.Target, r.Enforcement = true, p.Pattern, Branches, Active
	r.Refs = Names{[]string{}, []string{}}
	r.Rules, r.Bypass = []Rule{}, []Actor{}
	add := func(is bool, k Kind, parameters parameters) {
		if is {
			r.Rules = append(r.Rules, Rule{k, parameters})
		}
	}
	if p.Reviews != nil {
		add(true, PullRequest, p.Reviews)
	}
	if p.Checks != nil {
		p.Checks.NotOnCreation = true
		add(true, Checks, p.Checks)
	}
	add(p.Restricted, Pushers, &PushersRule{p.Pushers.orEmpty(), p.NoCreations})
	add(p.NoCreations && !p.Restricted, Creation, nil)
	add(p.Locked, Update, &UpdateRule{p.ForkSyncing})
	add(!p.ForcePushes, NonFastForward, nil)
	if !p.ForcePushers.Empty() {
		add(true, ForcePushers, &ForcePushersRule{p.ForcePushers.orEmpty()})
	}
	add(!p.Deletions, Deletion, nil)
	add(p.Linear, Linear, nil)
	add(p.Conversations, Conversations, nil)
	add(p.Signatures, Signatures, nil)
	if !p.Admins {
		r.Bypass = append(r.Bypass, Actor{roleAdmin, ByRole, always})
	}
}

// ErrNotProtected is GitHub's error for a branch without a protection of its own name.
func ErrNotProtected() error { return errs.New(errs.NotFound, "Branch not protected") }

// Protections returns the protections of a repository, the oldest first.
func (s *Service) Protections(ctx context.Context, a *repo.Access) (found []*Ruleset, err error) {
	found, err = db.Get(ctx, s.db, func(tx *db.Tx) ([]*Ruleset, error) { return list(tx, owner{repo: a.ID}) })
	return slices.DeleteFunc(found, func(r *Ruleset) bool { return !r.Protection }), err
}

// BranchProtection returns the protection that counts for a branch: the one of its name, else the oldest with a
// pattern that matches. Error: 404 if there is none.
func (s *Service) BranchProtection(ctx context.Context, a *repo.Access, branch string) (found *Ruleset, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Ruleset, error) { return protectionOf(tx, a.ID, branch) })
}

func protectionOf(tx *db.Tx, id repo.ID, branch string) (*Ruleset, error) {
	book, err := readRulebook(tx, id)
	if err != nil {
		return nil, err
	}
	for _, r := range book.on(git.Heads + branch) {
		if r.Protection {
			return r, nil
		}
	}
	return nil, ErrNotProtected()
}

// Protect creates or replaces the protection of a branch, which must exist. With an empty branch it is that of the
// protection's pattern. Errors: 404, 422.
func (s *Service) Protect(
	ctx context.Context, a *repo.Access, branch string, p *Protection,
) (r *Ruleset, err error) {
	o := OfRepository(a)
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		if branch != "" {
			p.Pattern = branch // git allows none of the characters that are special in patterns
			if err := branchExists(tx, a.ID, branch); err != nil {
				return err
			}
		}
		r, err = protectionNamed(tx, a.ID, p.Pattern)
		if errs.Is(err, errs.NotFound) {
			r = &Ruleset{RepoID: a.ID}
			p.apply(r)
			return s.add(tx, o, entry, r)
		}
		if err != nil {
			return err
		}
		return s.change(tx, o, entry, r, func(r *Ruleset) error {
			if p.KeepSignatures {
				p.Signatures = r.Find(Signatures) != nil
			}
			if p.ForcePushers == nil {
				p.ForcePushers = AsProtection(r).ForcePushers
			}
			p.apply(r)
			return nil
		})
	})
	return r, err
}

// AddProtection creates the protection of its pattern. Error: 422, also if the pattern has one.
func (s *Service) AddProtection(ctx context.Context, a *repo.Access, p *Protection) (*Ruleset, error) {
	o, r := OfRepository(a), &Ruleset{RepoID: a.ID}
	p.apply(r)
	return r, s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		return s.add(tx, o, entry, r)
	})
}

// EditProtection changes the protection of a branch by a function. Errors: 404 for a branch without one, 422, the
// function's.
func (s *Service) EditProtection(
	ctx context.Context, a *repo.Access, branch string, change func(tx *db.Tx, p *Protection) error,
) (*Ruleset, error) {
	find := func(tx *db.Tx) (*Ruleset, error) { return protectionOf(tx, a.ID, branch) }
	return s.editProtection(ctx, a, find, change)
}

// EditProtectionByID is EditProtection for the protection of an id, whose pattern may change.
func (s *Service) EditProtectionByID(
	ctx context.Context, a *repo.Access, id int64, change func(tx *db.Tx, p *Protection) error,
) (*Ruleset, error) {
	find := func(tx *db.Tx) (*Ruleset, error) { return byID(tx, owner{repo: a.ID}, id, true) }
	return s.editProtection(ctx, a, find, change)
}

func (s *Service) editProtection(
	ctx context.Context, a *repo.Access, find func(tx *db.Tx) (*Ruleset, error),
	change func(tx *db.Tx, p *Protection) error,
) (r *Ruleset, err error) {
	o := OfRepository(a)
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		if r, err = find(tx); err != nil {
			return err
		}
		return s.change(tx, o, entry, r, func(r *Ruleset) error {
			p := AsProtection(r)
			if err := change(tx, p); err != nil {
				return err
			}
			p.apply(r)
			return nil
		})
	})
	return r, err
}

// Unprotect removes the protection that counts for a branch. Error: 404.
func (s *Service) Unprotect(ctx context.Context, a *repo.Access, branch string) error {
	return s.unprotect(ctx, a, func(tx *db.Tx) (*Ruleset, error) { return protectionOf(tx, a.ID, branch) })
}

// RemoveProtection removes a protection by its id. Error: 404.
func (s *Service) RemoveProtection(ctx context.Context, a *repo.Access, id int64) error {
	return s.unprotect(ctx, a, func(tx *db.Tx) (*Ruleset, error) { return byID(tx, owner{repo: a.ID}, id, true) })
}

func (s *Service) unprotect(
	ctx context.Context, a *repo.Access, find func(tx *db.Tx) (*Ruleset, error),
) error {
	o := OfRepository(a)
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		r, err := find(tx)
		if err != nil {
			return err
		}
		if err := remove(tx, r); err != nil {
			return err
		}
		return record(tx, o, entry, r, nil)
	})
}

func branchExists(tx *db.Tx, id repo.ID, branch string) error {
	tip, err := repo.BranchTip(tx, id, branch)
	if err == nil && tip == "" {
		err = errs.New(errs.NotFound, "Branch not found")
	}
	return err
}
