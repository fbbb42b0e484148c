package ldap

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	ldaplib "github.com/go-ldap/ldap/v3"

	"arbor/internal/external"
)

// Directory is a directory of the file (package signinfile).
type Directory struct {
	external.Source  `yaml:",inline"`
	Servers          []string `yaml:"servers"` // ldaps://HOST, or ldap://HOST with StartTLS; the next if one does not answer
	StartTLS         bool     `yaml:"start_tls"`
	CAFile           string   `yaml:"ca_file"`            // certificates that servers may have; empty: those of the machine
	BindDN           string   `yaml:"bind_dn"`            // the account that searches; empty: nobody
	BindPasswordFile string   `yaml:"bind_password_file"` // from the folder of the file
	Base             string   `yaml:"base"`               // of the people
	Filter           string   `yaml:"filter"`             // who may sign in
	IDAttribute      string   `yaml:"id_attribute"`
	LoginAttribute   string   `yaml:"login_attribute"`
	NameAttribute    string   `yaml:"name_attribute"`
	EmailAttribute   string   `yaml:"email_attribute"`
	GroupsBy         string   `yaml:"groups_by"` // see below
	GroupBase        string   `yaml:"group_base"`
	GroupFilter      string   `yaml:"group_filter"`
	MemberAttribute  string   `yaml:"member_attribute"`
	Compare          string   `yaml:"compare"`         // nightly or never
	SuspendAtMost    int      `yaml:"suspend_at_most"` // percent of the accounts, in one comparison

	password string
	roots    *x509.CertPool      // nil: the machine's
	rules    map[string][]string // names of groups in the file, by their DN in normal form
	slots    chan struct{}       // a connection holds one

	right, wrong, failed atomic.Int64
}

// How the groups of a person are found.
const (
	byMemberOf = "memberof" // the person's attribute memberOf, and that of these groups
	byMember   = "member"   // groups that have the person, or such a group, as a member
	byChain    = "chain"    // a rule of Active Directory, which looks through nested groups itself
)

// When accounts are compared with the directory.
const (
	nightly = "nightly"
	never   = "never"
)

// maxConns is how many connections to a directory there are at one time. A sign-in that gets none in time fails.
const maxConns = 8

// noAttribute switches an attribute off.
const noAttribute = "none"

// Prepare checks what the file says of a directory, and fills in what is usual.
func (d *Directory) Prepare() error {
	if err := d.Source.Prepare(); err != nil {
		return err
	}
	d.Issuer, d.Way = "ldap:"+d.Name, "ldap:"+d.Name
	usual := func(value *string, text string) {
		if *value == "" {
			*value = text
		}
	}
	usual(&d.Filter, "(objectClass=person)")
	usual(&d.IDAttribute, "entryUUID")
	usual(&d.LoginAttribute, "uid")
	usual(&d.NameAttribute, "cn")
	usual(&d.EmailAttribute, "mail")
	usual(&d.GroupsBy, byMemberOf)
	usual(&d.GroupFilter, "(objectClass=*)")
	usual(&d.MemberAttribute, "member")
	usual(&d.Compare, nightly)
	if d.SuspendAtMost == 0 {
		d.SuspendAtMost = 10
	}
	d.slots = make(chan struct{}, maxConns)
	if err := d.checkServers(); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]string{byMemberOf, byMember, byChain}, d.GroupsBy):
		return fmt.Errorf("groups_by: want %s, %s or %s", byMemberOf, byMember, byChain)
	case d.Compare != nightly && d.Compare != never:
		return fmt.Errorf("compare: want %s or %s", nightly, never)
	case d.SuspendAtMost < 1 || d.SuspendAtMost > 100:
		return errors.New("suspend_at_most: want 1 to 100, in percent")
	case d.BindDN != "" && d.BindPasswordFile == "":
		return errors.New("bind_dn needs bind_password_file: directories take a bind without a password for nobody's")
	}
	return errors.Join(d.checkNames(), d.checkGroups())
}

