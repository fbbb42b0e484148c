package oauth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"regexp"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// OAuth Apps belong to a user or an organization. They are made and changed by the user and by the organization's
// owners, and by operators, whose caller is nil.

// newClientID returns a client id as GitHub's.
func newClientID() string {
	var b [9]byte
	rand.Read(b[:])
	return "Ov23" + hex.EncodeToString(b[:])[:16]
}

// Create creates an OAuth App that belongs to an account. It has no secret yet. Errors: 403 for somebody else's
// account, 404, 422.
func (s *Service) Create(ctx context.Context, caller *account.Caller, owner string, about About) (a *App, err error) {
	if err := about.check(); err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, rightOf(caller), func(tx *db.Tx) error {
		a = &App{ClientID: newClientID(), About: about}
		if a.Owner, err = ownerFor(tx, caller, owner); err != nil {
			return err
		}
		if err := insertApp(tx, a); err != nil {
			return err
		}
		return a.record(tx, audit.OAuthAppCreate, map[string]any{"callback_urls": a.Callbacks})
	})
	return a, err
}

// Chosen is an OAuth App whose client id and client secret were chosen, for stores that are filled with a seed.
type Chosen struct {
	Owner            string // its login
	About            About
	ClientID, Secret string
}

// chosenID and chosenSecret are the forms of a client id and a client secret that were chosen.
var (
	chosenID     = regexp.MustCompile(`^Ov23[0-9A-Za-z]{4,16}$`)
	chosenSecret = regexp.MustCompile(`^[0-9A-Za-z_-]{8,100}$`)
)

// CreateChosen creates an OAuth App as the operator. Errors: 404, 422.
func (s *Service) CreateChosen(ctx context.Context, g Chosen) error {
	switch {
	case !chosenID.MatchString(g.ClientID):
		return errs.New(errs.Invalid, "a client id is Ov23 with 4 to 16 letters and digits")
	case !chosenSecret.MatchString(g.Secret):
		return errs.New(errs.Invalid, "a client secret has 8 to 100 letters, digits, - and _")
	}
	if err := g.About.check(); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *db.Tx) (err error) {
		a := &App{ClientID: g.ClientID, About: g.About}
		if a.Owner, err = ownerFor(tx, nil, g.Owner); err != nil {
			return err
		}
		err = insertApp(tx, a)
		if errors.Is(err, db.ErrUnique) {
			err = errs.Newf(errs.Invalid, "another OAuth App has the client id %q", g.ClientID)
		}
		if err == nil {
			err = insertSecret(tx, a.ID, g.Secret)
		}
		if err != nil {
			return err
		}
		return a.record(tx, audit.OAuthAppCreate, map[string]any{"callback_urls": a.Callbacks})
	})
}

// rightOf is the right of a caller; nil: the operator's.
func rightOf(caller *account.Caller) db.Right {
	if caller == nil {
		return nil
	}
	return caller
}

// ownerFor holds an account that may have another OAuth App, if the caller acts for it. Errors: 403, 404, 422.
func ownerFor(tx *db.Tx, caller *account.Caller, login string) (*account.Account, error) {
	refused := errs.New(errs.Forbidden,
		"OAuth Apps are made for the own account, or for an organization by its owners.")
	of, err := account.Hold(tx, login)
	if errs.Is(err, errs.NotFound) && caller != nil {
		return nil, refused
	}
	if err == nil && of.Kind == account.Bot {
		err = errs.Absent()
	}
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Newf(errs.NotFound, "user or organization %q not found", login)
	}
	if err != nil {
		return nil, err
	}
	if caller != nil {
		owns, err := account.Owns(tx, caller, of)
		if err != nil {
			return nil, err
		}
		if !owns {
			return nil, refused
		}
	}
	n, err := countOwned(tx, of.ID)
	if err == nil && n >= maxOwned {
		err = errs.Newf(errs.Invalid, "%s has %d OAuth Apps, which is the most that an account has.", of.Login, n)
	}
	return of, err
}

// List lists all OAuth Apps, for the operator.
func (s *Service) List(ctx context.Context) ([]*App, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*App, error) {
		return appsWhere(tx, `WHERE p.github_app_id IS NULL ORDER BY p.id`)
	})
}

// Own lists the OAuth Apps that belong to the caller or to an organization that the caller owns, by id.
func (s *Service) Own(ctx context.Context, caller *account.Caller) ([]*App, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*App, error) {
		return appsWhere(tx, `WHERE p.github_app_id IS NULL AND (p.owner_id = $1 OR EXISTS (SELECT 1 FROM members m
			WHERE m.org_id = p.owner_id AND m.user_id = $1 AND m.owner = TRUE)) ORDER BY p.id`, caller.ID)
	})
}

// Owned is an OAuth App as its owner sees it.
type Owned struct {
	*App
	Secrets []Secret
	Users   int64 // who allowed it something
}

// Get finds an OAuth App that the caller administers. Error: 404, including Apps of others.
func (s *Service) Get(ctx context.Context, caller *account.Caller, client string) (*Owned, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Owned, error) {
		a, err := ownedBy(tx, caller, client)
		if err != nil {
			return nil, err
		}
		return owned(tx, a)
	})
}

// owned reads what the owner of an App sees of it.
func owned(tx *db.Tx, a *App) (o *Owned, err error) {
	o = &Owned{App: a}
	if o.Secrets, err = secretsOf(tx, o.ID); err != nil {
		return nil, err
	}
	o.Users, err = countGrants(tx, o.ID)
	return o, err
}

