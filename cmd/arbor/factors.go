package main

import (
	"fmt"
	"log/slog"
	"time"

	"arbor/internal/errs"
)

type factorsCommand struct {
	storeFlags
	Org     string `help:"Login of an organization: its members and outside collaborators are meant, not everybody." placeholder:"LOGIN"`
	Require bool   `xor:"what" help:"Require a second factor."`
	End     bool   `xor:"what" help:"Require none any more."`
	Days    int    `default:"14" help:"With --require: days until those without one can do nothing but add one."`
}

// Run changes the rule, and shows it.
func (c *factorsCommand) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		accounts, err := s.forge(log).Accounts, error(nil)
		switch {
		case c.Require:
			err = accounts.RequireFactors(p.ctx, nil, c.Org, time.Duration(c.Days)*24*time.Hour)
		case c.End:
			err = accounts.EndFactorRule(p.ctx, nil, c.Org)
		case c.Org != "":
			_, err = accounts.Get(p.ctx, nil, c.Org)
		}
		if err != nil {
			return err
		}
		rule, err := accounts.FactorRuleOf(p.ctx, c.Org)
		switch {
		case errs.Is(err, errs.NotFound):
			fmt.Fprintln(p.stdout, "not required")
			return nil
		case err != nil:
			return err
		case rule.InForce:
			fmt.Fprintf(p.stdout, "required since %s\n", when(rule.BeginsAt))
		default:
			fmt.Fprintf(p.stdout, "required from %s on\n", when(rule.BeginsAt))
		}
		return nil
	})
}

type userFactors struct {
	userNamed
	Remove bool `help:"Remove all of them, for a person who lost them, and end the person's sessions."`
}

// Run shows or removes the second factors of a user.
func (c *userFactors) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		sessions := s.forge(log).Sessions
		if c.Remove {
			a, err := sessions.RemoveFactors(p.ctx, c.Login)
			if err == nil {
				fmt.Fprintf(p.stdout, "removed the second factors of %s\n", a.Login)
			}
			return err
		}
		_, has, passkeys, err := sessions.FactorsNamed(p.ctx, c.Login)
		if err != nil {
			return err
		}
		w, app := p.table(), "-"
		if has.TOTP {
			app = "set up"
		}
		fmt.Fprintf(w, "authenticator app\t%s\nrecovery codes\t%d\n", app, has.Codes)
		for _, k := range passkeys {
			fmt.Fprintf(w, "passkey\t%s, last used %s\n", k.Name, when(k.LastUsedAt))
		}
		return w.Flush()
	})
}
