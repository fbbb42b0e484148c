package main

import (
	"fmt"
	"log/slog"
)

type userFactors struct {
	userNamed
	Remove bool `help:"Remove all of them, for a person who lost them, and end the person's sessions."`
}

// Run shows or removes the second factors of a user.
func (c *userFactors) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		sessions := s.forge(log).Sessions
		if c.Remove {
			a, err := sessions.RemoveFactors(p.ctx, c.Login, nil)
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
