package mirror

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
	"arbor/internal/repo"
)

// StoppedMail tells an administrator of a repository that one of its mirrors was stopped.
const StoppedMail mail.Kind = "mirror_stopped"

// StoppedAbout is what such a mail is about.
type StoppedAbout struct {
	Mirror  int64 `json:"mirror"`
	Version int64 `json:"version"` // of its settings
}

// maxStoppedMails is how many administrators get a mail at most.
const maxStoppedMails = 100

// tellStopped writes a mail to the administrators of the mirror's repository.
func tellStopped(tx *db.Tx, m *Mirror) error {
	a, err := repo.ByID(tx, &account.Caller{SiteAdmin: true}, m.RepoID)
	if err != nil {
		return err
	}
	people, err := repo.Administrators(tx, a.Repo, maxStoppedMails)
	for _, id := range people {
		if err == nil {
			err = mail.Add(tx, mail.Mail{Kind: StoppedMail, Account: int64(id), About: StoppedAbout{m.ID, m.version}})
		}
	}
	return err
}

// Stopped finds what a mail to an administrator is about. Error: 404 for a mirror that was set up again or removed, and
// for a reader who is no longer an administrator of the repository.
func Stopped(tx *db.Tx, about StoppedAbout, reader account.ID) (*Mirror, *repo.Repo, error) {
	m, err := byID(tx, about.Mirror)
	if err != nil {
		return nil, nil, err
	}
	a, err := repo.ByID(tx, &account.Caller{SiteAdmin: true}, m.RepoID)
	if err != nil {
		return nil, nil, err
	}
	people, err := repo.PeopleByID(tx, a.Repo, []account.ID{reader})
	if err != nil {
		return nil, nil, err
	}
	suspended, err := isSuspended(tx, reader)
	if err == nil && (m.Active || m.version != about.Version || a.Deleted() || suspended ||
		people[reader].Role < account.Admin) {
		err = errs.Absent()
	}
	return m, a.Repo, err
}
