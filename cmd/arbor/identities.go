package main

import (
	"fmt"
	"log/slog"

	"arbor/internal/external"
)

type userIdentities struct {
	userNamed
	Remove int64 `help:"Unlink the identity with this id, and end the person's sessions." placeholder:"ID"`
}

// Run lists the identities of a user, or unlinks one.
func (c *userIdentities) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		if c.Remove != 0 {
			err := external.RemoveNamed(p.ctx, s.db, c.Login, c.Remove)
			if err == nil {
				fmt.Fprintf(p.stdout, "unlinked identity %d of %s\n", c.Remove, c.Login)
			}
			return err
		}
		list, err := external.IdentitiesNamed(p.ctx, s.db, c.Login)
		if err != nil {
			return err
		}
		w := p.table()
		fmt.Fprintln(w, "ID\tPROVIDER\tISSUER\tSUBJECT\tNAME\tLAST USED")
		for _, l := range list {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", l.ID, l.Provider, l.Issuer, l.Subject, l.Name, when(l.LastUsedAt))
		}
		return w.Flush()
	})
}
