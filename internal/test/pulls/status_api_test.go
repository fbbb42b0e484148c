package pulls_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/status"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// What a build says of a commit is found again under each name of the commit,
// and all builds together come to one word.
func TestStatuses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plot(t, s)
		to, at := "POST /repos/alice/plot/statuses/"+sha, "{base}/repos/alice/plot/commits/"+sha
		s.Run(t, []apitest.Case{
			{Name: "none yet", Do: "GET /repos/alice/plot/commits/main/status", Status: 200,
				Want: `{"state": "pending", "statuses": [], "total_count": 0, "sha": "` + sha +
					`", "url": "` + at + `/status", "commit_url": "` + at +
					`", "repository": {"full_name": "alice/plot"}}`},
			{Do: "GET /repos/alice/plot/commits/main/statuses", Status: 200, Body: "[]"},
			{Do: to, As: "will", Status: 201,
				Send: `{"state": "pending", "target_url": "https://ci.example.org/1", "description": "Waits", "context": "CI/Build"}`,
				Has:  map[string]string{"Location": "{base}/repos/alice/plot/statuses/" + sha},
				Want: `{"url": "{base}/repos/alice/plot/statuses/` + sha +
					`", "state": "pending", "target_url": "https://ci.example.org/1", "description": "Waits",
					"context": "CI/Build", "creator": {"login": "will"}, "avatar_url": "$any", "id": "$any", "node_id": "$any", "created_at": "$any", "updated_at": "$any"}`},
			{Do: "GET /repos/alice/plot/commits/main/status", Status: 200,
				Want: `{"state": "pending", "total_count": 1, "statuses": [{"context": "CI/Build", "creator": "$absent", "avatar_url": "$any"}]}`},
			{Name: "done", Do: to, As: "will", Status: 201,
				Send: `{"state": "success", "context": "ci/build"}`,
				Want: `{"target_url": null, "description": null}`},
			{Name: "the later one of a context counts, whatever its case",
				Do: "GET /repos/alice/plot/commits/main/status", Status: 200,
				Want: `{"state": "success", "total_count": 1, "statuses": [{"context": "ci/build", "state": "success"}]}`},
			{Name: "another context, the default one", Do: to, As: "alice", Status: 201,
				Send: `{"state": "error", "context": "", "target_url": "", "description": ""}`,
				Want: `{"context": "default", "target_url": null, "description": null, "creator": {"login": "alice"}}`},
			{Name: "an error is a failure of all",
				Do: "GET /repos/alice/plot/commits/" + sha[:8] + "/status", Status: 200,
				Want: `{"state": "failure", "total_count": 2, "statuses": [{"context": "ci/build"}, {"context": "default", "state": "error"}]}`},
			{Name: "the default one again", Do: to, As: "alice", Status: 201, Send: `{"state": "success"}`},
			{Do: "GET /repos/alice/plot/commits/heads/main/status", Status: 200,
				Want: `{"state": "success", "total_count": 2}`},
			{Name: "failed, and pending: failed", Do: to, As: "will", Status: 201,
				Send: `{"state": "failure", "context": "x"}`},
			{Do: to, As: "will", Status: 201, Send: `{"state": "pending", "context": "y"}`},
			{Do: "GET /repos/alice/plot/commits/main/status", Status: 200,
				Want: `{"state": "failure", "total_count": 4}`},
			{Name: "all that was told, the newest first", Do: "GET /repos/alice/plot/statuses/main",
				Status: 200, Want: `[{"context": "y"}, {"context": "x"},
				{"context": "default", "state": "success"}, {"context": "default", "state": "error"}, {"context": "ci/build"}, {"context": "CI/Build", "creator": {"login": "will"}}]`},
			{Name: "a page", Do: "GET /repos/alice/plot/commits/main/statuses?per_page=2&page=2", Status: 200,
				Want: `[{"state": "success"}, {"state": "error"}]`, Has: map[string]string{
					"Link": `<{base}/repos/alice/plot/commits/main/statuses?per_page=2&page=3>; rel="next", <{base}/repos/alice/plot/commits/main/statuses?per_page=2&page=3>; rel="last", ` +
						`<{base}/repos/alice/plot/commits/main/statuses?per_page=2&page=1>; rel="first", <{base}/repos/alice/plot/commits/main/statuses?per_page=2&page=1>; rel="prev"`}},
			{Name: "past the end", Do: "GET /repos/alice/plot/commits/main/statuses?page=9",
				Status: 200, Body: "[]"},
			{Name: "a page of contexts", Do: "GET /repos/alice/plot/commits/main/status?per_page=1&page=4",
				Status: 200, Want: `{"state": "failure", "total_count": 4, "statuses": [{"context": "y"}]}`},
			{Name: "another commit has none of these", Do: "GET /repos/alice/plot/commits?per_page=1&page=2",
				Status: 200, Keep: func(a *apitest.Answer) {
					var list []struct{ SHA string }
					a.JSON(t, &list)
					s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/commits/" + list[0].SHA + "/status",
						Status: 200, Want: `{"state": "pending", "total_count": 0}`})
				}},
		})
	})
}

