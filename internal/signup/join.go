package signup

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/admission"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
	"arbor/internal/team"
	"arbor/internal/web"
)

// joinsOfNetwork is how often a network may try to begin an account within an hour.
const joinsOfNetwork = 30

// maxReason is the greatest length of what people say of themselves, in code points.
const maxReason = 1000

// Person is who begins an account, and how.
type Person struct {
	Secret   string // of a link; empty: by the form that needs none
	Login    string
	Name     string
	Address  string // where the link has none; may be empty
	Password string
	Reason   string // for who approves it
}

// Join begins an account and returns its session, or asks for one, and then the session is empty. Errors: 404 for a link
// that does not hold, and where accounts do not begin so; 422 for what the person wrote; 429, 503.
func (s *Service) Join(ctx context.Context, p Person, from session.Origin) (value string, err error) {
	if err := s.countTry(ctx, from); err != nil {
		return "", err
	}
	if err := p.check(); err != nil {
		return "", err
	}
	var waits bool
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		b, err := s.begin(tx, &p)
		waits = err == nil && b.waits
		return err
	})
	if err != nil {
		return "", err
	}
	kept, err := session.NewPassword(ctx, p.Login, p.Password)
	if err != nil {
		return "", asField(err, "password")
	}
	if waits {
		return "", s.ask(ctx, &p, kept, from)
	}
	by := session.Recognized{Way: session.WithSignup}
	return s.sessions.SignInWith(ctx, p.Login, by, from, func(tx *db.Tx) (*account.Account, error) {
		b, err := s.begin(tx, &p)
		if err == nil && b.waits { // the setting was changed
			err = errs.New(errs.Conflict, "An administrator must approve accounts now. Send the form again.")
		}
		if err != nil {
			return nil, err
		}
		return s.make(tx, &p, b.link, kept, string(b.how))
	})
}

// countTry counts what a network tries. Error: 429.
func (s *Service) countTry(ctx context.Context, from session.Origin) error {
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		state, err := s.state(tx)
		if err != nil || state.Mode == Closed {
			return cmp.Or[error](err, errs.Absent())
		}
		return mail.Limit(tx, fmt.Sprint("join by ", admission.NetworkOf(from.Address)), joinsOfNetwork, time.Hour)
	})
}

// check looks at what a person wrote. Error: 422.
func (p *Person) check() error {
	if err := account.CheckLogin(p.Login); err != nil {
		return asField(err, "login")
	}
	if err := account.CheckLine("name", p.Name); err != nil {
		return asField(err, "name")
	}
	if err := session.CheckPassword(p.Login, p.Password); err != nil {
		return asField(err, "password")
	}
	p.Address = account.Fold(p.Address)
	if p.Address != "" && (!account.PlausibleEmail(p.Address) || account.Reserved(p.Address)) {
		return wrongAddress("This is not an e-mail address.")
	}
	if len([]rune(p.Reason)) > maxReason {
		return errs.Validation(errs.Field{Field: "reason", Code: errs.Custom, Message: "This is too long."})
	}
	return nil
}

// asField makes an error of what a person wrote one about a field.
func asField(err error, field string) error {
	if !errs.Is(err, errs.Invalid) {
		return err
	}
	return errs.Validation(errs.Field{Field: field, Code: errs.Custom, Message: capital(err.Error()) + "."})
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// beginning is what an account begins with.
type beginning struct {
	link  *Link // nil: none
	how   Mode
	waits bool // an administrator must approve it
}

// begin finds out how a person may begin. Errors: 404, 422.
func (s *Service) begin(tx *db.Tx, p *Person) (*beginning, error) {
	state, err := s.state(tx)
	if err != nil {
		return nil, err
	}
	b := &beginning{how: state.Mode}
	if p.Secret != "" {
		if b.link, err = state.link(tx, p.Secret); err != nil {
			return nil, err
		}
		if !b.link.Asked {
			b.how = Invitation
		}
	} else if state.ByMail() || !state.Direct() {
		return nil, errs.Absent()
	}
	b.waits = b.how == Approval
	return b, checkFree(tx, p.Login)
}

// checkFree reports whether a login is taken, or asked for. Error: 422.
func checkFree(tx *db.Tx, login string) error {
	_, err := account.ByLogin(tx, login)
	if errs.Is(err, errs.NotFound) {
		var asked bool
		if asked, err = isAsked(tx, login); err == nil && !asked {
			return nil
		}
	}
	return cmp.Or[error](err, takenLogin())
}

func takenLogin() error {
	return errs.Validation(errs.Field{Field: "login", Code: errs.Custom, Message: "This login is taken."})
}

// make makes the account of a person who has used a link, or needs none.
func (s *Service) make(tx *db.Tx, p *Person, l *Link, kept, how string) (*account.Account, error) {
	if l != nil {
		if err := deleteLink(tx, l.ID, l.Asked); err != nil { // of two requests one finds it
			return nil, err
		}
	}
	verified := l != nil && l.Address != ""
	if verified {
		p.Address = l.Address
	}
	a, err := register(tx, p, kept, verified, map[string]any{"site_admin": false, "by": how})
	if err != nil || l == nil || l.orgID == 0 {
		return a, err
	}
	return a, s.enter(tx, a, l)
}

// register stores an account with its password and address.
func register(
	tx *db.Tx, p *Person, kept string, verified bool, told map[string]any,
) (*account.Account, error) {
	a := &account.Account{Login: p.Login, Kind: account.User, Name: web.OrNil(strings.TrimSpace(p.Name))}
	if err := account.Register(tx, a); err != nil {
		return nil, asField(err, "login")
	}
	if err := account.Record(tx, audit.UserCreate, a, "", told); err != nil {
		return nil, err
	}
	if err := session.PutPassword(tx, a.ID, kept); err != nil {
		return nil, err
	}
	switch {
	case p.Address == "":
		return a, nil
	case verified:
		return a, account.VerifyIfFree(tx, a, p.Address)
	}
	return a, account.Claim(tx, a, p.Address)
}

// enter makes a new account a member of the organization and the team of its link.
func (s *Service) enter(tx *db.Tx, a *account.Account, l *Link) error {
	if err := account.Lock(tx, l.orgID); err != nil {
		return err
	}
	org, err := account.ByID(tx, l.orgID)
	if err != nil {
		return err
	}
	self := &account.Caller{ID: a.ID, Login: a.Login}
	if _, err := s.accounts.PutMember(tx, self, org, a, "member"); err != nil || l.teamID == 0 {
		return err
	}
	teams, err := team.OfOrg(tx, org.ID, []team.ID{l.teamID})
	if err != nil {
		return err
	}
	return s.teams.Join(tx, self, a, teams)
}
