// Package list shows repositories, one and many:
//
//	service.go   lists of repositories by owner and by affiliation
//	GET /repos/{owner}/{repo}, /repositories/{repository_id}   one.go
//	GET /user/repos, /users/{username}/repos, ...              api.go
//
// store.go has the one query of all lists. A list of one owner costs as much as its page
// and not as much as the owner has (owner.go).
package list

import (
	"arbor/internal/db"
	"arbor/internal/repo"
)

// API answers the requests for repositories.
type API struct {
	*Service
	repos *repo.Service
}

// NewAPI returns the handlers.
func NewAPI(d *db.DB, repos *repo.Service) *API { return &API{New(d), repos} }
