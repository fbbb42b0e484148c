package pages_test

import (
	"fmt"
	"regexp"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Keys that sign are added on one page, which says what does not count, and removed there.
func TestSigningKeyPages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Email(t, "alice", "a@example.com")
		const at = "/settings/signing"
		entity, text := testkit.OpenPGP(t, "a@example.com")
		handle := fmt.Sprintf("%016X", entity.PrimaryKey.KeyId)
		_, other := testkit.OpenPGP(t, "other@example.com")
		show(t, s, "alice", at, "You have none.", "/web-flow.gpg")
		s.Visit(t, "alice", "POST "+at, "do", "add", "name", apitest.Markup, "key", text).Leads(t, at)
		s.Visit(t, "alice", "POST "+at, "do", "add", "name", "other", "key", other).Leads(t, at)
		s.Visit(t, "alice", "POST "+at, "do", "add", "name", "ssh", "key", testkit.PublicKey(t)).Leads(t, at)
		body := show(t, s, "alice", at, handle, "Subkeys", "a@example.com", "other@example.com", "Not verified", "SHA256:")
		s.Visit(t, "alice", "POST "+at, "do", "add", "name", "kept", "key", "no key").Shows(t, 422, `value="kept"`, "no key</textarea>")
		s.Visit(t, "alice", "POST "+at, "do", "add", "key", text).Shows(t, 422, "already in use")
		for _, found := range regexp.MustCompile(`name="id" value="(\d+)"><input type="hidden" name="kind" value="(\w+)"`).FindAllStringSubmatch(body, -1) {
			s.Visit(t, "alice", "POST "+at, "do", "remove", "id", found[1], "kind", found[2]).Leads(t, at)
			s.Visit(t, "alice", "POST "+at, "do", "remove", "id", found[1], "kind", found[2]).Leads(t, at)
		}
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "You have none.", "!SHA256:", "!"+handle)
		s.Visit(t, "alice", "POST "+at, "do", "remove", "id", "1", "kind", "x").Shows(t, 422)
	})
}

// A badge says that a commit of the page was made here, and which signature nobody can check.
func TestBadgesOfSignatures(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		s.Repo(t, "alice/garden", false)
		const at = "/repos/alice/garden"
		s.Check(t, apitest.Case{Do: "PUT " + at + "/contents/f", As: "alice", Status: 201,
			Send: `{"message": "First", "content": "eA==", "branch": "main"}`})
		s.Visit(t, "alice", "GET /alice/garden/commits/main").Shows(t, 200, "First", "!Verified", "!Unverified")
		s.Visit(t, "alice", "POST /alice/garden/new/main", "path", "g", "text", "x", "message", "Made here").Shows(t, 303)
		tip := s.Tip(t, "alice", "alice/garden", "main")
		for _, path := range []string{"/commits/main", "/commit/" + tip} {
			s.Visit(t, "alice", "GET /alice/garden"+path).Shows(t, 200, "Made here", "Verified", "!Unverified", "signed with its key", "GPG key")
		}
		var c struct {
			Commit struct{ Tree struct{ SHA string } }
		}
		s.Check(t, apitest.Case{Do: "GET " + at + "/commits/main", Status: 200}).JSON(t, &c)
		var made struct{ SHA string }
		s.Check(t, apitest.Case{Do: "POST " + at + "/git/commits", As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"message": "Odd", "tree": %q, "signature": %q}`, c.Commit.Tree.SHA, apitest.Markup)}).JSON(t, &made)
		s.Check(t, apitest.Case{Do: "POST " + at + "/git/refs", As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"ref": "refs/tags/odd", "sha": %q}`, made.SHA)})
		s.Visit(t, "alice", "GET /alice/garden/tags").Shows(t, 200, "odd", "Unverified", "neither by GPG nor by SSH")
	})
}

// A release shows whether its tag is signed, else whether its commit is.
func TestBadgesOfReleases(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		s.Repo(t, "alice/garden", false)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/f", As: "alice", Status: 201,
			Send: `{"message": "First", "content": "eA==", "branch": "main"}`})
		release := func(tag string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/releases", As: "alice", Status: 201, Send: `{"tag_name": "` + tag + `"}`})
		}
		release("plain")
		s.Visit(t, "alice", "POST /alice/garden/new/main", "path", "g", "text", "x", "message", "Made here").Shows(t, 303)
		release("signed")
		s.Visit(t, "alice", "GET /alice/garden/releases/tag/plain").Shows(t, 200, "!Verified", "!Unverified")
		s.Visit(t, "alice", "GET /alice/garden/releases/tag/signed").Shows(t, 200, "Verified", "signed with its key")
		s.Visit(t, "alice", "GET /alice/garden/releases").Shows(t, 200, "plain", "Verified", "!Unverified")
	})
}
