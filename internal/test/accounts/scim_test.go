package accounts_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/external"
	"arbor/internal/server"
	"arbor/internal/signinfile"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

const (
	scimUsers  = "/scim/v2/Users"
	scimGroups = "/scim/v2/Groups"
)

// provisioned is an option of servers: two sources, whose tokens are those of okta and entra.
func provisioned(t *testing.T) apitest.Option {
	t.Helper()
	file, err := signinfile.Parse([]byte(`
provisioners:
  - name: okta
    scim: {account: okta, administrator_roles: true}
    administrators: [Ops]
    groups:
      Developers: [{organization: acme, teams: [web]}]
      Leads: [{organization: acme, role: owner}]
      Elsewhere: [{organization: nowhere}]
  - {name: entra, scim: {account: entra}}
providers:
  - {name: company, issuer: 'https://login.example', client_id: x, scim: {account: linker}}
passwords: [glass]
`))
	testkit.NoError(t, err)
	return func(o *server.Options) { o.SignIn = file }
}

// scim is a server with the people who provision, and the organization that groups give.
type scim struct{ *apitest.Server }

func eachSCIM(t *testing.T, fn func(t *testing.T, s *scim)) {
	t.Helper()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, login := range []string{"keeper", "okta", "entra", "linker"} {
			s.Admin(t, login)
		}
		s.User(t, "plain")
		s.Org(t, "acme", "keeper")
		s.Check(t, apitest.Case{Do: "POST /orgs/acme/teams", As: "keeper", Send: `{"name": "web"}`, Status: 201})
		fn(t, &scim{s})
	}, provisioned(t))
}

// add provisions a user, and returns its id.
func (s *scim) add(t *testing.T, as, login, more string) string {
	t.Helper()
	return s.made(t, as, scimUsers, fmt.Sprintf(`{"userName": %q, "externalId": %q%s}`, login, "x-"+login, more))
}

func (s *scim) made(t *testing.T, as, at, send string) string {
	t.Helper()
	a := s.Check(t, apitest.Case{Do: "POST " + at, As: as, Send: send, Status: 201})
	var made struct{ ID string }
	testkit.NoError(t, json.Unmarshal(a.Body, &made))
	if !strings.HasPrefix(a.Header.Get("Content-Type"), "application/scim+json") {
		t.Errorf("the media type is %q", a.Header.Get("Content-Type"))
	}
	return made.ID
}

// patch changes something by operations.
func (s *scim) patch(t *testing.T, as, at, operations string, status int) {
	t.Helper()
	s.Check(t, apitest.Case{Do: "PATCH " + at, As: as, Status: status, Send: `{"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": [` + operations + `]}`})
}

