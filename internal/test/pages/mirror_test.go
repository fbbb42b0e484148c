package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mirror"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/mailtest"
	"arbor/internal/test/testkit"
)

// stoppedMails are the mails to an address that tell of a mirror that was stopped.
func stoppedMails(server *mailtest.Server, address string) (list []*mailtest.Mail) {
	for _, m := range server.To(address) {
		if strings.HasPrefix(m.Subject(), "A mirror of alice/copy was stopped") {
			list = append(list, m)
		}
	}
	return list
}

// Administrators get one mail when a mirror is stopped, not for each failure, and nobody else does.
func TestStoppedMirrorMails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, server := withMail(t, engine)
		s.Server.Forge().Mirrors.AskEvery = 0
		for _, login := range []string{"alice", "bob", "mallory"} {
			s.Users(t, login)
			s.Email(t, login, login+"@example.org")
		}
		r := s.Repo(t, "alice/copy", true)
		s.Grant(t, r, "mallory", account.Admin)
		s.Grant(t, r, "bob", account.Push)
		const path = "/repos/alice/copy/mirror"
		write := func(query string) {
			testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(query) }))
		}
		failed := func() {
			testkit.Eventually(t, func() bool {
				var m struct{ Failures int }
				s.Check(t, apitest.Case{Do: "GET " + path, As: "alice", Status: 200}).JSON(t, &m)
				return m.Failures > 0
			}, "it fails")
		}
		set := func(status int) {
			s.Ask(t, "mallory", "PUT "+path, `{"remote_url":"http://127.0.0.1:1/x.git","username":"u","password":"sesame-open"}`, status)
			failed()
		}
		told := func(address string, n int) *mailtest.Mail {
			t.Helper()
			testkit.Eventually(t, func() bool { return len(stoppedMails(server, address)) == n }, "a mail to "+address)
			return stoppedMails(server, address)[n-1]
		}
		set(201)
		write(`UPDATE mirrors SET failures = 20, failing_since = 1`)
		s.Ask(t, "alice", "POST "+path+"-sync", "", 204)
		m := told("alice@example.org", 1)
		linkIn(t, m, "/alice/copy/settings/mirrors")
		apitest.HasParts(t, m.Text, "no longer updated from http://127.0.0.1:1/x.git", "Stopped after failing since 1970",
			"the connection was refused")
		told("mallory@example.org", 1)
		if strings.Contains(m.Raw, "sesame-open") {
			t.Error("the mail has the password")
		}
		var about mirror.StoppedAbout
		testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT id, version FROM mirrors`).Scan(&about.Mirror, &about.Version)
		}))
		shown := func(login string, want bool) {
			t.Helper()
			err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
				a, err := account.ByLogin(tx, login)
				if err == nil {
					_, _, err = mirror.Stopped(tx, about, a.ID)
				}
				return err
			})
			if (err == nil) != want || err != nil && !errs.Is(err, errs.NotFound) {
				t.Errorf("a mail to %s: %v", login, err)
			}
		}
		shown("alice", true)
		shown("bob", false)

		set(200)
		shown("alice", false) // it was set up again
		s.Grant(t, r, "mallory", account.Push)
		s.Ask(t, "alice", "POST "+path+"-sync", "", 204)
		m = told("alice@example.org", 2)
		apitest.HasParts(t, m.Text, "mallory, who set the mirror up, is no longer an administrator")
		if len(stoppedMails(server, "bob@example.org")) != 0 || len(stoppedMails(server, "mallory@example.org")) != 1 {
			t.Error("others than administrators got mails")
		}
	})
}
