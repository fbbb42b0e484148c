package accounts_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// People keep the keys with which they sign at GitHub's addresses, and everybody can read them.
func TestSigningKeys(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "guild", "alice")
		mine := testkit.PublicKey(t)
		body := func(k, more string) string { return fmt.Sprintf(`{"key":%q%s}`, k, more) }
		const at = "/user/ssh_signing_keys"
		const inUse = `{"errors":[{"resource":"SshSigningKey","field":"key","code":"custom","message":"key is already in use"}]}`
		s.Run(t, []apitest.Case{
			{Do: "GET " + at, Status: 401},
			{Do: "GET " + at, As: "alice", Status: 200, Body: "[]"},
			{Do: "POST " + at, As: "alice", Send: body(mine+" at home", `,"title":"laptop"`), Status: 201,
				Want: `{"id":1,"key":"` + mine + `","title":"laptop"}`, Has: map[string]string{"Location": "{base}" + at + "/1"}},
			{Do: "POST " + at, As: "alice", Send: body(mine, ""), Status: 422, Want: inUse},
			{Name: "the key is public, so others may have it", Do: "POST " + at, As: "bob", Send: body(mine, ""), Status: 201},
			{Name: "and it is no key for Git", Do: "GET /user/keys", As: "alice", Status: 200, Body: "[]"},
			{Name: "where it may be added, too", Do: "POST /user/keys", As: "alice", Send: body(mine, ""), Status: 201},
			{Do: "POST " + at, As: "alice", Send: body("ssh-dss AAAA", ""), Status: 422},
			{Do: "POST " + at, As: "alice", Send: `{}`, Status: 422},
			{Do: "POST " + at, As: "alice", Send: body(testkit.PublicKey(t), `,"title":"a\nb"`), Status: 422},
			{Do: "GET " + at + "/1", As: "alice", Status: 200, Want: `{"title":"laptop"}`},
			{Do: "GET " + at + "/1", As: "bob", Status: 404},
			{Do: "GET " + at + "/x", As: "bob", Status: 404},
			{Do: "GET /users/alice/ssh_signing_keys", Status: 200, Want: `[{"id":1,"title":"laptop"}]`},
			{Do: "GET /users/guild/ssh_signing_keys", Status: 200, Body: "[]"},
			{Do: "GET /users/nobody/ssh_signing_keys", Status: 404},
			{Do: "DELETE " + at + "/1", As: "bob", Status: 404},
			{Do: "DELETE /user/gpg_keys/1", As: "alice", Status: 404},
			{Do: "DELETE " + at + "/1", As: "alice", Status: 204},
			{Do: "DELETE " + at + "/1", As: "alice", Status: 404},
			{Do: "GET " + at, As: "alice", Status: 200, Body: "[]"},
		})
	})
}

// A GPG key shows which of its addresses count, and goes with its subkeys.
func TestGPGKeys(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Email(t, "alice", "alice@example.com")
		entity, armor := testkit.OpenPGP(t, "Alice@Example.com")
		id := fmt.Sprintf("%016X", entity.PrimaryKey.KeyId)
		body := func(text string) string {
			b, err := json.Marshal(map[string]string{"name": "laptop", "armored_public_key": text})
			testkit.NoError(t, err)
			return string(b)
		}
		const at = "/user/gpg_keys"
		const invalid = `{"errors":[{"resource":"GpgKey","field":"armored_public_key","code":"custom"}]}`
		s.Run(t, []apitest.Case{
			{Do: "GET " + at, As: "alice", Status: 200, Body: "[]"},
			{Do: "POST " + at, As: "alice", Send: body(armor), Status: 201,
				Want: `{"id":1,"name":"laptop","primary_key_id":null,"key_id":"` + id + `","emails":[{"email":"alice@example.com","verified":true}],
					"can_sign":true,"can_certify":true,"can_encrypt_comms":false,"expires_at":null,"revoked":false,
					"subkeys":[{"id":2,"primary_key_id":1,"can_sign":false,"can_encrypt_comms":true,"subkeys":[],"emails":[],"raw_key":null}]}`},
			{Do: "POST " + at, As: "alice", Send: body(armor), Status: 422, Want: invalid},
			{Name: "of somebody else, by whom nothing is verified", Do: "POST " + at, As: "bob", Send: body(armor), Status: 201,
				Want: `{"emails":[{"email":"alice@example.com","verified":false}]}`},
			{Do: "POST " + at, As: "alice", Send: `{}`, Status: 422},
			{Do: "POST " + at, As: "alice", Send: body("x"), Status: 422, Want: invalid},
			{Do: "POST " + at, As: "alice", Send: body(strings.ReplaceAll(armor, "PUBLIC", "PRIVATE")), Status: 422, Want: invalid},
			{Do: "GET " + at + "/1", As: "alice", Status: 200, Want: `{"key_id":"` + id + `"}`},
			{Name: "a subkey", Do: "GET " + at + "/2", As: "alice", Status: 404},
			{Do: "GET " + at + "/1", As: "bob", Status: 404},
			{Do: "GET /users/alice/gpg_keys", Status: 200, Want: `[{"id":1}]`},
			{Do: "GET /users/nobody/gpg_keys", Status: 404},
			{Name: "a subkey", Do: "DELETE " + at + "/2", As: "alice", Status: 404},
			{Do: "DELETE " + at + "/1", As: "bob", Status: 404},
			{Do: "DELETE " + at + "/1", As: "alice", Status: 204},
			{Do: "GET " + at, As: "alice", Status: 200, Body: "[]"},
			{Do: "GET /alice.gpg", Status: 200, Body: ""},
			{Do: "GET /web-flow.gpg", Status: 200},
		})
		if text := string(s.Check(t, apitest.Case{Do: "GET /bob.gpg", Status: 200}).Body); !strings.HasPrefix(text, "-----BEGIN PGP PUBLIC KEY BLOCK-----\n") {
			t.Errorf("bob.gpg is %q", text)
		}
	})
}
