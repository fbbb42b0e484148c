package server_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Bots ask for the addresses by which their commits will be shown as their own. Nobody gets
// another's.
func TestOwnEmails(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		const path = "/user/emails"
		var many []string
		for n := range 100 {
			many = append(many, fmt.Sprintf(`"a%d@example.org"`, n))
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + path, Status: 401},
			{Do: "PATCH /user", As: "alice", Send: `{"email": "Alice@example.org"}`, Status: 200},
			{Do: "POST " + path, As: "alice", Send: `{"emails": ["work@example.org"]}`, Status: 201},
			{Do: "POST " + path, As: "alice", Send: `["work@example.org"]`, Status: 201},
			{Do: "POST " + path, As: "alice", Send: `"home@example.org"`, Status: 201},
			{Do: "GET " + path, As: "alice", Status: 200, Want: `[
				{"email": "Alice@example.org", "primary": true, "verified": false, "visibility": "public"},
				{"email": "work@example.org", "primary": false, "verified": false, "visibility": null}, {"email": "home@example.org"}]`},
			{Do: "GET " + path, As: "bob", Status: 200, Body: "[]"},
			{Do: "POST " + path, As: "bob", Send: `{}`, Status: 422},
			{Do: "POST " + path, As: "bob", Send: `{"emails": []}`, Status: 422},
			{Do: "POST " + path, As: "bob", Send: `{"emails": ["none"]}`, Status: 422},
			{Do: "POST " + path, As: "bob", Send: `{"emails": ["1+alice@users.noreply.arbor"]}`, Status: 422},
			{Do: "POST " + path, As: "bob", Send: `7`, Status: 400},
			{Do: "DELETE " + path, As: "bob", Send: `{"emails": ["work@example.org"]}`, Status: 404},
			{Do: "DELETE " + path, As: "alice", Send: `{"emails": ["WORK@example.org", "alice@example.org"]}`,
				Status: 204},
			{Do: "GET " + path, As: "alice", Status: 200,
				Want: `[{"email": "home@example.org", "primary": true, "verified": false, "visibility": "private"}]`},
			{Do: "POST " + path, As: "alice", Send: `"office@example.org"`, Status: 201},
			{Do: "GET " + path, As: "alice", Status: 200, Want: `[{"email": "home@example.org", "primary": true},
				{"email": "office@example.org", "primary": false, "visibility": null}]`},
			{Do: "GET /user", As: "alice", Status: 200, Want: `{"email": null}`},
			{Do: "POST " + path, As: "alice", Send: `{"emails": [` + strings.Join(many, ",") + `]}`,
				Status: 422},
		})
		s.Email(t, "alice", "office@example.org") // verified, and so mail goes there
		s.Check(t, apitest.Case{Do: "GET " + path, As: "alice", Status: 200, Want: `[{"email": "home@example.org",
			"primary": false, "visibility": null}, {"email": "office@example.org", "primary": true, "verified": true,
			"visibility": "private"}]`})
	})
}

// A profile that changes while its address is given up keeps the change. SQLite has one writer, so nothing
// meets there.
func TestProfileChangesBesideItsAddress(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.PostgreSQL, func(o *server.Options) { // two write at a time, and one looks at them
		o.DB = dbtest.OpenURL(t, dbtest.URL(t, db.PostgreSQL)+"&pool_max_conns=4")
	})
	alice := s.User(t, "alice")
	s.Check(t, apitest.Case{Do: "PATCH /user", As: "alice", Send: `{"email": "alice@example.org"}`,
		Status: 200})
	removed := make(chan struct{})
	err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(`UPDATE accounts SET bio = 'Gardens.' WHERE id = $1`, alice.ID); err != nil {
			return err
		}
		go func() {
			defer close(removed)
			s.Do(t, apitest.Case{Do: "DELETE /user/emails", As: "alice", Send: `["alice@example.org"]`,
				Status: 204})
		}()
		return s.AwaitBlocked(t)
	})
	testkit.NoError(t, err)
	<-removed
	s.Check(t, apitest.Case{Do: "GET /user", As: "alice", Status: 200,
		Want: `{"email": null, "bio": "Gardens."}`})
}
