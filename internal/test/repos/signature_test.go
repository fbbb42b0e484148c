package repos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// signer is a clone whose git signs with an SSH key of a file.
type signer struct{ dir, public string }

func newSigner(t *testing.T, remote, email string) *signer {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed: apt-get install openssh-client")
	}
	key := filepath.Join(t.TempDir(), "key")
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key).CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	s := &signer{dir: t.TempDir()}
	gittest.Run(t, s.dir, "init", "-q", "-b", "main")
	for name, value := range map[string]string{"gpg.format": "ssh", "user.signingkey": key, "user.name": "Alice",
		"user.email": email, "remote.origin.url": remote, "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*"} {
		gittest.Run(t, s.dir, "config", name, value)
	}
	b, err := os.ReadFile(key + ".pub")
	testkit.NoError(t, err)
	s.public = strings.TrimSpace(string(b))
	return s
}

// commit makes a signed commit and returns its SHA.
func (s *signer) commit(t *testing.T, message string) string {
	t.Helper()
	gittest.Run(t, s.dir, "commit", "-q", "--allow-empty", "-S", "-m", message)
	return string(gittest.Resolve(t, s.dir, "HEAD"))
}

// What git signs is verified for the account of the address, everywhere, until the key or the address goes.
func TestSignatures(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const mail = "author@example.com" // of all commits of package gittest
		s.Users(t, "alice", "bob")
		s.Email(t, "alice", mail)
		s.Repo(t, "alice/garden", false)
		git := newSigner(t, s.Remote(t, "alice", "alice/garden"), mail)
		first := git.commit(t, "Caf\u00e9")
		gittest.Run(t, git.dir, "tag", "-s", "-m", "One", "v1")
		gittest.Run(t, git.dir, "commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "plain")
		gittest.Run(t, git.dir, "push", "-q", "origin", "main", "v1")
		tag := string(gittest.Resolve(t, git.dir, "refs/tags/v1"))

		const at = "/repos/alice/garden"
		says := func(when, reason string) {
			t.Helper()
			is := fmt.Sprintf(`{"verified": %t, "reason": %q, "signature": "$any", "payload": "$any"}`, reason == "valid", reason)
			plain := `{"verified": false, "reason": "unsigned", "signature": null, "payload": null, "verified_at": null}`
			for path, want := range map[string]string{
				"/commits/" + first:     `{"commit": {"verification": ` + is + `}}`,
				"/git/commits/" + first: `{"verification": ` + is + `}`,
				"/git/tags/" + tag:      `{"verification": ` + is + `}`,
				"/commits":              `[{"commit": {"verification": ` + plain + `}}, {"commit": {"verification": ` + is + `}}]`,
				"/compare/v1...main": `{"base_commit": {"commit": {"verification": ` + is + `}}, "commits": [{"commit": {"verification": ` +
					plain + `}}]}`,
				"/branches/main": `{"commit": {"commit": {"verification": ` + plain + `}}}`,
			} {
				s.Check(t, apitest.Case{Name: when, Do: "GET " + at + path, Status: 200, Want: want})
			}
		}
		add := func(as string) string {
			t.Helper()
			body := s.Check(t, apitest.Case{Do: "POST /user/ssh_signing_keys", As: as, Status: 201,
				Send: fmt.Sprintf(`{"title": "k", "key": %q}`, git.public)}).Body
			var k struct{ ID int64 }
			testkit.NoError(t, json.Unmarshal(body, &k))
			return fmt.Sprint(k.ID)
		}
		says("before the key is added", "unknown_key")
		id := add("alice")
		says("with the key", "valid")
		tagOf := func() string { return s.Ask(t, "", "GET "+at+"/commits/"+first, "", 200).Header.Get("ETag") }
		if one, two := tagOf(), tagOf(); one != two || one == "" {
			t.Errorf("the ETags are %s and %s", one, two)
		}

		// Transitions.
		_, err := s.Accounts.Rename(t.Context(), nil, account.User, "alice", "alicia")
		testkit.NoError(t, err)
		_, err = s.Accounts.Rename(t.Context(), nil, account.User, "alicia", "alice")
		testkit.NoError(t, err)
		says("after a renaming", "valid")
		s.Admin(t, "chief")
		s.Ask(t, "chief", "PUT /users/alice/suspended", "", 204)
		says("of a suspended account", "valid")
		s.Ask(t, "chief", "DELETE /users/alice/suspended", "", 204)
		testkit.NoError(t, s.Accounts.RemoveEmail(t.Context(), "alice", mail))
		says("without the address", "no_user")
		testkit.NoError(t, s.Accounts.AddEmail(t.Context(), "alice", mail))
		says("with an address that is not verified", "unverified_email")
		s.Email(t, "bob", mail)
		says("with an address of somebody else", "bad_email")
		testkit.NoError(t, s.Accounts.RemoveEmail(t.Context(), "bob", mail))
		s.Email(t, "alice", mail)
		says("with the address again", "valid")
		add("bob")
		says("when somebody else adds the key", "valid")
		s.Ask(t, "alice", "DELETE /user/ssh_signing_keys/"+id, "", 204)
		says("without the key", "bad_email")
		s.Ask(t, "chief", "DELETE /admin/users/bob", "", 204)
		testkit.Eventually(t, func() bool {
			return strings.Contains(string(s.Ask(t, "", "GET "+at+"/git/commits/"+first, "", 200).Body), `"reason":"unknown_key"`)
		}, "the keys of a deleted account go")
		says("when nobody has it", "unknown_key")
	})
}

