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
			return append([]string{"owner", "alice", "name", "copy", "visibility", "public", "username", "alice"}, more...)
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
			"alice", "password", s.Token(t, "alice"), "keep", "1").Leads(t, "/alice/kept")
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
