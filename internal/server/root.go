package server

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/web"
)

// GET /
//
// Root returns the root document of the API, which links to the rest. At the site's own address a browser
// gets a page. Error: 415 for other clients that do not accept JSON.
func (s *Server) Root(w http.ResponseWriter, r *http.Request) error {
	i := web.From(r.Context())
	if isPage(r, i) {
		return s.home(w, r)
	}
	if err := acceptsJSON(i); err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, struct {
		CurrentUser      string `json:"current_user_url"`
		CurrentUserRepos string `json:"current_user_repositories_url"`
		CurrentUserOrgs  string `json:"current_user_organizations_url"`
		Events           string `json:"events_url"`
		Followers        string `json:"followers_url"`
		Following        string `json:"following_url"`
		CodeSearch       string `json:"code_search_url"`
		CommitSearch     string `json:"commit_search_url"`
		IssueSearch      string `json:"issue_search_url"`
		RepositorySearch string `json:"repository_search_url"`
		UserSearch       string `json:"user_search_url"`
		Issues           string `json:"issues_url"`
		Organization     string `json:"organization_url"`
		OrganizationRepo string `json:"organization_repositories_url"`
		Plants           string `json:"plants_url"`
		RateLimit        string `json:"rate_limit_url"`
		Repository       string `json:"repository_url"`
		Starred          string `json:"starred_url"`
		User             string `json:"user_url"`
		UserOrgs         string `json:"user_organizations_url"`
		UserRepos        string `json:"user_repositories_url"`
		Documentation    string `json:"documentation_url"`
		OpenAPI          string `json:"openapi_url"`
	}{
		CurrentUser: i.API("/user"), CurrentUserRepos: i.API("/user/repos{?type,page,per_page,sort}"),
		CurrentUserOrgs: i.API("/user/orgs"), Events: i.API("/events"), Followers: i.API("/user/followers"),
		Following: i.API("/user/following{/target}"), Issues: i.API("/issues"),
		CodeSearch:       i.API("/search/code?q={query}{&page,per_page,sort,order}"),
		CommitSearch:     i.API("/search/commits?q={query}{&page,per_page,sort,order}"),
		IssueSearch:      i.API("/search/issues?q={query}{&page,per_page,sort,order}"),
		RepositorySearch: i.API("/search/repositories?q={query}{&page,per_page,sort,order}"),
		UserSearch:       i.API("/search/users?q={query}{&page,per_page,sort,order}"),
		Organization:     i.API("/orgs/{org}"),
		OrganizationRepo: i.API("/orgs/{org}/repos{?type,page,per_page,sort}"),
		Plants:           i.Page("/plants{?limit}"),
		RateLimit:        i.API(rateLimitPath), Repository: i.API("/repos/{owner}/{repo}"),
		Starred: i.API("/user/starred{/owner}{/repo}"), User: i.API("/users/{user}"),
		UserOrgs:      i.API("/users/{user}/orgs"),
		UserRepos:     i.API("/users/{user}/repos{?type,page,per_page,sort}"),
		Documentation: i.Page("/docs"), OpenAPI: i.Page("/openapi/code-hosting.json"),
	})
}

const rateLimitPath = "/rate_limit"

// unlimited is the limit reported by a server without limits, because clients expect a number.
const unlimited = 1_000_000_000

// GET /rate_limit
//
// RateLimit returns how many requests the caller has left in this hour. It is free, and also answers if
// there are no limits (decision 21).
func (s *Server) RateLimit(w http.ResponseWriter, r *http.Request) error {
	type rate struct {
		Limit     int64 `json:"limit"`
		Remaining int64 `json:"remaining"`
		Reset     int64 `json:"reset"`
		Used      int64 `json:"used"`
	}
	caller := account.CallerFrom(r.Context())
	remaining, reset := s.limiter.Left(r, caller)
	core := rate{Limit: s.limiter.Limit(), Remaining: max(0, remaining), Reset: reset.Unix()}
	if s.limiter.Limit() <= 0 {
		core = rate{Limit: unlimited, Remaining: unlimited, Reset: reset.Unix()}
	}
	core.Used = core.Limit - core.Remaining
	return web.JSON(w, r, http.StatusOK, map[string]any{
		"resources": map[string]rate{"core": core, "search": core, "code_search": core, "graphql": core},
		"rate":      core,
	})
}
