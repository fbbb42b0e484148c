package release

import (
	"arbor/internal/reaction"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of releases, their assets and reactions to them.
func (api *API) Routes() []route.Route {
	contents := api.s.repos.Router(route.Needs(scope.PublicRepo, "contents"))
	routes := []route.Route{
		contents.Pull("GET /repos/{owner}/{repo}/releases", api.List),
		contents.Push("POST /repos/{owner}/{repo}/releases", api.Create),
		contents.Push("POST /repos/{owner}/{repo}/releases/generate-notes", api.GenerateNotes),
		contents.Pull("GET /repos/{owner}/{repo}/releases/latest", api.GetLatest),
		contents.Pull("GET /repos/{owner}/{repo}/releases/tags/{tag...}", api.GetByTag),
		contents.Pull("GET /repos/{owner}/{repo}/releases/{release_id}", api.Get),
		contents.Push("PATCH /repos/{owner}/{repo}/releases/{release_id}", api.Edit),
		contents.Push("DELETE /repos/{owner}/{repo}/releases/{release_id}", api.Delete),
		contents.Pull("GET /repos/{owner}/{repo}/releases/{release_id}/assets", api.ListAssets),
		// Clients of GitHub Enterprise upload below a prefix of its own, /api/uploads.
		contents.Push("POST /repos/{owner}/{repo}/releases/{release_id}/assets", api.Upload).Streamed(),
		contents.Pull("GET /repos/{owner}/{repo}/releases/assets/{asset_id}", api.GetAsset).InAnyMedia(),
		contents.Push("PATCH /repos/{owner}/{repo}/releases/assets/{asset_id}", api.EditAsset),
		contents.Push("DELETE /repos/{owner}/{repo}/releases/assets/{asset_id}", api.DeleteAsset),
		contents.Pull("GET /{owner}/{repo}/releases/download/{path...}", api.Download).AsFile(),
		contents.Pull("GET /{owner}/{repo}/releases/latest/download/{name}", api.DownloadLatest).AsFile(),
	}
	reactions := reaction.NewAPI(api.s.db, api.subject)
	return append(routes, reactions.Routes(contents, "/repos/{owner}/{repo}/releases/{release_id}")...)
}
