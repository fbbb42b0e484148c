package server_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"arbor/internal/server"
	"arbor/internal/ssh"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Bots store ids, which survive renaming, and list all accounts and repositories by id. Private ones are
// not found by callers who cannot see them.
func TestThingsByTheirIDs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		guild(t, s)
		s.Org(t, "lodge", "stranger")
		alice := s.User(t, "alice")
		open, hidden := s.Repo(t, "alice/open", false), s.Repo(t, "alice/hidden", true)
		byID := func(id any) string { return fmt.Sprintf("GET /repositories/%d", id) }
		s.Run(t, []apitest.Case{
			{Do: fmt.Sprintf("GET /user/%d", alice.ID), Status: 200,
				Want: `{"login": "alice", "email": null, "type": "User"}`},
			{Do: "GET /user/999999", Status: 404},
			{Do: "GET /user/0", Status: 404},
			{Do: "GET /user/x", Status: 404},
			{Do: byID(open.ID), Status: 200, Want: `{"full_name": "alice/open", "permissions": "$absent"}`},
			{Do: byID(open.ID), As: "alice", Status: 200, Want: `{"permissions": {"admin": true}}`},
			{Do: byID(hidden.ID), As: "alice", Status: 200, Want: `{"full_name": "alice/hidden"}`},
			{Do: byID(hidden.ID), As: "chief", Status: 200},
			{Do: "GET /organizations", Status: 200, Want: `[{"login": "guild"}, {"login": "lodge"}]`},
			{Do: "GET /organizations?per_page=1", Status: 200, Want: `[{"login": "guild"}]`},
			{Do: "GET /repositories", Status: 200,
				Want: `[{"full_name": "guild/hall"}, {"full_name": "alice/open"}]`},
			{Do: "GET /repositories", As: "alice", Status: 200,
				Want: `[{"full_name": "guild/hall"}, {"full_name": "alice/open"}]`},
			{Do: fmt.Sprintf("GET /repositories?since=%d", open.ID), As: "alice", Status: 200, Body: "[]"},
			{Do: "GET /repositories?since=-1&page=9", Status: 200,
				Want: `[{"full_name": "guild/hall"}, {"full_name": "alice/open"}]`},
			{Do: "GET /repositories?per_page=1", Status: 200, Want: `[{"full_name": "guild/hall"}]`},
		})
		absent := s.Do(t, apitest.Case{Do: byID(999999)})
		for _, as := range []string{"", "stranger"} {
			if got := s.Do(t, apitest.Case{Do: byID(hidden.ID), As: as}); got.Status != 404 ||
				string(got.Body) != string(absent.Body) {
				t.Errorf("a hidden repository is %d %s as %q", got.Status, got.Body, as)
			}
		}
		link := s.Do(t, apitest.Case{Do: "GET /repositories?per_page=1"}).Header.Get("Link")
		if !strings.HasSuffix(link, `>; rel="next"`) {
			t.Errorf("the first page links %q", link)
		}
		s.Run(t, []apitest.Case{
			{Do: "PATCH /repos/alice/open", As: "alice", Send: `{"name": "shown", "private": true}`,
				Status: 200},
			{Do: byID(open.ID), Status: 404},
			{Do: byID(open.ID), As: "alice", Status: 200, Want: `{"full_name": "alice/shown"}`},
			{Do: "GET /repositories", Status: 200, Want: `[{"full_name": "guild/hall"}]`},
		})
	})
}

// Clients ask a server for its version and its host keys before they begin.
func TestMeta(t *testing.T) {
	t.Parallel()
	keys, err := ssh.NewHostKeys()
	testkit.NoError(t, err)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		var got struct {
			Installed    string            `json:"installed_version"`
			Fingerprints map[string]string `json:"ssh_key_fingerprints"`
			Keys         []string          `json:"ssh_keys"`
		}
		s.Check(t, apitest.Case{Do: "GET /api/v3/meta", Status: 200,
			Want: `{"verifiable_password_authentication": false}`}).JSON(t, &got)
		// Git Credential Manager parses MAJOR.MINOR.PATCH alone, and from 3.2 on signs in as Arbor does not.
		var version [3]int
		n, err := fmt.Sscanf(got.Installed, "%d.%d.%d", &version[0], &version[1], &version[2])
		if n != 3 || err != nil || slices.Compare(version[:], []int{3, 2, 0}) >= 0 ||
			slices.Compare(version[:], []int{3, 0, 0}) < 0 || got.Installed != fmt.Sprintf("%d.%d.%d",
			version[0], version[1], version[2]) {
			t.Errorf("clients read the version %q", got.Installed)
		}
		if len(got.Keys) != len(keys) || len(got.Fingerprints) != len(keys) {
			t.Fatalf("%+v of %d keys", got, len(keys))
		}
		for n, k := range keys {
			shown, _, _, _, err := gossh.ParseAuthorizedKey([]byte(got.Keys[n]))
			if err != nil || !bytes.Equal(shown.Marshal(), k.PublicKey().Marshal()) {
				t.Errorf("key %d is %q (%v)", n, got.Keys[n], err)
			}
			kind := map[string]string{"ssh-ed25519": "SHA256_ED25519",
				"ecdsa-sha2-nistp256": "SHA256_ECDSA"}[k.PublicKey().Type()]
			if want := gossh.FingerprintSHA256(k.PublicKey()); "SHA256:"+got.Fingerprints[kind] != want {
				t.Errorf("%s is %q, want %s", kind, got.Fingerprints[kind], want)
			}
		}
	}, func(o *server.Options) { o.Version, o.SSH.HostKeys = "14bb28b6", keys }) // a build without a tag
}