func (d *Directory) checkServers() error {
	if len(d.Servers) == 0 || len(d.Servers) > 10 {
		return errors.New("servers: want 1 to 10 addresses like ldaps://ldap.example.org")
	}
	for _, server := range d.Servers {
		u, err := url.Parse(server)
		if err != nil || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil ||
			strings.Trim(u.Path, "/") != "" || u.Scheme != "ldap" && u.Scheme != "ldaps" {
			return fmt.Errorf("servers: %q must be ldaps://HOST or ldap://HOST, with a port or without", server)
		}
		ip := net.ParseIP(u.Hostname())
		here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
		if u.Scheme == "ldap" && !d.StartTLS && !here {
			return fmt.Errorf("servers: %q would send passwords in the clear: use ldaps://, or start_tls: true", server)
		}
		if u.Scheme == "ldaps" && d.StartTLS {
			return fmt.Errorf("servers: start_tls is for ldap://, and %q begins with TLS", server)
		}
	}
	return nil
}

// checkNames checks DNs, filters and names of attributes.
func (d *Directory) checkNames() error {
	for name, dn := range map[string]string{"bind_dn": d.BindDN, "base": d.Base, "group_base": d.GroupBase} {
		if _, err := ldaplib.ParseDN(dn); err != nil {
			return fmt.Errorf("%s: %q is not a DN: %w", name, dn, err)
		}
	}
	if d.Base == "" {
		return errors.New("base is missing: the DN below which people are")
	}
	for name, filter := range map[string]string{"filter": d.Filter, "group_filter": d.GroupFilter} {
		if _, err := ldaplib.CompileFilter(filter); err != nil {
			return fmt.Errorf("%s: %q is not a filter: %w", name, filter, err)
		}
	}
	for name, attribute := range map[string]string{"id_attribute": d.IDAttribute, "login_attribute": d.LoginAttribute,
		"name_attribute": d.NameAttribute, "email_attribute": d.EmailAttribute, "member_attribute": d.MemberAttribute} {
		if !isAttribute(attribute) {
			return fmt.Errorf("%s: %q is not the name of an attribute", name, attribute)
		}
	}
	return nil
}

// isAttribute reports whether a text is the name of an attribute, which may stand in a filter as it is.
func isAttribute(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.')
	})
}

// checkGroups reads which groups the file names.
func (d *Directory) checkGroups() error {
	d.rules = map[string][]string{}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(d.Groups)), d.Administrators) {
		dn := name
		if !strings.Contains(name, "=") {
			if d.GroupBase == "" {
				return fmt.Errorf("groups: %q is a name: with group_base it is cn=%[1]s there, without write the DN", name)
			}
			cn := ldaplib.AttributeTypeAndValue{Type: "cn", Value: name}
			dn = cn.String() + "," + d.GroupBase
		}
		normal, err := normalDN(dn)
		if err != nil {
			return fmt.Errorf("groups: %q is not a DN: %w", name, err)
		}
		if !slices.Contains(d.rules[normal], name) {
			d.rules[normal] = append(d.rules[normal], name)
		}
	}
	if len(d.rules) > 0 && d.GroupsBy != byMemberOf && d.GroupBase == "" {
		return fmt.Errorf("group_base is missing: groups_by: %s searches groups below it", d.GroupsBy)
	}
	return nil
}

// maxDN bounds a DN, in bytes.
const maxDN = 8 << 10

// normalDN is a DN in a form that can be compared: without optional blanks, in lower case.
func normalDN(text string) (string, error) {
	if len(text) > maxDN {
		return "", errors.New("the DN is too long")
	}
	dn, err := ldaplib.ParseDN(text)
	if err != nil {
		return "", err
	}
	return strings.ToLower(dn.String()), nil
}

// ReadSecrets reads the password and the certificates from the files that the directory names.
func (d *Directory) ReadSecrets(read func(name string) ([]byte, error)) error {
	if d.BindPasswordFile != "" {
		text, err := read(d.BindPasswordFile)
		if err != nil {
			return fmt.Errorf("bind_password_file: %w", err)
		}
		d.password = string(bytes.TrimRight(text, "\r\n"))
	}
	if d.CAFile != "" {
		text, err := read(d.CAFile)
		if err != nil {
			return fmt.Errorf("ca_file: %w", err)
		}
		if d.roots = x509.NewCertPool(); !d.roots.AppendCertsFromPEM(text) {
			return errors.New("ca_file: there is no certificate in it (PEM)")
		}
	}
	return nil
}

// tls is how a server must show who it is.
func (d *Directory) tls(host string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: d.roots, MinVersion: tls.VersionTLS12}
}
