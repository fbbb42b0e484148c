package pages_test

import (
	"regexp"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A repository is imported with a form, which says what is wrong before anything is created; its page says why copying
// fails, to administrators alone; and a mirror's webhook gets a secret that is shown once.
func TestImport(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const at = "/new/import"
		show(t, s, "alice", at, "Import a repository", `name="remote_url"`)
		form := func(more ...string) []string {
			return append([]string{"owner", "alice", "name", "copy", "visibility", "public", "username", "alice", "bring", "git"}, more...)
		}
		a := s.Visit(t, "alice", "POST "+at, form("remote_url", "file:///x", "password", "sesame-open")...)
		a.Shows(t, 422, `value="file:///x"`, "must be an address that begins with https://")
		if strings.Contains(string(a.Body), "sesame-open") {
			t.Error("the password is shown")
		}
		s.Ask(t, "alice", "GET /repos/alice/copy", "", 404)
		source := s.URL + "/alice/garden.git"
		s.Visit(t, "alice", "POST "+at, form("remote_url", s.URL+"/alice/nothing.git", "password", "wrong")...).Leads(t, "/alice/copy")
		testkit.Eventually(t, func() bool {
			return strings.Contains(show(t, s, "alice", "/alice/copy", "Nothing has been copied yet"), "The last copy from the source failed")
		}, "the page says why it fails")
		if body := show(t, s, "stranger", "/alice/copy", "Nothing has been copied yet"); strings.Contains(body, "failed") {
			t.Error("strangers read why it fails")
		}
		const settings = "/alice/copy/settings/mirrors"
		s.Visit(t, "alice", "POST "+settings, "do", "set", "remote_url", source, "username", "alice", "password",
			s.Token(t, "alice"), "minutes", "60", "once", "1").Leads(t, settings)
		testkit.Eventually(t, func() bool {
			return !strings.Contains(show(t, s, "alice", "/alice/copy"), "Nothing has been copied yet")
		}, "it is copied")
		testkit.Eventually(t, func() bool {
			return strings.TrimSpace(string(s.Ask(t, "alice", "GET /repos/alice/copy/mirror", "", 200).Body)) == "null"
		}, "it is an ordinary repository")

		s.Visit(t, "alice", "POST "+at, "owner", "alice", "name", "kept", "visibility", "private", "remote_url", source, "username",
			"alice", "password", s.Token(t, "alice"), "bring", "mirror").Leads(t, "/alice/kept")
		s.Ask(t, "stranger", "GET /repos/alice/kept", "", 404)
		const mirrors = "/alice/kept/settings/mirrors"
		show(t, s, "alice", mirrors, "Create secret", "/repos/alice/kept/mirror-hook")
		body := string(s.Visit(t, "alice", "POST "+mirrors, "do", "secret").Shows(t, 200, "Copy the secret now").Body)
		secret := regexp.MustCompile(`id="once" value="([^"]+)"`).FindStringSubmatch(body)
		s.Run(t, []apitest.Case{{Do: "POST /repos/alice/kept/mirror-hook", Send: `{}`, Status: 204,
			Headers: map[string]string{"X-Gitlab-Token": secret[1]}}})
		if body := show(t, s, "alice", mirrors, "Replace secret"); strings.Contains(body, secret[1]) {
			t.Error("the secret is shown again")
		}
		s.Visit(t, "alice", "POST "+mirrors, "do", "forget").Leads(t, mirrors)
		show(t, s, "alice", mirrors, "Create secret")
	})
}

// A repository is imported with its issues with a form: its page says so meanwhile, and administrators read the report.
func TestImportEverything(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Admin(t, "chief")
		const at = "/new/import"
		if strings.Contains(show(t, s, "alice", at, "Import a repository", `value="all" checked`), `name="people"`) {
			t.Error("users say whose texts become whose")
		}
		show(t, s, "chief", at, `name="people"`)
		form := func(as, name string, more ...string) *apitest.Answer {
			return s.Visit(t, as, "POST "+at, append([]string{"owner", as, "name", name, "visibility", "private", "bring", "all"}, more...)...)
		}
		a := form("alice", "moved", "remote_url", s.URL+"/alice", "password", "sesame-open")
		a.Shows(t, 422, "must be the address of a repository")
		if strings.Contains(string(a.Body), "sesame-open") {
			t.Error("the password is shown")
		}
		form("alice", "moved", "remote_url", s.URL+"/alice/garden", "people", "bob alice").Shows(t, 403)
		form("chief", "moved", "remote_url", s.URL+"/alice/garden", "people", "bob").Shows(t, 422, "want the login there and the login here")
		s.Ask(t, "alice", "GET /repos/alice/moved", "", 404)
		form("alice", "moved", "remote_url", s.URL+"/alice/garden", "password", s.Token(t, "alice")).Leads(t, "/alice/moved/settings/import")
		testkit.Eventually(t, func() bool {
			body := show(t, s, "alice", "/alice/moved/settings/import", "Import")
			return strings.Contains(body, ">Imported<")
		}, "the import ends")
		show(t, s, "alice", "/alice/moved/settings/import", "People with accounts here", "issues")
		show(t, s, "alice", "/alice/moved/issues")
		s.Visit(t, "alice", "POST /alice/moved/settings/import", "do", "cancel", "ended", "1").Leads(t, "/alice/moved/settings/import")
		show(t, s, "alice", "/alice/moved/settings/import", "Import from another server")

		s.Repo(t, "alice/nothing", false)
		const settings = "/alice/nothing/settings/import"
		s.Visit(t, "alice", "POST "+settings, "do", "start", "remote_url", "ssh://example.org/a/b").Shows(t, 422, "must be the address of a repository")
		s.Visit(t, "alice", "POST "+settings, "do", "start", "remote_url", "http://127.0.0.1:1/a/b").Leads(t, settings)
		testkit.Eventually(t, func() bool {
			return strings.Contains(show(t, s, "alice", settings, "Import"), "Import ended early")
		}, "the import fails")
		show(t, s, "alice", settings, "the connection was refused")
	})
}
