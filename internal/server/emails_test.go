package server_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/apitest"
)

// Bots ask for the addresses by which their commits will be shown as their own. Nobody gets
// another's.
func TestOwnEmails(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.User(t, "bob")
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
			{Do: "DELETE " + path, As: "alice", Send: `{"emails": ["WORK@example.org", "alice@example.org"]}`, Status: 204},
			{Do: "GET " + path, As: "alice", Status: 200, Want: `[{"email": "home@example.org"}]`},
			{Do: "GET /user", As: "alice", Status: 200, Want: `{"email": null}`},
			{Do: "POST " + path, As: "alice", Send: `{"emails": [` + strings.Join(many, ",") + `]}`, Status: 422},
			{Do: "GET " + path, As: "alice", Status: 200, Want: `[{"email": "home@example.org"}]`},
		})
	})
}
