// Tests of Apps against a whole server.
package accounts_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// robot creates users, repositories and an App that may write issues and read contents.
func robot(t *testing.T, s *apitest.Server) *apitest.App {
	t.Helper()
	s.Users(t, "alice", "bob", "olive")
	s.Org(t, "guild", "olive")
	for name, private := range map[string]bool{"alice/garden": true, "alice/shed": true, "alice/open": false,
		"guild/hall": true,
		"bob/den":    true} {
		s.Repo(t, name, private)
	}
	return s.NewApp(t, "bob", app.Manifest{Name: "Robot",
		Permissions: apitest.Permissions("issues=write,contents=read")})
}

// The token of an installation reaches what the installation does, and what everybody does; and each category
// of permissions opens its own routes.
func TestInstallationToken(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		r := robot(t, s)
		some, all := r.Install(t, "alice", "garden", "open"), r.Install(t, "guild")
		jwt, token := r.Signed(t), apitest.Bearer(r.Token(t, some.ID, ""))
		ofGuild := apitest.Bearer(r.Token(t, all.ID, ""))
		narrow := apitest.Bearer(r.Token(t, some.ID,
			`{"repositories":["OPEN"],"permissions":{"issues":"read"}}`))
		tokens := fmt.Sprintf("POST /app/installations/%d/access_tokens", some.ID)
		const not, refused = `{"message":"Not Found"}`, `{"message":"Resource not accessible by integration"}`
		s.Run(t, []apitest.Case{
			{Name: "the App", Do: "GET /app", Headers: jwt, Status: 200,
				Want: `{"slug":"robot","installations_count":2,"owner":{"login":"bob"},
				"permissions":{"issues":"write","contents":"read","metadata":"read"}}`},
			{Name: "is nothing to others", Do: "GET /apps/robot", Status: 404, Want: not},
			{Name: "but to its owner", Do: "GET /apps/robot", As: "bob", Status: 200,
				Want: `{"slug":"robot"}`},
			{Name: "and itself", Do: "GET /apps/robot", Headers: token, Status: 200},
			{Name: "installations", Do: "GET /app/installations", Headers: jwt, Status: 200,
				Want: `[{"account":{"login":"alice"},"repository_selection":"selected"},{"account":{"login":"guild"},"target_type":"Organization","repository_selection":"all"}]`},
			{Name: "a JWT opens nothing else", Do: "GET /repos/alice/garden", Headers: jwt, Status: 403,
				Want: refused},
			{Name: "not even what is public", Do: "GET /repos/alice/open", Headers: jwt, Status: 403,
				Want: refused},
			{Name: "nor is a token a JWT", Do: "GET /app", Headers: token, Status: 401,
				Want: `{"message":"A JSON web token could not be decoded"}`},
			{Name: "nor a user's", Do: "GET /app", As: "bob", Status: 401},
			{Name: "of a repository", Do: "GET /repos/alice/garden/installation", Headers: jwt, Status: 200,
				Want: `{"account":{"login":"alice"}}`},
			{Name: "that it does not reach", Do: "GET /repos/alice/shed/installation", Headers: jwt,
				Status: 404, Want: not},
			{Name: "as of none", Do: "GET /repos/alice/none/installation", Headers: jwt,
				Status: 404, Want: not},
			{Name: "of an organization", Do: "GET /orgs/guild/installation", Headers: jwt, Status: 200},
			{Name: "which is no user", Do: "GET /users/guild/installation", Headers: jwt, Status: 404},
			{Name: "of a user", Do: "GET /users/alice/installation", Headers: jwt, Status: 200},

			{Name: "reach", Do: "GET /installation/repositories", Headers: token, Status: 200,
				Want: `{"total_count":2,"repository_selection":"selected"}`},
			{Name: "all", Do: "GET /installation/repositories", Headers: ofGuild, Status: 200,
				Want: `{"total_count":1,"repositories":[{"full_name":"guild/hall"}]}`},
			{Name: "narrowed", Do: "GET /installation/repositories", Headers: narrow, Status: 200,
				Want: `{"total_count":1,"repositories":[{"full_name":"alice/open"}]}`},
			{Name: "not for people", Do: "GET /installation/repositories", As: "alice", Status: 403},
			{Name: "in it", Do: "GET /repos/alice/garden", Headers: token, Status: 200,
				Want: `{"private":true}`},
			{Name: "not in it", Do: "GET /repos/alice/shed", Headers: token, Status: 404, Want: not},
			{Name: "of another installation", Do: "GET /repos/guild/hall", Headers: token,
				Status: 404, Want: not},
			{Name: "of no installation", Do: "GET /repos/bob/den", Headers: token, Status: 404, Want: not},
			{Name: "not in the narrowed one", Do: "GET /repos/alice/garden", Headers: narrow,
				Status: 404, Want: not},
			{Name: "write", Do: "POST /repos/alice/garden/issues", Headers: token,
				Send: `{"title":"t","labels":["new"]}`, Status: 201,
				Want: `{"user":{"login":"robot[bot]","type":"Bot"},"labels":[{"name":"new"}]}`},
			{Name: "not by a permission to read", Do: "POST /repos/alice/open/issues", Headers: narrow,
				Send: `{"title":"t"}`, Status: 403, Want: refused},
			{Name: "not without one", Do: "GET /repos/alice/garden/pulls", Headers: token, Status: 403,
				Want: refused},
			{Name: "but as everybody", Do: "GET /repos/alice/open/pulls", Headers: token, Status: 200},
			{Name: "not to write where everybody reads", Do: "POST /repos/alice/open/labels", Headers: narrow,
				Send: `{"name":"x"}`, Status: 403},
			{Name: "not code", Do: "PUT /repos/alice/garden/contents/a", Headers: token,
				Send: `{"message":"m","content":""}`, Status: 403, Want: refused},
			{Name: "not the repository", Do: "DELETE /repos/alice/garden", Headers: token, Status: 403,
				Want: refused},
			{Name: "no user", Do: "GET /user", Headers: token, Status: 403, Want: refused},
			{Name: "it makes no repository", Do: "POST /user/repos", Headers: token, Send: `{"name":"x"}`,
				Status: 403, Want: refused},
			{Name: "stars nothing", Do: "PUT /user/starred/alice/open", Headers: token, Status: 403,
				Want: refused},
			{Name: "plants nothing", Do: "GET /plants", Headers: token, Status: 403},
			{Name: "the bot", Do: "GET /users/robot%5Bbot%5D", Status: 200,
				Want: `{"login":"robot[bot]","type":"Bot"}`},
			{Name: "is no member", Do: "PUT /orgs/guild/memberships/robot%5Bbot%5D", As: "olive", Send: `{}`,
				Status: 404},
			{Name: "nor collaborator", Do: "PUT /repos/alice/open/collaborators/robot%5Bbot%5D", As: "alice",
				Status: 422},
			{Name: "nor assigned", Do: "GET /repos/alice/garden/assignees/robot%5Bbot%5D", As: "alice",
				Status: 404},

			{Name: "too much", Do: tokens, Headers: jwt,
				Send: `{"permissions":{"contents":"write"}}`, Status: 422,
				Want: `{"message":"The permissions requested are not granted to this installation."}`},
			{Name: "unknown", Do: tokens, Headers: jwt, Send: `{"permissions":{"moon":"write"}}`,
				Status: 422},
			{Name: "out of reach", Do: tokens, Headers: jwt, Send: `{"repositories":["shed"]}`, Status: 422,
				Want: `{"message":"There is at least one repository that does not exist or is not accessible to the parent installation."}`},
			{Name: "as what is not there", Do: tokens, Headers: jwt, Send: `{"repositories":["none"]}`,
				Status: 422},
			{Name: "by id", Do: tokens, Headers: jwt, Send: `{"repository_ids":[987654]}`, Status: 422},
			{Name: "no such installation", Do: "POST /app/installations/987/access_tokens", Headers: jwt,
				Status: 404},
			{Name: "Apps of mine", Do: "GET /user/installations", As: "alice", Status: 200,
				Want: `{"total_count":1,"installations":[{"app_slug":"robot"}]}`},
			{Name: "and of my organization", Do: "GET /orgs/guild/installations", As: "olive", Status: 200,
				Want: `{"total_count":1}`},
			{Name: "not another's", Do: "GET /orgs/guild/installations", As: "alice", Status: 403},
			{Name: "add", Do: fmt.Sprintf("PUT /user/installations/%d/repositories/%d", some.ID,
				repoID(t, s, "alice/shed")), As: "alice", Status: 204},
			{Name: "at once", Do: "GET /repos/alice/shed", Headers: token, Status: 200},
			{Name: "not by others", Do: fmt.Sprintf("DELETE /user/installations/%d/repositories/%d", some.ID,
				repoID(t, s, "alice/shed")), As: "bob", Status: 404},
			{Name: "remove", Do: fmt.Sprintf("DELETE /user/installations/%d/repositories/%d", some.ID,
				repoID(t, s, "alice/shed")), As: "alice", Status: 204},
			{Name: "at once again", Do: "GET /repos/alice/shed", Headers: token, Status: 404, Want: not},
			{Name: "end", Do: "DELETE /installation/token", Headers: token, Status: 204},
			{Name: "ended", Do: "GET /installation/repositories", Headers: token, Status: 401},
		})
	})
}

