package letter

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
)

// reset is a mail with a link that sets a password.
func (l *Letters) reset(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	a, to, secret, err := l.Sessions.NewResetLink(ctx, m.Address)
	if err != nil {
		return nil, err
	}
	made := letter{Subject: "Set a new password", Hello: a.Login,
		Says: []string{"Somebody asked for a link to set the password of your account " + a.Login + " at " + l.site + ".",
			"The link works once, for three hours."},
		Link: l.site + "/password_reset?link=" + secret, Do: "Set a new password",
		Foot: []string{"If it was not you, do nothing: your password stays as it is."}}
	return made.message(to)
}

// verify is a mail with a link that verifies an address.
func (l *Letters) verify(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	a, secret, err := l.Accounts.NewVerifyLink(ctx, account.ID(m.Account), m.Address)
	if err != nil {
		return nil, err
	}
	made := letter{Subject: "Verify your e-mail address", Hello: a.Login,
		Says: []string{"The account " + a.Login + " at " + l.site + " added this address.",
			"Verify it to get mail there, and to have commits with it shown as yours. The link works for a day."},
		Link: l.site + "/settings/emails?verify=" + secret, Do: "Verify the address",
		Foot: []string{"If this is not your account, do nothing: the address stays unverified."}}
	return made.message(m.Address)
}

// removed tells a former address that it is none of an account's any more.
func (l *Letters) removed(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	a, err := db.Get(ctx, l.DB, func(tx *db.Tx) (*account.Account, error) {
		return account.ByID(tx, account.ID(m.Account))
	})
	if err != nil {
		return nil, err
	}
	made := letter{Subject: "This address was removed from your account", Hello: a.Login,
		Says: []string{"This e-mail address was removed from the account " + a.Login + " at " + l.site + "."},
		Foot: l.why()}
	return made.message(m.Address)
}

// why says why people hear of the security of their account, and what to do.
func (l *Letters) why() []string {
	return []string{"If it was not you, change your password and look through your sessions and keys at " + l.site +
		"/settings/sessions, or ask an administrator.", "Such mails cannot be switched off."}
}

// notice tells of an event of the audit log.
func (l *Letters) notice(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	var about audit.Notice
	if err := m.Read(&about); err != nil {
		return nil, err
	}
	var event audit.Event
	var a *account.Account
	var to string
	err := l.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if event, err = audit.ByID(tx, about.Event); err != nil {
			if errors.Is(err, db.ErrNoRows) {
				err = errs.Absent()
			}
			return err
		}
		a, to, err = reader(tx, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	what, err := whatHappened(&event)
	if err != nil {
		return nil, err
	}
	made := letter{Subject: what, Hello: a.Login,
		Says: []string{what + ": account " + a.Login + " at " + l.site + ", " +
			event.CreatedAt.Time().UTC().Format("2 January 2006 15:04") + " UTC" + l.by(&event) + "."},
		Link: l.site + "/settings/sessions", Do: "Look through your sessions", Foot: l.why()}
	return made.message(to)
}

// by says who did it, and from where.
func (l *Letters) by(e *audit.Event) (by string) {
	switch {
	case e.Actor.Right == audit.Operator:
		return ", by the operator of the server"
	case e.Actor.Login != "" && account.Fold(e.Actor.Login) != account.Fold(e.User.Name):
		return ", by " + e.Actor.Login
	case e.Actor.Address != "":
		return ", from the network address " + e.Actor.Address
	}
	return ""
}

// happened are the subjects of events.
var happened = map[audit.Action]string{
	audit.UserPassword:     "Your password was changed",
	audit.UserAddEmail:     "An e-mail address was added to your account",
	audit.UserVerifyEmail:  "An e-mail address of your account was verified",
	audit.UserRemoveEmail:  "An e-mail address was removed from your account",
	audit.FactorAdd:        "A second factor was added to your account",
	audit.FactorRemove:     "A second factor was removed from your account",
	audit.FactorDisabled:   "Your second factors were removed",
	audit.RecoveryCodes:    "New recovery codes were made for your account",
	audit.IdentityLink:     "An identity of another server was linked with your account",
	audit.IdentityUnlink:   "An identity of another server was unlinked from your account",
	audit.TokenCreate:      "An access token was created for your account",
	audit.OAuthCreate:      "A program was allowed to use your account",
	audit.KeyCreate:        "An SSH key was added to your account",
	audit.GPGKeyCreate:     "A GPG key was added to your account",
	audit.SigningKeyCreate: "An SSH signing key was added to your account",
	audit.UserLogin:        "Your account was used from a new place",
}

// whatHappened is the subject of an event, with what the log knows of it.
func whatHappened(e *audit.Event) (string, error) {
	what := happened[e.Action]
	if what == "" {
		return "", errors.New("letter: no words for " + string(e.Action))
	}
	var told struct {
		Factor      string `json:"factor"`
		Fingerprint string `json:"fingerprint"`
		By          string `json:"by"`
	}
	if err := json.Unmarshal(e.Changes, &told); err != nil {
		return "", err
	}
	var more []string
	for _, part := range []string{told.Factor, told.Fingerprint, told.By} {
		if part != "" {
			more = append(more, mail.Line(part, 100))
		}
	}
	if len(more) > 0 {
		what += " (" + strings.Join(more, ", ") + ")"
	}
	return what, nil
}
