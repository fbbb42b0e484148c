// Package release holds releases: a tag with a title, a text and files to download.
//
//	GET, POST /repos/{owner}/{repo}/releases             api.go, edit.go
//	GET, PATCH, DELETE .../releases/{release_id}         the same
//	GET .../releases/latest, .../releases/tags/{tag...}  api.go; latest.go: which is the latest
//	POST .../releases/generate-notes                     notes.go
//	.../releases/{release_id}/assets, .../assets/{id}    apiasset.go, asset.go
//	.../releases/{release_id}/reactions                  reaction.go; the handlers are package reaction's
//	/{owner}/{repo}/releases/download/..., the bytes     download.go
//
// deleted.go deletes releases, and keeps them for a while, in which they can be restored.
//
// payload.go is their JSON, store.go and storeasset.go the SQL. Tables: releases, release_assets; the
// files themselves are package file's.
//
// Invariants: a published release has a tag. One that is missing is made in the transaction that
// publishes, through the one door of refs; one whose tag is deleted becomes a draft again ([FollowPush]).
// Drafts and their assets are visible only with push access: to others they do not exist. At most one release
// of a repository is the latest, which is neither a draft nor a prerelease. Each change locks the
// repository's row first. Reactions survive when a release becomes a draft again, and
// while it is kept after its deletion. They are deleted with its row.
package release

import (
	"fmt"
	"log/slog"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// Resource is the name of releases in validation errors (decision 15).
const Resource = "Release"

// Bounds in code points. MaxBody is GitHub's, the others are ours.
const (
	MaxTag  = 255
	MaxName = 255
	MaxBody = 125_000
)

// Choice says whether a release is to be the latest: GitHub's make_latest.
type Choice uint8

// The choices, as they are stored.
const (
	MakeLatest Choice = iota + 1 // it is, once it is published
	KeepLatest                   // it is not
	Legacy                       // the newest is, by date and version
)

// choices are the names in requests; that of c is at c-1.
var choices = [...]string{"true", "false", "legacy"}

// String returns the name in requests.
func (c Choice) String() string { return choices[c-1] }

// Release is a row of the table releases.
type Release struct {
	ID          int64
	RepoID      repo.ID
	AuthorID    account.ID
	PublisherID account.ID // who published it last; of a draft its author
	Tag         string     // without refs/tags/
	Target      string     // a branch or a SHA: where a tag that is missing is made
	Name        *string
	Body        *string
	Draft       bool
	Prerelease  bool
	Choice      Choice
	Latest      bool
	CreatedAt   db.Time // the date of its commit
	PublishedAt db.Time // zero: never
	UpdatedAt   db.Time
	DeletedAt   db.Time // 0: it was not deleted
}

// mayBeLatest reports whether a release can be the latest. A release that is not there cannot.
func (r *Release) mayBeLatest() bool { return r != nil && !r.Draft && !r.Prerelease }

// untagged is what stands in addresses of a draft for its tag, which may be another release's.
func (r *Release) untagged() string { return fmt.Sprintf("%s%020x", untaggedPrefix, r.ID) }

const untaggedPrefix = "untagged-"

// addressTag is the tag in addresses.
func (r *Release) addressTag() string {
	if r.Draft {
		return r.untagged()
	}
	return r.Tag
}

// seesDrafts reports whether drafts exist for the caller.
func seesDrafts(a *repo.Access) bool { return a.Role >= account.Push }

// Forge is what else happens with releases, which other features have. Package forge implements it.
type Forge interface {
	// PublishRelease is called in the transaction that publishes a release for the first time.
	PublishRelease(tx *db.Tx, r *Release) error
}

// Service holds what the operations on releases share.
type Service struct {
	db       *db.DB
	repos    *repo.Service
	issues   *issue.Service
	files    *file.Store
	forge    Forge
	log      *slog.Logger
	For      time.Duration // how long deleted releases can be restored; 0: not at all
	MaxAsset int64         // the size of the largest asset in bytes; set before the service is used
}

// New returns a Service.
func New(
	d *db.DB, repos *repo.Service, issues *issue.Service, files *file.Store, forge Forge, log *slog.Logger,
) *Service {
	return &Service{db: d, repos: repos, issues: issues, files: files, forge: forge, log: log,
		MaxAsset: DefaultMaxAsset}
}

func invalid(field, code, message string) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: code, Message: message})
}
