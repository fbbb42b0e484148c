//go:build long

package pages_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ldaplib "github.com/go-ldap/ldap/v3"
	"github.com/pquerna/otp/totp"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/db"
	"arbor/internal/external"
	"arbor/internal/server"
	"arbor/internal/signinfile"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// useDirectory is an option of servers, and the file that it read.
func useDirectory(t *testing.T, file string) (*signinfile.Config, apitest.Option) {
	t.Helper()
	config, err := signinfile.ReadFile(file)
	testkit.NoError(t, err)
	return config, func(o *server.Options) { o.SignIn = config }
}

// gives sends a name and a password to the page to sign in.
func gives(t *testing.T, s *apitest.Server, name, password string) *apitest.Answer {
	t.Helper()
	return visit(t, s, "POST /login", "", apitest.Form("login", name, "password", password, "return_to", "/"))
}

// signsInAs holds that somebody signs in, and returns a browser of that person.
func signsInAs(t *testing.T, s *apitest.Server, name, password string) *visitor {
	t.Helper()
	a := gives(t, s, name, password)
	want(t, a, 303)
	return &visitor{t, s, frontCookieOf(a)}
}

const devAndOps = `    accounts: create
    groups:
      dev: [{organization: acme, teams: [web]}]
      cn=Leads,ou=groups,dc=example,dc=org: [{organization: acme, role: owner}]
    administrators: [ops]`