// Leavers are suspended at once, with tokens; who is back is back, unless an administrator suspended the account.
func TestSCIMSuspendsLeavers(t *testing.T) {
	t.Parallel()
	eachSCIM(t, func(t *testing.T, s *scim) {
		ann := s.add(t, "okta", "Ann.Weaver@example.org", `, "displayName": "Ann <b>W</b>", "emails": [{"value": "ann@example.org", "primary": true}]`)
		at := scimUsers + "/" + ann
		s.Check(t, apitest.Case{Do: "GET /users/ann-weaver", As: "keeper", Status: 200, Want: `{"name": "Ann <b>W</b>"}`})
		token := s.Scoped(t, "Ann-Weaver", "user:email")
		mayUse := func(status int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET /user/emails", Headers: map[string]string{"Authorization": "Bearer " + token}, Status: status})
		}
		mayUse(200)
		active := func(value string) {
			t.Helper()
			s.patch(t, "okta", at, `{"op": "Replace", "path": "active", "value": `+value+`}`, 200)
		}
		active(`"False"`) // as Entra ID sends it
		mayUse(403)
		s.Check(t, apitest.Case{Do: "GET " + at, As: "okta", Status: 200, Want: `{"active": false}`})
		active(`true`)
		mayUse(200)

		// An administrator's suspension stays, and one that the administrator ended is made again.
		s.Check(t, apitest.Case{Do: "PUT /users/ann-weaver/suspended", As: "keeper", Status: 204})
		active(`false`)
		active(`true`)
		mayUse(403)
		s.Check(t, apitest.Case{Do: "DELETE /users/ann-weaver/suspended", As: "keeper", Status: 204})
		active(`false`)
		s.Check(t, apitest.Case{Do: "DELETE /users/ann-weaver/suspended", As: "keeper", Status: 204})
		mayUse(200)
		active(`false`)
		mayUse(403)
		active(`true`)
		mayUse(200)

		// A user that is removed is suspended; created again, it has the same account.
		s.Check(t, apitest.Case{Do: "DELETE " + at, As: "okta", Status: 204})
		mayUse(403)
		s.Check(t, apitest.Case{Do: "GET " + at, As: "okta", Status: 404, Want: `{"schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"], "status": "404"}`})
		again := s.add(t, "okta", "Ann.Weaver@example.org", "")
		mayUse(200)
		if again == ann {
			t.Error("an id is used twice")
		}

		// A deleted account is made again with the next change, under another login.
		s.Check(t, apitest.Case{Do: "PATCH /admin/users/ann-weaver", As: "keeper", Send: `{"login": "ann"}`, Status: 202})
		s.Check(t, apitest.Case{Do: "GET " + scimUsers + "/" + again, As: "okta", Status: 200, Want: `{"userName": "Ann.Weaver@example.org"}`})
		s.Check(t, apitest.Case{Do: "DELETE /admin/users/ann", As: "keeper", Status: 204})
		s.patch(t, "okta", scimUsers+"/"+again, `{"op": "replace", "value": {"displayName": "A"}}`, 409)
		s.patch(t, "okta", scimUsers+"/"+again, `{"op": "replace", "value": {"userName": "aweaver"}}`, 200)
		s.Check(t, apitest.Case{Do: "GET /users/aweaver", Status: 200})

		// Neither the last administrator nor who provisions nor who may use a password is suspended.
		s.User(t, "glass")
		s.Check(t, apitest.Case{Do: "POST " + scimUsers, As: "okta", Send: `{"userName": "glass", "externalId": "g"}`, Status: 409, Want: `{"scimType": "uniqueness"}`})
		a := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=action:user.suspend", As: "keeper", Status: 200})
		if !strings.Contains(string(a.Body), "okta") {
			t.Errorf("the log does not name the source: %s", a.Body)
		}
	})
}

// What identity providers are known to send is understood, whether the standard allows it or not.
func TestSCIMTakesWhatProvidersSend(t *testing.T) {
	t.Parallel()
	eachSCIM(t, func(t *testing.T, s *scim) {
		at := scimUsers + "/" + s.add(t, "entra", "kim", `, "emails": [{"value": "kim@example.org", "type": "work"}], "roles": []`)
		for _, c := range []struct{ operations, want string }{
			{`{"op": "Add", "path": "emails[type eq \"home\"].value", "value": "kim@home.example"}`,
				`{"emails": [{"value": "kim@example.org", "type": "work"}, {"value": "kim@home.example", "type": "home"}]}`},
			{`{"op": "Replace", "path": "emails[type eq \"work\"].value", "value": "k@example.org"}`,
				`{"emails": [{"value": "k@example.org", "type": "work"}, {"value": "kim@home.example"}]}`},
			{`{"op": "Remove", "path": "emails[type eq \"home\"]"}`, `{"emails": [{"value": "k@example.org"}]}`},
			{`{"op": "Replace", "path": "name.familyName", "value": "Miller"}, {"op": "add", "path": "name.givenName", "value": "Kim"}`,
				`{"name": {"familyName": "Miller", "givenName": "Kim"}}`},
			{`{"op": "replace", "value": {"name.givenName": "Kimberly", "displayName": "Kim Miller", "active": "True"}}`,
				`{"name": {"familyName": "Miller", "givenName": "Kimberly"}, "displayName": "Kim Miller", "active": true}`},
			{`{"op": "replace", "value": {"id": "x", "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"department": "D"}}}`,
				`{"displayName": "Kim Miller"}`},
			{`{"op": "Add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", "value": "D"}`, `{}`},
			{`{"op": "add", "path": "title", "value": "T"}`, `{}`},
			{`{"op": "replace", "path": "urn:ietf:params:scim:schemas:core:2.0:User:displayName", "value": "K"}`, `{"displayName": "K"}`},
			{`{"op": "Add", "path": "roles[primary eq \"True\"].value", "value": "user"}`, `{"roles": [{"value": "user", "primary": true}]}`},
			{`{"op": "Replace", "path": "roles", "value": [{"value": "{\"id\":\"1\",\"value\":\"billing\",\"displayName\":\"B\"}"}]}`,
				`{"roles": [{"value": "billing"}]}`},
			{`{"op": "remove", "path": "displayName"}, {"op": "REMOVE", "path": "roles"}`, `{"displayName": "$absent", "roles": "$absent"}`},
			{`{"op": "replace", "path": "userName", "value": "kim2"}`, `{"userName": "kim2"}`},
		} {
			s.patch(t, "entra", at, c.operations, 200)
			s.Check(t, apitest.Case{Name: c.operations, Do: "GET " + at, As: "entra", Status: 200, Want: c.want})
		}
		s.Check(t, apitest.Case{Do: "GET /users/kim", Status: 200}) // a provider renames no login
		s.Run(t, []apitest.Case{
			{Name: "Okta deactivates with PUT", Do: "PUT " + at, As: "entra", Status: 200, Want: `{"active": false, "emails": [], "externalId": "x-kim"}`,
				Send: `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "kim2", "active": false, "password": "x"}`},
			{Do: "GET " + scimUsers + "?filter=externalId+eq+%22x-kim%22", As: "entra", Status: 200, Want: `{"totalResults": 1, "itemsPerPage": 1, "startIndex": 1, "Resources": [{"userName": "kim2"}]}`},
			{Do: "GET " + scimUsers + "?filter=userName+Eq+%22KIM2%22+and+active+eq+false", As: "entra", Status: 200, Want: `{"totalResults": 1}`},
			{Do: "GET " + scimUsers + "?filter=userName+eq+%22kim%22", As: "entra", Status: 200, Want: `{"totalResults": 0, "Resources": []}`},
			{Do: "GET " + scimUsers + "?filter=id+eq+%22user-0%22", As: "entra", Status: 200, Want: `{"totalResults": 0}`},
			{Do: "GET " + scimUsers + "?count=0", As: "entra", Status: 200, Want: `{"totalResults": 1, "Resources": []}`},
			{Do: "GET " + scimUsers + "?startIndex=0&count=1000&attributes=userName", As: "entra", Status: 200, Want: `{"startIndex": 1, "Resources": [{"userName": "kim2", "meta": "$absent"}]}`},
			{Do: "GET /api/v3" + scimUsers, As: "entra", Status: 200, Want: `{"totalResults": 1}`},
			{Do: "GET /scim/v2/ServiceProviderConfig", As: "entra", Status: 200, Want: `{"patch": {"supported": true}}`},
			{Do: "GET /scim/v2/ResourceTypes/User", As: "entra", Status: 200, Want: `{"endpoint": "/Users"}`},
			{Do: "GET /scim/v2/Schemas/urn:ietf:params:scim:schemas:core:2.0:Group", As: "entra", Status: 200, Want: `{"name": "Group"}`},
			{Do: "GET /scim/v2/Schemas", As: "entra", Status: 200, Want: `{"totalResults": 2}`},
		})
	})
}

// Groups give what the file says, as soon as they change, and only people of the provider are in them.
func TestSCIMGroups(t *testing.T) {
	t.Parallel()
	eachSCIM(t, func(t *testing.T, s *scim) {
		ann, bob := s.add(t, "okta", "ann", ""), s.add(t, "okta", "bob", "")
		foreign := s.add(t, "entra", "eve", "")
		group := s.made(t, "okta", scimGroups, `{"displayName": "Developers", "externalId": "g1", "members": [{"value": "`+ann+`", "displayName": "Ann"}]}`)
		at := scimGroups + "/" + group
		in := func(login string, is bool) {
			t.Helper()
			status := map[bool]int{true: 200, false: 404}[is]
			s.Check(t, apitest.Case{Do: "GET /orgs/acme/teams/web/memberships/" + login, As: "keeper", Status: status})
		}
		value := func(id string) string { return `{"value": "` + id + `"}` }
		in("ann", true)
		in("bob", false)
		s.Check(t, apitest.Case{Do: "GET " + scimUsers + "/" + ann, As: "okta", Status: 200, Want: `{"groups": [{"value": "` + group + `", "display": "Developers"}]}`})
		s.patch(t, "okta", at, `{"op": "Add", "path": "members", "value": [`+value(bob)+`]}, {"op": "remove", "path": "members[value eq \"`+ann+`\"]"}`, 204)
		in("ann", false)
		in("bob", true)
		s.patch(t, "okta", at, `{"op": "replace", "value": {"id": "`+group+`", "displayName": "Others"}}`, 204)
		in("bob", false)
		s.patch(t, "okta", at, `{"op": "replace", "path": "displayName", "value": "Developers"}`, 204)
		in("bob", true)
		s.patch(t, "okta", at, `{"op": "Remove", "path": "members", "value": [`+value(bob)+`]}`, 204)
		in("bob", false)
		s.patch(t, "okta", at, `{"op": "replace", "path": "members", "value": [`+value(ann)+`, `+value(bob)+`]}`, 204)
		in("ann", true)
		s.Check(t, apitest.Case{Do: "PUT " + at, As: "okta", Send: `{"displayName": "Developers", "members": [` + value(bob) + `]}`, Status: 200,
			Want: `{"members": [{"value": "` + bob + `"}], "externalId": "$absent"}`})
		in("ann", false)

		// Who is suspended gets nothing, and gets it when that ends.
		s.patch(t, "okta", scimUsers+"/"+ann, `{"op": "replace", "path": "active", "value": false}`, 200)
		s.patch(t, "okta", at, `{"op": "add", "path": "members", "value": `+value(ann)+`}`, 204)
		in("ann", false)
		s.patch(t, "okta", scimUsers+"/"+ann, `{"op": "replace", "path": "active", "value": true}`, 200)
		in("ann", true)
		suspended := func(login, method string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: method + " /users/" + login + "/suspended", As: "keeper", Status: 204})
		}
		suspended("ann", "PUT")
		s.patch(t, "okta", at, `{"op": "remove", "path": "members[value eq \"`+ann+`\"]"}`, 204)
		in("ann", false)
		s.patch(t, "okta", at, `{"op": "add", "path": "members", "value": `+value(ann)+`}`, 204)
		s.Settle(t)
		in("ann", false)
		suspended("ann", "DELETE")
		s.Settle(t)
		in("ann", true)

		// Administrators, by a group and by a role; a source whose file does not allow it makes none.
		isAdmin := func(login, want string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET /users/" + login, As: "keeper", Status: 200, Want: `{"site_admin": ` + want + `}`})
		}
		ops := s.made(t, "okta", scimGroups, `{"displayName": "Ops", "members": [`+value(ann)+`]}`)
		isAdmin("ann", "true")
		s.patch(t, "okta", scimUsers+"/"+bob, `{"op": "add", "path": "roles", "value": [{"value": "enterprise_owner"}]}`, 200)
		isAdmin("bob", "true")
		s.patch(t, "entra", scimUsers+"/"+foreign, `{"op": "add", "path": "roles", "value": "administrator"}`, 200)
		isAdmin("eve", "false")
		s.Check(t, apitest.Case{Do: "DELETE " + scimGroups + "/" + ops, As: "okta", Status: 204})
		isAdmin("ann", "false")

		// What is taken away from a leaver does not come back when an administrator ends the suspension.
		carol := s.add(t, "okta", "carol", `, "roles": [{"value": "administrator"}]`)
		leads := s.made(t, "okta", scimGroups, `{"displayName": "Leads", "members": [`+value(carol)+`]}`)
		s.patch(t, "okta", at, `{"op": "add", "path": "members", "value": `+value(carol)+`}`, 204)
		role := func(want string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET /orgs/acme/memberships/carol", As: "keeper", Status: 200, Want: `{"role": "` + want + `"}`})
		}
		role("admin")
		isAdmin("carol", "true")
		s.patch(t, "okta", scimUsers+"/"+carol, `{"op": "replace", "path": "active", "value": false}`, 200)
		isAdmin("carol", "true")
		s.Check(t, apitest.Case{Do: "PUT " + scimUsers + "/" + carol, As: "okta", Status: 200, Send: `{"userName": "carol", "externalId": "x-carol", "active": false}`})
		isAdmin("carol", "false")
		s.patch(t, "okta", scimGroups+"/"+leads, `{"op": "remove", "path": "members[value eq \"`+carol+`\"]"}`, 204)
		role("member")
		in("carol", true)
		s.patch(t, "okta", at, `{"op": "remove", "path": "members[value eq \"`+carol+`\"]"}`, 204)
		suspended("carol", "DELETE")
		s.Settle(t)
		isAdmin("carol", "false")
		s.Check(t, apitest.Case{Do: "GET /orgs/acme/memberships/carol", As: "keeper", Status: 404})
		s.Check(t, apitest.Case{Do: "DELETE " + scimGroups + "/" + leads, As: "okta", Status: 204})

		s.Run(t, []apitest.Case{
			{Name: "of another provider", Do: "GET " + at, As: "entra", Status: 404},
			{Do: "DELETE " + at, As: "entra", Status: 404},
			{Do: "PUT " + scimUsers + "/" + ann, As: "entra", Send: `{"userName": "x", "externalId": "x-ann"}`, Status: 404},
			{Do: "DELETE " + scimUsers + "/" + ann, As: "entra", Status: 404},
			{Do: "GET " + scimGroups, As: "entra", Status: 200, Want: `{"totalResults": 0}`},
			{Do: "PATCH " + at, As: "okta", Status: 400, Want: `{"scimType": "invalidValue"}`, Send: `{"Operations": [{"op": "add", "path": "members", "value": [{"value": "` + foreign + `"}]}]}`},
			{Do: "PATCH " + at, As: "okta", Status: 400, Send: `{"Operations": [{"op": "add", "path": "members", "value": [{"value": "` + group + `"}]}]}`},
			{Do: "PATCH " + at, As: "okta", Status: 400, Send: `{"Operations": [{"op": "add", "path": "members", "value": [{"value": "user-999999"}]}]}`},
			{Name: "a name is taken", Do: "POST " + scimGroups, As: "okta", Send: `{"displayName": "developers"}`, Status: 409, Want: `{"scimType": "uniqueness"}`},
			{Do: "GET " + scimGroups + "?filter=displayName+eq+%22developers%22&excludedAttributes=members", As: "okta", Status: 200,
				Want: `{"totalResults": 1, "Resources": [{"id": "` + group + `", "members": "$absent"}]}`},
			{Do: "GET " + scimGroups + "?excludedAttributes=members", As: "okta", Status: 200, Want: `{"totalResults": 1}`},
		})
	})
}

