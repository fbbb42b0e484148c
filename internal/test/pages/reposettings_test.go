package pages_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// garden creates a repository of alice with push access for sam and a branch.
func garden(t *testing.T, s *apitest.Server) {
	s.Users(t, "alice", "sam", "stranger")
	s.Admin(t, "keeper")
	r := s.Repo(t, "alice/garden", false)
	s.Grant(t, r, "sam", account.Push)
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/main", As: "alice", Status: 201,
		Send: `{"message": "x", "content": "eA==", "branch": "main"}`})
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"ref": "refs/heads/dev", "sha": %q}`, s.Tip(t, "", "alice/garden", "main"))})
}

// Settings are changed, and errors are shown next to the typed values.
func TestGeneral(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const at = "/alice/garden/settings"
		show(t, s, "alice", at, `value="garden"`, `<option value="dev">`, "Danger zone")
		s.Visit(t, "alice", "POST "+at, "do", "details", "name", "garden", "description", apitest.Markup,
			"homepage", "https://example.org", "default_branch", "dev", "has_issues", "1").Leads(t, at)
		show(t, s, "alice", at, "onerror=alert(1)&gt;", `value="dev"`)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 200,
			Want: `{"default_branch": "dev", "homepage": "https://example.org", "has_issues": true}`})
		s.Visit(t, "alice", "POST "+at, "do", "details", "name", "garden", "description", "kept",
			"default_branch", "nothing").Shows(t, 422, `value="kept"`, `value="nothing"`, "was not found")
		s.Visit(t, "alice", "POST "+at, "do", "details", "name", "not/a name", "default_branch", "dev").Shows(t,
			422, `value="not/a name"`)
		s.Visit(t, "alice", "POST "+at, "do", "topics", "topics", "plants, roses").Leads(t, at)
		show(t, s, "alice", at, `value="plants roses"`)
		s.Visit(t, "alice", "POST "+at, "do", "topics", "topics", "No_Topic").Shows(t, 422, `value="No_Topic"`)
		s.Visit(t, "alice", "POST "+at, "do", "merging", "allow_squash_merge", "1", "delete_branch_on_merge",
			"1", "merge_commit_title", "PR_TITLE", "merge_commit_message", "BLANK", "squash_merge_commit_title",
			"PR_TITLE", "squash_merge_commit_message", "PR_BODY").Leads(t, at)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", As: "alice", Status: 200,
			Want: `{"allow_merge_commit": false,
			"allow_squash_merge": true, "allow_rebase_merge": false, "delete_branch_on_merge": true,
			"merge_commit_title": "PR_TITLE", "merge_commit_message": "BLANK", "squash_merge_commit_message": "PR_BODY"}`})
		s.Visit(t, "alice", "POST "+at, "do", "merging", "merge_commit_title", "PR_TITLE",
			"merge_commit_message", "BLANK", "squash_merge_commit_title", "PR_TITLE",
			"squash_merge_commit_message", "PR_BODY").Shows(t, 422, "at least one merge strategy")
		// The whole form is one change: with one part that is wrong nothing is saved.
		whole := func(topics string) *apitest.Answer {
			return s.Visit(t, "alice", "POST "+at, "name", "garden", "description", "Whole", "homepage", "", "topics", topics,
				"default_branch", "dev", "allow_rebase_merge", "1", "merge_commit_title", "MERGE_MESSAGE",
				"merge_commit_message", "PR_TITLE", "squash_merge_commit_title", "COMMIT_OR_PR_TITLE",
				"squash_merge_commit_message", "BLANK")
		}
		whole("bees No_Topic").Shows(t, 422, `value="Whole"`, `No_Topic`, `name="allow_rebase_merge" value="1" checked`,
			"!name=\"allow_squash_merge\" value=\"1\" checked")
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", As: "alice", Status: 200,
			Want: `{"allow_rebase_merge": false, "topics": ["plants", "roses"], "has_issues": true}`})
		whole("bees Ants bees").Leads(t, at)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", As: "alice", Status: 200,
			Want: `{"allow_rebase_merge": true, "allow_squash_merge": false, "topics": ["ants", "bees"], "has_issues": false,
				"description": "Whole", "homepage": null}`})
		s.Settle(t)
		s.Check(t, apitest.Case{Do: "GET /search/repositories?q=topic:bees", Status: 200, Want: `{"total_count": 1}`})
		s.Visit(t, "alice", "POST "+at, "do", "details", "name", "orchard", "default_branch", "dev").Leads(t,
			"/alice/orchard/settings")
	})
}

// Each page and form is for who administrates the repository: others learn no more of it than the API tells
// them.
func TestReposettingsRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Repo(t, "alice/cellar", true)
		pages := []string{"", "/access", "/keys", "/mirrors", "/hooks", "/hooks/new", "/installations", "/visibility",
			"/archive", "/transfer", "/delete"}
		for _, page := range pages {
			public, hidden := "GET /alice/garden/settings"+page, "GET /alice/cellar/settings"+page
			s.Check(t, apitest.Case{Do: public, Headers: inBrowser, Status: 303,
				Has: map[string]string{"Location": "/login?return_to=" +
					url.QueryEscape("/alice/garden/settings"+page)}})
			for _, who := range []string{"sam", "stranger"} {
				s.Check(t, apitest.Case{Do: public, As: who, Headers: inBrowser, Status: 403})
				s.Check(t, apitest.Case{Do: hidden, As: who, Headers: inBrowser, Status: 404})
			}
			s.Check(t, apitest.Case{Do: hidden, Headers: inBrowser, Status: 404})
			s.Check(t, apitest.Case{Do: public, As: "keeper", Headers: inBrowser, Status: 200})
			if page == "/installations" {
				continue
			}
			to := "/alice/garden/settings" + strings.TrimSuffix(page, "/new")
			if page == "/hooks" || page == "/hooks/new" {
				to = "/alice/garden/settings/hooks/new"
			}
			for _, who := range []string{"sam", "stranger"} {
				s.Visit(t, who, "POST "+to, "confirm", "alice/garden", "login", "stranger", "role", "admin",
					"new_owner", who, "archived", "1", "private", "1").Shows(t, 403)
			}
			if a := s.Visit(t, "", "POST "+to, "confirm", "alice/garden"); a.Status != 303 ||
				!strings.HasPrefix(a.Header.Get("Location"), "/login") {
				t.Errorf("POST %s as nobody: %d", to, a.Status)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 200,
			Want: `{"archived": false, "private": false, "owner": {"login": "alice"}}`})
		// A token that opens the page does no more by it than by the API.
		limited := map[string]string{"Authorization": "Bearer " + s.Scoped(t, "alice", "public_repo"),
			"Accept":       "text/html",
			"Content-Type": "application/x-www-form-urlencoded"}
		s.Check(t, apitest.Case{Do: "POST /alice/garden/settings/delete", Headers: limited,
			Send: "confirm=alice%2Fgarden", Status: 403})
		s.Check(t, apitest.Case{Do: "GET /alice/cellar/settings", Headers: limited, Status: 404})
		s.Check(t, apitest.Case{Do: "GET /alice/garden/settings/hooks", Headers: limited, Status: 403})
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 200})
	})
}

// Collaborators come and go, each with a row in the audit log.
func TestAccess(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const at = "/alice/garden/settings/access"
		s.Visit(t, "alice", "POST "+at, "do", "add", "login", "@stranger", "role", "admin").Leads(t, at)
		show(t, s, "alice", at, `href="/stranger"`, `href="/sam"`, "admin</span>")
		show(t, s, "stranger", at)
		s.Visit(t, "alice", "POST "+at, "do", "role", "login", "sam", "role", "pull").Leads(t, at)
		s.Visit(t, "alice", "POST "+at, "do", "add", "login", apitest.Markup, "role", "push").Shows(t, 422,
			"There is nobody with the login", "onerror=alert(1)&gt;")
		s.Visit(t, "alice", "POST "+at, "do", "add", "login", "alice", "role", "push").Shows(t, 422,
			"owner cannot be a collaborator")
		s.Visit(t, "alice", "POST "+at, "do", "add", "login", "sam", "role", "king").Shows(t, 422)
		s.Visit(t, "stranger", "POST "+at, "do", "remove", "login", "Stranger").Leads(t, "/alice/garden")
		s.Check(t, apitest.Case{Do: "GET " + at, As: "stranger",
			Headers: inBrowser, Status: 403})
		log := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=action:repo", As: "keeper",
			Status: 200})
		apitest.HasParts(t, string(log.Body), `"action":"repo.add_member","actor":"alice"`,
			`"action":"repo.update_member","actor":"alice"`,
			`"action":"repo.remove_member","actor":"stranger"`)
	})
}

// Deploy keys are added, shown by their fingerprints, and removed.
func TestDeployKeys(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const at = "/alice/garden/settings/keys"
		s.Visit(t, "alice", "POST "+at, "do", "add", "title", apitest.Markup, "key",
			testkit.PublicKey(t)).Leads(t, at)
		body := show(t, s, "alice", at, "Read only", "SHA256:", "added", "never used")
		s.Visit(t, "alice", "POST "+at, "do", "add", "title", "kept", "key", "no key", "write", "1").Shows(t,
			422, `value="kept"`, "no key</textarea>", `value="1" checked`)
		id := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(body)
		s.Visit(t, "alice", "POST "+at, "do", "remove", "id", id[1]).Leads(t, at)
		s.Visit(t, "alice", "POST "+at, "do", "remove", "id", id[1]).Leads(t, at)
		show(t, s, "alice", at, "There are none.")
	})
}

// Mirrors are set up, shown with what is wrong, and removed; their passwords are never shown.
func TestMirrors(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const at, address = "/alice/garden/settings/mirrors", "http://127.0.0.1:1/garden.git"
		s.Visit(t, "alice", "POST "+at, "do", "set", "remote_url", "file:///x", "username", "kept", "minutes", "60").Shows(t,
			422, `value="kept"`, "must be an address that begins with https://")
		s.Visit(t, "alice", "POST "+at, "do", "set", "remote_url", address, "username", "alice", "password", "sesame-open",
			"minutes", "60", "follow", "1").Leads(t, at)
		testkit.Eventually(t, func() bool {
			return strings.Contains(show(t, s, "alice", at), "the connection was refused")
		}, "the page says why it fails")
		if body := show(t, s, "alice", at, address, "not copied yet"); strings.Contains(body, "sesame-open") {
			t.Error("the password is shown")
		}
		show(t, s, "stranger", "/alice/garden", "Mirror of", address)
		s.Visit(t, "alice", "POST "+at, "do", "sync").Leads(t, at)
		const known, offered = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "SHA256:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"
		s.Visit(t, "alice", "POST "+at, "do", "set", "remote_url", "ssh://127.0.0.1:1/alice/garden.git", "minutes", "60").Leads(t, at)
		show(t, s, "alice", at, "ssh://git@127.0.0.1:1/alice/garden.git", "ssh-ed25519 AAAA", "was not seen yet")
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`UPDATE mirror_ssh SET host_key = $1, offered_key = $2`, known, offered)
		}))
		show(t, s, "alice", at, known, "Accept host key", offered)
		s.Visit(t, "alice", "POST "+at, "do", "accept", "fingerprint", "no").Shows(t, 422, "invalid fingerprint")
		for _, id := range []string{"0", "x"} { // neither names the pull mirror
			s.Visit(t, "alice", "POST "+at, "do", "accept", "id", id, "fingerprint", offered).Shows(t, 404)
		}
		s.Visit(t, "alice", "POST "+at, "do", "accept", "fingerprint", offered).Leads(t, at)
		if body := show(t, s, "alice", at, offered); strings.Contains(body, known) || strings.Contains(body, "Accept host key") {
			t.Error("the former host key is shown")
		}
		s.Visit(t, "alice", "POST "+at, "do", "end").Leads(t, at)
		s.Visit(t, "alice", "POST "+at, "do", "add", "remote_url", address).Leads(t, at)
		body := show(t, s, "alice", at, "Remove push mirror", address)
		s.Visit(t, "alice", "POST "+at, "do", "push").Leads(t, at)
		id := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(body)
		s.Visit(t, "alice", "POST "+at, "do", "remove", "id", id[1]).Leads(t, at)
		s.Visit(t, "alice", "POST "+at, "do", "remove", "id", id[1]).Leads(t, at)
	})
}

// A webhook is added, told of something, looked at, sent again, changed and removed; its secret is never
// shown.
func TestHooks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		told := make(chan string, 20)
		to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			told <- r.Header.Get("X-GitHub-Event") + " " + string(body[:min(len(body), 20)])
			io.WriteString(w, apitest.Markup)
		}))
		t.Cleanup(to.Close)
		ctx := t.Context()
		go s.Server.Run(ctx)
		const at = "/alice/garden/settings/hooks"
		s.Visit(t, "alice", "POST "+at+"/new", "url", "ftp://"+apitest.Markup, "which", "some", "events",
			"issues", "active", "1", "content_type", "json").Shows(t, 422,
			"must be an address that begins with", `value="issues" checked`)
		s.Visit(t, "alice", "POST "+at+"/new", "url", to.URL, "secret", "very secret", "which", "push",
			"active", "1", "content_type", "json").Leads(t, at)
		if got := <-told; !strings.HasPrefix(got, "ping ") {
			t.Errorf("told %q", got)
		}
		list := show(t, s, "alice", at, to.URL, "push")
		one := at + "/" + regexp.MustCompile(at + `/(\d+)"`).FindStringSubmatch(list)[1]
		body := show(t, s, "alice", one, "A secret is set", `value="push" checked`)
		if strings.Contains(body, "very secret") || strings.Contains(body, "****") {
			t.Error("it shows the secret")
		}
		s.Visit(t, "alice", "POST "+one, "do", "save", "url", to.URL, "which", "some", "events", "issues",
			"events", "push", "active", "1", "content_type", "json").Leads(t, one)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/hooks", As: "alice", Status: 200,
			Want: `[{"events": ["issues", "push"], "active": true, "config": {"secret": "********"}}]`})
		s.Visit(t, "alice", "POST "+one, "do", "test").Leads(t, one)
		if got := <-told; !strings.HasPrefix(got, "push ") {
			t.Errorf("told %q", got)
		}
		var delivery string
		for delivery == "" {
			if m := regexp.MustCompile(`(/deliveries/\d+)">push<`).FindStringSubmatch(show(t, s, "alice",
				one)); m != nil {
				delivery = one + m[1]
			}
		}
		show(t, s, "alice", delivery, "X-GitHub-Event", "&#34;ref&#34;: &#34;refs/heads/main&#34;",
			"onerror=alert(1)&gt;", "200")
		s.Visit(t, "alice", "POST "+delivery).Leads(t, one)
		if got := <-told; !strings.HasPrefix(got, "push ") {
			t.Errorf("told %q", got)
		}
		s.Visit(t, "alice", "POST "+one, "do", "save", "url", to.URL, "which", "all", "no_secret", "1",
			"content_type", "form").Leads(t, one)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/hooks", As: "alice", Status: 200,
			Want: `[{"events": ["*"], "active": false, "config": {"secret": "$absent", "content_type": "form"}}]`})
		s.Visit(t, "alice", "POST "+one, "do", "remove").Leads(t, at)
		s.Check(t, apitest.Case{Do: "GET " + one, As: "alice",
			Headers: inBrowser, Status: 404})
	})
}

