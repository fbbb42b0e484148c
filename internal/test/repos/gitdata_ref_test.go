package repos_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// Refs over HTTP follow the rules of a push: nothing is lost without force,
// nothing that is not whole becomes reachable, and nobody writes refs/pull.
func TestRefs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		r := s.Repo(t, "alice/zoo", false)
		s.Import(t, r, zoo(t))
		s.Grant(t, r, "bob", account.Pull)
		dir := zoo(t)
		tree, tip := gittest.Run(t, dir, "rev-parse", "main^{tree}"), gittest.Run(t, dir, "rev-parse", "main")
		const at = "/repos/alice/zoo/git"
		commit := func(parents string) string {
			return gitdataSent(t, s, at+"/commits",
				`{"message": "next", "tree": "`+tree+`", "parents": [`+parents+`]}`, "sha")
		}
		next, alone := commit(`"`+tip+`"`), commit("")
		later := commit(`"` + commit(`"`+next+`"`) + `"`)
		body := func(name, sha string) string { return `{"ref": "` + name + `", "sha": "` + sha + `"}` }
		create := func(name, ref, sha, message string) apitest.Case {
			return apitest.Case{Name: name, Do: "POST " + at + "/refs", As: "alice", Send: body(ref, sha),
				Status: 422, Want: `{"message": "` + message + `"}`}
		}
		update := func(name, ref, send string, status int, want string) apitest.Case {
			return apitest.Case{Name: name, Do: "PATCH " + at + "/refs/" + ref, As: "alice", Send: send,
				Status: status, Want: want}
		}
		remove := func(name, ref string, status int, want string) apitest.Case {
			return apitest.Case{Name: name, Do: "DELETE " + at + "/refs/" + ref, As: "alice",
				Status: status, Want: want}
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + at + "/ref/heads/main", Status: 200,
				Want: `{"ref": "refs/heads/main", "object": {"type": "commit", "sha": "` + tip + `"}}`},
			{Do: "GET " + at + "/ref/refs/heads/main", Status: 200, Want: `{"ref": "refs/heads/main"}`},
			{Do: "GET " + at + "/ref/heads/mai", Status: 404},
			{Do: "GET " + at + "/ref/tags/v1", Status: 200, Want: `{"object": {"type": "tag"}}`},
			{Do: "GET " + at + "/ref/tags/light", Status: 200, Want: `{"object": {"type": "commit"}}`},
			{Do: "GET " + at + "/ref/heads/feature%2Fx", Status: 200,
				Want: `{"ref": "refs/heads/feature/x", "url": "{base}` + at + `/refs/heads/feature/x"}`},
			{Do: "GET " + at + "/refs/heads/feature", Status: 200, Want: `[{"ref": "refs/heads/feature/x"}]`},
			{Do: "GET " + at + "/refs/heads/main", Status: 200, Want: `{"ref": "refs/heads/main"}`},
			{Do: "GET " + at + "/refs/heads/none", Status: 404},
			{Do: "GET " + at + "/refs/heads", Status: 200,
				Want: `[{"ref": "refs/heads/feature/x"}, {"ref": "refs/heads/main"}]`},
			{Do: "GET " + at + "/matching-refs/heads/m", Status: 200, Want: `[{"ref": "refs/heads/main"}]`},
			{Do: "GET " + at + "/matching-refs/none", Status: 200, Body: `[]`},
			{Do: "GET " + at + "/refs?per_page=3", Status: 200, Want: `[{}, {}, {}]`,
				Has: map[string]string{"Link": `<{base}` + at +
					`/refs?per_page=3&page=2>; rel="next", <{base}` + at +
					`/refs?per_page=3&page=2>; rel="last"`}},
			{Do: "GET " + at + "/refs?per_page=3&page=9", Status: 200, Body: `[]`},

			create("not below refs", "heads/x", tip,
				"Reference name must start with 'refs/' and contain at least two slashes."),
			create("one slash", "refs/x", tip,
				"Reference name must start with 'refs/' and contain at least two slashes."),
			create("a SHA", "refs/heads/"+tip, tip, "$any"),
			create("bad name", "refs/heads/a..b", tip, "$any"),
			create("an option", "--delete", tip, "$any"),
			create("pull", "refs/pull/1/head", tip, "refs/pull/* is read-only"),
			create("exists", "refs/heads/main", tip, "Reference already exists"),
			create("in the way", "refs/heads/main/x", tip, "$any"),
			create("missing", "refs/heads/y", strings.Repeat("a", 40), "Object does not exist"),
			create("branch of a tree", "refs/heads/y", tree, "$any"),
			{Name: "no sha", Do: "POST " + at + "/refs", As: "alice", Send: `{"ref": "refs/heads/y"}`,
				Status: 422, Want: `{"errors": [{"resource": "Reference", "field": "sha", "code": "missing_field"}]}`},
			{Name: "short sha", Do: "POST " + at + "/refs", As: "alice", Send: body("refs/heads/y", tip[:9]),
				Status: 422, Want: `{"errors": [{"field": "sha", "code": "invalid"}]}`},
			{Name: "readers cannot", Do: "POST " + at + "/refs", As: "bob", Send: body("refs/heads/y", tip),
				Status: 403},
			{Name: "tag of a tree", Do: "POST " + at + "/refs", As: "alice",
				Send: body("refs/tags/tree", tree), Status: 201, Want: `{"object": {"type": "tree"}}`},

			update("forward", "heads/main", `{"sha": "`+next+`"}`, 200, `{"object": {"sha": "`+next+`"}}`),
			update("again", "heads/main", `{"sha": "`+next+`"}`, 200, `{"object": {"sha": "`+next+`"}}`),
			update("forward by two", "heads/main", `{"sha": "`+later+`"}`, 200,
				`{"object": {"sha": "`+later+`"}}`),
			update("back", "heads/main", `{"sha": "`+tip+`"}`, 422,
				`{"message": "Update is not a fast forward"}`),
			update("unrelated", "heads/main", `{"sha": "`+alone+`", "force": false}`, 422,
				`{"message": "Update is not a fast forward"}`),
			update("forced", "heads/main", `{"sha": "`+alone+`", "force": true}`, 200,
				`{"object": {"sha": "`+alone+`"}}`),
			update("no such ref", "heads/none", `{"sha": "`+tip+`"}`, 422,
				`{"message": "Reference does not exist"}`),
			update("pull", "pull/1/head", `{"sha": "`+tip+`"}`, 422,
				`{"message": "refs/pull/* is read-only"}`),
			update("to a tree", "heads/main", `{"sha": "`+tree+`", "force": true}`, 422,
				`{"message": "$any"}`),
			update("force of another type", "heads/main", `{"sha": "`+tip+`", "force": "yes"}`, 422,
				`{"errors": [{"field": "force", "code": "invalid"}]}`),
			update("a tag, forward", "tags/light", `{"sha": "`+next+`"}`, 200,
				`{"object": {"sha": "`+next+`"}}`),
			update("an annotated tag", "tags/v1", `{"sha": "`+next+`"}`, 422,
				`{"message": "Update is not a fast forward"}`),

			update("NUL", "heads/a%00b", `{"sha": "`+tip+`"}`, 404, `{"message": "Not Found"}`),
			update("not UTF-8", "heads/%ff", `{"sha": "`+tip+`"}`, 404, `{"message": "Not Found"}`),
			update("no name", "", `{"sha": "`+tip+`"}`, 422, `{"message": "Reference does not exist"}`),
			remove("NUL in a name", "heads/a%00b", 404, `{"message": "Not Found"}`),
			{Name: "NUL read", Do: "GET " + at + "/ref/heads/a%00b", Status: 404},
			{Name: "not UTF-8 matched", Do: "GET " + at + "/matching-refs/heads/%ff", Status: 404},
			create("NUL in a new name", `refs/heads/a\u0000b`, tip, "$any"),
			remove("default branch", "heads/main", 422,
				`{"message": "refusing to delete the default branch"}`),
			remove("not there", "heads/none", 422, `{"message": "Reference does not exist"}`),
			remove("branch", "heads/feature/x", 204, ""),
			remove("tag", "tags/light", 204, ""),
			{Do: "GET " + at + "/ref/tags/light", Status: 404},
		})
		// A pack may contain a commit without its tree.
		broken := gittest.Object(t, s.Objects(t, r.ID).Dir(), "commit",
			"tree "+strings.Repeat("b", 40)+"\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nm\n")
		s.Check(t, create("leads nowhere", "refs/heads/y", string(broken), "$any"))
	})
}

