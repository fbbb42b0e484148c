package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/claim"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Users ask for the texts of a mannequin, learn nothing of whether there is one, and get them when a site
// administrator approves.
func TestClaims(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "chief")
		s.Users(t, "alice", "bob", "eve")
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := account.MakeMannequins(tx, []account.Origin{{Host: "code.example.org", Login: "Carol"}})
			return err
		}))
		const mine, all = "/settings/imported", "/site/imported"
		const carol, nobody = "carol[code.example.org]", "nobody[code.example.org]"
		alice, chief := &visitor{t, s, s.PasswordSession(t, "alice")}, &visitor{t, s, s.PasswordSession(t, "chief")}
		bob := as(t, s, "bob")
		for _, wrong := range []string{"", "carol", "carol[bot]", "carol[code.example.org", "a b[code.example.org]", "carol[]"} {
			alice.post(mine, "do", "ask", "login", wrong).Shows(t, 422, "alice[github.com]")
		}
		for _, login := range []string{" Carol[code.example.org] ", carol, nobody} {
			alice.post(mine, "do", "ask", "login", login).Leads(t, mine)
		}
		bob.post(mine, "do", "ask", "login", carol).Leads(t, mine)
		as(t, s, "eve").post(mine, "do", "ask", "login", carol).Leads(t, mine)
		if strings.Contains(alice.show(mine, carol, nobody), "Carol at") {
			t.Error("a user learns of a mannequin")
		}
		chief.show(mine, "None.")

		visit(t, s, "POST "+all, alice.session, "do=approve&user=alice&mannequin="+carol).Shows(t, 404)
		chief.show(all, "Carol at code.example.org", "no texts of this person were imported")
		decide := func(do, user, login string) *apitest.Answer {
			t.Helper()
			return chief.post(all, "do", do, "user", user, "mannequin", login)
		}
		decide("approve", "alice", nobody).Shows(t, 404)
		decide("approve", "chief", carol).Shows(t, 404)
		s.Check(t, apitest.Case{Do: "PUT /users/eve/suspended", As: "chief", Status: 204})
		decide("approve", "eve", carol).Shows(t, 422, "eve is suspended.")
		chief.show(all, "suspended")
		decide("decline", "bob", carol).Leads(t, all)
		bob.show(mine, "None.")
		decide("approve", "Alice", carol).Leads(t, all)
		if strings.Contains(chief.show(all, nobody), "Carol at") {
			t.Error("claims to a mannequin outlast it")
		}
		s.Check(t, apitest.Case{Do: "GET /users/carol%5Bcode.example.org%5D", As: "bob", Status: 404})

		decide("give", "bob", nobody).Shows(t, 422, "Nothing was imported of such a person", "nobody[code.example.org]")
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := account.MakeMannequins(tx, []account.Origin{{Host: "code.example.org", Login: "Dan"}})
			return err
		}))
		chief.show(all+"?mannequin=dan[code.example.org]", `value="dan[code.example.org]"`)
		decide("give", "eve", "dan[code.example.org]").Shows(t, 422, "eve is suspended.")
		visit(t, s, "POST "+all, alice.session, "do=give&user=alice&mannequin=dan[code.example.org]").Shows(t, 404)
		decide("give", "bob", "dan[code.example.org]").Leads(t, all)
		s.Check(t, apitest.Case{Do: "GET /users/dan%5Bcode.example.org%5D", As: "bob", Status: 404})

		alice.show(mine, nobody)
		bob.post(mine, "do", "withdraw", "login", nobody).Leads(t, mine)
		alice.show(mine, nobody)
		alice.post(mine, "do", "withdraw", "login", nobody).Leads(t, mine)
		alice.show(mine, "None.")
		for n := range claim.Max {
			alice.post(mine, "do", "ask", "login", fmt.Sprintf("u%d[code.example.org]", n)).Leads(t, mine)
		}
		alice.post(mine, "do", "ask", "login", carol).Shows(t, 422, "which is the limit")
	})
}