// ownedBy finds an OAuth App that the caller administers; a nil caller is the operator. Error: 404.
func ownedBy(tx *db.Tx, caller *account.Caller, client string) (*App, error) {
	a, err := appOf(tx, client)
	if err == nil && a.GitHubApp != 0 { // package app changes these
		err = errs.Absent()
	}
	if caller == nil {
		if errs.Is(err, errs.NotFound) {
			err = errs.Newf(errs.NotFound, "OAuth App %q not found", client)
		}
		return a, err
	}
	if err != nil {
		return nil, err
	}
	owns, err := account.Owns(tx, caller, a.Owner)
	if err == nil && !owns {
		err = errs.Absent()
	}
	return a, err
}

// change runs fn on an OAuth App that the caller administers, and whose owner is held. Error: 404.
func (s *Service) change(
	ctx context.Context, caller *account.Caller, client string, fn func(tx *db.Tx, a *App) error,
) error {
	return s.db.WriteAs(ctx, rightOf(caller), func(tx *db.Tx) error {
		a, err := ownedBy(tx, caller, client)
		if err != nil {
			return err
		}
		if err := account.HoldID(tx, a.Owner.ID); err != nil {
			return err
		}
		if a, err = ownedBy(tx, caller, client); err != nil { // as it is now
			return err
		}
		return fn(tx, a)
	})
}

// Edit changes what is said of an OAuth App. Codes that went to addresses that are gone are not redeemed. Errors:
// 404, 422.
func (s *Service) Edit(ctx context.Context, caller *account.Caller, client string, about About) error {
	if err := about.check(); err != nil {
		return err
	}
	return s.change(ctx, caller, client, func(tx *db.Tx, a *App) error {
		a.About = about
		if err := updateApp(tx, a); err != nil {
			return err
		}
		return a.record(tx, audit.OAuthAppUpdate, map[string]any{"callback_urls": a.Callbacks})
	})
}

// Transfer gives an OAuth App to another account that the caller acts for, with its secrets and all that users
// allowed it. Organizations that approved it must do so again. Errors: 403, 404, 422.
func (s *Service) Transfer(ctx context.Context, caller *account.Caller, client, to string) error {
	return s.change(ctx, caller, client, func(tx *db.Tx, a *App) error {
		from := a.Owner.Login
		of, err := ownerFor(tx, caller, to)
		if err != nil {
			return err
		}
		a.Owner = of
		if err := updateApp(tx, a); err != nil {
			return err
		}
		if err := askAgain(tx, a.ID); err != nil {
			return err
		}
		return a.record(tx, audit.OAuthAppTransfer, map[string]any{"from": from, "to": of.Login})
	})
}

// Remove removes an OAuth App with its secrets, and all that users allowed it: its tokens end. Error: 404.
func (s *Service) Remove(ctx context.Context, caller *account.Caller, client string) error {
	return s.change(ctx, caller, client, func(tx *db.Tx, a *App) error {
		if err := a.record(tx, audit.OAuthAppDestroy, nil); err != nil {
			return err
		}
		if err := token.EndGrantsTo(tx, a.ID); err != nil {
			return err
		}
		return deleteApp(tx, a.ID)
	})
}

// EndAll ends all that users allowed an OAuth App, with its tokens. Error: 404.
func (s *Service) EndAll(ctx context.Context, caller *account.Caller, client string) error {
	return s.change(ctx, caller, client, func(tx *db.Tx, a *App) error { return a.EndAll(tx) })
}

// EndAll ends all that users allowed an App.
func (a *App) EndAll(tx *db.Tx) error {
	if err := token.EndGrantsTo(tx, a.ID); err != nil {
		return err
	}
	return a.record(tx, audit.OAuthDestroy, map[string]any{"users": "all"})
}

// NewSecret creates a client secret of an OAuth App and returns it: nobody sees it again. Others stay. Errors: 404,
// 422 for one too many.
func (s *Service) NewSecret(ctx context.Context, caller *account.Caller, client string) (value string, err error) {
	err = s.change(ctx, caller, client, func(tx *db.Tx, a *App) error {
		value, err = a.AddSecret(tx)
		return err
	})
	return value, err
}

// AddSecret creates a client secret of an App, whose owner is held. Error: 422 for one too many.
func (a *App) AddSecret(tx *db.Tx) (value string, err error) {
	var b [20]byte
	rand.Read(b[:])
	value = hex.EncodeToString(b[:])
	there, err := secretsOf(tx, a.ID)
	if err != nil {
		return "", err
	}
	if len(there) >= maxSecrets {
		return "", errs.Newf(errs.Invalid, "An App has %d client secrets at most: remove one first.", maxSecrets)
	}
	if err := insertSecret(tx, a.ID, value); err != nil {
		return "", err
	}
	return value, a.record(tx, audit.OAuthAppSecret, nil)
}

// DropSecret removes a client secret. Tokens that were made with it stay. Error: 404.
func (s *Service) DropSecret(ctx context.Context, caller *account.Caller, client string, id int64) error {
	return s.change(ctx, caller, client, func(tx *db.Tx, a *App) error { return a.DropSecret(tx, id) })
}

// DropSecret removes a client secret of an App. Error: 404.
func (a *App) DropSecret(tx *db.Tx, id int64) error {
	if err := deleteSecret(tx, a.ID, id); err != nil {
		return err
	}
	return a.record(tx, audit.OAuthAppDropSecret, map[string]any{"secret_id": id})
}
