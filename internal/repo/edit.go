package repo

import (
	"context"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
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
	HasIssues     web.Opt[bool]
	Archived      web.Opt[bool]
	IsTemplate    web.Opt[bool]
	Merging       MergingChange
}

// Edit changes the repository. Errors: 404 when it is gone, 422 for a name that
// is taken, for a default branch that does not exist, and for a fork that would
// no longer be as visible as its parent; 403 for an archived one that is to stay so, and
// for one that is to be private with a token that opens no private ones.
func (s *Service) Edit(ctx context.Context, a *Access, e Edit) (*Access, error) {
	if e.Private.Or(false) && a.Caller.Most(int64(a.ID), a.OwnerID, true) < account.Admin {
		return nil, a.Caller.Insufficient(scope.Repo) // it could not even see what it did
	}
	var edited *Access
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		if err := lockRepo(tx, a.ID); err != nil {
			return err
		}
		now, err := accessByID(tx, a.Caller, a.ID)
		if err != nil {
			return err
		}
		if now.Archived && e.Archived.Or(true) {
			return errArchived()
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
		edited, err = accessByID(tx, a.Caller, a.ID) // its network and who may fork it have changed
		return err
	})
	return edited, err
}

// apply changes all but the visibility.
func (e *Edit) apply(tx *db.Tx, r *Repo) error {
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
	if r.Merging, err = e.Merging.apply(r.Merging); err != nil {
		return err
	}
	if e.DefaultBranch.Given() && e.DefaultBranch.Value != r.DefaultBranch {
		if err := checkBranch(tx, r.ID, e.DefaultBranch.Value); err != nil {
			return err
		}
		r.DefaultBranch = e.DefaultBranch.Value
	}
	r.UpdatedAt = tx.Now
	return nil
}

// SetVisibility shows a private repository, or hides a public one: in its row, which
// gets what else was changed of r as well, and in its owner's counters.
func SetVisibility(tx *db.Tx, r *Repo, private bool) error {
	if err := CountForOwner(tx, r, -1); err != nil {
		return err
	}
	r.Private = private
	// A killed server may have left objects of the private time that no ref names.
	if err := markUnreached(tx, r.ID); err != nil {
		return err
	}
	if err := CountForOwner(tx, r, 1); err != nil {
		return err
	}
	return updateRepo(tx, r)
}

func checkBranch(tx *db.Tx, repoID ID, branch string) error {
	found, err := refsNamed(tx, repoID, []string{heads + branch})
	if err == nil && (len(found) == 0 || git.CheckRefName(heads+branch) != nil) {
		err = errs.Validation(errs.Field{Resource: resource, Field: "default_branch", Code: errs.InvalidField, Value: branch,
			Message: "The branch " + strconv.Quote(branch) + " was not found. Please push that ref first or create it via the Git Data API."})
	}
	return err
}

// Delete removes the repository with all that hangs on it. by is who wants it; nil:
// the operator. Error: 404.
func (s *Service) Delete(ctx context.Context, id ID, by *account.Caller) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := lockRepo(tx, id); err != nil {
			return err
		}
		if err := tx.Check(); err != nil { // there is nothing to ask about at the end
			return err
		}
		a, err := accessByID(tx, nil, id)
		if err != nil {
			return err
		}
		return s.forge.Delete(tx, a.Repo, a.DoneBy(by))
	})
}
