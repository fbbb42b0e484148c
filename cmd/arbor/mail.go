package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/issue/comment"
	"arbor/internal/mail"
	"arbor/internal/mail/reply"
)

// mailFlags are those of the server that sends mail.
type mailFlags struct {
	MailServer       string `group:"Mail" help:"SMTP server that sends mail, see docs/mail.md (default: no mail is sent)." placeholder:"HOST:PORT"`
	MailTLS          string `name:"mail-tls" group:"Mail" help:"Encryption of the connection to it: starttls, tls from the first byte, or none, to this machine alone." enum:"starttls,tls,none" default:"starttls"`
	MailUser         string `group:"Mail" help:"User at that server (default: none)." placeholder:"USER"`
	MailPasswordFile string `group:"Mail" help:"File with the user's password." placeholder:"FILE"`
	MailFrom         string `group:"Mail" help:"Sender of mails: an address, with or without a name." placeholder:"ADDRESS"`
	MailReply        string `group:"Mail" help:"Address for replies to notifications, with %s for a token: what comes there must go to arbor mail receive, see docs/mail.md (default: none)." placeholder:"ADDRESS"`

	mail *mail.Config // made by checkMail; nil: none
}

// checkMail reads the settings.
func (f *mailFlags) checkMail(base string) error {
	if f.MailServer == "" {
		if f.MailUser != "" || f.MailPasswordFile != "" || f.MailFrom != "" || f.MailReply != "" {
			return misuse("--mail-user, --mail-password-file, --mail-from and --mail-reply need --mail-server")
		}
		return nil
	}
	var err error
	f.mail, err = mail.NewConfig(mail.Settings{Server: f.MailServer, TLS: f.MailTLS, User: f.MailUser,
		PasswordFile: f.MailPasswordFile, From: f.MailFrom, BaseURL: strings.TrimRight(base, "/")})
	if err != nil {
		return misuse("--mail-server: %v", err)
	}
	if f.mail.Reply = f.MailReply; f.MailReply != "" {
		if err := reply.CheckAddress(f.MailReply); err != nil {
			return misuse("--mail-reply: %v", err)
		}
	}
	return nil
}

type mailCommand struct {
	Test    mailTest    `cmd:"" help:"Send a mail to try the settings. It goes out at once, not through the queue."`
	Receive mailReceive `cmd:"" help:"Read a reply to a notification from standard input, for the mail server, and make a comment of it."`
}

// mailTest takes the flags of serve, so that it tries the settings that the server uses.
type mailTest struct {
	mailFlags
	BaseURL string `name:"base-url" help:"Scheme and host of links in mails." placeholder:"URL"`
	To      string `arg:"" name:"address" help:"Address to which the mail goes."`
}

// Run sends the mail.
func (c *mailTest) Run(p *process) error {
	if c.MailServer == "" {
		return misuse("no mail is sent: set --mail-server")
	}
	base, err := checkBase(c.BaseURL)
	if err != nil {
		return err
	}
	if err := c.checkMail(base); err != nil {
		return err
	}
	err = c.mail.Send(p.ctx, &mail.Message{To: c.To, ID: fmt.Sprintf("test.%d", p.began.UnixNano()),
		Subject: "Arbor sends mail", Text: "This mail was sent by arbor mail test, for " + c.BaseURL + ".\n"})
	if err != nil {
		return fmt.Errorf("the mail was not sent: %w", err)
	}
	fmt.Fprintf(p.stdout, "%s took a mail to %s\n", c.MailServer, c.To)
	return nil
}

// mailReceive is run by the mail server, for each mail to an address for replies.
type mailReceive struct {
	storeFlags
	MailReply string `name:"mail-reply" required:"" help:"Address for replies, with %s for the token, as the server has it." placeholder:"ADDRESS"`
	Recipient string `help:"Address to which the mail came (default: as its headers say)." placeholder:"ADDRESS"`
}

// Statuses that mail servers know from sysexits.h: the mail goes back to who sent it, or is tried again.
const (
	statusRefused = 65
	statusLater   = 75
)

// Run makes a comment of the mail. What it prints goes into the mail server's log, and to who wrote a mail that is refused.
func (c *mailReceive) Run(p *process) error {
	if err := reply.CheckAddress(c.MailReply); err != nil {
		return misuse("--mail-reply: %v", err)
	}
	raw, err := io.ReadAll(io.LimitReader(p.stdin(), reply.MaxMessage+1))
	if err != nil {
		return err
	}
	var outcome *reply.Outcome
	err = withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) (err error) {
		f := s.forge(log)
		takes := &reply.Service{DB: s.db, Repos: f.Repos, Comments: comment.New(s.db, f.Issues), Setting: c.MailReply}
		outcome, err = takes.Receive(p.ctx, raw, c.Recipient)
		return err
	})
	switch {
	case err == nil && outcome.Dropped != "":
		fmt.Fprintf(p.stdout, "dropped: %s\n", outcome.Dropped)
	case err == nil:
		fmt.Fprintf(p.stdout, "comment %d in %s\n", outcome.Comment, outcome.In)
	case errs.Is(err, errs.Invalid), errs.Is(err, errs.Forbidden), errs.Is(err, errs.NotFound):
		fmt.Fprintf(p.stdout, "Your reply was not taken: %s.\n", strings.TrimSuffix(err.Error(), "."))
		return &exitStatus{statusRefused}
	default:
		fmt.Fprintf(p.stderr, "arbor: the mail waits: %s\n", explain(err))
		return &exitStatus{statusLater}
	}
	return nil
}
