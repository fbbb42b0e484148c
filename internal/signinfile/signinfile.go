// Package signinfile reads the operator's file of identity providers and directories with which people sign in.
package signinfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v4"

	"arbor/internal/account"
	"arbor/internal/external"
	"arbor/internal/ldap"
	"arbor/internal/oidc"
)

// Config is the file.
type Config struct {
	Providers   []*oidc.Provider  `yaml:"providers"`
	Directories []*ldap.Directory `yaml:"directories"`
	// Provisioners provision people by SCIM, and sign nobody in.
	Provisioners []*external.Source `yaml:"provisioners"`
	// Passwords are the logins that may sign in with a password of this server; nil: everybody.
	Passwords []string `yaml:"passwords"`
}

// Bounds of the file.
const (
	maxConfig  = 1 << 20
	maxSecret  = 1 << 20 // certificates of authorities are such files as well
	maxSources = 20
)

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
	read := func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		text, err := readBounded(name, maxSecret)
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			err = fmt.Errorf("%s is empty", name)
		}
		return text, err
	}
	for _, p := range c.Providers {
		if err := p.ReadSecrets(read); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	for _, d := range c.Directories {
		if err := d.ReadSecrets(read); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
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
	if len(c.Providers)+len(c.Directories)+len(c.Provisioners) > maxSources {
		return nil, fmt.Errorf("there are more than %d providers, directories and provisioners", maxSources)
	}
	taken := map[string]bool{}
	once := func(kind string, n int, s *external.Source) error {
		if taken["name "+s.Name] || taken[s.Issuer] {
			return fmt.Errorf("%s %d: the name or the issuer is that of another one", kind, n+1)
		}
		taken["name "+s.Name], taken[s.Issuer] = true, true
		if s.Scim == nil {
			return nil
		}
		by := "account " + account.Fold(s.Scim.Account)
		if taken[by] {
			return fmt.Errorf("%s %d: scim: account: it is that of another one", kind, n+1)
		}
		taken[by] = true
		return nil
	}
	for n, p := range c.Providers {
		if p == nil {
			return nil, fmt.Errorf("provider %d is empty", n+1)
		}
		if err := p.Prepare(); err != nil {
			return nil, fmt.Errorf("provider %d: %w", n+1, err)
		}
		if err := once("provider", n, &p.Source); err != nil {
			return nil, err
		}
	}
	for n, d := range c.Directories {
		if d == nil {
			return nil, fmt.Errorf("directory %d is empty", n+1)
		}
		if err := d.Prepare(); err != nil {
			return nil, fmt.Errorf("directory %d: %w", n+1, err)
		}
		if d.Scim != nil {
			return nil, fmt.Errorf("directory %d: scim is for providers and provisioners", n+1)
		}
		if err := once("directory", n, &d.Source); err != nil {
			return nil, err
		}
	}
	for n, p := range c.Provisioners {
		if p == nil {
			return nil, fmt.Errorf("provisioner %d is empty", n+1)
		}
		if err := p.PrepareAlone(); err != nil {
			return nil, fmt.Errorf("provisioner %d: %w", n+1, err)
		}
		if err := once("provisioner", n, p); err != nil {
			return nil, err
		}
	}
	for _, login := range c.Passwords {
		if !account.Plausible(login) {
			return nil, fmt.Errorf("passwords: %q is not a login", login)
		}
	}
	return c, nil
}

// Sources are those that the file names.
func (c *Config) Sources() (list []*external.Source) {
	for _, p := range c.Providers {
		list = append(list, &p.Source)
	}
	for _, d := range c.Directories {
		list = append(list, &d.Source)
	}
	return append(list, c.Provisioners...)
}

// Provisioned are the sources whose people are provisioned by SCIM.
func (c *Config) Provisioned() (list []*external.Source) {
	for _, source := range c.Sources() {
		if source.Scim != nil {
			list = append(list, source)
		}
	}
	return list
}
