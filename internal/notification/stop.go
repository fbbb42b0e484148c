package notification

import (
	"context"
	"errors"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issue/subscription"
	"arbor/internal/mail"
	"arbor/internal/repo"
)

// stop is the purpose of signed addresses that end mails.
const stop = "stop"

// What they end: mails of an issue, of another subject, or all of them.
const (
	stopIssue   = 'i'
	stopSubject = 's'
	stopAll     = 'a'
)

func stopOf(t *Thread, who int64) *mail.Signed {
	if t.Issue != 0 {
		return &mail.Signed{Account: who, Kind: stopIssue, ID: int64(t.Issue)}
	}
	return &mail.Signed{Account: who, Kind: stopSubject, ID: t.SubjectID}
}

// Stopping is what the address in a mail would end.
type Stopping struct {
	Login string
	About string // names the subject; empty: all mails about notifications
}

// Stops reads what a signed address would end. Error: 404.
func (s *Service) Stops(ctx context.Context, text string) (found *Stopping, err error) {
	_, found, _, err = s.stops(ctx, text)
	return found, err
}

func (s *Service) stops(
	ctx context.Context, text string,
) (caller *account.Caller, found *Stopping, t *Thread, err error) {
	signed, ok := mail.ReadSigned(text)
	if !ok {
		return nil, nil, nil, errs.Absent()
	}
	key, err := mail.Key(ctx, s.db)
	if err != nil {
		return nil, nil, nil, err
	}
	if !signed.Is(key, stop) {
		return nil, nil, nil, errs.Absent()
	}
	found = &Stopping{}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := account.ByID(tx, account.ID(signed.Account))
		if err != nil {
			return err
		}
		caller = &account.Caller{ID: a.ID, Login: a.Login, SiteAdmin: a.SiteAdmin}
		found.Login = a.Login
		if signed.Kind == stopAll {
			return nil
		}
		t, found.About, err = stopped(tx, caller, signed)
		if errors.Is(err, db.ErrNoRows) {
			err = errs.Absent()
		}
		return err
	})
	return caller, found, t, err
}

// stopped finds the subject of a signed address. Errors: 404, db.ErrNoRows.
func stopped(tx *db.Tx, caller *account.Caller, of *mail.Signed) (*Thread, string, error) {
	if of.Kind == stopSubject {
		there, err := subjectThere(tx, caller, of.ID)
		if err == nil && !there {
			err = errs.Absent()
		}
		return &Thread{SubjectID: of.ID}, "this thread", err
	}
	t := &Thread{Issue: issue.ID(of.ID)}
	var err error
	if t.RepoID, t.Number, err = placeOf(tx, t.Issue); err != nil {
		return nil, "", err
	}
	list, err := repo.ByIDs(tx, caller, []repo.ID{t.RepoID})
	if err == nil && list[t.RepoID] == nil {
		err = errs.Absent()
	}
	if err != nil {
		return nil, "", err
	}
	return t, list[t.RepoID].FullName() + "#" + strconv.FormatInt(t.Number, 10), nil
}

// Stop ends what a signed address in a mail ends: a subject is ignored from then on, or there are no mails about
// notifications any more. Error: 404.
func (s *Service) Stop(ctx context.Context, text string) (*Stopping, error) {
	caller, found, t, err := s.stops(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		return found, s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
			of, err := settingsOf(tx, caller.ID)
			if err != nil {
				return err
			}
			of.Participating, of.Watching = false, false
			return putSettings(tx, caller.ID, of)
		})
	case t.Issue == 0:
		return found, s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
			return putWish(tx, t.SubjectID, caller.ID, int64(subscription.Ignore))
		})
	}
	a, err := db.Get(ctx, s.db, func(tx *db.Tx) (*repo.Access, error) {
		return repo.ByID(tx, caller, t.RepoID)
	})
	if err == nil {
		_, err = s.subscriptions.Subscribe(ctx, a.OnArchived(), t.Number, subscription.Ignore)
	}
	return found, err
}
