package issuekit

import (
	"net/http"

	"arbor/internal/repo"
	"arbor/internal/web"
)

// Addresses is where a repository's resources are for one request.
type Addresses struct {
	Info *web.Info
	API  string // the address of the repository in the API
	Page string // and of its page
}

// NewAddresses finds the addresses that the request is to be answered with.
func NewAddresses(info *web.Info, r *repo.Repo) *Addresses {
	return &Addresses{Info: info, API: info.API(web.Path("repos", r.Owner.Login, r.Name)),
		Page: info.Page(web.Path(r.Owner.Login, r.Name))}
}

// AddressesOf is the place of a request's repository.
func AddressesOf(r *http.Request, a *repo.Access) *Addresses {
	return NewAddresses(web.From(r.Context()), a.Repo)
}

// PageSegment is the part of an address that leads to the pages of issues or of pull
// requests; the number follows.
func PageSegment(pull bool) string {
	if pull {
		return "/pull/"
	}
	return "/issues/"
}

// Link is an address among the _links of a payload.
type Link struct {
	Href string `json:"href"`
}

// ReviewLinks are the _links of a review of a pull request.
type ReviewLinks struct {
	HTML Link `json:"html"`
	Pull Link `json:"pull_request"`
}
