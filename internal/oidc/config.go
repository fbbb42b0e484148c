package oidc

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"

	"arbor/internal/account/session"
	"arbor/internal/external"
)

// Provider is an identity provider of the file (package signinfile).
type Provider struct {
	external.Source  `yaml:",inline"`
	Address          string   `yaml:"issuer"`
	ClientID         string   `yaml:"client_id"`
	ClientSecretFile string   `yaml:"client_secret_file"` // from the folder of the file; empty: a public client
	Scopes           []string `yaml:"scopes"`
	SubjectClaim     string   `yaml:"subject_claim"` // who somebody is: must never change, and be nobody else's
	LoginClaim       string   `yaml:"login_claim"`
	GroupsClaim      string   `yaml:"groups_claim"`

	secret string
	remote remote
}

// Prepare checks what the file says of a provider, and fills in what is usual.
func (p *Provider) Prepare() error {
	if err := p.Source.Prepare(); err != nil {
		return err
	}
	switch {
	case p.ClientID == "":
		return errors.New("client_id is missing")
	case !securely(p.Address):
		return fmt.Errorf("issuer: %q must be an https address without a query", p.Address)
	}
	p.Issuer, p.Way = p.Address, session.WithProvider+p.Name
	if len(p.Scopes) == 0 {
		p.Scopes = []string{"profile", "email"}
	}
	if !slices.Contains(p.Scopes, "openid") {
		p.Scopes = append([]string{"openid"}, p.Scopes...)
	}
	if p.SubjectClaim == "" {
		p.SubjectClaim = "sub"
	}
	if p.LoginClaim == "" {
		p.LoginClaim = "preferred_username"
	}
	if p.GroupsClaim == "" {
		p.GroupsClaim = "groups"
	}
	return nil
}

// ReadSecrets reads the client's secret from the file that the provider names.
func (p *Provider) ReadSecrets(read func(name string) ([]byte, error)) error {
	if p.ClientSecretFile == "" {
		return nil
	}
	text, err := read(p.ClientSecretFile)
	if err != nil {
		return fmt.Errorf("the client secret: %w", err)
	}
	p.secret = string(bytes.TrimSpace(text))
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
