package release

import "arbor/internal/route"

// UploadPattern is where assets are uploaded to: clients of GitHub Enterprise ask for it under a prefix of
// its own.
const UploadPattern = "/repos/{owner}/{repo}/releases/{release_id}/assets"

// Routes are the endpoints of releases and their assets.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	upload := repos.Route(route.Push, "POST "+UploadPattern, api.Upload)
	upload.Streams = true
	asset := repos.Route(route.Pull, "GET /repos/{owner}/{repo}/releases/assets/{asset_id}", api.GetAsset)
	download := repos.Route(route.Pull, "GET /{owner}/{repo}/releases/download/{path...}", api.Download)
	latest := repos.Route(route.Pull, "GET /{owner}/{repo}/releases/latest/download/{name}",
		api.DownloadLatest)
	asset.AnyMedia, download.AnyMedia, latest.AnyMedia = true, true, true
	return []route.Route{
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/releases", api.List),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/releases", api.Create),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/releases/generate-notes", api.GenerateNotes),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/releases/latest", api.GetLatest),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/releases/tags/{tag...}", api.GetByTag),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/releases/{release_id}", api.Get),
		repos.Route(route.Push, "PATCH /repos/{owner}/{repo}/releases/{release_id}", api.Edit),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/releases/{release_id}", api.Delete),
		repos.Route(route.Pull, "GET "+UploadPattern, api.ListAssets),
		upload,
		asset,
		repos.Route(route.Push, "PATCH /repos/{owner}/{repo}/releases/assets/{asset_id}", api.EditAsset),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/releases/assets/{asset_id}", api.DeleteAsset),
		download,
		latest,
	}
}
