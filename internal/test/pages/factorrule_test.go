package pages_test

import (
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// addApp adds an authenticator app to who uses a browser.
func (b *visitor) addApp() {
	b.t.Helper()
	secret := secretOf(b.t, string(b.post("/settings/security", "do", "app").Shows(b.t, 200).Body))
	b.post("/settings/security", "do", "add-app", "secret", secret, "code", codeAt(b.t, secret, 0)).Shows(b.t, 200,
		"recovery codes")
}

// People of an organization that requires a second factor can use nothing but the page where they add one, or leave:
// neither sessions, nor tokens, nor keys. Others notice nothing.
func TestOrganizationRequiresFactors(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "dave", "eve")
		s.Org(t, "acme", "alice")
		plot := s.Repo(t, "acme/plot", false)
		s.Repo(t, "dave/own", true)
		s.Check(t, apitest.Case{Do: "PUT /orgs/acme/members/bob", As: "alice", Status: 204})
		s.Grant(t, plot, "carol", account.Push)
		alice := &visitor{t, s, s.PasswordSession(t, "alice")}
		bob := &visitor{t, s, s.PasswordSession(t, "bob")}

		const on, off = `{"two_factor_requirement_enabled": true}`, `{"two_factor_requirement_enabled": false}`
		s.Run(t, []apitest.Case{
			{Do: "PATCH /orgs/acme", As: "bob", Send: on, Status: 403},
			{Name: "an owner without a factor", Do: "PATCH /orgs/acme", As: "alice", Send: on, Status: 422},
			{Do: "GET /orgs/acme", As: "alice", Status: 200, Want: `{"two_factor_requirement_enabled": false}`},
			{Do: "GET /orgs/acme", As: "bob", Status: 200, Want: `{"two_factor_requirement_enabled": null}`},
		})
		alice.post("/orgs/acme/settings/two-factor", "do", "require", "days", "14").Shows(t, 422, "Add a second factor")
		alice.addApp()
		alice.post("/orgs/acme/settings/two-factor", "do", "require", "days", "91").Shows(t, 422, "up to 90")
		alice.post("/orgs/acme/settings/two-factor", "do", "require", "days", "14").Shows(t, 303)
		alice.show("/orgs/acme/settings", "Required of members and outside collaborators from")
		bob.show("/settings/security", "acme", "requires a second factor from", "Leave organization")
		s.Run(t, []apitest.Case{
			{Name: "grace", Do: "GET /user", As: "bob", Status: 200},
			{Do: "GET /orgs/acme", As: "alice", Status: 200, Want: `{"two_factor_requirement_enabled": true}`},
			{Name: "a token does not end it", Do: "PATCH /orgs/acme", As: "alice", Send: off, Status: 403},
		})
		alice.post("/orgs/acme/settings/two-factor", "do", "end").Shows(t, 303)
		s.Run(t, []apitest.Case{
			{Do: "PATCH /orgs/acme", As: "alice", Send: on, Status: 200,
				Want: `{"two_factor_requirement_enabled": true}`},
			{Name: "a member", Do: "GET /user", As: "bob", Status: 403,
				Want: `{"message": "Your account must have a second factor. Sign in with your password on the pages, and add one at Settings > Two-factor authentication."}`},
			{Name: "a collaborator", Do: "GET /repos/acme/plot", As: "carol", Status: 403},
			{Name: "by GraphQL", Do: "POST /graphql", As: "bob", Send: `{"query": "{viewer{login}}"}`, Status: 403},
			{Name: "by git", Do: "GET /acme/plot.git/info/refs?service=git-upload-pack", As: "bob", Status: 403},
			{Name: "somebody else", Do: "GET /repos/acme/plot", As: "dave", Status: 200},
			{Name: "anybody", Do: "GET /repos/acme/plot", Status: 200},
			{Name: "the owner", Do: "GET /user", As: "alice", Status: 200},
		})
		for _, leads := range []string{"/", "/acme/plot", "/settings/tokens", "/settings/keys"} {
			if a := visit(t, s, "GET "+leads, bob.session, ""); a.Status != 303 ||
				a.Header.Get("Location") != "/settings/security" {
				t.Errorf("%s: %d to %s", leads, a.Status, a.Header.Get("Location"))
			}
		}
		bob.post("/settings/tokens/new", "note", "x").Shows(t, 403, "second factor")
		bob.show("/settings/security", "Until you add one")
		bob.addApp()
		s.Check(t, apitest.Case{Do: "GET /user", As: "bob", Status: 200})
		bob.show("/acme/plot", "plot")
		bob.post("/settings/security", "do", "remove-app").Shows(t, 422, "add another one first")

		// Who joins later is bound at once, and who leaves no longer.
		s.Check(t, apitest.Case{Do: "GET /user", As: "dave", Status: 200})
		s.Grant(t, plot, "dave", account.Pull)
		s.Check(t, apitest.Case{Do: "GET /user", As: "dave", Status: 403})
		s.Check(t, apitest.Case{Do: "PUT /orgs/acme/members/eve", As: "alice", Status: 204})
		s.Check(t, apitest.Case{Do: "GET /user", As: "eve", Status: 403})
		eve := &visitor{t, s, s.PasswordSession(t, "eve")}
		eve.post("/settings/security", "do", "leave", "org", "acme").Shows(t, 303)
		s.Check(t, apitest.Case{Do: "GET /user", As: "eve", Status: 200})

		alice.post("/orgs/acme/settings/two-factor", "do", "end").Shows(t, 303)
		s.Check(t, apitest.Case{Do: "GET /user", As: "carol", Status: 200})
		bob.post("/settings/security", "do", "remove-app").Shows(t, 303)
	})
}