// What matters happens only with the full name, and then all of it.
func TestDanger(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Org(t, "guild", "alice")
		const at = "/alice/garden/settings"
		for _, page := range []string{"/visibility", "/archive", "/transfer", "/delete"} {
			show(t, s, "alice", at+page, "Type <code><bdi>alice/garden</bdi></code> to confirm")
			s.Visit(t, "alice", "POST "+at+page, "confirm", apitest.Markup, "private", "1", "archived", "1",
				"new_owner", "guild").Shows(t, 422, "Nothing was done", "onerror=alert(1)&gt;")
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 200,
			Want: `{"archived": false, "private": false}`})
		s.Visit(t, "alice", "POST "+at+"/archive", "confirm", "alice/garden", "archived", "1").Leads(t, at)
		show(t, s, "alice", at, "This repository is archived", "<fieldset class=\"bare\" disabled>")
		s.Visit(t, "alice", "POST "+at, "do", "details", "name", "x", "default_branch", "main").Shows(t, 403,
			"archived")
		s.Visit(t, "alice", "POST "+at+"/archive", "confirm", "alice/garden", "archived", "0").Leads(t, at)
		s.Visit(t, "alice", "POST "+at+"/visibility", "confirm", "alice/garden", "private", "1").Leads(t, at)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", Status: 404})
		s.Visit(t, "alice", "POST "+at+"/transfer", "confirm", "alice/garden", "new_owner", "sam").Shows(t, 422,
			`value="sam"`, "Only a site administrator")
		s.Visit(t, "alice", "POST "+at+"/transfer", "confirm", "alice/garden", "new_owner", "guild", "new_name",
			"park").Leads(t, "/guild/park")
		s.Visit(t, "alice", "POST /guild/park/settings/delete", "confirm", "guild/park").Leads(t, "/guild")
		s.Check(t, apitest.Case{Do: "GET /repos/guild/park", As: "alice", Status: 404})
		log := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=actor:alice", As: "keeper",
			Status: 200})
		apitest.HasParts(t, string(log.Body), `"repo.archived"`, `"repo.unarchived"`, `"repo.access"`,
			`"repo.transfer"`,
			`"repo.destroy"`)
	})
}

