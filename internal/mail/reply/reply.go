// Package reply makes comments of replies to mails about issues and pull requests.
//
//	reply.go    addresses for replies; taking a mail
//	parse.go    reading a mail: its headers, its text among its parts
//	own.go      what its author wrote, without quotes and signature
//	store.go    the SQL
//
// Table: mail_replies.
//
// Mails about a thread have a Reply-To with a signed token that names their reader and the issue. The mail server gives what
// comes to such an address to arbor mail receive. A mail counts if it comes from a verified address of that account, so
// who was sent such a mail on cannot write in its reader's name by knowing the token alone. It has the rights of the
// account at that moment, but none as a site administrator.
package reply

import (
	"context"
	"fmt"
	netmail "net/mail"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/mail"
	"arbor/internal/repo"
)

// purpose is that of signed tokens; ofIssue is what they name.
const (
	purpose = "reply"
	ofIssue = 1
)

// place is where the token is in the setting of the address.
const place = "%s"

// CheckAddress checks the setting: an address with %s before the @, where the token goes.
func CheckAddress(setting string) error {
	local, domain, ok := strings.Cut(setting, "@")
	_, err := netmail.ParseAddress(strings.Replace(setting, place, "token", 1))
	if !ok || strings.Count(local, place) != 1 || strings.Contains(domain, place) || err != nil || len(local) > 24 {
		return fmt.Errorf("the address of replies must have %%s before the @, such as reply+%%s@example.org, not %q", setting)
	}
	return nil
}

// Address is the address for replies of an account in an issue.
func Address(setting string, key []byte, of account.ID, in issue.ID) string {
	token := (&mail.Signed{Account: int64(of), Kind: ofIssue, ID: int64(in)}).Sign(key, purpose)
	return strings.Replace(setting, place, token, 1)
}

// tokenOf is the token in an address; empty: it is not one of the setting.
func tokenOf(setting, address string) string {
	setting, address = strings.ToLower(setting), strings.ToLower(address)
	before, after, _ := strings.Cut(setting, place)
	token, ok := strings.CutPrefix(address, before)
	if !ok {
		return ""
	}
	token, ok = strings.CutSuffix(token, after)
	if !ok {
		return ""
	}
	return token
}

// Service takes replies.
type Service struct {
	DB       *db.DB
	Repos    *repo.Service
	Comments *comment.Service
	Setting  string // of the address, see CheckAddress
}

// Outcome is what became of a mail.
type Outcome struct {
	Comment int64  // that was made; 0: none
	In      string // OWNER/NAME#NUMBER, where it was made
	Dropped string // why it is none; empty: there is a comment
}

// perHour is how many replies an account sends within an hour.
const perHour = 60

// Receive makes a comment of a mail. recipient is the address to which it came; empty: as its headers say. A mail that a
// program wrote, and one that was taken before, is dropped. Errors: 403, 404 and 422 for a mail that is refused for good,
// with a line for who wrote it; others pass.
func (s *Service) Receive(ctx context.Context, raw []byte, recipient string) (*Outcome, error) {
	m, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	if m.Auto {
		return &Outcome{Dropped: "a program wrote it"}, nil
	}
	signed, err := s.signed(ctx, m, recipient)
	if err != nil {
		return nil, err
	}
	caller, in, number, err := s.who(ctx, signed, m.From)
	if err != nil {
		return nil, err
	}
	a, err := s.Repos.FindByID(ctx, caller, in)
	if errs.Is(err, errs.NotFound) {
		return nil, errGone()
	}
	if err != nil {
		return nil, err
	}
	if ctx, err = s.Repos.ToChange(ctx, a, account.Pull); err != nil {
		return nil, err
	}
	text, err := comment.NewText(m.Text)
	if err != nil {
		return nil, errs.Newf(errs.Invalid, "the text is too long for a comment: at most %d characters", issue.MaxBody)
	}
	id := m.ID
	if id == "" {
		id = string(raw)
	}
	seen := false
	made, err := s.Comments.CreateByMail(ctx, a, number, text, func(tx *db.Tx) (err error) {
		seen, err = note(tx, caller.ID, id)
		switch {
		case err == nil && seen:
			return errs.New(errs.Conflict, "it was taken before")
		case err != nil:
			return err
		}
		if err := mail.Limit(tx, fmt.Sprint("reply by ", caller.ID), perHour, time.Hour); err != nil {
			return err
		}
		_, err = callerNow(tx, caller.ID, m.From)
		return err
	})
	where := fmt.Sprintf("%s#%d", a.FullName(), number)
	switch {
	case seen && errs.Is(err, errs.Conflict):
		return &Outcome{Dropped: "it was taken before", In: where}, nil
	case errs.Is(err, errs.NotFound):
		return nil, errGone()
	case err != nil:
		return nil, err
	}
	return &Outcome{Comment: made.ID, In: where}, nil
}

// signed finds the token to which a mail came. Error: 404 if there is none that this server signed.
func (s *Service) signed(ctx context.Context, m *Message, recipient string) (*mail.Signed, error) {
	key, err := mail.Key(ctx, s.DB)
	if err != nil {
		return nil, err
	}
	to := m.To
	if recipient != "" {
		to = []string{recipient}
	}
	for _, address := range to {
		signed, ok := mail.ReadSigned(tokenOf(s.Setting, address))
		if ok && signed.Kind == ofIssue && signed.Is(key, purpose) {
			return signed, nil
		}
	}
	return nil, errs.New(errs.NotFound, "no thread has this address: reply to a newer mail, or in the browser")
}

func errGone() error {
	return errs.New(errs.NotFound, "the thread is not there any more, or you cannot see it")
}

// who finds whose token it is, and where the issue is now. Errors: 403, 404.
func (s *Service) who(
	ctx context.Context, signed *mail.Signed, from string,
) (caller *account.Caller, in repo.ID, number int64, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		if caller, err = callerNow(tx, account.ID(signed.Account), from); err != nil {
			return err
		}
		in, number, err = issuePlace(tx, issue.ID(signed.ID))
		return err
	})
	if errs.Is(err, errs.NotFound) {
		err = errGone()
	}
	return caller, in, number, err
}

// callerNow is an account that may write by mail from an address now. Errors: 403, 404.
func callerNow(tx *db.Tx, id account.ID, from string) (*account.Caller, error) {
	a, err := account.ByID(tx, id)
	if err != nil {
		return nil, err
	}
	if !a.SuspendedAt.IsZero() {
		return nil, account.Suspended()
	}
	verified, err := account.IsVerified(tx, id, from)
	if err == nil && !verified {
		err = errs.New(errs.Forbidden, "send replies from a verified address of your account")
	}
	if err != nil {
		return nil, err
	}
	needs, err := account.NeedsFactor(tx, id)
	if err == nil && needs {
		err = account.FactorNeeded()
	}
	return &account.Caller{ID: a.ID, Login: a.Login}, err
}
