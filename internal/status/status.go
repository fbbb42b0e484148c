// Package status is what other systems say of commits: that a build waits, has
// failed, or is done.
//
//		POST /repos/{owner}/{repo}/statuses/{ref...}          create, by a full SHA
//		GET  /repos/{owner}/{repo}/statuses/{ref...}          all, the newest first
//		GET  /repos/{owner}/{repo}/commits/{ref...}/statuses  the same
//		GET  /repos/{owner}/{repo}/commits/{ref...}/status    what they come to
//
//	  - status.go: the types, and creating
//	  - store.go: the SQL
//	  - api.go: handlers and their JSON
//
// Tables: statuses; status_contexts and status_commits sum them up, and change
// in the transaction that adds one. So what all statuses of a commit come to is
// one row, and a page of commits one query, however many statuses there are.
//
// A status is never changed: a later one of the same context takes its place.
// Package pull asks [Combined] for the heads of pull requests.
package status

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/repo"
)

// Resource is the name of statuses in validation errors (decision 15).
const Resource = "Status"

// State is what a status says, or what several come to.
type State uint8

// The states, as they are stored.
const (
	Error   State = iota + 1 // the check itself went wrong
	Failure                  // it found something
	Pending                  // it is not done
	Success
)

// names are the states' names in requests and payloads; that of s is at s-1.
var names = [...]string{"error", "failure", "pending", "success"}

// ParseState reads what String gives; ok is false for anything else.
func ParseState(s string) (state State, ok bool) {
	i := slices.Index(names[:], s)
	return State(i + 1), i >= 0
}

// String gives the name in payloads, such as "success"; "" for no state.
func (s State) String() string {
	if s == 0 || int(s) > len(names) {
		return ""
	}
	return names[s-1]
}

func (s State) failed() bool { return s == Error || s == Failure }

// Status is what one system said of a commit at one time.
type Status struct {
	ID          int64
	SHA         git.SHA
	Context     string // which system or check; equal without regard to case
	State       State
	TargetURL   *string
	Description *string
	CreatorID   account.ID
	CreatedAt   db.Time
}

// Summary is what the statuses of a commit come to.
type Summary struct {
	Total    int64 // statuses
	Contexts int64
	Failed   int64 // contexts of which the latest status is an error or a failure
	Waiting  int64 // contexts of which it is pending
}

// State is a failure where any context failed, and a success where all
// succeeded; pending otherwise, also without any.
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

// Bounds of a status, lengths in code points. Those of contexts and addresses
// are ours, the others GitHub's.
const (
	MaxDescription = 140
	MaxContext     = 255
	MaxTargetURL   = 2048
	MaxOfContext   = 1000 // statuses of one context of one commit
)

// DefaultContext is the context of a status that names none.
const DefaultContext = "default"

// Service holds what the operations on statuses share.
type Service struct {
	db    *db.DB
	repos *repo.Service
}

// New makes the service.
func New(d *db.DB, repos *repo.Service) *Service { return &Service{d, repos} }

// Create adds a status to a commit of the repository, of which s names SHA,
// context and state; the rest follows. The caller may push. Errors: 422 when the
// repository has no such commit, or the context has MaxOfContext statuses; 404
// when the repository is gone.
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
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		n.CreatedAt = tx.Now
		if n.ID, err = add(tx, a.ID, &n); err != nil {
			return err
		}
		return hook.Record(tx, a.ID, hook.Event{Name: "status", Actor: n.CreatorID,
			About: hook.About{ID: n.ID, After: string(n.SHA)}})
	})
	return &n, err
}

// checkCommit makes sure that the repository has a commit. Errors: 404, 422.
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

// fold makes contexts that are the same equal.
func fold(context string) string { return account.Fold(context) }

// add writes a status and what the commit's statuses come to with it.
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