// A repository without a commit has no Git data (decision 16), and a repository
// that one cannot see has none either.
func TestNoGitData(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/empty", false)
		s.Repo(t, "alice/secret", true)
		sha := strings.Repeat("a", 40)
		for _, do := range []string{"GET git/blobs/" + sha, "POST git/blobs", "POST git/trees",
			"POST git/commits", "POST git/tags", "GET git/tags/" + sha, "GET git/refs",
			"GET git/refs/heads/main", "GET git/ref/heads/main", "GET git/matching-refs/heads",
			"POST git/refs", "PATCH git/refs/heads/main", "DELETE git/refs/heads/main"} {
			method, path, _ := strings.Cut(do, " ")
			s.Check(t, apitest.Case{Do: method + " /repos/alice/empty/" + path, As: "alice", Send: "{}",
				Status: 409, Want: `{"message": "Git Repository is empty."}`})
			s.Check(t, apitest.Case{Do: method + " /repos/alice/secret/" + path, As: "bob", Send: "{}",
				Status: 404, Want: `{"message": "Not Found"}`})
		}
	})
}

// A program that asks for an address below a commit or a branch gets a 404 for that address. If the answer
// said that the commit or the branch is missing, the program would give up.
func TestAddressesBelowNames(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		var made struct{ Commit struct{ SHA string } }
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice", Status: 201,
			Send: `{"message": "m", "content": "YQ=="}`}).JSON(t, &made)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "alice", Status: 201,
			Send: `{"ref": "refs/heads/beds/east", "sha": "` + made.Commit.SHA + `"}`})
		const none = "Not Found: this server does not have GET /repos/{owner}/{repo}/"
		for address, want := range map[string]string{
			"commits/main/what-is-not-there":           none + "commits/{ref}/what-is-not-there",
			"commits/main/what/is-not-there":           none + "commits/{ref}/what/is-not-there",
			"commits/HEAD/what-is-not-there":           none + "commits/{ref}/what-is-not-there",
			"commits/" + made.Commit.SHA + "/pictures": none + "commits/{ref}/pictures",
			"commits/beds/east/pictures":               none + "commits/{ref}/pictures",
			"commits/beds%2Feast/pictures":             none + "commits/{ref}/pictures",
			"branches/main/what-is-not-there":          none + "branches/{branch}/what-is-not-there",
			"branches/beds/east/what-is-not-there":     none + "branches/{branch}/what-is-not-there",
			"branches/none/what-is-not-there":          "Branch not found",
			"branches/main%2Fwhat":                     "Branch not found",
		} {
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/" + address, Status: 404,
				Want: `{"message": "` + want + `"}`})
			s.Check(t, apitest.Case{Do: "GET /api/v3/repos/alice/garden/" + address, Status: 404,
				Want: `{"message": "` + want + `"}`})
		}
		for _, address := range []string{"commits/none/what", "commits/main%2Fwhat"} {
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/" + address, Status: 422})
		}
		for _, address := range []string{"commits/beds/east", "branches/beds/east", "commits/beds%2Feast"} {
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/" + address, Status: 200})
		}
	})
}