// What happened in private tells an App as much as it could read elsewhere.
func TestEventsByPermission(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		r := robot(t, s)
		in := r.Install(t, "alice", "garden")
		const at = "/repos/alice/garden/"
		s.Run(t, []apitest.Case{
			{Do: "PUT " + at + "contents/a", As: "alice", Send: `{"message":"m","content":"eA=="}`,
				Status: 201},
			{Do: "PUT " + at + "contents/b", As: "alice",
				Send: `{"message":"m","content":"eA==","branch":"main"}`, Status: 201},
			{Do: "POST " + at + "issues", As: "alice", Send: `{"title":"secret"}`, Status: 201},
			{Do: "POST " + at + "issues/1/comments", As: "alice", Send: `{"body":"secret"}`, Status: 201},
		})
		kinds := func(permissions, address string) string {
			var list []struct{ Type string }
			s.Check(t, apitest.Case{Do: "GET " + address, Status: 200,
				Headers: apitest.Bearer(r.Token(t, in.ID, `{"permissions":{`+permissions+`}}`))}).JSON(t,
				&list)
			found := map[string]bool{}
			for _, e := range list {
				found[e.Type] = true
			}
			return strings.Join(slices.Sorted(maps.Keys(found)), " ")
		}
		for _, address := range []string{at + "events", "/networks/alice/garden/events"} {
			for permissions, want := range map[string]string{
				`"metadata":"read"`: "",
				`"issues":"read"`:   "IssueCommentEvent IssuesEvent",
				`"contents":"read"`: "CreateEvent PushEvent",
			} {
				if got := kinds(permissions, address); got != want {
					t.Errorf("%s with %s tells of %q, want %q", address, permissions, got, want)
				}
			}
		}
	})
}