// People sign in with a real directory: accounts are made or linked, groups are followed, wrong names and passwords are
// refused, and when it hangs or is gone, the accounts that the file names still sign in.
func TestSignInWithADirectory(t *testing.T) {
	t.Parallel()
	dir := startSlapd(t, "")
	dir.person("ann", "cn", "Ann Ash", "mail", "ann@example.org")
	dir.person("bob", "mail", "bob@example.org")
	dir.person("eve", "cn", "Eve \u0001", "mail", "bob@example.org")
	dir.person("kim")
	dir.group("dev", dnOf("ann"), dnOf("kim"))
	dir.group("everybody", "cn=dev,ou=groups,dc=example,dc=org")
	dir.group("Leads", dnOf("eve"))
	dir.group("ops", "cn=everybody,ou=groups,dc=example,dc=org", "cn=round,ou=groups,dc=example,dc=org")
	dir.group("round", "cn=ops,ou=groups,dc=example,dc=org")
	for kind, how := range map[string]string{
		"StartTLS and memberOf": "    start_tls: true\n    groups_by: memberof\n",
		"LDAPS and members":     "    groups_by: member\n    group_filter: (objectClass=groupOfNames)\n",
	} {
		address := fmt.Sprintf("ldap://localhost:%d", dir.plain)
		if strings.HasPrefix(kind, "LDAPS") {
			address = fmt.Sprintf("ldaps://localhost:%d", dir.tls)
		}
		config, use := useDirectory(t, dir.file("file", address, how+devAndOps, "passwords: [keeper]"))
		testkit.NoError(t, config.Directories[0].Check(t.Context()))
		s := apitest.Start(t, db.SQLite, use)
		s.Log.AllowErrors()
		s.Admin(t, "keeper")
		s.Users(t, "bob", "other")
		s.Org(t, "acme", "keeper")
		s.Check(t, apitest.Case{Do: "POST /orgs/acme/teams", As: "keeper", Send: `{"name": "web"}`, Status: 201})
		s.Email(t, "other", "ann@example.org")
		for login, password := range map[string]string{"keeper": "break the glass", "bob": "a long secret"} {
			testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), login, password, nil))
		}
		want(t, visit(t, s, "GET /login", "", ""), 200, "With your name and password of <bdi>Company</bdi>.")

		for _, bad := range [][2]string{{"ann", ""}, {"ann", "wrong"}, {"*", "secret of ann"}, {"a*", "secret of ann"},
			{"ann)(uid=*", "secret of ann"}, {"ａnn", "secret of ann"}, {"nobody", "x"},
			{dnOf("ann"), "secret of ann"}, {"", "x"}, {"ann", "secret of bob"}, {"bob", "a long secret"}} {
			a := gives(t, s, bad[0], bad[1])
			if want(t, a, 422); frontCookieOf(a) != "" {
				t.Errorf("%s: %q with %q begins a session", kind, bad[0], bad[1])
			}
		}

		// The account is made, with the groups, nested ones too; an address of somebody else is not taken.
		ann := signsInAs(t, s, "ANN", "secret of ann")
		ann.show("/settings/profile", "Ann Ash")
		ann.show("/settings/sessions", "Password of company")
		if strings.Contains(ann.show("/settings/emails"), "ann@example.org") {
			t.Error("an address that another account verified was taken")
		}
		s.Check(t, apitest.Case{Do: "GET /orgs/acme/teams/web/memberships/ann", As: "keeper", Status: 200, Want: `{"role": "member"}`})
		s.Check(t, apitest.Case{Do: "GET /users/ann", As: "keeper", Status: 200, Want: `{"site_admin": true}`})
		signsInAs(t, s, "ann", "secret of ann").show("/", "ann")
		signsInAs(t, s, "eve", "secret of eve").show("/settings/emails", "bob@example.org")
		s.Check(t, apitest.Case{Do: "GET /orgs/acme/memberships/eve", As: "keeper", Status: 200, Want: `{"role": "admin"}`})

		// Dangerous things are confirmed with the directory's password.
		testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
			if err := tx.Run(`UPDATE tokens SET confirmed_at = 1 WHERE agent IS NOT NULL`); err != nil {
				return err
			}
			return tx.Bump("accounts")
		}))
		app := []string{"do", "app"}
		ann.post("/settings/security", app...).Shows(t, 403, "Confirm access", "Password")
		ann.post("/settings/security", append(app, "sudo_password", "wrong")...).Shows(t, 422, "That is not your password.")
		ann.post("/settings/security", append(app, "sudo_password", "secret of ann")...).Shows(t, 200)

		// A second factor is asked for after the directory's password.
		secret := factor.NewSecret()
		code, err := totp.GenerateCode(secret, time.Now())
		testkit.NoError(t, err)
		ann.post("/settings/security", "do", "add-app", "secret", secret, "code", code).Shows(t, 200)
		step := gives(t, s, "ann", "secret of ann")
		if want(t, step, 200, "Second factor"); frontCookieOf(step) != "" {
			t.Error("a session began without the second factor")
		}
		pending := between(string(step.Body), `name="pending" value="`, `"`)
		code, err = totp.GenerateCode(secret, time.Now().Add(30*time.Second))
		testkit.NoError(t, err)
		a := visit(t, s, "POST /login", "", apitest.Form("pending", pending, "code", code, "return_to", "/"))
		want(t, a, 303)
		(&visitor{t, s, frontCookieOf(a)}).show("/settings/sessions", "Password of company and authenticator app")

		// Who has an account links it, with the password of the directory; a taken login is never linked.
		want(t, gives(t, s, "bob", "secret of bob"), 422, "is taken by a user", "Linked identities")
		bob := &visitor{t, s, s.PasswordSession(t, "bob")}
		link := []string{"do", "link-directory", "directory", "company", "name", "bob", "password"}
		bob.post("/settings/identities", append(link, "wrong")...).Shows(t, 422, "is wrong")
		bob.post("/settings/identities", append(link, "")...).Shows(t, 422, "is wrong")
		bob.post("/settings/identities", append(link, "secret of bob")...).Shows(t, 303)
		signsInAs(t, s, "bob", "secret of bob").show("/settings/identities", "company")
		other := &visitor{t, s, s.PasswordSession(t, "other")}
		other.post("/settings/identities", append(link, "secret of bob")...).Shows(t, 422, "another account")

		// A person who is renamed there keeps the account.
		dir.change(func(c *ldaplib.Conn) error {
			return c.ModifyDN(ldaplib.NewModifyDNRequest(dnOf("bob"), "uid=robert", true, ""))
		})
		signsInAs(t, s, "robert", "secret of bob").show("/", "bob")
		want(t, gives(t, s, "bob", "secret of bob"), 422)
		dir.change(func(c *ldaplib.Conn) error {
			return c.ModifyDN(ldaplib.NewModifyDNRequest(dnOf("robert"), "uid=bob", true, ""))
		})

		// It hangs, then it is gone: the account that the file names signs in at once.
		goOn := dir.hang()
		signsInAs(t, s, "keeper", "break the glass")
		want(t, gives(t, s, "kim", "secret of kim"), 503, "Company cannot be asked at this moment")
		goOn()
		dir.stop()
		want(t, gives(t, s, "kim", "secret of kim"), 503, "Company cannot be asked at this moment")
		signsInAs(t, s, "keeper", "break the glass")
		if err := config.Directories[0].Check(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("the doctor says %v of a directory that is gone", err)
		}
		dir.start()
		signsInAs(t, s, "kim", "secret of kim")
	}

	plain := fmt.Sprintf("ldap://127.0.0.1:%d", dir.plain)
	mute, err := net.Listen("tcp", "127.0.0.1:0") // the system takes connections, and nobody answers
	testkit.NoError(t, err)
	defer mute.Close()
	two := dir.file("two", "ldap://"+mute.Addr().String(), "", "")
	text, err := os.ReadFile(two)
	testkit.NoError(t, err)
	config, err := signinfile.ReadFile(dir.write("two", strings.Replace(string(text), `"]`, `", "`+plain+`"]`, 1)))
	testkit.NoError(t, err)
	found, err := config.Directories[0].Look(t.Context(), "kim", "secret of kim")
	if err != nil || found == nil || !found.Right {
		t.Errorf("the second server was not asked: %+v %v", found, err)
	}
	for n, bad := range []struct{ server, old, new, says string }{
		{plain, "bind_dn: cn=arbor", "bind_dn: cn=no", "it refuses bind_dn or its password"},
		{plain, "base: ou=people", "base: ou=x", "base or group_base does not exist"},
		{plain, "filter: (objectClass=inetOrgPerson)", "filter: (uid=zoe)", "nobody below base matches filter"},
		{plain, "group_base: ou=groups", "administrators: [zoo]\n    group_base: ou=groups", "a group that the file names is not"},
		{plain, "label: Company", "id_attribute: seeAlso", "no value of id_attribute"},
		{fmt.Sprintf("ldaps://127.0.0.1:%d", dir.tls), "ca_file: ", "ca_file: '' # ", "an authority that is not trusted"},
		{plain, "label: Company", "start_tls: true\n    ca_file: ''", "an authority that is not trusted"},
	} {
		text, err := os.ReadFile(dir.file("bad", bad.server, "", ""))
		testkit.NoError(t, err)
		if bad.old == "label: Company" {
			text = bytes.Replace(text, []byte("ca_file: "), []byte("name_attribute: cn # "), 1)
		}
		file := dir.write(fmt.Sprint("bad", n), strings.Replace(string(text), bad.old, bad.new, 1))
		config, err := signinfile.ReadFile(file)
		testkit.NoError(t, err)
		if err := config.Directories[0].Check(t.Context()); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("the doctor says %v, want %q", err, bad.says)
		}
	}
}

