package transport

import (
	"arbor/internal/git/serve"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints that git itself asks for.
func (api *API) Routes() []route.Route {
	contents := route.Needs(scope.PublicRepo, "contents")
	infoRefs := contents.Route(route.Pull, "GET /{owner}/{repo}/info/refs",
		api.s.WithGit(serviceRole, api.InfoRefs)).TakesSpace(route.SpaceBeforePush)
	fetch := route.Needs(scope.PublicRepo, "contents=read").Route(route.Pull,
		"POST /{owner}/{repo}/git-upload-pack", api.s.WithGit(fetching, api.UploadPack))
	fetch.Limit, fetch.Unpack = serve.MaxFetchRequest, unpack
	push := contents.Route(route.Push, "POST /{owner}/{repo}/git-receive-pack",
		api.s.WithGit(pushing, api.ReceivePack)).Streamed()
	return []route.Route{infoRefs.In(route.Git), fetch.TakesSpace(route.SpaceNever).OnArchived().In(route.Git),
		push.In(route.Git)}
}
