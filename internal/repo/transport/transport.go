// Package transport is git's own protocol to and from repositories:
//
//	/{owner}/{repo}/info/refs, git-upload-pack        fetch.go
//	/{owner}/{repo}/git-receive-pack                  push.go, results.go
//	rights to fetch and push over HTTP                http.go
//	pushes of those who maintain another repository   maintainer.go
//	the same on a connection, as over SSH             conversation.go
//	a history that the operator brings                import.go
package transport

import (
	"log/slog"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/git/serve"
	"arbor/internal/keyed"
	"arbor/internal/packs"
	"arbor/internal/repo"
)

// Maintainers knows of pull requests, which are above this package.
type Maintainers interface {
	// MaintainerBranches finds the branches to which the caller may push without push
	// access: those of open pull requests to repositories where the caller has it, if
	// their authors allow that (decision 49). With hold, that stays so until the
	// transaction, which writes, ends.
	MaintainerBranches(tx *db.Tx, a *repo.Access, hold bool) (map[string]bool, error)
}

// Service takes pushes and serves fetches.
type Service struct {
	db          *db.DB
	git         *git.Git
	log         *slog.Logger
	repos       *repo.Service
	maintainers Maintainers
	locks       keyed.Mutex[repo.ID] // by repository: from the check of a push to its commit

	// Shared has fetches share the work of git; nil: they do not. Set before the first fetch.
	Shared *serve.Shared
	// Bundles has clients download most of a clone from a depot. Set before the first fetch.
	Bundles *packs.Service
}

// New returns the service.
func New(d *db.DB, g *git.Git, log *slog.Logger, repos *repo.Service, m Maintainers) *Service {
	return &Service{db: d, git: g, log: log, repos: repos, maintainers: m}
}

// API answers git over HTTP.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }
