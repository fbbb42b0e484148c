package main

import (
	"fmt"
	"log/slog"
	"strings"

	"arbor/internal/signup"
)

type signupCommand struct {
	storeFlags
	Mode   string   `help:"Who may create an account: closed (administrators only), invitation, domain (owners of a mail address of a listed domain), approval (everybody, after an administrator approves) or open." enum:",closed,invitation,domain,approval,open" default:""`
	Domain []string `help:"With --mode domain: the part of addresses after the @. May be repeated." placeholder:"DOMAIN"`
}

// Run changes how accounts begin, and shows it.
func (c *signupCommand) Run(p *process) error {
	if len(c.Domain) > 0 && c.Mode != string(signup.Domain) {
		return misuse("--domain needs --mode domain")
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		begins := s.forge(log).Signup
		if c.Mode != "" {
			to := signup.Settings{Mode: signup.Mode(c.Mode), Domains: c.Domain}
			if err := begins.Change(p.ctx, nil, to); err != nil {
				return err
			}
		}
		state, err := begins.State(p.ctx)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.stdout, strings.Join(append([]string{string(state.Mode)}, state.Domains...), " "))
		if c.Mode == string(signup.Domain) && !state.Mail {
			fmt.Fprintln(p.stderr, "arbor: warning: no server of this store sends mail, so nobody can begin an account")
		}
		return nil
	})
}

type userInvite struct {
	storeFlags
	Address string `arg:"" optional:"" help:"E-mail address to which the link is sent; without one it is printed."`
	Org     string `help:"Organization that the person joins." placeholder:"LOGIN"`
	Team    string `help:"Team of the organization that the person joins." placeholder:"SLUG"`
	Days    int    `help:"Days for which the link works, at most 30." default:"7"`
	BaseURL string `name:"base-url" help:"Scheme and host of a link that is printed." placeholder:"URL"`
}

// Run invites somebody.
func (c *userInvite) Run(p *process) error {
	base, err := checkBase(c.BaseURL)
	if err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		secret, err := s.forge(log).Signup.Invite(p.ctx, nil,
			signup.Invite{Address: c.Address, Org: c.Org, Team: c.Team, Days: c.Days})
		switch {
		case err != nil:
			return err
		case secret == "":
			fmt.Fprintf(p.stdout, "invited %s\n", c.Address)
		default:
			fmt.Fprintf(p.stdout, "%s/join?link=%s\n", base, secret)
		}
		return nil
	})
}

type userInvitations struct {
	storeFlags
	listFlags
	Revoke int64 `help:"Revoke the invitation with this id." placeholder:"ID"`
}

// Run lists invitations, or revokes one.
func (c *userInvitations) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		begins := s.forge(log).Signup
		if c.Revoke != 0 {
			err := begins.Revoke(p.ctx, nil, c.Revoke)
			if err == nil {
				fmt.Fprintf(p.stdout, "revoked invitation %d\n", c.Revoke)
			}
			return err
		}
		list, err := begins.Invitations(p.ctx)
		if err != nil {
			return err
		}
		w := p.rows(c.listFlags, "ID", "ADDRESS", "INVITER", "ORGANIZATION", "TEAM", "CREATED", "EXPIRES")
		for _, l := range list {
			if err := w.add(l.ID, l.Address, l.Inviter, l.Org, l.Team, l.CreatedAt, l.ExpiresAt); err != nil {
				return err
			}
		}
		return w.flush()
	})
}

type userRequests struct {
	storeFlags
	listFlags
}

// Run lists the accounts that people asked for.
func (c *userRequests) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		list, err := s.forge(log).Signup.Requests(p.ctx)
		if err != nil {
			return err
		}
		w := p.rows(c.listFlags, "ID", "LOGIN", "NAME", "ADDRESS", "VERIFIED", "FROM", "CREATED", "REASON")
		for _, q := range list {
			reason := strings.Join(strings.Fields(q.Reason), " ")
			if err := w.add(q.ID, q.Login, q.Name, q.Address, q.Verified, q.Network, q.CreatedAt, reason); err != nil {
				return err
			}
		}
		return w.flush()
	})
}

type userApprove struct {
	storeFlags
	ID    int64  `arg:"" help:"Id of the request, as arbor user requests lists it."`
	Login string `help:"Another login than the person asked for." placeholder:"LOGIN"`
}

// Run makes the account of a request.
func (c *userApprove) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		a, err := s.forge(log).Signup.Approve(p.ctx, nil, c.ID, c.Login)
		if err == nil {
			fmt.Fprintf(p.stdout, "created user %s\n", a.Login)
		}
		return err
	})
}

type userDecline struct {
	storeFlags
	ID int64 `arg:"" help:"Id of the request, as arbor user requests lists it."`
}

// Run ends a request.
func (c *userDecline) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		login, err := s.forge(log).Signup.Decline(p.ctx, nil, c.ID)
		if err == nil {
			fmt.Fprintf(p.stdout, "declined %s\n", login)
		}
		return err
	})
}
