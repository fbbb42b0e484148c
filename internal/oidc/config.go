package oidc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"arbor/internal/account"
)

// Config is the file that names identity providers.
type Config struct {
	Providers []*Provider `yaml:"providers"`
	// Passwords are the logins that may sign in with a password; nil: everybody.
	Passwords []string `yaml:"passwords"`
}

// Provider is one of another server, or of this kind.
type Provider struct {
	Name             string   `yaml:"name"`  // in addresses and in the database
	Label            string   `yaml:"label"` // on the button
	Issuer           string   `yaml:"issuer"`
	ClientID         string   `yaml:"client_id"`
	ClientSecretFile string   `yaml:"client_secret_file"` // from the folder of the file; empty: a public client
	Scopes           []string `yaml:"scopes"`
	Accounts         string   `yaml:"accounts"` // what happens at the first sign-in: Create or Link
	LoginClaim       string   `yaml:"login_claim"`

	GroupsClaim    string                  `yaml:"groups_claim"`
	Groups         map[string][]Membership `yaml:"groups"`
	Administrators []string                `yaml:"administrators"` // groups whose people administrate the site

	secret string
	remote remote
}

// Membership is what a group becomes here.
type Membership struct {
	Organization string   `yaml:"organization"`
	Role         string   `yaml:"role"` // member or owner
	Teams        []string `yaml:"teams"`
}

// What happens when somebody without an account signs in.
const (
	Create = "create" // the account is made
	Link   = "link"   // nothing: users link identities themselves
)

// The roles of a membership.
const (
	member = "member"
	owner  = "owner"
)

// Bounds of the file.
const (
	maxConfig    = 1 << 20
	maxSecret    = 4 << 10
	maxProviders = 20
)

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// ReadFile reads the configuration and the secrets that it names.
func ReadFile(path string) (*Config, error) {
	text, err := readBounded(path, maxConfig)
	if err != nil {
		return nil, err
	}
	c, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, p := range c.Providers {
		if p.ClientSecretFile == "" {
			continue
		}
		file := p.ClientSecretFile
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(path), file)
		}
		secret, err := readBounded(file, maxSecret)
		if err != nil {
			return nil, fmt.Errorf("the client secret of %s: %w", p.Name, err)
		}
		if p.secret = strings.TrimSpace(string(secret)); p.secret == "" {
			return nil, fmt.Errorf("the client secret of %s: %s is empty", p.Name, file)
		}
	}
	return c, nil
}

func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}

// Parse reads a configuration, without secrets.
func Parse(text []byte) (*Config, error) {
	c := &Config{}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := yaml.Load(text, c, yaml.WithKnownFields()); err != nil {
			return nil, err
		}
	}
	if len(c.Providers) > maxProviders {
		return nil, fmt.Errorf("there are more than %d providers", maxProviders)
	}
	names, issuers := map[string]bool{}, map[string]bool{}
	for n, p := range c.Providers {
		if p == nil {
			return nil, fmt.Errorf("provider %d is empty", n+1)
		}
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("provider %d: %w", n+1, err)
		}
		if names[p.Name] || issuers[p.Issuer] {
			return nil, fmt.Errorf("provider %d: the name or the issuer is that of another one", n+1)
		}
		names[p.Name], issuers[p.Issuer] = true, true
	}
	for _, login := range c.Passwords {
		if !account.Plausible(login) {
			return nil, fmt.Errorf("passwords: %q is not a login", login)
		}
	}
	return c, nil
}

// check checks a provider, and fills in what is usual.
func (p *Provider) check() error {
	switch {
	case !nameForm.MatchString(p.Name):
		return errors.New("name: want up to 40 lower-case letters, digits and hyphens")
	case p.ClientID == "":
		return errors.New("client_id is missing")
	case !securely(p.Issuer):
		return fmt.Errorf("issuer: %q must be an https address without a query", p.Issuer)
	}
	if p.Label == "" {
		p.Label = p.Name
	}
	if len(p.Scopes) == 0 {
		p.Scopes = []string{"profile", "email"}
	}
	if !slices.Contains(p.Scopes, "openid") {
		p.Scopes = append([]string{"openid"}, p.Scopes...)
	}
	if p.LoginClaim == "" {
		p.LoginClaim = "preferred_username"
	}
	if p.GroupsClaim == "" {
		p.GroupsClaim = "groups"
	}
	if p.Accounts == "" {
		p.Accounts = Link
	}
	if p.Accounts != Create && p.Accounts != Link {
		return fmt.Errorf("accounts: want %s or %s", Create, Link)
	}
	return p.checkGroups()
}

func (p *Provider) checkGroups() error {
	for group, list := range p.Groups {
		for n := range list {
			m := &list[n]
			if !account.Plausible(m.Organization) {
				return fmt.Errorf("groups: %s: %q is not the login of an organization", group, m.Organization)
			}
			if m.Role == "" {
				m.Role = member
			}
			if m.Role != member && m.Role != owner {
				return fmt.Errorf("groups: %s: role: want %s or %s", group, member, owner)
			}
		}
	}
	return nil
}

// securely reports whether an issuer is asked over TLS, or on this machine.
func securely(issuer string) bool {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return false
	}
	return overTLS(u)
}

// overTLS reports an address that is asked over TLS, or on this machine.
func overTLS(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// issues reports whether there is a provider of an issuer.
func (c *Config) issues(issuer string) bool {
	return slices.ContainsFunc(c.Providers, func(p *Provider) bool { return p.Issuer == issuer })
}

// refusesPassword reports whether a user must sign in with a provider.
func (c *Config) refusesPassword(login string) bool {
	return c.Passwords != nil && !slices.ContainsFunc(c.Passwords, func(may string) bool {
		return account.Fold(may) == account.Fold(login)
	})
}

// provider finds one by its name; nil: there is none.
func (c *Config) provider(name string) *Provider {
	for _, p := range c.Providers {
		if p.Name == name {
			return p
		}
	}
	return nil
}
