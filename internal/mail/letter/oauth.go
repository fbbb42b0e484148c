package letter

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/mail"
	"arbor/internal/oauth"
)

// appWaits tells an owner of an organization that somebody asks for the approval of an OAuth App.
func (l *Letters) appWaits(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	var about oauth.AskedAbout
	if err := m.Read(&about); err != nil {
		return nil, err
	}
	var a, org *account.Account
	var asked *oauth.Approval
	var to string
	err := l.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if a, to, err = reader(tx, m); err == nil {
			org, asked, err = oauth.Waiting(tx, about, a.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	who := "Somebody"
	if asked.AskedBy != nil {
		who = asked.AskedBy.Login
	}
	name := mail.Line(asked.App.Name, 100)
	made := letter{Subject: who + " asks to let " + name + " into " + org.Login, Hello: a.Login,
		Says: []string{who + " asks you to approve the OAuth App " + name + " of " + asked.App.Owner.Login +
			" for the organization " + org.Login + ".",
			"An approved App may do there what its user may, within the scopes that the user allowed."},
		Link: l.site + "/organizations/" + org.Login + "/settings/oauth_application_policy", Do: "Approve or deny",
		Foot: []string{"You get this mail since you own the organization " + org.Login + "."}}
	return made.message(to)
}