// Mistakes and attacks are errors of SCIM, with their codes, and change nothing.
func TestSCIMRefuses(t *testing.T) {
	t.Parallel()
	eachSCIM(t, func(t *testing.T, s *scim) {
		ann := s.add(t, "okta", "ann", "")
		at := scimUsers + "/" + ann
		many := strings.Repeat(`{"op": "add", "path": "title", "value": "x"},`, 5000)
		op := func(text string) string { return `{"Operations": [` + text + `]}` }
		kind := func(code string) string { return `{"scimType": "` + code + `", "status": "400"}` }
		only := map[string]string{"Authorization": "Bearer " + s.Scoped(t, "okta", "scim:enterprise")}
		lacks := map[string]string{"Authorization": "Bearer " + s.Scoped(t, "okta", "repo")}
		s.Run(t, []apitest.Case{
			{Name: "nobody", Do: "GET " + scimUsers, Status: 401, Want: `{"status": "401"}`},
			{Name: "somebody", Do: "GET " + scimUsers, As: "plain", Status: 404, Want: `{"status": "404"}`},
			{Name: "an administrator whom the file does not name", Do: "GET " + scimUsers, As: "keeper", Status: 403},
			{Name: "another scope", Do: "GET " + scimUsers, Headers: lacks, Status: 404},
			{Name: "the scope alone", Do: "GET " + scimUsers, Headers: only, Status: 200},
			{Name: "and it opens nothing else", Do: "GET /admin/audit-log", Headers: only, Status: 404},
			{Name: "and it writes", Do: "PUT " + at, Headers: only, Send: `{"userName": "ann", "externalId": "x-ann"}`, Status: 200},

			{Do: "POST " + scimUsers, As: "okta", Send: `{`, Status: 400, Want: kind("invalidSyntax")},
			{Do: "POST " + scimUsers, As: "okta", Send: `[]`, Status: 400, Want: kind("invalidSyntax")},
			{Do: "POST " + scimUsers, As: "okta", Send: `{"externalId": "a"}`, Status: 400, Want: kind("invalidValue")},
			{Do: "POST " + scimUsers, As: "okta", Send: `{"userName": "a"}`, Status: 400, Want: kind("invalidValue")},
			{Do: "POST " + scimUsers, As: "okta", Send: `{"userName": "a\u0000", "externalId": "b"}`, Status: 400, Want: kind("invalidValue")},
			{Do: "POST " + scimUsers, As: "okta", Send: `{"userName": "a", "externalId": "b", "displayName": "x\ny"}`, Status: 400, Want: kind("invalidValue")},
			{Do: "POST " + scimUsers, As: "okta", Send: `{"userName": "<>", "externalId": "b"}`, Status: 400, Want: kind("invalidValue")},
			{Do: "POST " + scimUsers, As: "okta", Send: `{"userName": "ann", "externalId": "b"}`, Status: 409, Want: `{"scimType": "uniqueness", "status": "409"}`},
			{Do: "POST " + scimUsers, As: "okta", Send: `{"userName": "plain", "externalId": "b"}`, Status: 409, Want: `{"scimType": "uniqueness"}`},
			{Do: "POST " + scimUsers, As: "okta", Send: `{"userName": "b", "externalId": "x-ann"}`, Status: 409},
			{Do: "POST " + scimUsers, As: "okta", Send: `{"userName": "` + strings.Repeat("a", 2<<20) + `"}`, Status: 413},
			{Do: "PATCH " + at, As: "okta", Send: op(many + `{"op": "add", "path": "title", "value": "x"}`), Status: 413},
			{Do: "PATCH " + at, As: "okta", Send: `{"Operations": []}`, Status: 400, Want: kind("invalidSyntax")},
			{Do: "PATCH " + at, As: "okta", Send: op(`{"op": "move", "path": "title"}`), Status: 400, Want: kind("invalidSyntax")},
			{Do: "PATCH " + at, As: "okta", Send: op(`{"op": "remove"}`), Status: 400, Want: kind("noTarget")},
			{Do: "PATCH " + at, As: "okta", Send: op(`{"op": "replace", "path": "emails[type eq \"x\"].value", "value": "y"}`), Status: 400, Want: kind("noTarget")},
			{Do: "PATCH " + at, As: "okta", Send: op(`{"op": "replace", "path": "emails[type", "value": "y"}`), Status: 400, Want: kind("invalidPath")},
			{Do: "PATCH " + at, As: "okta", Send: op(`{"op": "replace", "path": "` + strings.Repeat("(", 3000) + `", "value": "y"}`), Status: 400, Want: kind("invalidPath")},
			{Do: "PATCH " + at, As: "okta", Send: op(`{"op": "replace", "path": "active", "value": "perhaps"}`), Status: 400, Want: kind("invalidValue")},
			{Do: "PATCH " + at, As: "okta", Send: op(`{"op": "replace", "path": "externalId", "value": "x-other"}`), Status: 400, Want: kind("mutability")},
			{Name: "all or none", Do: "PATCH " + at, As: "okta", Send: op(`{"op": "replace", "path": "active", "value": false}, {"op": "replace", "path": "userName", "value": ""}`), Status: 400},
			{Do: "GET " + at, As: "okta", Status: 200, Want: `{"active": true, "userName": "ann"}`},
			{Do: "GET " + scimUsers + "?filter=" + strings.Repeat("(", 3000), As: "okta", Status: 400, Want: kind("invalidFilter")},
			{Do: "GET " + scimUsers + "?filter=userName+sw+%22a%22", As: "okta", Status: 400, Want: kind("invalidFilter")},
			{Do: "GET " + scimUsers + "?filter=password+eq+%22a%22", As: "okta", Status: 400, Want: kind("invalidFilter")},
			{Do: "GET " + scimUsers + "?filter=userName+eq+%22%00%22", As: "okta", Status: 400, Want: kind("invalidFilter")},
			{Do: "GET " + scimUsers + "?filter=userName+eq+%22a%27+or+1=1--%22", As: "okta", Status: 200, Want: `{"totalResults": 0}`},
			{Do: "GET " + scimUsers + "?count=many", As: "okta", Status: 400},
			{Do: "GET " + scimUsers + "/user-01", As: "okta", Status: 404},
			{Do: "GET " + scimUsers + "/1", As: "okta", Status: 404},
		})
	})
}

