package app

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// NewKey creates a private key for an App.
func NewKey() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }

// Made is a new App with the secrets that are shown only once.
type Made struct {
	*App
	PrivateKey string // PEM, PKCS #1, as GitHub's
	Secret     string // with which deliveries are signed
	Client     string // the client secret; empty: none was made
}

// Create creates an App that belongs to a user or an organization, with its bot and its hook. Errors: 404 for
// the owner; 422 for what the manifest says, and a name that is or was taken.
func (s *Service) Create(ctx context.Context, owner string, m Manifest) (*Made, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	a, err := newApp(m)
	if err != nil {
		return nil, err
	}
	k, err := s.newKeys()
	if err != nil {
		return nil, err
	}
	a.publicKey, m.Hook.Secret = k.public, k.secret
	if err := s.db.Write(ctx, func(tx *db.Tx) error { return s.insert(tx, a, owner, m) }); err != nil {
		return nil, err
	}
	return &Made{App: a, PrivateKey: k.private, Secret: k.secret}, nil
}

// newApp is an App as a manifest describes it, without an owner and keys. Error: 422.
func newApp(m Manifest) (*App, error) {
	slug, err := slugOf(m.Name)
	return &App{Slug: slug, ClientID: account.NewClientID(), Name: m.Name,
		Description: web.OrNil(m.Description),
		ExternalURL: m.URL, Public: m.Public, Permissions: m.Permissions, Events: m.Events}, err
}

// keys are the App's private key, and the secret that authenticates deliveries to it.
type keys struct {
	private string // PEM
	public  []byte // PKIX
	secret  string
}

func (s *Service) newKeys() (k keys, err error) {
	key, err := s.NewKey()
	if err != nil {
		return k, err
	}
	k.private = string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
		Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	k.secret = newSecret()
	k.public, err = x509.MarshalPKIXPublicKey(&key.PublicKey)
	return k, err
}

func newSecret() string {
	var random [20]byte
	rand.Read(random[:])
	return hex.EncodeToString(random[:])
}

// insert adds a new App with all that belongs to it.
func (s *Service) insert(tx *db.Tx, a *App, owner string, m Manifest) (err error) {
	if a.Owner, err = account.Hold(tx, owner); errs.Is(err, errs.NotFound) || err == nil &&
		a.Owner.Kind == account.Bot {
		return errs.Newf(errs.NotFound, "user or organization %q, the owner of the App, not found", owner)
	}
	if err != nil {
		return err
	}
	bot, err := account.CreateBot(tx, a.Slug, a.Name)
	if err != nil {
		return err
	}
	a.BotID = bot.ID
	if err := insertApp(tx, a); err != nil {
		return err
	}
	if err := s.forge.CreateAppHook(tx, a, m.Hook); err != nil {
		return err
	}
	if _, err := a.signIn(m.SignIn).Keep(tx); err != nil {
		return err
	}
	return a.record(tx, audit.AppCreate, a.Owner,
		map[string]any{"permissions": a.Permissions, "events": a.Events})
}

// record notes what happens to an App: at its owner, or where it is installed.
func (a *App) record(tx *db.Tx, action audit.Action, at *account.Account, changes map[string]any) error {
	if changes == nil {
		changes = map[string]any{}
	}
	changes["app_id"], changes["app_slug"] = a.ID, a.Slug
	e := audit.Entry{Action: action, User: at.Audited(), Changes: changes}
	if at.Kind == account.Organization {
		e.Org, e.User = at.Audited(), audit.Named{}
	}
	return audit.Record(tx, e)
}

// Remove removes an App with its installations, its tokens and its hook, for good. What it wrote becomes
// ghost's. The App receives no event about it. Error: 404.
func (s *Service) Remove(ctx context.Context, slug string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		a, err := named(tx, slug)
		if err != nil {
			return err
		}
		return s.remove(tx, a)
	})
}

func (s *Service) remove(tx *db.Tx, a *App) error {
	if err := a.record(tx, audit.AppDestroy, a.Owner, nil); err != nil {
		return err
	}
	if err := removeApp(tx, a.ID); err != nil {
		return err
	}
	return s.accounts.RemoveBot(tx, a.BotID, a.Owner.ID)
}

// named is bySlug for the operator. Error: 404 that names it.
func named(tx *db.Tx, slug string) (*App, error) {
	a, err := bySlug(tx, slug)
	if errs.Is(err, errs.NotFound) {
		err = errs.Newf(errs.NotFound, "App %q not found", slug)
	}
	return a, err
}

// Listed is an App with where it is installed.
type Listed struct {
	*App
	Installations []*Installation
}

// List lists all Apps, for the operator.
func (s *Service) List(ctx context.Context) ([]Listed, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]Listed, error) {
		apps, err := appsWhere(tx, `TRUE`)
		if err != nil {
			return nil, err
		}
		all, err := installationsWhere(tx, `ORDER BY i.id`)
		if err != nil {
			return nil, err
		}
		on := map[account.AppID][]*Installation{}
		for _, i := range all {
			on[i.App.ID] = append(on[i.App.ID], i)
		}
		list := make([]Listed, len(apps))
		for n, a := range apps {
			list[n] = Listed{a, on[a.ID]}
		}
		return list, nil
	})
}
