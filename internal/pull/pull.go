// Package pull implements pull requests: issues that propose to merge one branch into another.
//
//	pull.go                 the types
//	create.go               creating one, also from an issue or from another repository of the network
//	edit.go                 updating title, body, state and base
//	follow.go               effects of pushes and of changed issues
//	detach.go               detaching a head from its base
//	trial.go                test merges and their worker
//	merge.go                merging; landed.go: merges by a push
//	auto.go                 auto-merge; autowork.go: its worker; package automerge: what wakes it
//	queue.go                joining merge queues and leaving them; queueplan.go: what a queue does next; queuework.go:
//	                        its worker; queueview.go: what is shown of it; package mergequeue: its tables
//	update.go               merging the base into the head
//	revert.go               reverting a merge on a branch
//	box.go                  the data of a page's merge box
//	maintainers.go          pushes to a head by maintainers of the base
//	branchmerge.go          merging branches without a pull request
//	ofcommit.go             the pull requests of a commit
//	store.go                the SQL; storecommit.go: by commits; storedetach.go
//	api.go, apilist.go      handlers: read, list, create, edit; apimerge.go: merge
//	changes.go              commits, files, diff and patch
//	view.go                 one with what it refers to, for pages
//	requested.go            who is asked for a review; apirequested.go answers; codeowners.go: code owners;
//	                        storeloss.go: requests of those who lost access
//	reviewed.go             what package review needs
//	json.go                 the payload
//
// What becomes of a pull request in a merge queue (queue.go):
//
//	transition                                        what happens
//	closed, draft, other base, head pushed            it leaves the queue at once: MANUAL
//	merged by a push or by somebody who may bypass    it leaves at once: ALREADY_MERGED
//	base branch deleted                               it is closed, so it leaves
//	base branch renamed                               it stays; the groups are built again
//	base moved by somebody who may bypass             the same
//	approval dismissed, conversation opened           the worker removes it: BRANCH_PROTECTIONS
//	right of the one who enqueued lost                the same; a deleted account's entries go with it
//	account or App that enqueued suspended, App uninstalled
//	                                                  the same
//	rule or ruleset gone, disabled, of other branches the worker removes all: QUEUE_CLEARED
//	an entry before it leaves                         its group is built again
//	archived                                          all stands still until it is not
//	transferred, private, public                      it stays while the one who enqueued may push
//	repository deleted                                all goes with it
//
// Tables: pulls, pull_branches, pull_commits, requested_reviewers. Other data of a pull request is in its
// issue (package issue), which this package inserts in its own transaction and changes only through
// issue.Change.
//
// Invariants: A row's head_sha equals refs/pull/N/head, and its objects are in the base repository; only
// repo.Bring copies them there, while network.MayCross allows it. The result of a test merge is stored with
// its two commits and is valid only for these: mergeable is null if they are no longer the tips, and a push
// to a base writes no row here. A merge is one transaction: branch, pull request, issue, events.
//
// A new pull request is tested before it is inserted, a stale one when it is read (the request waits at
// most two seconds), a new head by a worker. A process merges into a branch one at a time; several nodes
// use compare-and-swap. A worker finds pull requests that a push has merged: git checks the tip of the
// base, and the transaction that marks the pull request verifies that it is still the tip. The table in
// crossings_test.go lists each transition that detaches a head from its base; its test combines them with
// every way of copying objects.
package pull

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/signature"
)

// Resource is the name of pull requests in validation errors (decision 15).
const Resource = "PullRequest"

// Pull is a row of table pulls, with the current tip of its base branch.
type Pull struct {
	IssueID     issue.ID
	RepoID      repo.ID // base repository
	Number      int64
	AuthorID    account.ID
	Open        bool
	BaseRef     string  // a branch, without refs/heads/
	BaseSHA     git.SHA // tip of the base when the head last changed
	HeadRepoID  repo.ID // 0: deleted, or the pull request is detached (decision 61)
	HeadOwnerID account.ID
	HeadRef     string
	HeadSHA     git.SHA
	Modifiable  bool       // maintainers of the base may push to the head
	MergedBy    account.ID // 0: not merged
	MergeSHA    git.SHA    // merge commit on the base branch
	TestedBase  git.SHA    // base and head of the last test merge
	TestedHead  git.SHA
	TestSHA     git.SHA // empty: conflict
	Additions   int64
	Deletions   int64
	Files       int64
	Commits     int64
	Wanted      bool // a test merge is scheduled
	Tries       int64

	ReviewComments int64 // submitted ones

	BaseTip git.SHA // empty: the branch was deleted
}

// Merged reports whether the pull request is merged.
func (p *Pull) Merged() bool { return p.MergeSHA != "" }

// Tested reports whether the last test merge was made with the current tips.
func (p *Pull) Tested() bool {
	return p.TestedHead != "" && p.TestedHead == p.HeadSHA && p.TestedBase == p.BaseTip
}

// Mergeable reports whether head and base can be merged, or nil if that is unknown or the pull request is
// merged (decisions 35, 36).
func (p *Pull) Mergeable() *bool {
	if p.Merged() || !p.Tested() {
		return nil
	}
	ok := p.TestSHA != ""
	return &ok
}

// Service implements the operations on pull requests.
type Service struct {
	// OnNewHead is called in the change of a pull request whose head or base changes; it must be set. Package forge
	// dismisses reviews there, which stand above this package.
	OnNewHead func(c *issue.Change, p *Pull) error
	Patience  time.Duration // how long a request waits for a test merge; tests wait longer

	db         *db.DB
	repos      *repo.Service
	network    *network.Service
	issues     *issue.Service
	signatures *signature.Service
	log        *slog.Logger
	one        sync.Mutex // held during test merges; Settle waits for it
	merging    sync.Mutex // the same of auto-merges
	queueing   sync.Mutex // the same of merge queues
	trials     singleflight.Group
	landings   landings // pushes to be checked for merged pull requests
}

// New returns a Service.
func New(
	d *db.DB, repos *repo.Service, issues *issue.Service, signatures *signature.Service, log *slog.Logger,
) *Service {
	return &Service{Patience: 2 * time.Second, db: d, repos: repos, network: network.New(d, repos), issues: issues,
		signatures: signatures, log: log}
}

// Find reads a pull request of a repository and its issue. Error: 404.
func (s *Service) Find(
	ctx context.Context, a *repo.Access, number int64,
) (p *Pull, i *issue.Issue, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if p, err = byNumber(tx, a.ID, number); err != nil {
			return err
		}
		i, err = issue.ByNumber(tx, a.ID, number)
		return err
	})
	return p, i, err
}

// mayEdit returns 403 unless the caller is the author or has the role need: Push (decision 37), or Triage for what
// leaves texts and branches as they are (decision 12).
func mayEdit(a *repo.Access, i *issue.Issue, need account.Role) error {
	if a.Role >= need || a.Caller != nil && a.Caller.ID == i.AuthorID {
		return nil
	}
	return errs.Newf(errs.Forbidden,
		"Must be the author of the pull request or have %s access to Repository.", need)
}

func wrong(field, code string, value any) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: code, Value: value})
}

func custom(field, message string) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: errs.Custom, Message: message})
}