// A branch may have any name that git takes, also one that reads like an
// address.
func TestStatusesOfRefsWithSlashes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plot(t, s)
		s.Ask(t, "will", "POST /repos/alice/plot/statuses/"+sha, `{"state": "success"}`, 201)
		for _, branch := range []string{"feature/beds/east", "fix/status", "fix/statuses/x", "help--"} {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/git/refs", As: "will", Status: 201,
				Send: `{"ref": "refs/heads/` + branch + `", "sha": "` + sha + `"}`})
			escaped := strings.ReplaceAll(branch, "/", "%2F")
			for _, name := range []string{branch, escaped} {
				s.Run(t, []apitest.Case{
					{Do: "GET /repos/alice/plot/commits/" + name + "/status", Status: 200,
						Want: `{"sha": "` + sha + `", "state": "success"}`},
					{Do: "GET /repos/alice/plot/commits/" + name + "/statuses", Status: 200,
						Want: `[{"state": "success"}]`},
					{Do: "GET /repos/alice/plot/statuses/" + name, Status: 200,
						Want: `[{"state": "success"}]`},
				})
			}
			s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/commits/" + escaped, Status: 200,
				Want: `{"sha": "` + sha + `", "commit": {"author": "$any"}}`})
		}
	})
}

// Wrong statuses are refused, and the answer says what is wrong.
func TestBadStatuses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plot(t, s)
		to := "POST /repos/alice/plot/statuses/" + sha
		wrong := func(field, code string) string {
			return `{"message": "$any", "documentation_url": "$any", "errors": [{"resource": "Status", "field": "` + field + `", "code": "` + code + `"}]}`
		}
		for _, c := range []struct{ send, field, code string }{
			{`{}`, "state", "missing_field"},
			{`{"state": null}`, "state", "missing_field"},
			{`{"state": ""}`, "state", "missing_field"},
			{`{"state": "Success"}`, "state", "invalid"},
			{`{"state": "done"}`, "state", "invalid"},
			{`{"state": 1}`, "state", "invalid"},
			{`{"state": ["success"]}`, "state", "invalid"},
			{`{"state": "success", "target_url": 1}`, "target_url", "invalid"},
			{`{"state": "success", "target_url": "javascript:alert(1)"}`, "target_url", "custom"},
			{`{"state": "success", "target_url": "//ci.example.org"}`, "target_url", "custom"},
			{`{"state": "success", "target_url": "https://"}`, "target_url", "custom"},
			{`{"state": "success", "target_url": "https://x/` + strings.Repeat("y", 2048) + `"}`,
				"target_url", "custom"},
			{`{"state": "success", "description": true}`, "description", "invalid"},
			{`{"state": "success", "description": "` + strings.Repeat("ä", 141) + `"}`,
				"description", "custom"},
			{`{"state": "success", "description": "a\u0000b"}`, "description", "invalid"},
			{`{"state": "success", "context": {}}`, "context", "invalid"},
			{`{"state": "success", "context": "` + strings.Repeat("c", 256) + `"}`, "context", "custom"},
		} {
			s.Run(t, []apitest.Case{{Name: c.send[:min(len(c.send), 60)], Do: to, As: "will", Send: c.send,
				Status: 422, Want: wrong(c.field, c.code)}})
		}
		none := strings.Repeat("1", 40)
		var commit struct {
			Commit struct{ Tree struct{ SHA string } }
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/commits/main", Status: 200}).JSON(t, &commit)
		s.User(t, "eve")
		s.Repo(t, "alice/empty", false)
		other := s.Repo(t, "eve/own", false)
		s.Import(t, other, gittest.Repository(t, 4, 1))
		foreign := func() string {
			var ref struct{ Object struct{ SHA string } }
			s.Check(t, apitest.Case{Do: "GET /repos/eve/own/git/ref/heads/main", As: "eve",
				Status: 200}).JSON(t, &ref)
			return ref.Object.SHA
		}()
		for _, name := range []string{none, commit.Commit.Tree.SHA, "main", sha[:10], "a/b", foreign} {
			s.Run(t, []apitest.Case{{Name: "of " + name, Do: "POST /repos/alice/plot/statuses/" + name,
				As: "will", Send: `{"state": "success"}`, Status: 422,
				Want: `{"message": "No commit found for SHA: ` + name + `"}`}})
		}
		s.Run(t, []apitest.Case{
			{Do: to, As: "will", Send: `{"state": `, Status: 400},
			{Do: to, As: "will", Send: `[]`, Status: 400},
			{Do: to, As: "will", Status: 400},
			{Name: "as long as can be", Do: to, As: "will",
				Send: `{"state": "success", "description": "` + strings.Repeat("ä",
					140) + `", "context": "` + strings.Repeat("ß", 255) + `"}`, Status: 201},
			{Name: "who may only read", Do: to, As: "sam", Send: `{"state": "success"}`, Status: 403,
				Want: `{"message": "Must have push access to Repository."}`},
			{Do: to, Send: `{"state": "success"}`, Status: 401},
			{Do: "GET /repos/alice/plot/commits/none/status", Status: 422,
				Want: `{"message": "No commit found for SHA: none"}`},
			{Do: "GET /repos/alice/plot/commits/" + none + "/statuses", Status: 422},
			{Do: "GET /repos/alice/plot/commits/a%00b/statuses", Status: 404},
			{Do: "GET /repos/alice/plot/commits//status", Status: 422},
			{Do: "GET /repos/alice/empty/commits/main/status", Status: 409},
			{Do: "GET /repos/alice/empty/statuses/main", Status: 409},
			{Do: "PUT /repos/alice/plot/commits/main/status", As: "will", Status: 405,
				Has: map[string]string{"Allow": "GET, HEAD, OPTIONS"}},
			{Do: "PUT /repos/alice/plot/statuses/main", As: "will", Status: 405,
				Has: map[string]string{"Allow": "GET, HEAD, OPTIONS, POST"}},
		})
	})
}

