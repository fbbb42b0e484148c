// Tests of accounts against a whole server.
package accounts_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account/key"

	"golang.org/x/crypto/ssh"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// People keep their keys at GitHub's addresses, and each key is one account's or one repository's.
func TestKeys(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Admin(t, "chief")
		s.Org(t, "guild", "alice")
		s.Repo(t, "alice/garden", true)
		mine, deploy, next := testkit.PublicKey(t), testkit.PublicKey(t), testkit.PublicKey(t)
		body := func(k, more string) string { return fmt.Sprintf(`{"key":%q%s}`, k, more) }
		const inUse = `{"message":"Validation Failed","errors":[{"resource":"PublicKey","field":"key","code":"custom","message":"key is already in use"}]}`
		s.Run(t, []apitest.Case{
			{Do: "GET /user/keys", As: "alice", Status: 200, Body: "[]"},
			{Do: "POST /user/keys", As: "alice",
				Send: body(mine+" at home", `,"title":"laptop"`), Status: 201,
				Want: `{"id":1,"key":"` + mine +
					`","title":"laptop","verified":true,"read_only":false,"last_used":null,"url":"{base}/user/keys/1"}`,
				Has: map[string]string{"Location": "{base}/user/keys/1"}},
			{Name: "the comment is the title", Do: "POST /user/keys", As: "alice",
				Send: body(next+" at home", ""), Status: 201, Want: `{"title":"at home"}`},
			{Do: "POST /user/keys", As: "alice", Send: body(mine, ""), Status: 422, Want: inUse},
			{Do: "POST /user/keys", As: "bob", Send: body(mine, ""), Status: 422, Want: inUse},
			{Do: "POST /repos/alice/garden/keys", As: "alice", Send: body(mine, ""), Status: 422,
				Want: inUse},
			{Do: "POST /repos/alice/garden/keys", As: "alice",
				Send: body(deploy, `,"title":"ci","read_only":true`), Status: 201,
				Want: `{"key":"` + deploy +
					`","title":"ci","read_only":true,"added_by":"alice","enabled":true,"verified":true,"last_used":null}`},
			{Do: "POST /user/keys", As: "bob", Send: body(deploy, ""), Status: 422, Want: inUse},
			{Do: "POST /user/keys", As: "bob", Send: `{}`, Status: 422},
			{Do: "POST /user/keys", As: "bob", Send: `{"key":7}`, Status: 422},
			{Do: "POST /user/keys", As: "bob", Send: body(mine, `,"title":"`+strings.Repeat("x", 256)+`"`),
				Status: 422},
			{Do: "POST /user/keys", As: "bob", Send: body(testkit.PublicKey(t), `,"title":"a\nb"`),
				Status: 422},
			{Do: "GET /users/alice/keys", Status: 200,
				Want: `[{"id":1,"key":"` + mine + `"},{"key":"` + next + `"}]`},
			{Do: "GET /users/alice/keys?per_page=1&page=2", Status: 200, Want: `[{"key":"` + next + `"}]`},
			{Do: "GET /users/guild/keys", Status: 200, Body: "[]"},
			{Do: "GET /alice.keys", Status: 200, Body: mine + "\n" + next + "\n",
				Has: map[string]string{"Content-Type": "text/plain; charset=utf-8"}},
			{Do: "GET /ALICE.keys", Status: 200, Headers: map[string]string{"Accept": "text/plain"}},
			{Do: "GET /api/v3/alice.keys", As: "bob", Status: 200},
			{Do: "GET /bob.keys", Status: 200, Body: ""}, {Do: "GET /guild.keys", Status: 200, Body: ""},
			{Do: "GET /nobody.keys", Status: 404}, {Do: "GET /ghost.keys", Status: 404},
			{Do: "GET /.keys", Status: 404},
			{Do: "GET /plants.keys", Status: 404}, {Do: "GET /a%00b.keys", Status: 404},
			{Do: "GET /alice.keys/", Status: 404},
			{Do: "PUT /users/alice/suspended", As: "chief", Status: 204},
			{Name: "of a suspended account", Do: "GET /alice.keys", Status: 200, Body: ""},
			{Do: "GET /users/alice/keys", Status: 200, Want: `[]`},
			{Do: "DELETE /users/alice/suspended", As: "chief", Status: 204},
			{Do: "GET /users/nobody/keys", Status: 404},
			{Do: "GET /user/keys/1", As: "alice", Status: 200, Want: `{"title":"laptop"}`},
			{Do: "GET /user/keys/1", As: "bob", Status: 404},
			{Do: "GET /user/keys/3", As: "alice", Status: 404},
			{Do: "GET /user/keys/x", As: "alice", Status: 404},
			{Do: "GET /repos/alice/garden/keys", As: "alice", Status: 200, Want: `[{"title":"ci"}]`},
			{Do: "GET /repos/alice/garden/keys/1", As: "alice", Status: 404},
			{Do: "GET /repos/alice/garden/keys", As: "bob", Status: 404},
			{Do: "DELETE /user/keys/1", As: "bob", Status: 404},
			{Do: "DELETE /repos/alice/garden/keys/1", As: "alice", Status: 404},
			{Do: "GET /admin/keys", As: "bob", Status: 404},
			{Do: "GET /admin/keys?per_page=2", As: "chief", Status: 200,
				Want: `[{"id":1,"repository_id":null,"added_by":"alice"},{"title":"at home"}]`},
			{Do: "GET /admin/keys?per_page=2&page=2", As: "chief", Status: 200,
				Want: `[{"title":"ci","user_id":null,"read_only":true}]`},
			{Do: "DELETE /admin/keys/1,x", As: "chief", Status: 404},
			{Do: "DELETE /admin/keys/1,999", As: "chief", Status: 204},
			{Do: "DELETE /admin/keys/1", As: "chief", Status: 404},
			{Do: "POST /user/keys", As: "bob", Send: body(mine, ""), Status: 201},
		})
	})
}

