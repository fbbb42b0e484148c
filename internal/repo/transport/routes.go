package transport

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/route"
)

// Routes are the endpoints that git itself asks for.
func (api *API) Routes() []route.Route {
	on := func(right route.Right, address string, role func(*http.Request) account.Role,
		h repo.Handler) route.Route {
		return route.New(right, address, api.s.withGit(role, h)).In(route.Git)
	}
	infoRefs := on(route.Pull, "GET /{owner}/{repo}/info/refs", serviceRole, api.InfoRefs)
	fetch := on(route.Pull, "POST /{owner}/{repo}/git-upload-pack", fetching, api.UploadPack)
	fetch.Limit, fetch.Unpack = git.MaxFetchRequest, unpack
	push := on(route.Push, "POST /{owner}/{repo}/git-receive-pack", pushing, api.ReceivePack)
	push.Streams = true
	return []route.Route{infoRefs, fetch, push}
}
