package main

import (
	"fmt"
	"strings"

	"arbor/internal/mail"
)

// mailFlags are those of the server that sends mail.
type mailFlags struct {
	MailServer       string `group:"Mail" help:"SMTP server that sends mail, see docs/mail.md (default: no mail is sent)." placeholder:"HOST:PORT"`
	MailTLS          string `name:"mail-tls" group:"Mail" help:"Encryption of the connection to it: starttls, tls from the first byte, or none, to this machine alone." enum:"starttls,tls,none" default:"starttls"`
	MailUser         string `group:"Mail" help:"User at that server (default: none)." placeholder:"USER"`
	MailPasswordFile string `group:"Mail" help:"File with the user's password." placeholder:"FILE"`
	MailFrom         string `group:"Mail" help:"Sender of mails: an address, with or without a name." placeholder:"ADDRESS"`

	mail *mail.Config // made by checkMail; nil: none
}

// checkMail reads the settings.
func (f *mailFlags) checkMail(base string) error {
	if f.MailServer == "" {
		if f.MailUser != "" || f.MailPasswordFile != "" || f.MailFrom != "" {
			return misuse("--mail-user, --mail-password-file and --mail-from need --mail-server")
		}
		return nil
	}
	var err error
	f.mail, err = mail.NewConfig(mail.Settings{Server: f.MailServer, TLS: f.MailTLS, User: f.MailUser,
		PasswordFile: f.MailPasswordFile, From: f.MailFrom, BaseURL: strings.TrimRight(base, "/")})
	if err != nil {
		return misuse("--mail-server: %v", err)
	}
	return nil
}

type mailCommand struct {
	Test mailTest `cmd:"" help:"Send a mail to try the settings. It goes out at once, not through the queue."`
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