// Invalid and weak keys are rejected with messages that do not repeat a private key.
func TestBadKeys(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		_, private, err := ed25519.GenerateKey(rand.Reader)
		testkit.NoError(t, err)
		block, err := ssh.MarshalPrivateKey(private, "")
		testkit.NoError(t, err)
		secret := string(pem.EncodeToMemory(block))
		for text, why := range map[string]string{
			secret: "this is a private key", "ssh-dss AAAAB3NzaC1kc3MAAACB": "DSA",
			"hello":                                 "OpenSSH public key format",
			"ssh-ed25519-cert-v01@openssh.com AAAA": "certificate",
		} {
			send, _ := json.Marshal(map[string]string{"key": text})
			a := s.Check(t, apitest.Case{Do: "POST /user/keys", As: "alice", Send: string(send), Status: 422})
			if !strings.Contains(string(a.Body), why) || strings.Contains(string(a.Body), secret[60:100]) {
				t.Errorf("%.40q: %s", text, a.Body)
			}
		}
		if strings.Contains(s.Log.Text(), secret[60:100]) {
			t.Error("the log has a private key")
		}
		s.Check(t, apitest.Case{Do: "GET /user/keys", As: "alice", Status: 200, Body: "[]"})
	})
}

// One key that two people add at once is one person's; and nobody has more keys than they may.
func TestKeysAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		k := testkit.PublicKey(t)
		var all sync.WaitGroup
		status := make([]int, 8)
		for n := range status {
			all.Go(func() {
				as := []string{"alice", "bob"}[n%2]
				status[n] = s.Do(t, apitest.Case{Do: "POST /user/keys", As: as,
					Send: fmt.Sprintf(`{"key":%q}`, k)}).Status
			})
		}
		all.Wait()
		made := 0
		for _, code := range status {
			if code == 201 {
				made++
			} else if code != 422 {
				t.Errorf("status %d", code)
			}
		}
		if made != 1 {
			t.Errorf("%d people have one key", made)
		}
		for {
			_, err := s.Forge.Keys.AddUserKey(t.Context(), "alice", key.NewKey{Text: testkit.PublicKey(t)})
			if err == nil {
				continue
			}
			list, listErr := s.Forge.Keys.UserKeys(t.Context(), "alice")
			if listErr != nil || len(list) != key.Max {
				t.Errorf("%d keys: %v, %v", len(list), err, listErr)
			}
			return
		}
	})
}

// A token adds and removes keys as far as its scopes go, which name keys apart from code.
func TestScopesOfKeys(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		for scopes, want := range map[string][4]int{
			"repo": {403, 403, 403, 201}, "read:public_key": {200, 403, 403, 403},
			"write:public_key": {200, 201, 403, 403},
			"admin:public_key": {200, 201, 204, 403}, "public_repo": {403, 403, 403, 201},
		} {
			k, err := s.Forge.Keys.AddUserKey(t.Context(), "alice", key.NewKey{Text: testkit.PublicKey(t)})
			testkit.NoError(t, err)
			headers := apitest.Bearer(s.Scoped(t, "alice", scopes))
			for n, do := range []string{"GET /user/keys", "POST /user/keys",
				fmt.Sprintf("DELETE /user/keys/%d", k.ID), "POST /repos/alice/garden/keys"} {
				c := apitest.Case{Name: do + " with " + scopes, Do: do, Headers: headers, Status: want[n]}
				if strings.HasPrefix(do, "POST") {
					c.Send = fmt.Sprintf(`{"key":%q}`, testkit.PublicKey(t))
				}
				s.Check(t, c)
			}
		}
	})
}
