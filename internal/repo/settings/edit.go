package settings

import (
	"context"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Edit changes a repository. Fields that are not set keep their values.
type Edit struct {
	Name          web.Opt[string]
	Description   web.Opt[string]
	Homepage      web.Opt[string]
	Private       web.Opt[bool]
	DefaultBranch web.Opt[string]
	Topics        web.Opt[[]string] // all of them, in any case and order
	HasIssues     web.Opt[bool]
	Archived      web.Opt[bool]
	IsTemplate    web.Opt[bool]
	Merging       repo.MergingEdit

	Body web.Faults // what was wrong with the body that the values were read from
}

// need returns the role that changing the repository in this way needs, as at GitHub.
func (e *Edit) need(r *repo.Repo) account.Role {
	if differs(e.Name, r.Name) || differs(e.Private, r.Private) || differs(e.HasIssues, r.HasIssues) ||
		differs(e.DefaultBranch, r.DefaultBranch) || differs(e.Archived, r.Archived) ||
		differs(e.IsTemplate, r.IsTemplate) {
		return account.Admin
	}
	return account.Maintain
}

func differs[T comparable](to web.Opt[T], now T) bool { return to.Given() && to.Value != now }

// check looks at the values, and brings topics into the form in which they are stored. Error: 422.
func (e *Edit) check() error {
	f := e.Body
	f.Resource = repo.Resource
	f.CheckText("description", e.Description.Value, maxDescription)
	f.CheckText("homepage", e.Homepage.Value, maxHomepage)
	f.CheckText("default_branch", e.DefaultBranch.Value, maxBranch)
	e.Merging.Check(&f)
	e.Topics.Value = checkTopics(&f, "topics", e.Topics.Value)
	if e.Name.Given() && !f.IsWrong("name") {
		checkNewName(&f, e.Name.Value)
	}
	return f.Err()
}

// Edit changes the repository. Errors: 404 when it is gone, 422 for invalid values, for a name that
// is taken, for a default branch that does not exist, and for a fork that would
// no longer be as visible as its parent; 403 for callers without the role, for an archived one that is to stay
// so, and for one that is to be private with a token that opens no private ones.
func (s *Service) Edit(ctx context.Context, a *repo.Access, e Edit) (*repo.Access, error) {
	need := e.need(a.Repo)
	if err := a.Require(need); err != nil {
		return nil, err
	}
	ctx = audit.Allowed(ctx, need.String())
	if err := e.check(); err != nil {
		return nil, err
	}
	if e.Private.Or(false) && a.Most(true) < account.Admin {
		return nil, a.Caller.Insufficient(scope.Repo) // it could not even see what it did
	}
	var edited *repo.Access
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		now, err := repo.ByID(tx, a.Caller, a.ID)
		if err != nil {
			return err
		}
		if err := now.Require(e.need(now.Repo)); err != nil {
			return err
		}
		if now.Archived && e.Archived.Or(true) {
			return repo.ErrArchived()
		}
		before := *now.Repo
		if err := e.apply(tx, now.Repo); err != nil {
			return err
		}
		if err := e.record(tx, &before, now.Repo); err != nil {
			return err
		}
		if err := s.forge.Edit(tx, &before, now.Repo, now.DoneBy(a.Caller)); err != nil {
			return err
		}
		edited = now
		if e.Private.Or(now.Private) == now.Private {
			return updateRepo(tx, now.Repo)
		}
		if err := checkVisibility(now.Repo); err != nil {
			return err
		}
		if err := s.forge.ChangeVisibility(tx, now.Repo, now.DoneBy(a.Caller)); err != nil {
			return err
		}
		edited, err = repo.ByID(tx, a.Caller, a.ID) // its network and the right to fork it have changed
		return err
	})
	return edited, err
}

// apply changes all but the visibility.
func (e *Edit) apply(tx *db.Tx, r *repo.Repo) error {
	if e.Name.Given() && e.Name.Value != r.Name {
		if err := renameRepo(tx, r, e.Name.Value); err != nil {
			return err
		}
	}
	if e.Description.Set {
		r.Description = text(e.Description)
	}
	if e.Homepage.Set {
		r.Homepage = text(e.Homepage)
	}
	r.HasIssues = e.HasIssues.Or(r.HasIssues)
	r.Archived = e.Archived.Or(r.Archived)
	r.IsTemplate = e.IsTemplate.Or(r.IsTemplate)
	var err error
	if r.Merging, err = e.Merging.Apply(r.Merging); err != nil {
		return err
	}
	if e.DefaultBranch.Given() && e.DefaultBranch.Value != r.DefaultBranch {
		if err := checkBranch(tx, r.ID, e.DefaultBranch.Value); err != nil {
			return err
		}
		r.DefaultBranch = e.DefaultBranch.Value
	}
	r.UpdatedAt = tx.Now
	if e.Topics.Set {
		r.Topics = repo.Topics(strings.Join(e.Topics.Value, " "))
		return writeTopics(tx, r.ID, e.Topics.Value)
	}
	return nil
}

func checkBranch(tx *db.Tx, repoID repo.ID, branch string) error {
	tip, err := repo.BranchTip(tx, repoID, branch)
	if err == nil && (tip == "" || git.CheckRefName(git.Heads+branch) != nil) {
		err = errs.Validation(errs.Field{Resource: repo.Resource, Field: "default_branch",
			Code: errs.InvalidField, Value: branch,
			Message: "The branch " + strconv.Quote(branch) +
				" was not found. Please push that ref first or create it via the Git Data API."})
	}
	return err
}

// Delete removes the repository with all that hangs on it. Error: 404.
func (s *Service) Delete(ctx context.Context, a *repo.Access) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		if err := tx.Check(); err != nil { // there is nothing to ask about at the end
			return err
		}
		now, err := repo.ByID(tx, nil, a.ID)
		if err != nil {
			return err
		}
		return s.forge.Delete(tx, now.Repo, now.DoneBy(a.Caller))
	})
}