// Nobody learns from statuses what a private repository holds, and a deleted
// one takes them along.
func TestStatusesOfPrivateRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plot(t, s)
		r := s.Repo(t, "alice/vault", true)
		s.Import(t, r, gittest.Repository(t, 2, 1))
		sha := s.Tip(t, "alice", "alice/vault", "main")
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/vault/statuses/" + sha, As: "alice", Send: `{"state": "success"}`,
				Status: 201},
			{Do: "POST /repos/alice/vault/statuses/" + sha, As: "sam", Send: `{"state": "success"}`,
				Status: 404},
			{Do: "GET /repos/alice/vault/statuses/" + sha, As: "sam", Status: 404},
			{Do: "GET /repos/alice/vault/commits/" + sha + "/status", Status: 404},
			{Do: "GET /repos/alice/vault/commits/" + sha + "/status", As: "alice", Status: 200,
				Want: `{"state": "success", "repository": {"private": true}}`},
			{Do: "DELETE /repos/alice/vault", As: "alice", Status: 204},
		})
		if left := dbtest.Number(t, s.DB, `SELECT (SELECT count(*) FROM statuses) +
				(SELECT count(*) FROM status_contexts) + (SELECT count(*) FROM status_commits)`); left != 0 {
			t.Errorf("%d rows are left of a deleted repository", left)
		}
	})
}

