// Package deployment implements deployments and environments as records: deploy tools say what they deploy where,
// and how far they are. Arbor runs nothing.
//
//	deployment.go    deployments and their statuses
//	environment.go   environments
//	loadmany.go      lists of many repositories; storemany.go: their SQL
//	store.go         the SQL, of the tables deployments, deployment_statuses and environments
//	api.go           the handlers of deployments, apistatus.go of statuses, apienvironment.go of environments
//	payload.go       their JSON, also for webhooks and pages
//
// A deployment names a commit by its SHA and keeps the ref as it was sent; both stay as they are when the ref or the
// commit goes. The state of a deployment is that of its latest status. An environment is made by the first deployment
// to it. What an environment demands of deployments is stored and shown; nothing waits for it.
package deployment

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/repo"
	"arbor/internal/status"
)

// Resource names in validation errors.
const (
	Resource       = "Deployment"
	StatusResource = "DeploymentStatus"
)

// Limits. Lengths are in code points. That of descriptions is GitHub's.
const (
	maxName         = 255 // of a ref, a task and an environment
	maxDescription  = 140
	maxURL          = 2048
	maxPayload      = 32 << 10 // bytes
	maxContexts     = 100
	maxStatuses     = 1000 // of a deployment
	maxInactive     = 100  // deployments that one status makes inactive
	maxEnvironments = 1000 // of a repository
)

// State is the state of a deployment.
type State uint8

// States as stored.
const (
	Error State = iota + 1
	Failure
	Inactive
	InProgress
	Queued
	Pending
	Success
)

// states are the names in requests and payloads; that of s is at s-1.
var states = [...]string{"error", "failure", "inactive", "in_progress", "queued", "pending", "success"}

// String returns the name used in payloads. A deployment without statuses is pending.
func (s State) String() string {
	if s == 0 || int(s) > len(states) {
		return states[Pending-1]
	}
	return states[s-1]
}

// Deployment is a row of the table deployments.
type Deployment struct {
	ID          int64
	RepoID      repo.ID
	SHA         git.SHA
	Ref         string // as it was sent
	Task        string
	Environment string // may be changed by a status
	Original    string // the environment at first
	Payload     string // JSON
	Description *string
	Transient   bool
	Production  bool
	CreatorID   account.ID
	State       State // of the latest status
	Statuses    int64
	CreatedAt   db.Time
	UpdatedAt   db.Time
}

// Status is a row of the table deployment_statuses.
type Status struct {
	ID           int64
	DeploymentID int64
	State        State
	Environment  string // empty in a new one: the deployment's
	Description  string
	LogURL       string
	URL          string // of the environment
	CreatorID    account.ID
	CreatedAt    db.Time
}

// Service implements the operations on deployments and environments.
type Service struct {
	db       *db.DB
	repos    *repo.Service
	statuses *status.Service
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, statuses *status.Service) *Service {
	return &Service{d, repos, statuses}
}

// Create creates a deployment of a commit that was found for the caller. contexts are the statuses of the commit that
// must be successes; nil means all, none means no condition. Errors: 404; 409 if a status is not a success;
// 422 for too many environments.
func (s *Service) Create(ctx context.Context, a *repo.Access, n Deployment, contexts []string) (*Deployment, error) {
	if err := s.checkContexts(ctx, a, n.SHA, n.Ref, contexts); err != nil {
		return nil, err
	}
	n.RepoID, n.CreatorID, n.Original = a.ID, a.Caller.ID, n.Environment
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) (err error) {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		n.CreatedAt, n.UpdatedAt = tx.Now, tx.Now
		if err := ensureEnvironment(tx, a.ID, n.Environment); err != nil {
			return err
		}
		if n.ID, err = insert(tx, &n); err != nil {
			return err
		}
		return hook.Record(tx, a.ID, event("deployment", n.CreatorID, n.ID))
	})
	return &n, err
}

func event(name string, by account.ID, id int64) hook.Event {
	return hook.Event{Name: name, Action: "created", Actor: by, About: hook.About{ID: id}}
}

// checkContexts returns the 409 if a required status of a commit is not a success.
func (s *Service) checkContexts(ctx context.Context, a *repo.Access, sha git.SHA, ref string, required []string) error {
	if required != nil && len(required) == 0 {
		return nil
	}
	const most = 1000
	list, err := s.statuses.LatestOfEach(ctx, a, []git.SHA{sha}, most)
	if err != nil {
		return err
	}
	found := map[string]status.State{}
	failed := false
	for _, one := range list {
		found[strings.ToLower(one.Context)] = one.State
		failed = failed || one.State != status.Success
	}
	if required != nil {
		failed = false
		for _, name := range required {
			failed = failed || found[strings.ToLower(name)] != status.Success
		}
	}
	if !failed {
		return nil
	}
	return errs.Newf(errs.Conflict, "Conflict: Commit status checks failed for %s.", errs.Clip(ref))
}

// Delete deletes a deployment that is not active, or the repository's only one. Errors: 404, 422.
func (s *Service) Delete(ctx context.Context, a *repo.Access, id int64) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		d, err := byID(tx, a.ID, id)
		if err != nil {
			return err
		}
		if d.State == Success {
			others, err := hasOthers(tx, d)
			if err != nil {
				return err
			}
			if others {
				return errs.New(errs.Invalid,
					"We cannot delete an active deployment unless it is the only deployment in a given repository.")
			}
		}
		return remove(tx, d)
	})
}

// AddStatus adds a status to a deployment. If it is a success and deactivate is set, it makes earlier deployments to
// the environment inactive, as GitHub does: those that are neither transient nor to production. Errors: 404; 422 for
// too many statuses.
func (s *Service) AddStatus(
	ctx context.Context, a *repo.Access, id int64, n Status, deactivate bool,
) (*Status, *Deployment, error) {
	var d *Deployment
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) (err error) {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		if d, err = byID(tx, a.ID, id); err != nil {
			return err
		}
		if d.Statuses >= maxStatuses {
			return errs.Validation(errs.Field{Resource: StatusResource, Code: errs.Custom,
				Message: "This deployment has reached the maximum number of statuses."})
		}
		added := n
		added.CreatorID = a.Caller.ID
		if added.Environment == "" {
			added.Environment = d.Environment
		}
		if err := ensureEnvironment(tx, a.ID, added.Environment); err != nil {
			return err
		}
		if err := add(tx, a, d, &added); err != nil {
			return err
		}
		n = added
		if n.State != Success || !deactivate {
			return nil
		}
		return replaceEarlier(tx, a, d)
	})
	return &n, d, err
}

// add writes a status and what follows for its deployment.
func add(tx *db.Tx, a *repo.Access, d *Deployment, n *Status) (err error) {
	n.DeploymentID, n.CreatedAt = d.ID, tx.Now
	if n.ID, err = insertStatus(tx, a.ID, n); err != nil {
		return err
	}
	d.State, d.Environment, d.UpdatedAt = n.State, n.Environment, tx.Now
	d.Statuses++
	if err := update(tx, d); err != nil {
		return err
	}
	return hook.Record(tx, a.ID, event("deployment_status", n.CreatorID, n.ID))
}

// replaceEarlier adds the status inactive to earlier successes.
func replaceEarlier(tx *db.Tx, a *repo.Access, d *Deployment) error {
	list, err := earlier(tx, d)
	if err != nil {
		return err
	}
	for _, other := range list {
		n := Status{State: Inactive, Environment: other.Environment, CreatorID: a.Caller.ID}
		if err := add(tx, a, other, &n); err != nil {
			return err
		}
	}
	return nil
}
