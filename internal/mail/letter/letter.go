// Package letter renders mails when they are sent, as the state and the rights of their readers are then.
//
//	letter.go    the form that all have; Renderers lists them
//	told.go      notifications: what happened in a thread, lists of a day or a week
//	invite.go    invitations to organizations and repositories
//	oauth.go     OAuth Apps that wait for the owners of an organization
//	signup.go    links with which accounts begin, and what administrators decided
//	mirror.go    mirrors that were stopped
//	account.go   links that set a password or verify an address; what happened to the security of an account
//
// A renderer answers 404 if there is nothing to tell any more.
package letter

import (
	"bytes"
	"embed"
	"html/template"
	"strings"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/invitation"
	"arbor/internal/issue/text"
	"arbor/internal/mail"
	"arbor/internal/mirror"
	"arbor/internal/notification"
	"arbor/internal/oauth"
	"arbor/internal/signup"
)

//go:embed letter.html told.html
var files embed.FS

var layout = template.Must(template.ParseFS(files, "letter.html", "told.html"))

// Services are what mails show.
type Services struct {
	DB       *db.DB
	Accounts *account.Service
	Sessions *session.Service
	Signup   *signup.Service
	Invites  *invitation.Service
	Notices  *notification.Service
	Texts    *text.Renderer
	Reply    string // the address for replies, see package reply; empty: none
}

// Letters renders mails.
type Letters struct {
	Services
	site string // scheme and host of links
}

// Renderers returns the renderers of all kinds, for a server at an address.
func Renderers(of Services, site string) map[mail.Kind]mail.Renderer {
	l := &Letters{of, site}
	return map[mail.Kind]mail.Renderer{
		session.ResetMail:   l.reset,
		account.VerifyMail:  l.verify,
		account.RemovedMail: l.removed,
		audit.NoticeMail:    l.notice,

		signup.AskedMail:    l.askedForAccount,
		signup.InviteMail:   l.invitedToSite,
		signup.WaitingMail:  l.accountWaits,
		signup.ApprovedMail: l.accountApproved,
		signup.DeclinedMail: l.accountDeclined,

		invitation.Mail: l.invited,
		oauth.AskedMail: l.appWaits,

		mirror.StoppedMail: l.mirrorStopped,

		notification.ToldMail:   l.told,
		notification.DigestMail: l.digest,
	}
}

// letter is what a mail says, in both forms.
type letter struct {
	Subject string
	Hello   string   // a login; empty: nobody's
	Says    []string // paragraphs
	Link    string   // an address; empty: none
	Do      string   // what the link does
	Else    string   // another address; empty: none
	ElseDo  string   // what that does
	Foot    []string // paragraphs: why it is sent
}

// message renders a letter to an address.
func (l *letter) message(to string) (*mail.Message, error) {
	var html bytes.Buffer
	if err := layout.ExecuteTemplate(&html, "letter.html", l); err != nil {
		return nil, err
	}
	var parts []string
	if l.Hello != "" {
		parts = append(parts, "Hello "+l.Hello+",")
	}
	parts = append(parts, l.Says...)
	if l.Link != "" {
		parts = append(parts, l.Do+":\n"+l.Link)
	}
	if l.Else != "" {
		parts = append(parts, l.ElseDo+":\n"+l.Else)
	}
	parts = append(parts, "-- ")
	text := strings.Join(parts, "\n\n") + "\n" + strings.Join(l.Foot, "\n") + "\n"
	return &mail.Message{To: to, Subject: l.Subject, Text: text, HTML: html.String()}, nil
}