// Builds report at the same time. If sums were lost, a commit would stay pending
// for ever, or pass with a failed build.
func TestConcurrentStatuses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plot(t, s)
		var wg sync.WaitGroup
		for n := range 24 {
			wg.Go(func() {
				for _, state := range []string{"pending", "failure", "success"} {
					a := s.Do(t, apitest.Case{Do: "POST /repos/alice/plot/statuses/" + sha, As: "will",
						Send: fmt.Sprintf(`{"state": %q, "context": "build %d"}`, state, n%8)})
					if a.Status != 201 {
						t.Errorf("status %d: %s", a.Status, a.Body)
					}
				}
			})
		}
		wg.Wait()
		var want, got status.Summary
		err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			in := &repo.Access{Repo: &repo.Repo{ID: repoID(t, s)}}
			commit := repo.Of[git.SHA]{In: in, Key: git.SHA(sha)}
			sums, err := status.Combined(tx, []repo.Of[git.SHA]{commit})
			if err != nil {
				return err
			}
			got = sums[commit]
			return tx.QueryRow(`SELECT (SELECT count(*) FROM statuses), count(*), COALESCE(sum(CASE
				WHEN state <= 2 THEN 1 ELSE 0 END), 0), COALESCE(sum(CASE WHEN state = 3 THEN 1 ELSE 0 END),
				0) FROM statuses s
				WHERE id = (SELECT max(id) FROM statuses m
				WHERE m.context = s.context)`).Scan(&want.Total, &want.Contexts, &want.Failed, &want.Waiting)
		})
		if err != nil || got != want || got.Total != 72 || got.Contexts != 8 {
			t.Errorf("the sums are %+v, the statuses %+v, %v", got, want, err)
		}
	})
}

func repoID(t *testing.T, s *apitest.Server) repo.ID {
	found, err := s.Repos.Find(t.Context(), nil, "alice", "plot")
	testkit.NoError(t, err)
	return found.ID
}

// A system gone wild must not fill the store: a context ends at 1,000.
func TestTooManyStatuses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plot(t, s)
		post := apitest.Case{Do: "POST /repos/alice/plot/statuses/" + sha, As: "will",
			Send: `{"state": "success", "context": "Wild"}`, Status: 201}
		s.Check(t, post)
		dbtest.Exec(t, s.DB, `UPDATE status_contexts SET total = $1`, status.MaxOfContext-1)
		s.Check(t, post)
		post.Status, post.Want = 422,
			`{"errors": [{"resource": "Status", "code": "custom", "message": "This SHA and context has reached the maximum number of statuses."}]}`
		s.Check(t, post)
		s.Run(t, []apitest.Case{
			{Name: "which leaves nothing", Do: "GET /repos/alice/plot/statuses/main", Status: 200,
				Want: `[{"context": "Wild"}, {"context": "Wild"}]`},
			{Name: "others go on", Do: post.Do, As: "will", Send: `{"state": "failure", "context": "tame"}`,
				Status: 201},
			{Do: "GET /repos/alice/plot/commits/main/status", Status: 200,
				Want: `{"state": "failure", "total_count": 2}`},
		})
	})
}