func repoID(t *testing.T, s *apitest.Server, name string) int64 {
	t.Helper()
	return int64(s.Access(t, "alice", name).Repo.ID)
}

// A request that pretends to be an App's is one of somebody who could then make tokens for all its
// installations.
func TestForgedJWTs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		r := robot(t, s)
		other := s.NewApp(t, "alice", app.Manifest{Name: "Other"})
		now := time.Now().Unix()
		const far = 1 << 20 // seconds, far more than the test takes
		const rs = `{"alg":"RS256","typ":"JWT"}`
		claims := func(iss any, iat, exp int64) string {
			return fmt.Sprintf(`{"iss":%v,"iat":%d,"exp":%d}`, iss, now+iat, now+exp)
		}
		good := claims(r.ID, -60, 540)
		for name, c := range map[string]struct {
			header, claims string
			by             *apitest.App
			status         int
		}{
			"as it should be":       {rs, good, r, 200},
			"by client id":          {rs, claims(`"`+r.ClientID+`"`, -60, 540), r, 200},
			"a number in a text":    {rs, claims(fmt.Sprintf(`"%d"`, r.ID), 0, 600), r, 200},
			"a clock that is ahead": {rs, claims(r.ID, 50, 650), r, 200},
			"none":                  {`{"alg":"none"}`, good, r, 401},
			"HS256":                 {`{"alg":"HS256"}`, good, r, 401},
			"ES256":                 {`{"alg":"ES256"}`, good, r, 401},
			"rs256":                 {`{"alg":"rs256"}`, good, r, 401},
			"no algorithm":          {`{}`, good, r, 401},
			"critical":              {`{"alg":"RS256","crit":["x"]}`, good, r, 401},
			"a key of its own":      {`{"alg":"RS256","kid":"../../etc/passwd","jwk":{},"jku":"http://evil.example"}`, good, other, 401},
			"another App's key":     {rs, good, other, 401},
			"expired":               {rs, claims(r.ID, -700, -1), r, 401},
			"too long":              {rs, claims(r.ID, 0, far), r, 401},
			"from the future":       {rs, claims(r.ID, 120, 600), r, 401},
			"no times":              {rs, fmt.Sprintf(`{"iss":%d}`, r.ID), r, 401},
			"times in words":        {rs, fmt.Sprintf(`{"iss":%d,"iat":"now","exp":"soon"}`, r.ID), r, 401},
			"no issuer":             {rs, fmt.Sprintf(`{"iat":%d,"exp":%d}`, now, now+60), r, 401},
			"an unknown one":        {rs, claims(98765, 0, 600), r, 401},
			"a text that is none":   {rs, claims(`"' OR 1=1"`, 0, 600), r, 401},
			"NUL":                   {rs, claims(`"\u0000"`, 0, 600), r, 401},
			"no object":             {rs, `[]`, r, 401},
		} {
			token := apitest.SignJWT(t, c.by.Key, c.header, c.claims)
			s.Run(t, []apitest.Case{{Name: name, Do: "GET /app", Headers: apitest.Bearer(token),
				Status: c.status}})
		}
		valid := r.JWT(t)
		cut := valid[:strings.LastIndexByte(valid, '.')+1]
		for name, value := range map[string]string{"without a signature": "Bearer " + cut,
			"cut":  "Bearer " + valid[:len(valid)-8],
			"long": "Bearer " + valid + strings.Repeat("A", 8000), "padded": "Bearer " + valid + "=",
			"as token": "token " + valid} {
			s.Run(t, []apitest.Case{{Name: name, Do: "GET /app",
				Headers: map[string]string{"Authorization": value}, Status: 401}})
		}
	})
}

