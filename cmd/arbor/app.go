package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"arbor/internal/account"
	"arbor/internal/app"
)

type appCommand struct {
	Create    appCreate    `cmd:"" help:"Create a GitHub App. Prints its private key and its webhook's secret, which are shown only once."`
	List      appList      `cmd:"" help:"List GitHub Apps and where they are installed."`
	Install   appInstall   `cmd:"" help:"Install an App on a user or an organization, or accept the permissions that it requests now."`
	Suspend   appSuspend   `cmd:"" help:"Suspend an installation, and later ones of the App on this account. Only unsuspend reverses it."`
	Unsuspend appUnsuspend `cmd:"" help:"Lift a suspension, including one by the App or the account's owner."`
	Secret    appSecret    `cmd:"" help:"Create a client secret, with which the App signs users in. It is shown only once."`
	Remove    appRemove    `cmd:"" help:"Remove an installation, or without an account the App itself. This cannot be undone."`
}

type appCreate struct {
	storeFlags
	Owner    string `arg:"" help:"Login of the user or organization that owns the App."`
	Manifest string `help:"The App's manifest as GitHub defines it (JSON); - reads standard input." placeholder:"FILE"`
	Name     string `help:"Name of the App, if the manifest has none."`
	URL      string `name:"url" help:"The App's web page, if the manifest has none." placeholder:"URL"`
	Server   string `help:"Address at which the App reaches this server." default:"http://127.0.0.1:8080" placeholder:"URL"`
}

// Run registers the App. The key goes to standard output alone, so that it can be redirected into a file.
func (c *appCreate) Run(p *process) error {
	m, err := c.manifest(p)
	if err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		made, err := s.forge(log).Apps.Create(p.ctx, c.Owner, m)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stderr,
			"created App %s: id %d, client id %s\nwebhook secret: %s\nprivate key, shown this once:\n",
			made.Slug, made.ID, made.ClientID, made.Secret)
		fmt.Fprint(p.stdout, made.PrivateKey)
		return nil
	})
}

// manifest reads what the App is to be.
func (c *appCreate) manifest(p *process) (m app.Manifest, err error) {
	if c.Manifest != "" {
		data, err := p.readBounded(c.Manifest, app.MaxManifest)
		if err != nil {
			return m, err
		}
		if m, err = app.ParseManifest(data); err != nil {
			return m, fmt.Errorf("%s: %w", c.Manifest, err)
		}
	}
	m.Name, m.URL = cmp.Or(c.Name, m.Name), cmp.Or(c.URL, m.URL)
	if m.Name == "" || m.URL == "" {
		return m, misuse("the App has no name or no url: set them in the manifest, or with --name and --url")
	}
	u, err := url.Parse(c.Server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return m, misuse("--server must be an address like https://code.example.org, not %q", c.Server)
	}
	m.Hook.Site = strings.TrimRight(c.Server, "/")
	return m, nil
}

// readBounded reads a file, - for standard input, of at most so many bytes.
func (p *process) readBounded(path string, most int64) ([]byte, error) {
	var in io.Reader
	if path == "-" {
		in = p.stdin()
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

type appSecret struct {
	storeFlags
	App string `arg:"" help:"Slug of the App."`
}

// Run creates a client secret. It goes to standard output alone.
func (c *appSecret) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		secret, err := s.forge(log).Apps.ClientSecret(p.ctx, c.App)
		if err == nil {
			fmt.Fprintln(p.stdout, secret)
		}
		return err
	})
}

type appList struct {
	storeFlags
	listFlags
}

// Run prints a line for each App, and one for each installation.
func (c *appList) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		list, err := s.forge(log).Apps.List(p.ctx)
		if err != nil {
			return err
		}
		w := p.rows(c.listFlags, "ID", "APP", "OWNER", "INSTALLATION", "ON", "REPOSITORIES", "SUSPENDED", "PERMISSIONS")
		for _, a := range list {
			if err := w.add(a.ID, a.Slug, a.Owner.Login, nil, nil, nil, nil, a.Permissions.String()); err != nil {
				return err
			}
			for _, i := range a.Installations {
				if err := w.add(a.ID, a.Slug, a.Owner.Login, i.ID, i.Account.Login, i.Selection(),
					i.SuspendedAt, i.Permissions.String()); err != nil {
					return err
				}
			}
		}
		return w.flush()
	})
}

// installed is a command about the installation of an App on an account.
type installed struct {
	storeFlags
	App string `arg:"" help:"Slug of the App."`
	On  string `arg:"" help:"Login of the user or organization."`
}

type appInstall struct {
	installed
	Repo []string `help:"Install on these repositories only (default: all, including future ones)." placeholder:"NAME"`
}

// Run installs the App. A running server knows it from the next request on.
func (c *appInstall) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		i, err := s.forge(log).Apps.Install(p.ctx, c.App, c.On, c.Repo)
		if err == nil {
			fmt.Fprintf(p.stdout, "installed %s on %s: installation %d\n", i.App.Slug, i.Account.Login, i.ID)
		}
		return err
	})
}

// changeInstallation is an operation of package app on an installation: 0 stands for any App, and for the
// operator.
type changeInstallation func(*app.Service, context.Context, account.AppID, account.InstallationID,
	*account.Caller) error

// change runs an operation on the installation, and prints a line when it has succeeded.
func (c *installed) change(p *process, line string, do changeInstallation) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		apps := s.forge(log).Apps
		i, err := apps.On(p.ctx, c.App, c.On)
		if err == nil {
			err = do(apps, p.ctx, 0, i.ID, nil)
		}
		if err == nil {
			fmt.Fprintf(p.stdout, line+"\n", i.App.Slug, i.Account.Login)
		}
		return err
	})
}

type appSuspend struct{ installed }

// Run suspends the installation.
func (c *appSuspend) Run(p *process) error {
	return c.change(p, "suspended %s on %s", (*app.Service).Suspend)
}

type appUnsuspend struct{ installed }

// Run ends the suspension.
func (c *appUnsuspend) Run(p *process) error {
	return c.change(p, "unsuspended %s on %s", (*app.Service).Unsuspend)
}

type appRemove struct {
	storeFlags
	App string `arg:"" help:"Slug of the App."`
	On  string `arg:"" optional:"" help:"Login of the user or organization (default: remove the App itself)."`

	confirmFlags
}

// Run removes the installation, or the App.
func (c *appRemove) Run(p *process) error {
	if c.On != "" {
		on := installed{c.storeFlags, c.App, c.On}
		return on.change(p, "removed %s from %s", (*app.Service).Uninstall)
	}
	if err := c.confirm(p, "the App "+c.App, c.App); err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := s.forge(log).Apps.Remove(p.ctx, c.App)
		if err == nil {
			fmt.Fprintf(p.stdout, "removed App %s\n", c.App)
		}
		return err
	})
}