// A provider that makes no accounts provisions people who have none yet: their users link them, and then they count.
func TestSCIMWaitsForLinks(t *testing.T) {
	t.Parallel()
	eachSCIM(t, func(t *testing.T, s *scim) {
		id := s.add(t, "linker", "plain", "") // a login that is taken, by nobody's identity
		s.Check(t, apitest.Case{Do: "GET /user", As: "plain", Status: 200})
		linked := s.Server.Server.Linked()
		var source *external.Source
		for _, one := range linked.Provisioned() {
			if one.Name == "company" {
				source = one
			}
		}
		plain, err := s.Accounts.Get(t.Context(), nil, "plain")
		testkit.NoError(t, err)
		link := func() error {
			return linked.Link(t.Context(), &account.Caller{ID: plain.ID, Login: "plain", Session: true},
				&external.Identity{Source: source, Subject: "x-plain", Login: "plain"})
		}
		s.patch(t, "linker", scimUsers+"/"+id, `{"op": "replace", "path": "active", "value": false}`, 200)
		if link() == nil {
			t.Error("somebody links what the provider deactivated")
		}
		s.patch(t, "linker", scimUsers+"/"+id, `{"op": "replace", "path": "active", "value": true}`, 200)
		testkit.NoError(t, link())
		list, err := external.IdentitiesNamed(t.Context(), s.DB, "plain")
		testkit.NoError(t, err)
		if linked.Unlink(t.Context(), &account.Caller{ID: plain.ID, Login: "plain", Session: true}, list[0].ID) == nil {
			t.Error("a user escapes the provider by unlinking")
		}
		s.patch(t, "linker", scimUsers+"/"+id, `{"op": "replace", "path": "active", "value": false}`, 200)
		s.Check(t, apitest.Case{Do: "GET /user", As: "plain", Status: 403})
	})
}