// A page costs few queries, and no more for many rows: nobody waits longer for a repository that many know.
func TestFewQueries(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		garden(t, s)
		s.Visit(t, "alice", "POST /alice/garden/settings/hooks/new", "url", "https://example.org/1", "which",
			"push", "active", "1", "content_type", "json").Leads(t, "/alice/garden/settings/hooks")
		var hooks []struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/hooks", As: "alice", Status: 200}).JSON(t,
			&hooks)
		paths := []string{"/alice/garden/settings", "/alice/garden/settings/access",
			"/alice/garden/settings/keys", "/alice/garden/settings/mirrors", "/alice/garden/settings/import", "/alice/garden/settings/rules", "/alice/garden/settings/hooks",
			fmt.Sprint("/alice/garden/settings/hooks/", hooks[0].ID),
			"/alice/garden/settings/installations", "/alice/garden/settings/delete", "/settings/profile",
			"/settings/emails",
			"/settings/keys", "/settings/signing", "/settings/sessions", "/settings/tokens",
			"/settings/tokens/new?kind=repositories", "/settings/watching", "/settings/deleted",
			"/settings/installations", "/settings/apps"}
		site := []string{"/site/people", "/site/people/alice", "/site/organizations", "/site/repositories",
			"/site/audit", "/site/jobs"}
		costsAsMuch(t, s, statements, "alice", paths, func() {
			costsAsMuch(t, s, statements, "keeper", site, func() {
				for n := range 5 {
					login := fmt.Sprint("person", n)
					s.User(t, login)
					s.Grant(t, s.Access(t, "alice", "alice/garden").Repo, login, account.Pull)
					s.Repo(t, fmt.Sprint("alice/more", n), false)
					s.Check(t, apitest.Case{Do: "PUT /repos/alice/more" + fmt.Sprint(n) + "/subscription",
						As: "alice", Send: `{"subscribed": true}`, Status: 200})
					s.Visit(t, "alice", "POST /settings/keys", "title", "x", "key",
						testkit.PublicKey(t)).Leads(t, "/settings/keys")
					s.Visit(t, "alice", "POST /settings/emails", "email", login+"@example.com").Leads(t,
						"/settings/emails")
					s.Visit(t, "alice", "POST /alice/garden/settings/keys", "title", "x", "key",
						testkit.PublicKey(t)).Leads(t, "/alice/garden/settings/keys")
					if _, _, err := s.Forge.Tokens.CreateToken(t.Context(),
						token.NewToken{Login: "alice", Repos: []int64{1}}); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	})
}
