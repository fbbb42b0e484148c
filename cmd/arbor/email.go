package main

import (
	"fmt"
	"log/slog"

	"arbor/internal/account"
)

type emailCommand struct {
	Add    emailAdd    `cmd:"" help:"Add an address to a user. It attributes commits once it is verified."`
	Verify emailVerify `cmd:"" help:"Verify a user's address; commits with it are shown as the user's."`
	List   emailList   `cmd:"" help:"List a user's addresses."`
	Remove emailRemove `cmd:"" help:"Remove an address from a user."`
}

// emailOf names a user and an address.
type emailOf struct {
	storeFlags
	Login   string `arg:"" help:"Login of the user."`
	Address string `arg:"" help:"The address."`
}

// change runs an operation on the address, and prints a line when it has succeeded.
func (c *emailOf) change(p *process, do func(*account.Service) error, line string) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := do(s.forge(log).Accounts)
		if err == nil {
			fmt.Fprintln(p.stdout, line)
		}
		return err
	})
}

type emailAdd struct{ emailOf }

// Run claims the address.
func (c *emailAdd) Run(p *process) error {
	return c.change(p, func(accounts *account.Service) error {
		return accounts.AddEmail(p.ctx, c.Login, c.Address)
	}, "added "+c.Address+": it counts once it is verified")
}

type emailVerify struct{ emailOf }

// Run verifies the address. A running server shows its commits as the user's from the
// next request on.
func (c *emailVerify) Run(p *process) error {
	return c.change(p, func(accounts *account.Service) error {
		return accounts.VerifyEmail(p.ctx, c.Login, c.Address)
	}, "verified "+c.Address)
}

type emailRemove struct{ emailOf }

// Run ends the claim on the address.
func (c *emailRemove) Run(p *process) error {
	return c.change(p, func(accounts *account.Service) error {
		return accounts.RemoveEmail(p.ctx, c.Login, c.Address)
	}, "removed "+c.Address)
}

type emailList struct {
	storeFlags
	listFlags
	Login string `arg:"" help:"Login of the user."`
}

// Run prints a line for each address.
func (c *emailList) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		list, err := s.forge(log).Accounts.Emails(p.ctx, c.Login)
		if err != nil {
			return err
		}
		w := p.rows(c.listFlags, "ADDRESS", "VERIFIED")
		for _, e := range list {
			if err := w.add(e.Address, e.Verified); err != nil {
				return err
			}
		}
		return w.flush()
	})
}
