package main

import (
	"fmt"
	"log/slog"
)

type oauthAppRestrict struct {
	storeFlags
	Org string `arg:"" help:"Login of the organization."`
	Off bool   `help:"Let all OAuth Apps in. What was decided is kept."`
}

// Run has the organization restrict OAuth Apps, or not.
func (c *oauthAppRestrict) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		if err := s.forge(log).OAuth.Restrict(p.ctx, nil, c.Org, !c.Off); err != nil {
			return err
		}
		if c.Off {
			fmt.Fprintf(p.stdout, "%s lets all OAuth Apps in\n", c.Org)
		} else {
			fmt.Fprintf(p.stdout, "%s lets in only OAuth Apps that it approved\n", c.Org)
		}
		return nil
	})
}

// oauthAppAt is a command about an OAuth App in an organization.
type oauthAppAt struct {
	storeFlags
	Org    string `arg:"" help:"Login of the organization."`
	Client string `arg:"" help:"Client id of the App."`
}

func (c *oauthAppAt) decide(p *process, approve bool, done string) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := s.forge(log).OAuth.Decide(p.ctx, nil, c.Org, c.Client, approve)
		if err == nil {
			fmt.Fprintf(p.stdout, "%s OAuth App %s for %s\n", done, c.Client, c.Org)
		}
		return err
	})
}

type oauthAppApprove struct{ oauthAppAt }

// Run approves the OAuth App.
func (c *oauthAppApprove) Run(p *process) error { return c.decide(p, true, "approved") }

type oauthAppDeny struct{ oauthAppAt }

// Run denies the OAuth App.
func (c *oauthAppDeny) Run(p *process) error { return c.decide(p, false, "denied") }

type oauthAppPolicy struct {
	storeFlags
	listFlags
	Org string `arg:"" help:"Login of the organization."`
}

// Run prints a line for each OAuth App that the organization approved or denied, or that waits for a decision.
func (c *oauthAppPolicy) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		policy, err := s.forge(log).OAuth.PolicyOf(p.ctx, nil, c.Org)
		if err != nil {
			return err
		}
		w := p.rows(c.listFlags, "CLIENT ID", "NAME", "OWNER", "STANDING", "ASKED BY", "SINCE")
		for _, a := range policy.List {
			by := ""
			if a.AskedBy != nil {
				by = a.AskedBy.Login
			}
			err := w.add(a.App.ClientID, a.App.Name, a.App.Owner.Login, string(a.Standing), by, a.UpdatedAt)
			if err != nil {
				return err
			}
		}
		if err := w.flush(); err != nil || policy.Restricts {
			return err
		}
		fmt.Fprintf(p.stderr, "%s does not restrict OAuth Apps: all are let in\n", c.Org)
		return nil
	})
}
