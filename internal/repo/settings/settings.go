// Package settings holds what people do to a repository as a whole:
//
//	POST /user/repos, POST /orgs/{org}/repos          api.go, create.go
//	PATCH, DELETE /repos/{owner}/{repo}               api.go, edit.go, visibility.go
//	GET, PUT /repos/{owner}/{repo}/topics             topics.go
//	POST /repos/{owner}/{repo}/transfer               transfer.go
//	.../keys: deploy keys                             deploykey.go
//	GET /gitignore/templates, .../{name}              gitignore.go
//
// What cannot be set, but is in GitHub's bodies, is in fixed.go; what the audit log says of an
// edit, in audit.go. Other features follow by [Forge].
package settings

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// Forge is what happens to repositories and, in the same transaction, to other features, as
// [repo.Forge]. The caller has locked the repository's row. The steps in this package are
// exported for package forge alone: [SetVisibility], [SetOwner], [FollowOwner].
type Forge interface {
	// Edit follows a change of what people set of a repository.
	Edit(tx *db.Tx, before, after *repo.Repo, by account.ID) error
	// ChangeVisibility shows a private repository to everyone, or hides a public one.
	ChangeVisibility(tx *db.Tx, r *repo.Repo, by account.ID) error
	// Transfer transfers the repository to another owner.
	Transfer(tx *db.Tx, r *repo.Repo, h Handover, by account.ID) error
	// Delete removes the repository.
	Delete(tx *db.Tx, r *repo.Repo, by account.ID) error
}

// Service changes, hands over and deletes repositories.
type Service struct {
	db    *db.DB
	repos *repo.Service
	forge Forge
}

// New returns the service.
func New(d *db.DB, repos *repo.Service, forge Forge) *Service {
	return &Service{db: d, repos: repos, forge: forge}
}

// API answers the requests about it.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }
