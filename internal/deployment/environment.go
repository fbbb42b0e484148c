package deployment

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// Branches says which branches may be deployed to an environment.
type Branches uint8

// As stored.
const (
	AllBranches Branches = iota
	ProtectedBranches
	CustomBranches
)

// Environment is a row of the table environments.
type Environment struct {
	ID                int64
	Name              string
	WaitTimer         int64 // minutes
	PreventSelfReview bool
	Reviewers         []account.ID
	Branches          Branches
	CreatedAt         db.Time
	UpdatedAt         db.Time
}

// EnvironmentResource is the name of environments in validation errors.
const EnvironmentResource = "Environment"

// Limits of an environment, as at GitHub.
const (
	maxReviewers = 6
	maxWait      = 43_200 // minutes
)

// ensureEnvironment creates an environment unless there is one of this name. The repository's row is locked. Error:
// 422 for too many.
func ensureEnvironment(tx *db.Tx, id repo.ID, name string) error {
	_, err := environmentNamed(tx, id, name)
	if !errs.Is(err, errs.NotFound) {
		return err
	}
	n, err := countEnvironments(tx, id)
	if err != nil {
		return err
	}
	if n >= maxEnvironments {
		return errs.Newf(errs.Invalid, "A repository has %d environments at most.", maxEnvironments)
	}
	return insertEnvironment(tx, id, &Environment{Name: name, CreatedAt: tx.Now, UpdatedAt: tx.Now})
}

// PutEnvironment creates an environment or replaces its rules. Reviewers must have access to the repository. Errors:
// 404, 422.
func (s *Service) PutEnvironment(ctx context.Context, a *repo.Access, n Environment) (e *Environment, err error) {
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		if err := checkReviewers(tx, n.Reviewers); err != nil {
			return err
		}
		before, made, err := environmentOf(tx, a.ID, n.Name)
		if err != nil {
			return err
		}
		action := audit.EnvironmentUpdate
		if made {
			action = audit.EnvironmentCreate
		}
		after := n
		after.ID, after.Name, after.CreatedAt, after.UpdatedAt = before.ID, before.Name, before.CreatedAt, tx.Now
		if err := updateEnvironment(tx, &after); err != nil {
			return err
		}
		e = &after
		return audit.Record(tx, a.Audited(action, map[string]any{"environment": e.Name}))
	})
	return e, err
}

// environmentOf returns the environment of a name, and whether it was made. The repository's row is locked. Error: 422.
func environmentOf(tx *db.Tx, id repo.ID, name string) (e *Environment, made bool, err error) {
	e, err = environmentNamed(tx, id, name)
	if !errs.Is(err, errs.NotFound) {
		return e, false, err
	}
	if err = ensureEnvironment(tx, id, name); err == nil {
		e, err = environmentNamed(tx, id, name)
	}
	return e, true, err
}

// MakeEnvironment creates an environment without rules, or returns the one of that name. Errors: 404, 422.
func (s *Service) MakeEnvironment(ctx context.Context, a *repo.Access, name string) (e *Environment, err error) {
	if err := (&Environment{Name: name}).problems(); err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		made := false
		if e, made, err = environmentOf(tx, a.ID, name); err != nil || !made {
			return err
		}
		return audit.Record(tx, a.Audited(audit.EnvironmentCreate, map[string]any{"environment": e.Name}))
	})
	return e, err
}

// EditEnvironment changes the rules of an environment by a function. Errors: 404, 422.
func (s *Service) EditEnvironment(
	ctx context.Context, a *repo.Access, id int64, change func(*Environment),
) (e *Environment, err error) {
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		if e, err = environmentByID(tx, a.ID, id); err != nil {
			return err
		}
		before := e.Reviewers
		change(e)
		if err := e.problems(); err != nil {
			return err
		}
		if !slices.Equal(before, e.Reviewers) {
			if err := checkReviewers(tx, e.Reviewers); err != nil {
				return err
			}
		}
		e.UpdatedAt = tx.Now
		if err := updateEnvironment(tx, e); err != nil {
			return err
		}
		return audit.Record(tx, a.Audited(audit.EnvironmentUpdate, map[string]any{"environment": e.Name}))
	})
	return e, err
}

func checkReviewers(tx *db.Tx, ids []account.ID) error {
	people, err := account.ByIDs(tx, ids)
	if err == nil && slices.ContainsFunc(ids, func(id account.ID) bool { return people[id] == nil }) {
		err = errs.Validation(errs.Field{Resource: EnvironmentResource, Field: "reviewers", Code: errs.InvalidField})
	}
	return err
}

// DeleteEnvironment deletes an environment with its rules. The deployments to it stay. Error: 404.
func (s *Service) DeleteEnvironment(ctx context.Context, a *repo.Access, name string) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		e, err := environmentNamed(tx, a.ID, name)
		if err != nil {
			return err
		}
		if err := removeEnvironment(tx, e.ID); err != nil {
			return err
		}
		return audit.Record(tx, a.Audited(audit.EnvironmentDelete, map[string]any{"environment": e.Name}))
	})
}
