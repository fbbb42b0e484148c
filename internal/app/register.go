package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Apps are made in a browser by people, for their own account, and by the owners of an organization for it. A
// program may ask for one by a manifest: a person who confirms it is redirected to the program with a code,
// for which the program gets the keys. They are made when it asks: until then nobody has them, and nothing
// that is kept could sign for the App.

const (
	maxOwned = 100       // Apps of one account that are made in a browser, as at GitHub
	codeLife = time.Hour // of the code for a manifest
)

// CreateBy creates an App for an account that the caller administers; empty: the caller's own. Errors: 403;
// as those of Create.
func (s *Service) CreateBy(
	ctx context.Context, caller *account.Caller, owner string, m Manifest,
) (*Made, error) {
	a, err := s.plan(&m, owner, caller)
	if err != nil {
		return nil, err
	}
	k, err := s.newKeys()
	if err != nil {
		return nil, err
	}
	a.publicKey, m.Hook.Secret, m.Hook.Site = k.public, k.secret, web.From(ctx).Site
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error { return s.insertBy(tx, caller, a, m) })
	if err != nil {
		return nil, err
	}
	return &Made{App: a, PrivateKey: k.private, Secret: k.secret}, nil
}

// Register creates an App without keys, and the code with which Convert creates them. Errors: as those of
// CreateBy.
func (s *Service) Register(
	ctx context.Context, caller *account.Caller, owner string, m Manifest,
) (a *App, code string, err error) {
	if a, err = s.plan(&m, owner, caller); err != nil {
		return nil, "", err
	}
	var random [20]byte
	rand.Read(random[:])
	code, a.publicKey = hex.EncodeToString(random[:]), []byte{}
	m.Hook.Secret, m.Hook.Site = newSecret(), web.From(ctx).Site
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if err := s.insertBy(tx, caller, a, m); err != nil {
			return err
		}
		return insertCode(tx, digestOf(code), a.ID, tx.Now+db.Time(codeLife.Microseconds()))
	})
	return a, code, err
}

// plan checks what people say of an App that they make. The owner has its login alone. Errors: 422.
func (s *Service) plan(m *Manifest, owner string, caller *account.Caller) (*App, error) {
	if err := s.checkOwn(m); err != nil {
		return nil, err
	}
	a, err := newApp(*m)
	if err == nil && a.Slug == "new" {
		err = errs.New(errs.Invalid,
			"An App cannot have that name: its page would have the address of the form for new ones.")
	}
	if err == nil {
		a.Owner = &account.Account{Login: owner}
	}
	if err == nil && owner == "" {
		a.Owner.Login = caller.Login
	}
	return a, err
}

// checkOwn is Manifest.check with what holds for people alone.
func (s *Service) checkOwn(m *Manifest) error {
	if err := m.check(); err != nil {
		return err
	}
	if m.Hook.URL != "" && s.CheckHookURL != nil {
		if err := s.CheckHookURL(m.Hook.URL); err != nil {
			return errs.New(errs.Invalid, "The webhook: "+err.Error())
		}
	}
	return nil
}

// insertBy adds an App if the caller may.
func (s *Service) insertBy(tx *db.Tx, caller *account.Caller, a *App, m Manifest) error {
	of, err := account.Hold(tx, a.Owner.Login)
	if errs.Is(err, errs.NotFound) {
		return notYourApp()
	}
	if err != nil {
		return err
	}
	owns, err := account.Owns(tx, caller, of)
	if err == nil && (!owns || of.Kind == account.Bot) {
		err = notYourApp()
	}
	if err != nil {
		return err
	}
	n, err := countOwned(tx, of.ID)
	if err != nil {
		return err
	}
	if n >= maxOwned {
		return errs.Newf(errs.Invalid, "%s has %d Apps, which is the most that an account has.",
			of.Login, maxOwned)
	}
	return s.insert(tx, a, of.Login, m)
}

func notYourApp() error {
	return errs.New(errs.Forbidden,
		"Apps are made for the own account, or for an organization by its owners.")
}

