package main

import (
	"errors"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"arbor/internal/server"
	"arbor/internal/ssh"
)

// sshFlags say whether git is served over SSH.
type sshFlags struct {
	SSHListen string `name:"ssh-listen" group:"SSH" help:"Listen address for Git over SSH, HOST:PORT (default: none). Host keys are kept in ssh below the data folder." placeholder:"ADDRESS"`
	SSHURL    string `name:"ssh-url" group:"SSH" help:"Prefix of ssh_url in answers, e.g. ssh://git@code.example.org (default: the host of --base-url or the request, and the port of --ssh-listen)." placeholder:"URL"`
}

// keptKeys are the host keys of a store.
func keptKeys(data string) func() ([]gossh.Signer, error) {
	return func() ([]gossh.Signer, error) { return ssh.HostKeys(filepath.Join(data, "ssh")) }
}

// checkSSH refuses flags that cannot be meant.
func (f *sshFlags) checkSSH() error {
	switch {
	case f.SSHListen == "" && f.SSHURL != "":
		return misuse("--ssh-url requires --ssh-listen")
	case strings.HasPrefix(f.SSHListen, "unix:"):
		return misuse("--ssh-listen must be HOST:PORT, not a socket")
	}
	_, _, err := parseSSHURL(f.SSHURL)
	return err
}

// openSSH gets the host keys and opens the listener; nil if there is none.
func (f *sshFlags) openSSH(keys func() ([]gossh.Signer, error), log *slog.Logger) (
	l net.Listener, o server.SSHOptions, err error) {
	if f.SSHListen == "" {
		return nil, o, nil
	}
	if o.Host, o.Port, err = parseSSHURL(f.SSHURL); err != nil {
		return nil, o, err
	}
	if o.HostKeys, err = keys(); err != nil {
		return nil, o, err
	}
	if l, err = listen(f.SSHListen, 0); err != nil {
		return nil, o, err
	}
	if o.Port == "" {
		if _, o.Port, err = net.SplitHostPort(l.Addr().String()); err != nil {
			return nil, o, errors.Join(err, l.Close())
		}
	}
	attrs := []any{"address", l.Addr().String()}
	for _, k := range o.HostKeys {
		attrs = append(attrs, k.PublicKey().Type(), gossh.FingerprintSHA256(k.PublicKey()))
	}
	log.Info("ssh listens", attrs...)
	return l, o, nil
}

// parseSSHURL reads ssh://git@HOST[:PORT]. Without a port it is 22, and without an address all is empty.
func parseSSHURL(s string) (host, port string, err error) {
	if s == "" {
		return "", "", nil
	}
	u, err := url.Parse(strings.TrimSuffix(s, "/"))
	if err != nil || u.Scheme != "ssh" || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" ||
		u.Fragment != "" ||
		u.User != nil && u.User.String() != "git" || strings.ContainsAny(u.Host, "\"'<>\\` ") {
		return "", "", misuse("--ssh-url must be like ssh://git@code.example.org or "+
			"ssh://git@code.example.org:2222, not %q", s)
	}
	host, port = u.Hostname(), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" {
		port = "22"
	}
	return host, port, nil
}

// sshAddress is what an address of a repository over SSH begins with, to paste; empty without SSH.
func sshAddress(l net.Listener, o server.SSHOptions) string {
	switch {
	case l == nil:
		return ""
	case o.Host != "":
		return "ssh://git@" + o.Host + ":" + o.Port
	}
	return strings.Replace(address(l, "ssh"), "://", "://git@", 1)
}
