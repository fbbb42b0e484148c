// Package status implements commit statuses: external systems report whether a build of a commit is
// pending, has failed or has succeeded.
//
//		POST /repos/{owner}/{repo}/statuses/{ref...}          create, by a full SHA
//		GET  /repos/{owner}/{repo}/statuses/{ref...}          all, the newest first
//		GET  /repos/{owner}/{repo}/commits/{ref...}/statuses  the same
//		GET  /repos/{owner}/{repo}/commits/{ref...}/status    the combined status
//
//	  - status.go: the types, and creating
//	  - store.go: the SQL
//	  - api.go: handlers and their JSON
//
// Tables: statuses; status_contexts and status_commits contain totals and are updated in the same
// transaction. So the combined status of a commit is one row, and a page of commits needs one query,
// no matter how many statuses there are.
//
// A status is immutable: a later one of the same context replaces it. Package pull uses [Combined] for the
// heads of pull requests.
package status

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/pull/automerge"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo"
)

// Resource is the name of statuses in validation errors (decision 15).
const Resource = "Status"

// State is the state of a status or of several combined.
type State uint8

// States as stored.
const (
	Error   State = iota + 1 // the check itself failed
	Failure                  // the check found a problem
	Pending                  // not completed
	Success
)

// names are the names in requests and payloads; that of s is at s-1.
var names = [...]string{"error", "failure", "pending", "success"}

// ParseState parses the result of String. ok is false for other strings.
func ParseState(s string) (state State, ok bool) {
	i := slices.Index(names[:], s)
	return State(i + 1), i >= 0
}

// String returns the name used in payloads, such as "success", or "" for 0.
func (s State) String() string {
	if s == 0 || int(s) > len(names) {
		return ""
	}
	return names[s-1]
}

func (s State) failed() bool { return s == Error || s == Failure }

// Status is the report of one system about a commit.
type Status struct {
	ID          int64
	RepoID      repo.ID // 0 unless it was read in a list
	SHA         git.SHA
	Context     string // the system or check, compared case-insensitively
	State       State
	TargetURL   *string
	Description *string
	CreatorID   account.ID
	CreatedAt   db.Time
}

// Summary counts the statuses of a commit.
type Summary struct {
	Total    int64 // statuses
	Contexts int64
	Failed   int64 // contexts whose latest status is an error or failure
	Waiting  int64 // contexts whose latest status is pending
}

// State returns Failure if any context failed, Success if all succeeded, else Pending, also without any.
func (s Summary) State() State {
	switch {
	case s.Failed > 0:
		return Failure
	case s.Waiting > 0 || s.Contexts == 0:
		return Pending
	default:
		return Success
	}
}

// Limits of a status. Lengths are in code points. Those of contexts and addresses are ours, the others are
// GitHub's.
const (
	MaxDescription = 140
	MaxContext     = 255
	MaxTargetURL   = 2048
	MaxOfContext   = 1000 // statuses of one context and commit
)

// DefaultContext is the context if none is given.
const DefaultContext = "default"

// Service implements the operations on statuses.
type Service struct {
	db    *db.DB
	repos *repo.Service
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service) *Service { return &Service{d, repos} }

// Create creates a status of a commit. n has SHA, context and state; other fields are optional. The caller
// must have push access. Errors: 422 if the commit does not exist, or the context has MaxOfContext
// statuses; 404 if the repository was deleted.
func (s *Service) Create(ctx context.Context, a *repo.Access, n Status) (*Status, error) {
	err := s.repos.CheckNamed(ctx, a, n.SHA)
	if err == nil {
		err = s.checkCommit(ctx, a, n.SHA)
	}
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return nil, noCommit(string(n.SHA))
	}
	if err != nil {
		return nil, err
	}
	n.CreatorID = a.Caller.ID
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) (err error) {
		n.CreatedAt = tx.Now
		if n.ID, err = add(tx, a.ID, &n); err != nil {
			return err
		}
		if n.State == Success { // it may be the last one that a pull request lacked
			if err := automerge.WakeHead(tx, a.ID, n.SHA); err != nil {
				return err
			}
		} else if err := mergequeue.WakeHead(tx, a.ID, n.SHA); err != nil { // a merge group may have failed
			return err
		}
		return hook.Record(tx, a.ID, hook.Event{Name: "status", Actor: n.CreatorID,
			About: hook.About{ID: n.ID, After: string(n.SHA)}})
	})
	return &n, err
}

// checkCommit checks that the repository has a commit. Errors: 404, 422.
func (s *Service) checkCommit(ctx context.Context, a *repo.Access, sha git.SHA) error {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	_, err = objects.Commit(ctx, sha)
	return err
}

func noCommit(name string) error { return errs.Newf(errs.Invalid, "No commit found for SHA: %s", name) }

// fold returns the canonical form of a context.
func fold(context string) string { return account.Fold(context) }

// add inserts a status and updates the totals of the commit.
func add(tx *db.Tx, repoID repo.ID, n *Status) (id int64, err error) {
	if err := lockCommit(tx, repoID, n.SHA); err != nil {
		return 0, err
	}
	before, total, err := latest(tx, repoID, n.SHA, n.Context)
	if err != nil {
		return 0, err
	}
	if total >= MaxOfContext {
		return 0, errs.Validation(errs.Field{Resource: Resource, Code: errs.Custom,
			Message: "This SHA and context has reached the maximum number of statuses."})
	}
	if id, err = insert(tx, repoID, n); err != nil {
		return 0, err
	}
	if err := setLatest(tx, repoID, n, id); err != nil {
		return 0, err
	}
	more := Summary{Total: 1}
	if total == 0 {
		more.Contexts = 1
	}
	more.Failed, more.Waiting = count(n.State.failed())-count(before.failed()),
		count(n.State == Pending)-count(
			before == Pending)
	return id, sumUp(tx, repoID, n.SHA, more)
}

func count(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
