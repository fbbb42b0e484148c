package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"text/tabwriter"
	"time"

	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
)

// operator is the actor of a command in the audit log. It records the system's user instead of an address.
func operator() audit.Actor {
	name := strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return audit.Actor{Address: "user " + name, Right: audit.Operator}
}

// record notes what is done with the whole store.
func (s *store) record(p *process, action audit.Action) error {
	return s.db.Write(p.ctx, func(tx *db.Tx) error { return audit.Record(tx, audit.Entry{Action: action}) })
}

type auditCommand struct {
	storeFlags
	Actor  string `help:"Only actions of this user." placeholder:"LOGIN"`
	Action string `help:"Only this action (repo.create) or kind of action (repo)." placeholder:"ACTION"`
	Repo   string `help:"Only actions on this repository." placeholder:"OWNER/NAME"`
	Since  string `help:"Only actions since then: an age such as 7d or 12h, or a date such as 2027-01-31." placeholder:"TIME|DATE"`
	Number int    `name:"number" short:"n" help:"Number of events, newest first." default:"50" placeholder:"N"`
	JSON   bool   `name:"json" help:"Print one JSON object per line."`
}

// Run prints the newest events, the oldest of them first.
func (c *auditCommand) Run(p *process) error {
	f, err := c.filter(time.Now())
	if err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		list, _, err := s.forge(log).Accounts.Events(p.ctx, f, c.Number)
		if err != nil {
			return err
		}
		if c.JSON {
			return printEventLines(p.stdout, list)
		}
		return printEvents(p.stdout, list)
	})
}

// filter reads the flags.
func (c *auditCommand) filter(now time.Time) (f audit.Filter, err error) {
	if c.Number < 1 || c.Number > 100_000 {
		return f, misuse("-n must be from 1 to 100000")
	}
	f = audit.Filter{Actor: c.Actor, Repo: c.Repo}
	if c.Repo != "" {
		if _, _, err := splitRepo(c.Repo); err != nil {
			return f, err
		}
	}
	if c.Action != "" {
		if f.Actions = audit.ActionsOf(c.Action); f.Actions == nil {
			return f, misuse("--action: unknown action %q", c.Action)
		}
	}
	if c.Since == "" {
		return f, nil
	}
	if day, err := time.Parse(time.DateOnly, c.Since); err == nil {
		f.From = db.FromTime(day)
		return f, nil
	}
	ago, err := token.ParseExpiry(c.Since, now)
	if err != nil {
		return f, misuse("--since: invalid time %q: want an age such as 7d or 12h, or a date such as 2027-01-31",
			c.Since)
	}
	f.From = max(1, db.FromTime(now.Add(-ago)))
	return f, nil
}

func printEventLines(w io.Writer, list []audit.Event) error {
	out := json.NewEncoder(w)
	for i := len(list) - 1; i >= 0; i-- {
		if err := out.Encode(audit.NewPayload(&list[i])); err != nil {
			return err
		}
	}
	return nil
}

func printEvents(to io.Writer, list []audit.Event) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tACTION\tWHO\tFROM\tRIGHT\tON\tCHANGES")
	for i := len(list) - 1; i >= 0; i-- {
		e := &list[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			e.CreatedAt.Time().UTC().Format(time.DateTime), e.Action, cmp.Or(e.Actor.Login, "-"),
			cmp.Or(e.Actor.Address, "-"), e.Actor.Right, subject(e), e.Changes)
	}
	return w.Flush()
}

// subject is what an event is about.
func subject(e *audit.Event) string {
	on := e.Repo.Name
	if on == "" {
		on = e.Org.Name
	}
	switch {
	case e.User.Name == "":
		return cmp.Or(on, "-")
	case on == "":
		return e.User.Name
	}
	return on + ": " + e.User.Name
}
