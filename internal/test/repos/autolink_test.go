package repos_test

import (
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// A team with another tracker finds its tickets linked in what it writes, in this repository and for as long as the
// autolink is there.
func TestAutolinks(t *testing.T) {
	t.Parallel()
	const at = "/repos/alice/plot"
	full := map[string]string{"Accept": "application/vnd.github.full+json"}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "will")
		r := s.Repo(t, "alice/plot", false)
		s.Grant(t, r, "will", account.Push)
		s.Import(t, r, gittest.Repository(t, 1, 1))
		s.Repo(t, "alice/other", false)
		create := func(name, send string, status int, want string) apitest.Case {
			return apitest.Case{Name: name, Do: "POST " + at + "/autolinks", As: "alice", Send: send, Status: status, Want: want}
		}
		shows := func(path, html string) apitest.Case {
			return apitest.Case{Do: "GET " + path, Headers: full, Status: 200, Want: `{"body_html": "` + html + `"}`}
		}
		const text = `{"title": "t", "body": "See BED-7b and #1."}`
		s.Run(t, []apitest.Case{
			{Do: "POST " + at + "/issues", As: "will", Send: text, Status: 201},
			{Do: "POST /repos/alice/other/issues", As: "alice", Send: `{"title": "t", "body": "See BED-7b"}`, Status: 201},
			{Do: "GET " + at + "/issues/1", Headers: full, Status: 200},
			{Name: "for administrators", Do: "GET " + at + "/autolinks", As: "will", Status: 403},
			{Do: "POST " + at + "/autolinks", As: "will", Send: `{}`, Status: 403},
			{Do: "GET " + at + "/autolinks", Status: 403},
			create("nothing", `{}`, 422, `{"errors": [{"field": "key_prefix"}, {"field": "url_template"}]}`),
			create("no num", `{"key_prefix": "BED-", "url_template": "https://b.example/"}`, 422, `{"errors": [{"field": "url_template"}]}`),
			create("script", `{"key_prefix": "BED-", "url_template": "javascript:<num>"}`, 422, ``),
			create("a host", `{"key_prefix": "BED-", "url_template": "https:///<num>"}`, 422, ``),
			create("bad prefix", `{"key_prefix": "BED ", "url_template": "https://b.example/<num>"}`, 422, ``),
			create("one", `{"key_prefix": "BED-", "url_template": "https://b.example/?q=<num>"}`, 201,
				`{"id": 1, "key_prefix": "BED-", "url_template": "https://b.example/?q=<num>", "is_alphanumeric": true}`),
			create("again", `{"key_prefix": "bed-", "url_template": "https://b.example/<num>"}`, 422,
				`{"errors": [{"resource": "KeyLink", "field": "key_prefix", "code": "already_exists"}]}`),
			create("within it", `{"key_prefix": "BED-X", "url_template": "https://b.example/<num>"}`, 422, ``),
			create("around it", `{"key_prefix": "B", "url_template": "https://b.example/<num>"}`, 422, ``),
			create("digits", `{"key_prefix": "ROW", "url_template": "https://r.example/<num>", "is_alphanumeric": false}`, 201, `{"id": 2}`),
			{Do: "GET " + at + "/autolinks", As: "alice", Status: 200, Want: `[{"id": 1}, {"id": 2, "is_alphanumeric": false}]`},
			{Do: "GET " + at + "/autolinks/2", As: "alice", Status: 200, Want: `{"key_prefix": "ROW"}`},
			{Do: "GET " + at + "/autolinks/3", As: "alice", Status: 404},
			{Do: "GET /repos/alice/other/autolinks/2", As: "alice", Status: 404},

			shows(at+"/issues/1", `<p>See <a href=\"https://b.example/?q=7b\" rel=\"nofollow\">BED-7b</a> and `+
				`<a class=\"issue-link\" href=\"{base}/alice/plot/issues/1\" title=\"t\">#1</a>.</p>`),
			{Name: "elsewhere", Do: "GET /repos/alice/other/issues/1", Headers: full, Status: 200, Want: `{"body_html": "<p>See BED-7b</p>"}`},
			{Do: "PUT " + at + "/contents/x", As: "will", Status: 201, Send: `{"message": "Add\n\nFor <BED-9>", "content": "eA=="}`},
			{Do: "PATCH " + at, As: "alice", Send: `{"name": "bed"}`, Status: 200},
			{Do: "DELETE /repos/alice/bed/autolinks/1", As: "will", Status: 403},
		})
		s.Visit(t, "", "GET /alice/bed/commit/"+s.Tip(t, "", "alice/bed", "main")).
			Shows(t, 200, `For &lt;<a href="https://b.example/?q=9" rel="nofollow">BED-9</a>&gt;`)
		s.Run(t, []apitest.Case{
			{Do: "DELETE /repos/alice/bed/autolinks/1", As: "alice", Status: 204},
			{Do: "DELETE /repos/alice/bed/autolinks/1", As: "alice", Status: 404},
			{Name: "no longer", Do: "GET /repos/alice/other/issues/1", Headers: full, Status: 200},
			{Do: "GET /repos/alice/bed/issues/1", Headers: full, Status: 200, Want: `{"body_html": "<p>See BED-7b and <a class=\"issue-link\" href=\"{base}/alice/bed/issues/1\" title=\"t\">#1</a>.</p>"}`},
			{Do: "DELETE /repos/alice/bed", As: "alice", Status: 204},
		})
	})
}
