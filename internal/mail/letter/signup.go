package letter

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
	"arbor/internal/signup"
)

// askedForAccount is a mail with a link for an account, or says that there is one with the address.
func (l *Letters) askedForAccount(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	has, secret, err := l.Signup.NewAskedLink(ctx, m.Address)
	if err != nil {
		return nil, err
	}
	if has != nil {
		made := letter{Subject: "You have an account already", Hello: has.Login,
			Says: []string{"Somebody asked for an account with this address at " + l.site + ". It is that of your account " +
				has.Login + "."},
			Link: l.site + "/login", Do: "Sign in",
			Foot: []string{"If it was not you, do nothing.", "A new password: " + l.site + "/password_reset"}}
		return made.message(m.Address)
	}
	made := letter{Subject: "Create your account",
		Says: []string{"Somebody asked for an account with this address at " + l.site + ".",
			"The link works once, for a day."},
		Link: l.site + "/join?link=" + secret, Do: "Create the account",
		Foot: []string{"If it was not you, do nothing: no account is created."}}
	return made.message(m.Address)
}

// invitedToSite is an administrator's invitation.
func (l *Letters) invitedToSite(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	var about signup.About
	if err := m.Read(&about); err != nil {
		return nil, err
	}
	link, secret, err := l.Signup.NewInviteLink(ctx, about.ID)
	if err != nil {
		return nil, err
	}
	who, place := "An administrator", ""
	if link.Inviter != "" {
		who = link.Inviter
	}
	if link.Org != "" {
		place = ", and to join the organization " + link.Org
	}
	made := letter{Subject: "You are invited to " + strings.TrimPrefix(strings.TrimPrefix(l.site, "https://"), "http://"),
		Says: []string{who + " invites you to create an account at " + l.site + place + ".",
			"The link works once, until " + link.ExpiresAt.Time().UTC().Format("2 January 2006 15:04") + " UTC."},
		Link: l.site + "/join?link=" + secret, Do: "Create your account",
		Foot: []string{"If you do not want an account, do nothing."}}
	return made.message(m.Address)
}

// accountWaits tells a site administrator that somebody asks for an account.
func (l *Letters) accountWaits(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	var about signup.About
	if err := m.Read(&about); err != nil {
		return nil, err
	}
	var a *account.Account
	var q *signup.Request
	var to string
	err := l.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if q, err = signup.RequestByID(tx, about.ID); err != nil {
			return err
		}
		a, to, err = reader(tx, m)
		if err == nil && !a.SiteAdmin {
			err = errs.Absent()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	says := []string{fmt.Sprintf("Somebody asks for the account %s at %s.", q.Login, l.site)}
	for _, line := range [][2]string{{"Name", q.Name}, {"Address", q.Address}, {"What the person says", q.Reason}} {
		if line[1] != "" {
			says = append(says, line[0]+": "+mail.Line(line[1], 1000))
		}
	}
	made := letter{Subject: "Somebody asks for the account " + q.Login, Hello: a.Login, Says: says,
		Link: l.site + "/site/sign-up", Do: "Approve or decline",
		Foot: []string{"You get this mail since you administrate the site."}}
	return made.message(to)
}

// reader finds the account of a mail and its address. Error: 404.
func reader(tx *db.Tx, m *mail.Mail) (a *account.Account, to string, err error) {
	if a, err = account.ByID(tx, account.ID(m.Account)); err != nil {
		return nil, "", err
	}
	to, err = mail.AddressOf(tx, m.Account)
	if err == nil && to == "" {
		err = errs.Absent()
	}
	return a, to, err
}

// accountApproved tells people that they have the account for which they asked.
func (l *Letters) accountApproved(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	var a *account.Account
	var to string
	err := l.DB.Read(ctx, func(tx *db.Tx) (err error) {
		a, to, err = reader(tx, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	made := letter{Subject: "Your account was approved", Hello: a.Login,
		Says: []string{"An administrator of " + l.site + " approved your account " + a.Login + "."},
		Link: l.site + "/login", Do: "Sign in", Foot: []string{"You asked for this account."}}
	return made.message(to)
}

// accountDeclined tells people that they do not get the account for which they asked.
func (l *Letters) accountDeclined(_ context.Context, m *mail.Mail) (*mail.Message, error) {
	var about signup.About
	if err := m.Read(&about); err != nil {
		return nil, err
	}
	made := letter{Subject: "Your account was not approved",
		Says: []string{"You asked for the account " + about.Login + " at " + l.site +
			". An administrator declined it: there is no such account, and what you wrote was deleted."},
		Foot: []string{"You asked for this account."}}
	return made.message(m.Address)
}
