package server

import (
	"context"
	"net"
	"strconv"

	gossh "golang.org/x/crypto/ssh"

	"arbor/internal/repo"
	"arbor/internal/space"
	"arbor/internal/ssh"
	"arbor/internal/web"
)

// SSHOptions configure git over SSH.
type SSHOptions struct {
	HostKeys []gossh.Signer
	Host     string // in ssh_url; empty means that of the request
	Port     string // in ssh_url; empty means that SSH is off
}

// ServeSSH serves git over SSH on l until ctx is done. Then it waits up to half a minute for sessions in
// flight.
func (s *Server) ServeSSH(ctx context.Context, l net.Listener) error {
	return ssh.New(ssh.Options{
		Tokens: s.forge.Tokens, Transport: s.forge.Transport, LFS: s.forge.LFS, Site: s.o.BaseURL, Control: s.control, Log: s.log,
		HostKeys: s.o.SSH.HostKeys,
		NewID:    s.newID, Allow: s.limiter.TakeKey, Address: s.sshAddress,
		Explain: func(err error) error { return space.Explain(err, s.disks...) },
		Observe: func(r ssh.Served) {
			s.metrics.ssh.WithLabelValues(r.Service, strconv.Itoa(r.Status)).Inc()
		},
	}).Serve(ctx, l)
}

// sshAddress returns the address of a repository for a client connected over SSH.
func (s *Server) sshAddress(r *repo.Repo) string {
	i := web.Info{Site: s.o.BaseURL, SSHHost: s.o.SSH.Host, SSHPort: s.o.SSH.Port}
	if i.Site == "" && i.SSHHost == "" {
		return r.FullName() + ".git"
	}
	return i.SSH(r.FullName())
}
