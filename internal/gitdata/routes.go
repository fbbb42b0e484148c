package gitdata

import (
	"arbor/internal/route"
	"arbor/internal/web"
)

// Routes are the endpoints of Git's objects, histories and files.
func (api *API) Routes() []route.Route {
	repos := api.repos
	return []route.Route{
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/git/trees/{sha...}", api.GetTree),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/git/trees",
			api.CreateTree).WithLimit(web.MaxBlob),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/git/blobs/{sha}", api.GetBlob),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/git/blobs",
			api.CreateBlob).WithLimit(web.MaxBlob),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/git/commits", api.CreateCommit),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/git/commits/{sha}", api.GetGitCommit),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/git/tags/{sha}", api.GetTag),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/git/tags", api.CreateTag),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/git/ref/{ref...}", api.GetRef),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/git/matching-refs/{ref...}", api.MatchingRefs),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/git/refs", api.MatchingRefs),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/git/refs", api.CreateRef),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/git/refs/{ref...}", api.GetRefs),
		repos.Route(route.Push, "PATCH /repos/{owner}/{repo}/git/refs/{ref...}", api.UpdateRef),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/git/refs/{ref...}", api.DeleteRef),

		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/branches", api.ListBranches),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/branches/{branch...}", api.GetBranch),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/tags", api.ListTags),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/commits", api.ListCommits),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/commits/{sha}/branches-where-head",
			api.ListBranchesAt),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/commits/{ref...}", api.GetCommit),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/compare/{basehead...}", api.Compare),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/contents", api.GetContents),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/contents/{path...}", api.GetContents),
		repos.Route(route.Push, "PUT /repos/{owner}/{repo}/contents/{path...}",
			api.PutContents).WithLimit(web.MaxBlob),
		repos.Route(route.Push, "DELETE /repos/{owner}/{repo}/contents/{path...}", api.DeleteContents),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/readme", api.GetReadme),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/readme/{dir...}", api.GetDirectoryReadme),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/license", api.GetLicense),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/contributors", api.ListContributors),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/tarball", api.GetTarball),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/tarball/{ref...}", api.GetTarball),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/zipball", api.GetZipball),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/zipball/{ref...}", api.GetZipball),
		repos.Route(route.Pull, "GET /{owner}/{repo}/raw/{path...}", api.GetRaw).InAnyMedia(),
		repos.Route(route.Pull, "GET /{owner}/{repo}/archive/{file...}", api.GetArchive).InAnyMedia(),
	}
}
