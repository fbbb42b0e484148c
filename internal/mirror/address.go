package mirror

import (
	"context"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// hostName matches a DNS name whose last label is not a number: names such as 127.1 would be IP addresses.
var hostName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?\.?$`)

// shortSSH is an address as USER@HOST:PATH.
var shortSSH = regexp.MustCompile(`^([A-Za-z0-9._-]+)@([^/:@\[\]]+|\[[0-9a-fA-F:.]+\]):([^:].*)$`)

// sshUser is the name of somebody at the other server.
var sshUser = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// IsSSH reports whether an address is one by SSH.
func IsSSH(address string) bool {
	return strings.HasPrefix(address, "ssh://") || shortSSH.MatchString(address)
}

// parseURL reads the address of a repository, and returns it as it is stored. The error says what is wrong with it.
func parseURL(text string) (*url.URL, error) {
	if short := shortSSH.FindStringSubmatch(text); short != nil {
		text = "ssh://" + short[1] + "@" + short[2] + "/" + strings.TrimPrefix(short[3], "/")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ssh" || u.Host == "" || u.Opaque != "" ||
		strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return nil, errs.New(errs.Invalid, "remote_url must be an address that begins with https://, http:// or ssh://")
	case u.Scheme == "ssh":
		if err := checkSSH(u); err != nil {
			return nil, err
		}
	case u.User != nil:
		return nil, errs.New(errs.Invalid, "remote_url must not contain a user or password: give them as username and password")
	}
	switch {
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, errs.New(errs.Invalid, "remote_url must not contain ? or #")
	}
	host := strings.ToLower(u.Hostname())
	if a, err := netip.ParseAddr(host); err == nil && a.Zone() == "" {
		if host = a.Unmap().String(); a.Unmap().Is6() {
			host = "[" + host + "]"
		}
	} else if !hostName.MatchString(host) {
		return nil, errs.New(errs.Invalid, "remote_url must contain the name of a host, or an IP address")
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	} else if strings.HasSuffix(u.Host, ":") {
		return nil, errs.New(errs.Invalid, "remote_url must have a port number after the colon")
	}
	u.Host = host
	return u, nil
}

// checkSSH checks what addresses by SSH have. Without a user they get git.
func checkSSH(u *url.URL) error {
	if _, has := u.User.Password(); has {
		return errs.New(errs.Invalid, "remote_url must not contain a password: the server signs in with a key pair")
	}
	if u.User == nil {
		u.User = url.User("git")
	}
	if !sshUser.MatchString(u.User.Username()) {
		return errs.New(errs.Invalid, "remote_url contains an invalid user")
	}
	if strings.Trim(u.Path, "/~") == "" || strings.ContainsFunc(u.Path, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return errs.New(errs.Invalid, "remote_url must contain the path of a repository")
	}
	return nil
}

// portOf is the port of an address.
func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443", "ssh": "22"}[u.Scheme]
}

// checkURL returns an address in its stored form. Error: Invalid for an invalid address, and for one that is
// internal according to its text, without a DNS lookup.
func (s *Service) checkURL(text string) (string, error) {
	u, err := parseURL(text)
	if err != nil {
		return "", err
	}
	if err := s.Networks.CheckHost(u.Hostname()); err != nil {
		return "", errs.New(errs.Invalid, err.Error())
	}
	return u.String(), nil
}

// remote looks up the host of a mirror, and decrypts its password. Errors: *git.RemoteError.
func (s *Service) remote(ctx context.Context, m *Mirror) (git.Remote, error) {
	u, err := parseURL(m.URL)
	if err != nil {
		return git.Remote{}, &git.RemoteError{Reason: err.Error()}
	}
	if u.Scheme == "ssh" {
		return git.Remote{Room: s.repos.Room.Check, Connect: s.connectSSH(m, u)}, nil
	}
	r := git.Remote{Room: s.repos.Room.Check, Address: u.String(), Host: u.Hostname(), Port: portOf(u),
		Username: m.Username}
	if r.Password, err = s.open(m.RepoID, forPassword, m.secret); err != nil {
		return r, err
	}
	r.Pinned, err = s.Networks.Resolve(ctx, r.Host)
	if err != nil && ctx.Err() == nil {
		err = &git.RemoteError{Reason: err.Error()}
	}
	return r, err
}
