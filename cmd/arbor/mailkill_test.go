package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/issue"
	"arbor/internal/mail"
	"arbor/internal/mail/reply"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/mailtest"
	"arbor/internal/test/testkit"
)

const replySetting = "reply+%s@example.org"

// sending are the flags of a server that sends mail to a mail server of a test.
func sending(to *mailtest.Server) []string {
	return []string{"--base-url", "https://code.example.org", "--mail-server", to.Address, "--mail-tls", "none",
		"--mail-from", "arbor@example.org", "--mail-reply", replySetting}
}

// A server that is killed while it sends mails loses none. Each is sent once; one that the mail server took when the server
// died is sent once more, with the same Message-ID, so programs show it once.
func TestKilledWhileSendingMail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		mails := mailtest.Start(t)
		s := serving(t, engine, sending(mails)...)
		s.arbor("user", "create", "alice", "--email", "alice@example.org")
		testkit.Eventually(t, func() bool { return s.number(`SELECT count(*) FROM mail_sites`) == 1 }, "the server sends mail")
		testkit.Eventually(t, func() bool { return s.number(`SELECT count(*) FROM mails`) == 0 }, "the queue is empty")
		before := len(mails.All())

		// Each mail that the mail server has taken waits for its answer until the server is dead.
		reached, dead := make(chan struct{}), make(chan struct{})
		var once sync.Once
		mails.On(func(command string) string {
			if command == "." {
				once.Do(func() { close(reached) })
				<-dead
			}
			return ""
		})
		const n = 12
		s.operate(func(ctx context.Context, f *forge.Forge) (err error) { // at once: the sender waits half a minute
			for range n {
				_, _, failed := f.Tokens.CreateToken(ctx, token.NewToken{Login: "alice"})
				err = errors.Join(err, failed)
			}
			return err
		})
		<-reached
		s.kill()
		close(dead)
		mails.On(nil)
		waiting := s.number(`SELECT count(*) FROM mails`)
		if waiting != n {
			t.Errorf("%d mails wait, want %d", waiting, n)
		}
		s.exec(`UPDATE mails SET due_at = 0`) // the leases of the dead server
		s.start(sending(mails)...)
		testkit.Eventually(t, func() bool { return s.number(`SELECT count(*) FROM mails`) == 0 }, "all mails are sent")
		times := map[string]int{}
		for _, m := range mails.All()[before:] {
			times[m.Header.Get("Message-ID")]++
		}
		twice := 0
		for id, k := range times {
			if k > 2 {
				t.Errorf("%s was sent %d times", id, k)
			}
			if k == 2 {
				twice++
			}
		}
		if len(times) != n || twice == 0 || twice > 3 {
			t.Errorf("%d of %d mails were sent, %d of them twice", len(times), n, twice)
		}
	})
}

// number is a number of the server's database.
func (s *instance) number(query string) int64 {
	s.t.Helper()
	d := s.open()
	defer d.Close()
	return dbtest.Number(s.t, d, query)
}

// The mail server gives replies to the program: comments are made, and what is refused goes back with a reason.
func TestReceiveMail(t *testing.T) {
	t.Parallel()
	s := serving(t, db.SQLite)
	s.arbor("user", "create", "alice", "--email", "alice@example.org")
	s.user("bob")
	s.repo("bob/garden", "")
	s.do("bob", "POST", "/repos/bob/garden/issues", nil, strings.NewReader(`{"title":"Slugs"}`))
	d := s.open()
	key, err := mail.Key(t.Context(), d)
	testkit.NoError(t, err)
	of := dbtest.Number(t, d, `SELECT id FROM accounts WHERE login = 'alice'`)
	in := dbtest.Number(t, d, `SELECT id FROM issues`)
	testkit.NoError(t, d.Close())
	to := reply.Address(replySetting, key, account.ID(of), issue.ID(in))
	receive := func(text string, args ...string) (status int, out string) {
		t.Helper()
		cmd := exec.Command("arbor", append([]string{"mail", "receive", "--mail-reply", replySetting}, args...)...)
		var b bytes.Buffer
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.env, strings.NewReader(text), &b, &b
		err := cmd.Run()
		if _, is := err.(*exec.ExitError); err != nil && !is {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), b.String()
	}
	mailFrom := func(from, id, more string) string {
		return fmt.Sprintf("From: %s\nTo: list@example.org\nMessage-ID: <%s@x>\n%s\nHello\n", from, id, more)
	}
	for _, c := range []struct {
		text, recipient, says string
		status                int
	}{
		{mailFrom("alice@example.org", "1", ""), to, "comment 1 in bob/garden#1", 0},
		{mailFrom("alice@example.org", "1", ""), to, "dropped: it was taken before", 0},
		{mailFrom("alice@example.org", "2", "Precedence: bulk\n"), to, "dropped", 0},
		{mailFrom("alice@example.org", "2", "Content-Type: text/html\n"), to, "Your reply was not taken: the mail has HTML alone", 65},
		{mailFrom("eve@example.org", "2", ""), to, "verified address", 65},
		{mailFrom("alice@example.org", "2", ""), "reply+x@example.org", "no thread has this address", 65},
		{"nonsense", to, "cannot be read", 65},
	} {
		status, out := receive(c.text, "--recipient", c.recipient)
		if status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%q: status %d: %s, want %d: %s", c.text, status, out, c.status, c.says)
		}
	}
	if status, out := receive("", "--mail-reply", "reply@example.org"); status != 2 || !strings.Contains(out, "before the @") {
		t.Errorf("an address without a token: status %d: %s", status, out)
	}
}
