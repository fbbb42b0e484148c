package letter

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/invitation"
	"arbor/internal/mail"
	"arbor/internal/web"
)

// invited is an invitation to an organization or a repository. That to an address of nobody has a link whose holder may
// accept it, and, where accounts begin with the address, a link for one.
func (l *Letters) invited(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	var about invitation.About
	if err := m.Read(&about); err != nil {
		return nil, err
	}
	i, secret, err := l.Invites.ForMail(ctx, about.ID)
	if err != nil {
		return nil, err
	}
	to, place, made := i.Address, "", letter{Do: "Accept or decline"}
	if i.Org != nil {
		place = "join the organization " + i.Org.Login
		made.Link = l.site + web.Path("orgs", i.Org.Login, "invitation")
	} else {
		place = "collaborate on " + i.Repo.FullName() + " with the role " + i.Role.Name()
		made.Link = l.site + invitation.Path(i.Repo.Repo)
	}
	made.Says = []string{i.Inviter.Login + " invites you to " + place + " at " + l.site + ".",
		"You can answer until " + i.ExpiresAt().Time().UTC().Format("2 January 2006 15:04") + " UTC."}
	if to == "" {
		made.Hello = i.Invitee.Login
		err = l.DB.Read(ctx, func(tx *db.Tx) (err error) {
			_, to, err = reader(tx, m)
			return err
		})
	} else {
		made.Says = append(made.Says, "Whoever has this mail can accept, with any account.")
		made.Link += "?link=" + secret
		err = l.offerAccount(ctx, &made, to)
	}
	if err != nil {
		return nil, err
	}
	made.Subject = i.Inviter.Login + " invites you to " + place
	made.Foot = []string{"If you do not want that, do nothing."}
	return made.message(to)
}

// offerAccount adds the link for an account with an address, where accounts begin so.
func (l *Letters) offerAccount(ctx context.Context, made *letter, address string) error {
	has, secret, err := l.Signup.NewAskedLink(ctx, address)
	if err == nil && has == nil {
		made.Else, made.ElseDo = l.site+"/join?link="+secret, "If you have no account, create one first"
	}
	if errs.Is(err, errs.NotFound) {
		err = nil
	}
	return err
}