// The site requires factors of everybody once the grace time has ended, which a worker notices.
func TestSiteRequiresFactors(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		s.Admin(t, "chief")
		bot := s.Bot(t, "gardener", "alice", "metadata=read")
		chief := &visitor{t, s, s.PasswordSession(t, "chief")}
		alice := &visitor{t, s, s.PasswordSession(t, "alice")}
		visit(t, s, "POST /site/sign-in", alice.session, "do=require&days=0").Shows(t, 404)
		chief.addApp()
		chief.show("/site/sign-in", "Without a second factor, everybody")
		chief.post("/site/sign-in", "do", "require", "days", "1").Shows(t, 303)
		chief.show("/site/sign-in", "Required of everybody from")
		alice.show("/settings/security", "This site requires a second factor from")
		testkit.NoError(t, account.BeginFactorRules(t.Context(), s.DB))
		s.Check(t, apitest.Case{Name: "a day before", Do: "GET /user", As: "alice", Status: 200})
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`UPDATE factor_rules SET begins_at = $1`, tx.Now)
		}))
		testkit.NoError(t, account.BeginFactorRules(t.Context(), s.DB))
		s.Check(t, apitest.Case{Do: "GET /user", As: "alice", Status: 403})
		s.Check(t, apitest.Case{Name: "an App needs none", Do: "GET /installation/repositories", As: bot.Slug + "[bot]",
			Status: 200})
		chief.show("/site/sign-in", "Required of everybody since")

		// A change that began before the rule was in force is refused in its transaction.
		by := &account.Caller{}
		testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
			a, err := account.ByLogin(tx, "alice")
			if err != nil {
				return err
			}
			by.ID, by.Login = a.ID, a.Login
			return tx.QueryRow(`SELECT MIN(id) FROM tokens WHERE account_id = $1`, a.ID).Scan(&by.TokenID)
		}))
		if err := s.DB.Read(t.Context(), by.Holds); !errs.Is(err, errs.Forbidden) {
			t.Errorf("a caller of before: %v", err)
		}

		// Without a factor nobody administrates the site, either; the operator removes the rule.
		_, err := s.Forge.Sessions.RemoveFactors(t.Context(), "chief")
		testkit.NoError(t, err)
		s.Check(t, apitest.Case{Do: "GET /admin/audit-log", As: "chief", Status: 403})
		if err := s.Forge.Accounts.RequireFactors(t.Context(), nil, "", 91*24*time.Hour); !errs.Is(err, errs.Invalid) {
			t.Errorf("91 days: %v", err)
		}
		testkit.NoError(t, s.Forge.Accounts.EndFactorRule(t.Context(), nil, ""))
		log := s.Check(t, apitest.Case{Do: "GET /admin/audit-log", As: "chief", Status: 200})
		want(t, log, 200, "business.enable_two_factor_requirement", "business.disable_two_factor_requirement")
	})
}
