package mail_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/mailtest"
	"arbor/internal/test/testkit"
)

const kind mail.Kind = "test"

// start runs a sender until the returned function, or the test, ends it.
func start(t *testing.T, d *db.DB, config *mail.Config, render mail.Renderer) (*mail.Sender, func()) {
	t.Helper()
	s := mail.NewSender(d, slog.New(slog.DiscardHandler), config)
	s.Renderers[kind] = render
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { testkit.NoError(t, s.Run(ctx)) })
	ended := sync.OnceFunc(func() { stop(); running.Wait() })
	t.Cleanup(ended)
	return s, ended
}

// say renders what the mail is about as its subject.
func say(_ context.Context, m *mail.Mail) (*mail.Message, error) {
	var subject string
	if err := m.Read(&subject); err != nil {
		return nil, err
	}
	return &mail.Message{To: m.Address, Subject: subject, Text: "text"}, nil
}

func add(t *testing.T, d *db.DB, to string, about string) {
	t.Helper()
	testkit.NoError(t, d.Write(t.Context(), func(tx *db.Tx) error {
		return mail.Add(tx, mail.Mail{Kind: kind, Address: to, About: about})
	}))
}

func waiting(t *testing.T, d *db.DB) (n int) {
	t.Helper()
	testkit.NoError(t, d.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT COUNT(*) FROM mails`).Scan(&n)
	}))
	return n
}

func isOn(t *testing.T, d *db.DB) (on bool) {
	t.Helper()
	testkit.NoError(t, d.Read(t.Context(), func(tx *db.Tx) (err error) {
		on, err = mail.IsOn(tx)
		return err
	}))
	return on
}

// Any number of nodes send each mail once. Without a mail server nothing is written.
func TestEachMailIsSentOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		add(t, d, "a@example.org", "lost")
		if n := waiting(t, d); n != 0 {
			t.Fatalf("%d mails wait though no server sends mail", n)
		}
		server := mailtest.Start(t)
		config := server.Config(t, "https://code.example.org")
		for range 3 {
			start(t, d, config, say)
		}
		testkit.Eventually(t, func() bool { return isOn(t, d) }, "mail is on")
		const many = 40
		for n := range many {
			add(t, d, "a@example.org", fmt.Sprint("number ", n))
		}
		server.Wait(t, "a@example.org", many)
		testkit.Eventually(t, func() bool { return waiting(t, d) == 0 }, "the queue is empty")
		seen := map[string]int{}
		for _, m := range server.All() {
			seen[m.Subject()]++
			if id := m.Header.Get("Message-ID"); !strings.HasSuffix(id, "@code.example.org>") {
				t.Errorf("Message-ID %q", id)
			}
		}
		if len(seen) != many || len(server.All()) != many {
			t.Errorf("%d mails with %d subjects, want %d of each", len(server.All()), len(seen), many)
		}
		start(t, d, nil, say)
		_, end := start(t, d, nil, say)
		end()
	})
}

// A server that is gone, hangs up, or refuses with 4xx and 5xx loses no mail, and holds up no others.
func TestMailServerMisbehaves(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(string) string{
		"hangs up at once": func(c string) string { return "drop" },
		"busy":             func(c string) string { return "421 too busy" },
		"refuses senders":  when("MAIL", "451 later"),
		"refuses all":      when("MAIL", "554 no"),
		"refuses one":      when("RCPT TO:<A@", "550 nobody"),
		"loses the text":   when(".", "drop"),
		"refuses the text": when(".", "552 too large"),
		"speaks nonsense":  func(string) string { return "what?" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.Open(t, db.SQLite)
			server := mailtest.Start(t)
			server.On(answer)
			s, _ := start(t, d, server.Config(t, "https://code.example.org"), say)
			testkit.Eventually(t, func() bool { return isOn(t, d) }, "mail is on")
			add(t, d, "a@example.org", "first")
			testkit.Eventually(t, func() bool {
				o := s.Outcomes()
				return o["failed"]+o["unreachable"] > 0
			}, "a try failed")
			if name == "refuses one" {
				add(t, d, "b@example.org", "second")
				server.Wait(t, "b@example.org", 1)
			}
			testkit.Eventually(t, func() bool { return waiting(t, d) == 1 }, "one mail waits")
			server.On(nil)
			soon(t, d)
			server.Wait(t, "a@example.org", 1)
		})
	}
}

// when answers commands that begin with a text.
func when(begin, reply string) func(string) string {
	return func(c string) string {
		if c == begin || begin != "." && strings.HasPrefix(c, begin) {
			return reply
		}
		return ""
	}
}

// soon has all mails due, as if time had passed.
func soon(t *testing.T, d *db.DB) {
	t.Helper()
	testkit.NoError(t, d.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(`UPDATE mails SET due_at = 0`) }))
}

// A mail server that says nothing holds up one connection, not the mails of others, and not the end of the process.
func TestMailServerHangs(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, db.SQLite)
	server := mailtest.Start(t)
	server.On(when("RCPT TO:<A@", "hang"))
	_, end := start(t, d, server.Config(t, "https://code.example.org"), say)
	testkit.Eventually(t, func() bool { return isOn(t, d) }, "mail is on")
	add(t, d, "a@example.org", "first")
	testkit.Eventually(t, func() bool {
		add(t, d, "b@example.org", "second")
		return len(server.To("b@example.org")) > 0
	}, "others get their mail")
	began := time.Now()
	end()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the sender needed %s to stop", took)
	}
	if n := waiting(t, d); n == 0 {
		t.Error("the mail that hangs is lost")
	}
}

// A mail about something that is gone is dropped, one that fails for days, too; one that cannot be rendered holds up
// nothing.
func TestMailsEnd(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, db.SQLite)
	server := mailtest.Start(t)
	var broken atomic.Bool
	broken.Store(true)
	s, _ := start(t, d, server.Config(t, "https://code.example.org"),
		func(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
			switch {
			case m.Address == "gone@example.org":
				return nil, errs.Absent()
			case m.Address == "broken@example.org" && broken.Load():
				return nil, fmt.Errorf("broken")
			}
			return say(ctx, m)
		})
	testkit.Eventually(t, func() bool { return isOn(t, d) }, "mail is on")
	add(t, d, "broken@example.org", "broken")
	add(t, d, "gone@example.org", "gone")
	add(t, d, "a@example.org\r\nBcc: b@example.org", "a bad address")
	add(t, d, "a@example.org", "good")
	server.Wait(t, "a@example.org", 1)
	testkit.Eventually(t, func() bool { return waiting(t, d) == 2 }, "what is gone is dropped")
	testkit.NoError(t, d.Write(t.Context(), func(tx *db.Tx) error {
		return tx.Run(`UPDATE mails SET due_at = 0, created_at = 0`)
	}))
	testkit.Eventually(t, func() bool { return waiting(t, d) == 0 }, "what fails for days is given up")
	if o := s.Outcomes(); o["dropped"] != 3 || o["sent"] != 1 {
		t.Errorf("outcomes %v", o)
	}
}

// Nothing in a name, a title or an address becomes a header, a recipient or a second mail.
func TestHeadersCannotBeInjected(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t)
	config := server.Config(t, "https://code.example.org")
	for n, evil := range []string{
		"x\r\nBcc: evil@example.org", "x\nBcc: evil@example.org\n\nbody", "x\rBcc: evil@example.org",
		"x\u2028Bcc: evil@example.org", "x\x00y", strings.Repeat("ä", 5000), strings.Repeat("a b", 4000),
		"=?utf-8?q?x=0D=0ABcc:_evil@example.org?=", "\u202egnp.exe", "\xff\xfe", ".\r\n.\r\nMAIL FROM:<evil@example.org>",
	} {
		to := fmt.Sprintf("a%d@example.org", n)
		testkit.NoError(t, config.Send(t.Context(), &mail.Message{To: to, From: evil, Subject: evil, Text: evil,
			HTML: evil, ID: "x", List: evil, Reason: evil, References: []string{"a", "b"}}))
		m := server.Wait(t, to, 1)
		for name := range m.Header {
			switch name {
			case "Bcc", "Cc":
				t.Errorf("%q made the header %s", evil, name)
			}
		}
		if got := m.Header["Subject"]; len(got) != 1 || strings.ContainsAny(m.Subject(), "\r\n\x00") {
			t.Errorf("%q made the subject %q", evil, got)
		}
		for line := range strings.Lines(m.Raw) {
			if len(line) > 1000 {
				t.Errorf("%.50q made a line of %d bytes", evil, len(line))
			}
		}
	}
	for _, to := range []string{"", "a", "a@b>\r\nRCPT TO:<evil@example.org", "a@b,c@d", "<a@b>", "a b@c", "a@b\x00"} {
		if err := config.Send(t.Context(), &mail.Message{To: to, Subject: "x", ID: "x"}); err == nil {
			t.Errorf("%q is taken as a recipient", to)
		}
	}
	for _, m := range server.All() {
		if strings.Contains(m.To, "evil") {
			t.Errorf("a mail went to %q", m.To)
		}
	}
}

// Settings that cannot be meant are refused, with the reason.
func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	password := filepath.Join(t.TempDir(), "password")
	testkit.NoError(t, os.WriteFile(password, []byte("secret\n"), 0o600))
	good := mail.Settings{Server: "mail.example.org:587", TLS: mail.STARTTLS, From: "Arbor <a@example.org>",
		BaseURL: "https://code.example.org", User: "u", PasswordFile: password}
	c, err := mail.NewConfig(good)
	testkit.NoError(t, err)
	if c.Password != "secret" || c.Port != 587 || c.From.Name != "Arbor" {
		t.Errorf("%+v", c)
	}
	for want, change := range map[string]func(*mail.Settings){
		"HOST:PORT":        func(s *mail.Settings) { s.Server = "mail.example.org" },
		"invalid port":     func(s *mail.Settings) { s.Server = "mail.example.org:x" },
		"an address":       func(s *mail.Settings) { s.From = "nobody" },
		"--base-url":       func(s *mail.Settings) { s.BaseURL = "" },
		"to this machine":  func(s *mail.Settings) { s.TLS = mail.None },
		"file with its":    func(s *mail.Settings) { s.PasswordFile = "" },
		"no such file":     func(s *mail.Settings) { s.PasswordFile += "x" },
		"has no password ": func(s *mail.Settings) { s.PasswordFile = os.DevNull },
	} {
		s := good
		change(&s)
		if _, err := mail.NewConfig(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// The queue and what may be asked for are bounded; an account's mails go with it.
func TestMailsAreBounded(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		server := mailtest.Start(t)
		server.On(func(string) string { return "drop" })
		start(t, d, server.Config(t, "https://code.example.org"), say)
		testkit.Eventually(t, func() bool { return isOn(t, d) }, "mail is on")
		accounts := account.New(d, nil)
		alice, err := accounts.CreateUser(t.Context(), account.NewUser{Login: "alice"})
		testkit.NoError(t, err)
		write := func(fn func(tx *db.Tx) error) error { return d.Write(t.Context(), fn) }
		testkit.NoError(t, write(func(tx *db.Tx) error {
			for range 300 {
				if err := mail.Add(tx, mail.Mail{Kind: kind, Account: int64(alice.ID), Address: "a@example.org"}); err != nil {
					return err
				}
			}
			return mail.Add(tx, mail.Mail{Kind: kind, Account: int64(alice.ID)}) // it has no address
		}))
		if n := waiting(t, d); n != 200 {
			t.Errorf("%d mails of one account wait", n)
		}
		ask := func() error {
			return write(func(tx *db.Tx) error { return mail.Limit(tx, "x", 3, time.Hour) })
		}
		for range 3 {
			testkit.NoError(t, ask())
		}
		if err := ask(); !errs.Is(err, errs.TooManyRequests) {
			t.Errorf("the fourth time: %v", err)
		}
		testkit.NoError(t, write(func(tx *db.Tx) error { return tx.Run(`UPDATE mail_counts SET ends_at = 0`) }))
		testkit.NoError(t, ask())
		var secrets []string
		for range 5 {
			testkit.NoError(t, write(func(tx *db.Tx) error {
				s, err := mail.NewLink(tx, mail.Link{Kind: kind, Account: int64(alice.ID), Address: "a@example.org"}, time.Hour)
				secrets = append(secrets, s)
				return err
			}))
		}
		held := 0
		for _, s := range secrets {
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				_, err := mail.FindLink(tx, kind, s)
				return err
			})
			if err == nil {
				held++
			} else if !errs.Is(err, errs.NotFound) {
				t.Error(err)
			}
		}
		if held > 3 || held == 0 {
			t.Errorf("%d links hold at one time", held)
		}
	})
}
