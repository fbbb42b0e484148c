package gitdata

import (
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Routes returns the routes of Git objects, histories and files.
func (api *API) Routes() []route.Route {
	contents := api.s.repos.Router(route.Needs(scope.PublicRepo, "contents"))
	return []route.Route{
		contents.Pull("GET /repos/{owner}/{repo}/git/trees/{sha...}", api.GetTree),
		contents.Push("POST /repos/{owner}/{repo}/git/trees", api.CreateTree).WithLimit(web.MaxBlob),
		contents.Pull("GET /repos/{owner}/{repo}/git/blobs/{sha}", api.GetBlob),
		contents.Push("POST /repos/{owner}/{repo}/git/blobs", api.CreateBlob).WithLimit(web.MaxBlob),
		contents.Push("POST /repos/{owner}/{repo}/git/commits", api.CreateCommit),
		contents.Pull("GET /repos/{owner}/{repo}/git/commits/{sha}", api.GetGitCommit),
		contents.Pull("GET /repos/{owner}/{repo}/git/tags/{sha}", api.GetTag),
		contents.Push("POST /repos/{owner}/{repo}/git/tags", api.CreateTag),
		contents.Pull("GET /repos/{owner}/{repo}/git/ref/{ref...}", api.GetRef),
		contents.Pull("GET /repos/{owner}/{repo}/git/matching-refs/{ref...}", api.MatchingRefs),
		contents.Pull("GET /repos/{owner}/{repo}/git/refs", api.MatchingRefs),
		contents.Push("POST /repos/{owner}/{repo}/git/refs", api.CreateRef),
		contents.Pull("GET /repos/{owner}/{repo}/git/refs/{ref...}", api.GetRefs),
		contents.Push("PATCH /repos/{owner}/{repo}/git/refs/{ref...}", api.UpdateRef),
		contents.Push("DELETE /repos/{owner}/{repo}/git/refs/{ref...}", api.DeleteRef),

		contents.Pull("GET /repos/{owner}/{repo}/branches", api.ListBranches),
		contents.Pull("GET /repos/{owner}/{repo}/branches/{branch...}", api.GetBranch),
		contents.Push("POST /repos/{owner}/{repo}/branches/{branch...}/rename", api.RenameBranch), // the default: Admin
		contents.Pull("GET /repos/{owner}/{repo}/tags", api.ListTags),
		contents.Pull("GET /repos/{owner}/{repo}/commits", api.ListCommits),
		contents.Pull("GET /repos/{owner}/{repo}/commits/{sha}/branches-where-head", api.ListBranchesAt),
		contents.Pull("GET /repos/{owner}/{repo}/commits/{ref...}", api.GetCommit),
		contents.Pull("GET /repos/{owner}/{repo}/compare/{basehead...}", api.Compare),
		contents.Pull("GET /repos/{owner}/{repo}/contents", api.GetContents),
		contents.Pull("GET /repos/{owner}/{repo}/contents/{path...}", api.GetContents),
		contents.Push("PUT /repos/{owner}/{repo}/contents/{path...}", api.PutContents).WithLimit(web.MaxBlob),
		contents.Push("DELETE /repos/{owner}/{repo}/contents/{path...}", api.DeleteContents).TakesSpace(route.SpaceAlways),
		contents.Pull("GET /repos/{owner}/{repo}/readme", api.GetReadme),
		contents.Pull("GET /repos/{owner}/{repo}/readme/{dir...}", api.GetDirectoryReadme),
		contents.Pull("GET /repos/{owner}/{repo}/license", api.GetLicense),
		contents.Pull("GET /repos/{owner}/{repo}/contributors", api.ListContributors),
		contents.Pull("GET /repos/{owner}/{repo}/community/profile", api.GetCommunity),
		contents.Pull("GET /repos/{owner}/{repo}/tarball", api.GetTarball),
		contents.Pull("GET /repos/{owner}/{repo}/tarball/{ref...}", api.GetTarball),
		contents.Pull("GET /repos/{owner}/{repo}/zipball", api.GetZipball),
		contents.Pull("GET /repos/{owner}/{repo}/zipball/{ref...}", api.GetZipball),
		contents.Pull("GET /{owner}/{repo}/raw/{path...}", api.GetRaw).AsFile(),
		contents.Pull("GET /{owner}/{repo}/archive/{file...}", api.GetArchive).AsFile(),
	}
}