// The server signs what it merges for people, and not what their programs commit.
func TestTheServerSigns(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		s.Repo(t, "alice/garden", false)
		const at = "/repos/alice/garden"
		unsigned := `{"commit": {"verification": {"verified": false, "reason": "unsigned"}}}`
		put := func(path, branch string, status int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "PUT " + at + "/contents/" + path, As: "alice", Status: status, Want: unsigned,
				Send: fmt.Sprintf(`{"message": "m", "content": "eA==", "branch": %q}`, branch)})
		}
		put("f", "main", 201)
		tip := s.Tip(t, "alice", "alice/garden", "main")
		for n, method := range []string{"merge", "squash"} {
			s.Check(t, apitest.Case{Do: "POST " + at + "/git/refs", As: "alice", Status: 201,
				Send: fmt.Sprintf(`{"ref": "refs/heads/%s", "sha": %q}`, method, tip)})
			put(method, method, 201)
			s.Check(t, apitest.Case{Do: "POST " + at + "/pulls", As: "alice", Status: 201,
				Send: fmt.Sprintf(`{"title": %q, "head": %q, "base": "main"}`, method, method)})
			s.Check(t, apitest.Case{Do: fmt.Sprintf("PUT %s/pulls/%d/merge", at, n+1), As: "alice", Status: 200,
				Send:    fmt.Sprintf(`{"merge_method": %q}`, method),
				Headers: map[string]string{"Accept": "application/vnd.github.v3+json"}})
			s.Check(t, apitest.Case{Name: method, Do: "GET " + at + "/commits/main", Status: 200,
				Want: `{"committer": {"login": "alice"}, "commit": {"verification": {"verified": true, "reason": "valid", "verified_at": "$any"}}}`})
		}
		s.Check(t, apitest.Case{Name: "nor is what a client made up", Do: "POST " + at + "/git/commits", As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"message": "m", "tree": %q, "signature": "-----BEGIN PGP SIGNATURE-----\n\niQ\n=x\n-----END PGP SIGNATURE-----"}`,
				gittest.Run(t, s.ObjectsDir(t, s.Access(t, "alice", "alice/garden").Repo), "rev-parse", tip+"^{tree}")),
			Want: `{"verification": {"verified": false, "reason": "malformed_signature"}}`})
	})
}

// A page of a hundred signed commits takes as many statements as one of two.
func TestStatementsOfSignatures(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var statements atomic.Int64
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
				Trace: func(ctx context.Context, query string) {
					// The server's workers ask for work now and then, and a request that takes long for the state.
					if account.CallerFrom(ctx) != nil && !testkit.IsState(query) {
						statements.Add(1)
					}
				}})
		})
		s.Users(t, "alice")
		s.Email(t, "alice", "author@example.com")
		s.Repo(t, "alice/garden", false)
		git := newSigner(t, s.Remote(t, "alice", "alice/garden"), "author@example.com")
		for n := range 30 {
			git.commit(t, fmt.Sprint(n))
		}
		gittest.Run(t, git.dir, "push", "-q", "origin", "main")
		s.Check(t, apitest.Case{Do: "POST /user/ssh_signing_keys", As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"key": %q}`, git.public)})
		x := 0
		cost := func(size int, most int64) int64 { // as apitest's CostWithin counts
			least := int64(1000)
			for n := 0; n < 5 || n < 300 && least > most; n++ {
				x++
				statements.Store(0)
				body := s.Ask(t, "alice", fmt.Sprintf("GET /repos/alice/garden/commits?per_page=%d&x=%d", size, x), "", 200).Body
				if n := strings.Count(string(body), `"verified":true`); n != size {
					t.Fatalf("%d of %d are verified", n, size)
				}
				least = min(least, statements.Load())
			}
			return least
		}
		few := cost(2, 12)
		if many := cost(30, few); few == 0 || many > few || many > 12 {
			t.Errorf("two commits take %d statements, thirty %d", few, many)
		}
	})
}
