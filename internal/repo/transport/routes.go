package transport

import (
	"net/http"

	"arbor/internal/git"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Routes are the endpoints that git itself asks for.
func (api *API) Routes() []route.Route {
	contents := route.Needs(scope.PublicRepo, "contents")
	infoRefs := contents.Route(route.Pull, "GET /{owner}/{repo}/info/refs",
		api.s.withGit(serviceRole, api.InfoRefs))
	infoRefs.Space = announcesPush
	fetch := route.Needs(scope.PublicRepo, "contents=read").Route(route.Pull,
		"POST /{owner}/{repo}/git-upload-pack", api.s.withGit(fetching, api.UploadPack))
	fetch.Limit, fetch.Unpack = git.MaxFetchRequest, unpack
	push := contents.Route(route.Push, "POST /{owner}/{repo}/git-receive-pack",
		api.s.withGit(pushing, api.ReceivePack)).Streamed()
	return []route.Route{infoRefs.In(route.Git), fetch.TakesSpace(false).OnArchived().In(route.Git),
		push.In(route.Git)}
}

// announcesPush reports the request that git makes before a push. On a full disk git shows its answer to people.
func announcesPush(r *http.Request) bool { return web.QueryOf(r).Get("service") == "git-receive-pack" }
