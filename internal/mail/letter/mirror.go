package letter

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/mail"
	"arbor/internal/mirror"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// mirrorStopped tells an administrator of a repository that one of its mirrors was stopped, and why.
func (l *Letters) mirrorStopped(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	var about mirror.StoppedAbout
	if err := m.Read(&about); err != nil {
		return nil, err
	}
	var a *account.Account
	var stopped *mirror.Mirror
	var of *repo.Repo
	var to string
	err := l.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if a, to, err = reader(tx, m); err == nil {
			stopped, of, err = mirror.Stopped(tx, about, a.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	says := "The repository " + of.FullName() + " is no longer updated from " + stopped.URL + "."
	if stopped.Push {
		says = "Pushes to the repository " + of.FullName() + " are no longer copied to " + stopped.URL + "."
	}
	made := letter{Subject: "A mirror of " + of.FullName() + " was stopped", Hello: a.Login,
		Says: []string{says, stopped.Problem, "To resume it, set it up again."},
		Link: l.site + web.Path(of.Owner.Login, of.Name, "settings", "mirrors"), Do: "Mirrors of " + of.FullName(),
		Foot: []string{"You get this mail since you are an administrator of " + of.FullName() + "."}}
	return made.message(to)
}