// What becomes of a token, of what it reaches and of the App, when something changes (transition × holder).
// The columns are the status of a read of the repository, of a write, of a request that the App signs for its
// installation there, and of making another token.
func TestAppTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, c := range []struct {
			name string
			do   func(w *world)
			want [4]int
		}{
			{"nothing", func(*world) {}, [4]int{200, 201, 200, 201}},
			{"shown", func(w *world) { w.as("PATCH", "", `{"private":false}`) }, [4]int{200, 201, 200, 201}},
			{"renamed", func(w *world) {
				w.as("PATCH", "", `{"name":"barn`+w.n+`"}`)
			}, [4]int{301, 307, 301, 201}},
			{"archived", func(w *world) {
				w.as("PATCH", "", `{"archived":true}`)
			}, [4]int{200, 403, 200, 201}},
			{"deleted", func(w *world) { w.as("DELETE", "", "") }, [4]int{404, 404, 404, 201}},
			{"transferred", func(w *world) {
				w.as("POST", "/transfer", `{"new_owner":"`+w.org+`"}`)
			}, [4]int{404, 404, 404, 201}},
			{"left the selection", func(w *world) {
				w.do("DELETE", fmt.Sprintf("/user/installations/%d/repositories/%d", w.at.ID, w.repo), "")
			}, [4]int{404, 404, 404, 201}},
			{"suspended", func(w *world) {
				w.ok(w.apps().Suspend(t.Context(), 0, w.at.ID, nil))
			}, [4]int{403, 403, 200, 403}},
			{"unsuspended", func(w *world) {
				w.ok(w.apps().Suspend(t.Context(), 0, w.at.ID, nil))
				w.ok(w.apps().Unsuspend(t.Context(), 0, w.at.ID, nil))
			}, [4]int{401, 401, 200, 201}}, // the tokens of before have ended
			{"uninstalled", func(w *world) {
				w.ok(w.apps().Uninstall(t.Context(), 0, w.at.ID, nil))
			}, [4]int{401, 401, 404, 404}},
			{"the App removed", func(w *world) {
				w.ok(w.apps().Remove(t.Context(), w.robot.Slug))
			}, [4]int{401, 401, 401, 401}},
			{"the account suspended", func(w *world) { w.suspend(w.owner) }, [4]int{403, 403, 200, 403}},
			{"the App's owner suspended", func(w *world) { w.suspend(w.maker) }, [4]int{403, 403, 403, 403}},
			{"the account renamed", func(w *world) {
				_, err := s.Accounts.Rename(t.Context(), nil, account.User, w.owner, w.owner+"x")
				w.ok(err)
			}, [4]int{301, 307, 301, 201}},
		} {
			t.Run(c.name, func(t *testing.T) {
				w := newTransition(t, s)
				c.do(w)
				path := "/repos/" + w.owner + "/garden"
				got := [4]int{
					s.Do(t, apitest.Case{Do: "GET " + path, Headers: w.token}).Status,
					s.Do(t, apitest.Case{Do: "POST " + path + "/issues", Headers: w.token,
						Send: `{"title":"t"}`}).Status,
					s.Do(t, apitest.Case{Do: "GET " + path + "/installation", Headers: w.jwt}).Status,
					s.Do(t, apitest.Case{Do: fmt.Sprintf("POST /app/installations/%d/access_tokens", w.at.ID),
						Headers: w.jwt}).Status,
				}
				if got != c.want {
					t.Errorf("%d, want %d", got, c.want)
				}
			})
		}
	})
}

