package notification

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
	"arbor/internal/web"
)

// maxListed is how many threads a digest lists.
const maxListed = 50

// Listed is what a digest tells somebody, as it is now.
type Listed struct {
	To     string // the address
	Reader *account.Account
	*Page
	Digest Digest
	Total  int64
	Stop   string
}

// Digest returns what a digest tells its reader: what is unread of all that was told since it was written. Error: 404.
func (s *Service) Digest(ctx context.Context, m *mail.Mail) (*Listed, error) {
	key, err := mail.Key(ctx, s.db)
	if err != nil {
		return nil, err
	}
	l := &Listed{Page: &Page{}}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		var caller *account.Caller
		if l.Reader, caller, l.To, err = readerOf(tx, m.Account); err != nil {
			return err
		}
		wants, err := settingsOf(tx, caller.ID)
		if err != nil {
			return err
		}
		l.Digest = wants.Digest
		f := filter{Filter: Filter{Since: m.CreatedAt, Participating: !wants.Watching}, caller: caller}
		l.Threads, l.Total, err = threads(tx, f, web.Page{Number: 1, Size: maxListed})
		if err != nil {
			return err
		}
		if len(l.Threads) == maxListed {
			from, args := f.build()
			if err := tx.QueryRow(`SELECT count(*)`+from, args...).Scan(&l.Total); err != nil {
				return err
			}
		}
		if len(l.Threads) == 0 || wants.Digest == AtOnce || !wants.Participating && !wants.Watching {
			return errs.Absent()
		}
		return l.load(tx, caller)
	})
	if err != nil {
		return nil, err
	}
	l.Stop = (&mail.Signed{Account: m.Account, Kind: stopAll}).Sign(key, stop)
	return l, s.readTitles(ctx, l.Page)
}