// Convert creates the keys of the App that a code is for, and returns them: once, within an hour. Error: 404.
func (s *Service) Convert(ctx context.Context, code string) (*Made, error) {
	d := digestOf(code)
	// A key takes a while to make: not for codes that are none, and not in a transaction.
	a, err := db.Get(ctx, s.db, func(tx *db.Tx) (*App, error) { return byCode(tx, d) })
	if err != nil {
		return nil, err
	}
	k, err := s.newKeys()
	if err != nil {
		return nil, err
	}
	var client string
	err = s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if a, err = byCode(tx, d); err != nil {
			return err
		}
		if err := dropCode(tx, d); err != nil {
			return err
		}
		if err := setKey(tx, a, k.public); err != nil {
			return err
		}
		if err := s.forge.EditAppHook(tx, a, HookChange{Secret: k.secret}); err != nil {
			return err
		}
		if client, err = a.newClientSecret(tx); err != nil {
			return err
		}
		return a.record(tx, audit.AppKey, a.Owner, nil)
	})
	if err != nil {
		return nil, err
	}
	return &Made{a, k.private, k.secret, client}, nil
}

func digestOf(code string) []byte {
	d := sha256.Sum256([]byte(code))
	return d[:]
}

// Owned returns an App that the caller administers, and its hook. Error: 404, including Apps of others.
func (s *Service) Owned(
	ctx context.Context, caller *account.Caller, slug string,
) (a *App, h Hook, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if a, err = OwnedBy(tx, caller, slug); err != nil {
			return err
		}
		h, err = s.forge.AppHook(tx, a.ID)
		return err
	})
	return a, h, err
}

// OwnedBy returns an App that the caller administers, by the name in its addresses. Error: 404, including
// Apps of others.
func OwnedBy(tx *db.Tx, caller *account.Caller, slug string) (*App, error) {
	a, err := bySlug(tx, slug)
	if err != nil {
		return nil, err
	}
	owns, err := account.Owns(tx, caller, a.Owner)
	if err == nil && !owns {
		err = errs.Absent()
	}
	return a, err
}

// HookChange is an update of an App's webhook. Fields that are not set keep their values.
type HookChange struct {
	URL    web.Opt[string]
	Active web.Opt[bool]
	Secret string // empty: unchanged
}

// EditBy changes an App as its owner says: all of the manifest, but for the secret of its hook, which stays
// where none is given. Its address and its bot keep their names. Installations keep what was granted to them.
// Errors: 404,
// 422.
func (s *Service) EditBy(ctx context.Context, caller *account.Caller, slug string, m Manifest) error {
	if err := s.checkOwn(&m); err != nil {
		return err
	}
	return s.changeOwned(ctx, caller, slug, func(tx *db.Tx, a *App) error {
		a.Name, a.Description, a.ExternalURL, a.Public = m.Name, web.OrNil(m.Description), m.URL, m.Public
		a.Permissions, a.Events = m.Permissions, m.Events
		if err := updateApp(tx, a); err != nil {
			return err
		}
		if _, err := a.signIn(m.SignIn).Keep(tx); err != nil {
			return err
		}
		change := HookChange{Secret: m.Hook.Secret}
		change.URL = web.Opt[string]{Set: true, Value: m.Hook.URL}
		change.Active = web.Opt[bool]{Set: true, Value: m.Hook.Active && m.Hook.URL != ""}
		if err := s.forge.EditAppHook(tx, a, change); err != nil {
			return err
		}
		return a.record(tx, audit.AppUpdate, a.Owner,
			map[string]any{"permissions": a.Permissions, "events": a.Events})
	})
}

// NewKeyBy replaces the private key of an App and returns it, in PEM. The former key stops working.
// Error: 404.
func (s *Service) NewKeyBy(ctx context.Context, caller *account.Caller, slug string) (string, error) {
	if _, _, err := s.Owned(ctx, caller, slug); err != nil { // before a key is made for nothing
		return "", err
	}
	k, err := s.newKeys()
	if err != nil {
		return "", err
	}
	return k.private, s.changeOwned(ctx, caller, slug, func(tx *db.Tx, a *App) error {
		if err := setKey(tx, a, k.public); err != nil {
			return err
		}
		return a.record(tx, audit.AppKey, a.Owner, nil)
	})
}

// RemoveBy is Remove by a caller. Error: 404.
func (s *Service) RemoveBy(ctx context.Context, caller *account.Caller, slug string) error {
	return s.changeOwned(ctx, caller, slug, s.remove)
}

// changeOwned runs fn on an App that the caller administers.
func (s *Service) changeOwned(
	ctx context.Context, caller *account.Caller, slug string, fn func(tx *db.Tx, a *App) error,
) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		a, err := OwnedBy(tx, caller, slug)
		if err != nil {
			return err
		}
		return fn(tx, a)
	})
}