// Requests at one time leave one of their states, never a mixture.
func TestSCIMConcurrentPuts(t *testing.T) {
	t.Parallel()
	eachSCIM(t, func(t *testing.T, s *scim) {
		var ids []string
		for n := range 4 {
			ids = append(ids, s.add(t, "okta", fmt.Sprintf("p%d", n), ""))
		}
		at := scimGroups + "/" + s.made(t, "okta", scimGroups, `{"displayName": "Developers"}`)
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				a := s.Do(t, apitest.Case{Do: "PUT " + at, As: "okta", Send: fmt.Sprintf(
					`{"displayName": "Developers", "members": [{"value": %q}, {"value": %q}]}`, ids[n%4], ids[(n+1)%4])})
				if a.Status != 200 {
					t.Errorf("%d %s", a.Status, a.Body)
				}
			})
		}
		all.Wait()
		s.Settle(t)
		var group struct{ Members []struct{ Display string } }
		testkit.NoError(t, json.Unmarshal(s.Check(t, apitest.Case{Do: "GET " + at, As: "okta", Status: 200}).Body, &group))
		if len(group.Members) != 2 {
			t.Errorf("there are %d members", len(group.Members))
		}
		in := map[string]bool{}
		for _, m := range group.Members {
			in[m.Display] = true
		}
		for n := range 4 {
			login := fmt.Sprintf("p%d", n)
			status := map[bool]int{true: 200, false: 404}[in[login]]
			s.Check(t, apitest.Case{Do: "GET /orgs/acme/teams/web/memberships/" + login, As: "keeper", Status: status})
		}
	})
}
