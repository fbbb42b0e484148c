package attachment

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// View is an attachment with who uploaded it.
type View struct {
	*Attachment
	Uploader *account.Account // nil: it is gone
}

// Login is the uploader's login; empty: it is gone.
func (v *View) Login() string {
	if v.Uploader == nil {
		return ""
	}
	return v.Uploader.Login
}

// Listing is a page of attachments, with how many files and bytes there are in all.
type Listing struct {
	Files, Bytes int64
	Items        []View
}

// ListOwn reads a page of the caller's attachments in the repository, the newest first. Error: 401.
func (s *Service) ListOwn(ctx context.Context, a *repo.Access, at web.Page) (*Listing, error) {
	if a.Caller == nil {
		return nil, errs.New(errs.Unauthenticated, "Requires authentication")
	}
	return s.list(ctx, func(tx *db.Tx, l *Listing) (list []*Attachment, err error) {
		if l.Files, l.Bytes, err = ownIn(tx, a.ID, a.Caller.ID); err == nil {
			list, err = listOwn(tx, a.ID, a.Caller.ID, at)
		}
		return list, err
	})
}

// List reads a page of the repository's attachments, the newest first, or bySize the largest. The caller administers
// the repository.
func (s *Service) List(ctx context.Context, a *repo.Access, bySize bool, at web.Page) (*Listing, error) {
	return s.list(ctx, func(tx *db.Tx, l *Listing) (list []*Attachment, err error) {
		if l.Files, l.Bytes, err = allIn(tx, a.ID); err == nil {
			list, err = listAll(tx, a.ID, bySize, at)
		}
		return list, err
	})
}

func (s *Service) list(
	ctx context.Context, find func(*db.Tx, *Listing) ([]*Attachment, error),
) (l *Listing, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		l = &Listing{}
		found, err := find(tx, l)
		if err != nil {
			return err
		}
		ids := make([]account.ID, len(found))
		for n, x := range found {
			ids[n] = x.UploaderID
		}
		people, err := account.ByIDs(tx, ids)
		for _, x := range found {
			l.Items = append(l.Items, View{x, people[x.UploaderID]})
		}
		return err
	})
	return l, err
}
