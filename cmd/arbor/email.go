package main

import (
	"fmt"
	"log/slog"
	"text/tabwriter"
)

type emailCommand struct {
	Add    emailAdd    `cmd:"" help:"Give a user an address, which counts once it is verified."`
	Verify emailVerify `cmd:"" help:"Make an address of a user's count: commits with it are the user's from now on."`
	List   emailList   `cmd:"" help:"List a user's addresses."`
	Remove emailRemove `cmd:"" help:"Take an address from a user."`
}

// emailOf names a user and an address.
type emailOf struct {
	storeFlags
	Login   string `arg:"" help:"Login of the user."`
	Address string `arg:"" help:"The address."`
}

type emailAdd struct{ emailOf }

// Run claims the address.
func (c *emailAdd) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := s.accounts(log).AddEmail(p.ctx, c.Login, c.Address)
		if err == nil {
			fmt.Fprintf(p.stdout, "added %s: it counts once it is verified\n", c.Address)
		}
		return err
	})
}

type emailVerify struct{ emailOf }

// Run verifies the address; a running server shows whose commits are whose from
// the next request on.
func (c *emailVerify) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := s.accounts(log).VerifyEmail(p.ctx, c.Login, c.Address)
		if err == nil {
			fmt.Fprintf(p.stdout, "verified %s\n", c.Address)
		}
		return err
	})
}

type emailRemove struct{ emailOf }

// Run ends the claim on the address.
func (c *emailRemove) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := s.accounts(log).RemoveEmail(p.ctx, c.Login, c.Address)
		if err == nil {
			fmt.Fprintf(p.stdout, "removed %s\n", c.Address)
		}
		return err
	})
}

type emailList struct {
	storeFlags
	Login string `arg:"" help:"Login of the user."`
}

// Run prints one line an address.
func (c *emailList) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		list, err := s.accounts(log).Emails(p.ctx, c.Login)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ADDRESS\tVERIFIED")
		for _, e := range list {
			fmt.Fprintf(w, "%s\t%t\n", e.Address, e.Verified)
		}
		return w.Flush()
	})
}
