package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"arbor/internal/account/key"
)

type keyCommand struct {
	Add    keyAdd    `cmd:"" help:"Add an SSH key to a user."`
	List   keyList   `cmd:"" help:"List a user's SSH keys."`
	Remove keyRemove `cmd:"" help:"Remove an SSH key of a user. Takes effect at once."`
}

type keyAdd struct {
	storeFlags
	Login string `arg:"" help:"Login of the user."`
	File  string `arg:"" help:"File with the public key (.pub); - reads standard input." placeholder:"FILE"`
	Title string `help:"What the key is for (default: its comment)." placeholder:"TEXT"`
}

// Run adds the key.
func (c *keyAdd) Run(p *process) error {
	text, err := p.readKey(c.File)
	if err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		k, err := s.forge(log).Keys.AddUserKey(p.ctx, c.Login, key.NewKey{Title: c.Title, Text: text})
		if err == nil {
			fmt.Fprintf(p.stdout, "added key %d for %s\n", k.ID, k.AddedLogin)
		}
		return err
	})
}

// readKey reads a file no further than a key is long.
func (p *process) readKey(name string) (string, error) {
	var from io.Reader
	if name == "-" {
		from = p.stdin()
	} else {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, key.MaxText+1))
	return string(text), err
}

type keyList struct {
	storeFlags
	listFlags
	Login string `arg:"" help:"Login of the user."`
}

// Run prints a line for each key.
func (c *keyList) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		list, err := s.forge(log).Keys.UserKeys(p.ctx, c.Login)
		if err != nil {
			return err
		}
		w := p.rows(c.listFlags, "ID", "FINGERPRINT", "ADDED", "LAST USED", "TITLE")
		for _, k := range list {
			if err := w.add(k.ID, k.Fingerprint, k.CreatedAt, k.LastUsedAt, k.Title); err != nil {
				return err
			}
		}
		return w.flush()
	})
}

type keyRemove struct {
	storeFlags
	Login string `arg:"" help:"Login of the user."`
	ID    int64  `arg:"" name:"id" help:"Id of the key, as list shows it."`
}

// Run ends the key.
func (c *keyRemove) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := s.forge(log).Keys.RemoveUserKey(p.ctx, c.Login, c.ID)
		if err == nil {
			fmt.Fprintf(p.stdout, "removed key %d of %s\n", c.ID, c.Login)
		}
		return err
	})
}
