package main

import (
	"fmt"
	"log/slog"
	"strings"

	"arbor/internal/oauth"
)

type oauthAppCommand struct {
	Create   oauthAppCreate   `cmd:"" help:"Register an OAuth App. Prints its client id and a client secret, which is shown only once."`
	List     oauthAppList     `cmd:"" help:"List OAuth Apps."`
	Secret   oauthAppSecret   `cmd:"" help:"Create another client secret, or remove one. A new one is shown only once."`
	Restrict oauthAppRestrict `cmd:"" help:"Have an organization let in only OAuth Apps that it approved, or all with --off."`
	Approve  oauthAppApprove  `cmd:"" help:"Approve an OAuth App for an organization that restricts Apps."`
	Deny     oauthAppDeny     `cmd:"" help:"Deny an OAuth App for an organization, also one that was approved."`
	Policy   oauthAppPolicy   `cmd:"" help:"List what an organization decided of OAuth Apps."`
	Remove   oauthAppRemove   `cmd:"" help:"Remove an OAuth App with all its tokens. This cannot be undone."`

	RotateKey oauthAppRotateKey `cmd:"" help:"Sign ID tokens (OpenID Connect) with a new key."`
}

type oauthAppCreate struct {
	storeFlags
	Owner       string   `arg:"" help:"Login of the user or organization that owns the App."`
	Name        string   `arg:"" help:"Name of the App, as people see it."`
	Homepage    string   `required:"" help:"Web page of the App." placeholder:"URL"`
	Callback    []string `required:"" sep:"none" help:"Address to which people are led after they signed in; may be given up to ten times." placeholder:"URL"`
	Description string   `help:"What the App does." placeholder:"TEXT"`
	DeviceFlow  bool     `help:"Let the App use the device flow."`
}

// Run registers the App. The secret goes to standard output alone, so that it can be redirected into a file.
func (c *oauthAppCreate) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		apps := s.forge(log).OAuth
		a, err := apps.Create(p.ctx, nil, c.Owner, oauth.About{Name: c.Name, Description: c.Description,
			Homepage: c.Homepage, Callbacks: c.Callback, DeviceFlow: c.DeviceFlow})
		if err != nil {
			return err
		}
		secret, err := apps.NewSecret(p.ctx, nil, a.ClientID)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "created OAuth App %s: client id %s\nclient secret, shown this once:\n", a.Name,
			a.ClientID)
		fmt.Fprintln(p.stdout, secret)
		return nil
	})
}

type oauthAppList struct {
	storeFlags
	listFlags
}

// Run prints a line for each OAuth App.
func (c *oauthAppList) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		list, err := s.forge(log).OAuth.List(p.ctx)
		if err != nil {
			return err
		}
		w := p.rows(c.listFlags, "ID", "NAME", "OWNER", "CLIENT ID", "CALLBACKS", "CREATED")
		for _, a := range list {
			if err := w.add(int64(a.ID), a.Name, a.Owner.Login, a.ClientID, strings.Join(a.Callbacks, " "),
				a.CreatedAt); err != nil {
				return err
			}
		}
		return w.flush()
	})
}

// oauthAppNamed is a command about one OAuth App.
type oauthAppNamed struct {
	storeFlags
	Client string `arg:"" help:"Client id of the App."`
}

type oauthAppSecret struct {
	oauthAppNamed
	Remove string `help:"Remove the secret that ends with these eight characters, instead of creating one." placeholder:"END"`
}

// Run creates a client secret, or removes one.
func (c *oauthAppSecret) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		apps := s.forge(log).OAuth
		if c.Remove == "" {
			secret, err := apps.NewSecret(p.ctx, nil, c.Client)
			if err == nil {
				fmt.Fprintln(p.stdout, secret)
			}
			return err
		}
		a, err := apps.Get(p.ctx, nil, c.Client)
		if err != nil {
			return err
		}
		for _, secret := range a.Secrets {
			if secret.Hint == c.Remove {
				err := apps.DropSecret(p.ctx, nil, c.Client, secret.ID)
				if err == nil {
					fmt.Fprintf(p.stdout, "removed a secret of %s\n", a.Name)
				}
				return err
			}
		}
		return misuse("the App has no secret that ends with %q", c.Remove)
	})
}

type oauthAppRemove struct {
	oauthAppNamed
	confirmFlags
}

// Run removes the OAuth App.
func (c *oauthAppRemove) Run(p *process) error {
	if err := c.confirm(p, "the OAuth App "+c.Client, c.Client); err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := s.forge(log).OAuth.Remove(p.ctx, nil, c.Client)
		if err == nil {
			fmt.Fprintf(p.stdout, "removed OAuth App %s\n", c.Client)
		}
		return err
	})
}

type oauthAppRotateKey struct {
	storeFlags
	RemoveFormer bool `help:"Remove the former keys at once: ID tokens that they signed are not valid any more. Without this flag they stay published until these tokens have expired."`
}

// Run makes another key for ID tokens.
func (c *oauthAppRotateKey) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		id, err := s.forge(log).OpenID.Rotate(p.ctx, c.RemoveFormer)
		if err == nil {
			fmt.Fprintf(p.stdout, "ID tokens are signed with key %s\n", id)
		}
		return err
	})
}