// world is what one transition happens to.
type world struct {
	t                    *testing.T
	s                    *apitest.Server
	n, owner, maker, org string
	robot                *apitest.App
	at                   *app.Installation
	repo                 int64
	token, jwt           headers
}

type headers = map[string]string

func newTransition(t *testing.T, s *apitest.Server) *world {
	t.Helper()
	w := &world{t: t, s: s, n: strings.ToLower(strings.NewReplacer("'", "", "_",
		"").Replace(t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]))}
	w.owner, w.maker, w.org = "o"+w.n, "m"+w.n, "g"+w.n
	s.User(t, w.owner)
	s.User(t, w.maker)
	s.Org(t, w.org, w.owner)
	w.repo = int64(s.Repo(t, w.owner+"/garden", true).ID)
	s.Repo(t, w.owner+"/other", true)
	w.robot = s.NewApp(t, w.maker, app.Manifest{Name: "r" + w.n,
		Permissions: apitest.Permissions("issues=write")})
	w.at = w.robot.Install(t, w.owner, "garden", "other")
	w.jwt, w.token = w.robot.Signed(t), apitest.Bearer(w.robot.Token(t, w.at.ID, ""))
	// fills caches
	s.Check(t, apitest.Case{Do: "GET /repos/" + w.owner + "/garden", Headers: w.token, Status: http.StatusOK})
	return w
}

func (w *world) apps() *app.Service { return w.s.Server.Forge().Apps }

func (w *world) ok(err error) {
	w.t.Helper()
	testkit.NoError(w.t, err)
}

// do sends a request of the owner that must succeed.
func (w *world) do(method, path, send string) {
	w.t.Helper()
	if a := w.s.Do(w.t, apitest.Case{Do: method + " " + path, As: w.owner, Send: send}); a.Status >= 300 {
		w.t.Fatalf("%s %s: %d %s", method, path, a.Status, a.Body)
	}
}

// as is do for what is below the repository.
func (w *world) as(method, path, send string) { w.do(method, "/repos/"+w.owner+"/garden"+path, send) }

func (w *world) suspend(login string) {
	_, err := w.s.Accounts.Suspend(w.t.Context(), nil, login)
	w.ok(err)
}
