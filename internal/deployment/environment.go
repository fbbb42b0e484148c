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
		action := audit.EnvironmentUpdate
		before, err := environmentNamed(tx, a.ID, n.Name)
		if errs.Is(err, errs.NotFound) {
			action = audit.EnvironmentCreate
			if err = ensureEnvironment(tx, a.ID, n.Name); err == nil {
				before, err = environmentNamed(tx, a.ID, n.Name)
			}
		}
		if err != nil {
			return err
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