// Ten thousand people are compared, by a fixed number of statements when nothing changed; who is gone is suspended, and
// who is back is not; too many at once, or all, are not.
func TestCompareTenThousandPeople(t *testing.T) {
	t.Parallel()
	const many = 10_000
	var ldif, members strings.Builder
	for n := range many {
		fmt.Fprintf(&ldif, "dn: %s\nobjectClass: inetOrgPerson\nuid: p%d\ncn: Person %[2]d\nsn: P\nmail: p%[2]d@example.org\nentryUUID: %[3]s\n\n",
			dnOf(fmt.Sprint("p", n)), n, uuidOf(n))
		fmt.Fprintf(&members, "member: %s\n", dnOf(fmt.Sprint("p", n)))
	}
	dir := startSlapd(t, ldif.String()+"dn: cn=dev,ou=groups,dc=example,dc=org\nobjectClass: groupOfNames\ncn: dev\n"+members.String())
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		config, use := useDirectory(t, dir.file("file"+fmt.Sprint(engine), fmt.Sprintf("ldap://127.0.0.1:%d", dir.plain),
			"    groups_by: member\n    groups: {dev: [{organization: acme}]}", "passwords: [p3]"))
		var statements atomic.Int64
		s := apitest.Start(t, engine, use, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: func(ctx context.Context, _ string) {
				if ctx.Value(counted{}) != nil {
					statements.Add(1)
				}
			}})
		})
		s.Admin(t, "keeper")
		org := s.Org(t, "acme", "keeper")
		testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
			for n := range many {
				a := &account.Account{Login: fmt.Sprint("p", n), Kind: account.User}
				if err := account.Register(tx, a); err != nil {
					return err
				}
				err := tx.Run(`INSERT INTO identities (account_id, provider, issuer, subject, name, created_at, secret)
					VALUES ($1, 'company', 'ldap:company', $2, '', $3, 'x')`, a.ID, uuidOf(n), tx.Now)
				if err != nil {
					return err
				}
				if err := tx.Run(`INSERT INTO members (org_id, user_id, owner, created_at) VALUES ($1, $2, FALSE, $3)`,
					org.ID, a.ID, tx.Now); err != nil {
					return err
				}
			}
			return tx.Bump(account.Topic)
		}))
		compare := func() external.Report {
			t.Helper()
			c, err := config.Directories[0].Comparison(t.Context())
			testkit.NoError(t, err)
			r, err := s.Server.Linked().Compare(context.WithValue(t.Context(), counted{}, true), c)
			testkit.NoError(t, err)
			return r
		}
		began := time.Now()
		r := compare()
		t.Logf("%s: %d people were compared in %s, by %d statements", engine, r.People, time.Since(began), statements.Load())
		if r != (external.Report{People: many, Linked: many}) || statements.Load() > 10 {
			t.Errorf("%+v, with %d statements", r, statements.Load())
		}

		entry := map[string]*ldaplib.Entry{}
		remove := func(uid string) {
			dir.change(func(c *ldaplib.Conn) error {
				found, err := c.Search(ldaplib.NewSearchRequest(dnOf(uid), ldaplib.ScopeBaseObject, 0, 1, 0, false,
					"(objectClass=*)", []string{"*", "entryUUID"}, nil))
				if err != nil {
					return err
				}
				entry[uid] = found.Entries[0]
				return c.Del(ldaplib.NewDelRequest(dnOf(uid), nil))
			})
		}
		remove("p1")
		remove("p2")
		remove("p3") // which the file allows a password
		if r := compare(); r.Missing != 3 || r.Suspended != 2 || r.Problem != "" {
			t.Errorf("three are gone: %+v", r)
		}
		s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=action:user.suspend", As: "keeper", Status: 200,
			Want: `[{"action": "user.suspend", "user": "p2"}, {"action": "user.suspend", "user": "p1"}]`})
		if r := compare(); r.Suspended != 0 || r.Lifted != 0 {
			t.Errorf("again: %+v", r)
		}
		dir.change(func(c *ldaplib.Conn) error {
			for _, uid := range []string{"p1", "p2", "p3"} {
				add := ldaplib.NewAddRequest(dnOf(uid), []ldaplib.Control{ldaplib.NewControlString("1.3.6.1.4.1.4203.666.5.12", true, "")})
				for _, a := range entry[uid].Attributes {
					add.Attribute(a.Name, a.Values)
				}
				if err := c.Add(add); err != nil {
					return err
				}
			}
			return nil
		})
		if r := compare(); r.Lifted != 2 || r.Missing != 0 {
			t.Errorf("they are back: %+v", r)
		}
	})
}

type counted struct{}

func uuidOf(n int) string { return fmt.Sprintf("00000000-0000-1000-8000-%012d", n) }
