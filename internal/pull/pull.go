// Package pull is pull requests: issues that ask to merge one branch into
// another.
//
//	pull.go                 the types
//	create.go               a new one, also from an issue, also across a network
//	edit.go                 title, body, state, and another base
//	follow.go               what pushes and changed issues do to pull requests
//	detach.go               what ends the relation of a head to its base
//	trial.go                test merges: who wants them and how they are made
//	merge.go                merging; landed.go: by a push, outside of it
//	update.go               merging the base into the head
//	revert.go               a branch that undoes a merge
//	box.go                  what somebody who merges wants to know
//	maintainers.go          heads that the maintainers of the base may push to
//	branchmerge.go          merging branches without a pull request
//	ofcommit.go             the pull requests of a commit
//	store.go                the SQL; storecommit.go by commits; storedetach.go
//	api.go, apilist.go      read, list, create, edit; apimerge.go merges
//	changes.go              commits, files, diff and patch
//	view.go                 one with what it refers to, for pages
//	requested.go            who is asked for a review; apirequested.go answers
//	reviewed.go             what package review needs
//	json.go                 the payload
//
// Tables: pulls, pull_branches, pull_commits, requested_reviewers; the rest of a
// pull request is its issue (package issue), which this package inserts in its
// own transaction and changes through issue's one door.
//
// Invariants: a row's head_sha is where refs/pull/N/head leads, and its objects
// are in the base repository; they come there through repo.Bring alone, while
// network.MayCross allows it. The result of a test merge is stored with the two
// commits that it was made of, and says nothing of others: mergeable is null when
// they are no longer the tips, and a push to a base writes no row here. A merge
// is one transaction: branch, pull request, issue, events.
//
// A new pull request is tested before it is inserted, a stale one as soon as somebody reads it (the
// reader waits two seconds at most), a new head by a worker. One process merges into a branch one
// after the other, several nodes by compare-and-swap. What a push has merged a worker finds: git is
// asked about the base's tip, and the transaction that marks the pull request makes sure that this
// still is the tip. A table in crossings_test.go has each transition that ends the relation of a
// head to its base, and its test walks it with every way of copying.
package pull

import (
	"context"
	"log/slog"
	"sync"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/keyed"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
)

// Resource is the name of pull requests in validation errors (decision 15).
const Resource = "PullRequest"

// Pull is a row of the table pulls, with where its base branch is now.
type Pull struct {
	IssueID     issue.ID
	RepoID      repo.ID // that it asks to merge into
	Number      int64
	AuthorID    account.ID
	Open        bool
	BaseRef     string  // a branch, without refs/heads/
	BaseSHA     git.SHA // its tip when the head was last new
	HeadRepoID  repo.ID // 0: it is gone, or the pull request is detached (decision 61)
	HeadOwnerID account.ID
	HeadRef     string
	HeadSHA     git.SHA
	Modifiable  bool       // maintainers of the base may push to the head
	MergedBy    account.ID // 0: not merged
	MergeSHA    git.SHA    // on the base branch, once merged
	TestedBase  git.SHA    // of the last test merge, as the following
	TestedHead  git.SHA
	TestSHA     git.SHA // empty: the two do not merge
	Additions   int64
	Deletions   int64
	Files       int64
	Commits     int64
	Wanted      bool // a test merge is scheduled
	Tries       int64

	ReviewComments int64 // those that everyone sees

	BaseTip git.SHA // empty: the branch is gone
}

// Merged reports whether it has been merged.
func (p *Pull) Merged() bool { return p.MergeSHA != "" }

// Tested reports that the last test merge was of the two that are the tips now.
func (p *Pull) Tested() bool {
	return p.TestedHead != "" && p.TestedHead == p.HeadSHA && p.TestedBase == p.BaseTip
}

// Mergeable tells whether head and base merge; nil while nobody knows, and when
// it is merged (decisions 35, 36).
func (p *Pull) Mergeable() *bool {
	if p.Merged() || !p.Tested() {
		return nil
	}
	ok := p.TestSHA != ""
	return &ok
}

// Service holds what the operations on pull requests share.
type Service struct {
	db       *db.DB
	repos    *repo.Service
	network  *network.Service
	issues   *issue.Service
	log      *slog.Logger
	one      sync.Mutex // held while test merges are made; Settle waits for it
	trials   cache.Flights[string]
	landings landings            // pushes that may have merged pull requests
	merging  keyed.Mutex[string] // one merge into a branch at a time, in this process
	looked   *cache.Cache[numbered, found]
}

// found is a pull request and its issue as they are in one state of the database.
type found struct {
	pull  Pull
	issue issue.Issue
}

// maxLooked bounds how many pull requests are kept, about a kilobyte each beside their texts.
const maxLooked = 1000

// New makes the service.
func New(d *db.DB, repos *repo.Service, issues *issue.Service, log *slog.Logger) *Service {
	return &Service{db: d, repos: repos, network: network.New(d, repos), issues: issues, log: log,
		looked: cache.NewCount[numbered, found](maxLooked)}
}

// find reads a pull request of a repository and its issue. Error: 404.
func (s *Service) find(
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

// look is find for what several questions of one page ask: it is read once in a state of the database. The
// caller may not change what the fields lead to. Error: 404.
func (s *Service) look(ctx context.Context, a *repo.Access, number int64) (*Pull, *issue.Issue, error) {
	f, err := s.looked.Read(s.db.State(ctx), numbered{a.ID, number}, func() (found, error) {
		p, i, err := s.find(ctx, a, number)
		if err != nil {
			return found{}, err
		}
		return found{*p, *i}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return &f.pull, &f.issue, nil
}

// mayEdit returns the 403 for who may not edit the pull request (decision 37).
func mayEdit(a *repo.Access, i *issue.Issue) error {
	if a.Role >= account.Push || a.Caller != nil && a.Caller.ID == i.AuthorID {
		return nil
	}
	return errs.New(errs.Forbidden,
		"Must be the author of the pull request or have push access to Repository.")
}

func wrong(field, code string, value any) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: code, Value: value})
}

func custom(field, message string) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: errs.Custom, Message: message})
}
