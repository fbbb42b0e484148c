package main

import (
	"fmt"
	"os"
	"time"

	"arbor/internal/errs"
	"arbor/internal/forge"
	"arbor/internal/hook/outgoing"
	"arbor/internal/mirror"
	"arbor/internal/repo"
	"arbor/internal/web"
)

type mirrorCommand struct {
	List   mirrorList   `cmd:"" help:"List the mirrors of a repository, with why the last run failed."`
	Add    mirrorAdd    `cmd:"" help:"Make a repository a mirror of another one, or, with --push, copy each push to another repository."`
	Accept mirrorAccept `cmd:"" help:"Accept the new host key of the other server, after an SSH mirror was stopped because the key changed."`
	Sync   mirrorSync   `cmd:"" help:"Update the mirrors of a repository soon. A running server does it."`
	Remove mirrorRemove `cmd:"" help:"Make a mirror an ordinary repository, or remove a push mirror."`
}

// mirrors runs an operation on the repository's mirrors. The server checks at each run whether it may reach the
// address.
func (c *onRepo) mirrors(p *process, do func(*mirror.Service, *repo.Access) error) error {
	return c.with(p, func(f *forge.Forge, a *repo.Access) error { return do(anyMirrors(f), a) })
}

// anyMirrors returns a mirror service that accepts any address, for the operator.
func anyMirrors(f *forge.Forge) *mirror.Service {
	f.Mirrors.Networks, _ = outgoing.ParseNetworks("0.0.0.0/0,::/0")
	f.Mirrors.MinInterval = time.Minute
	return f.Mirrors
}

type mirrorList struct {
	onRepo
	listFlags
}

// Run prints a line for each mirror.
func (c *mirrorList) Run(p *process) error {
	return c.mirrors(p, func(s *mirror.Service, a *repo.Access) error {
		list, err := s.ListPush(p.ctx, a)
		if err != nil {
			return err
		}
		if m, err := s.Get(p.ctx, a); err == nil {
			list = append([]*mirror.Mirror{m}, list...)
		} else if !errs.Is(err, errs.NotFound) {
			return err
		}
		w := p.rows(c.listFlags, "ID", "DIRECTION", "ADDRESS", "STATE", "LAST SYNC", "PROBLEM")
		for _, m := range list {
			direction, state := "pull", "active"
			if m.Push {
				direction = "push"
			}
			switch {
			case !m.Active:
				state = "stopped"
			case m.Failures > 0:
				state = "failing"
			}
			if err := w.add(m.ID, direction, m.URL, state, m.Succeeded, m.Problem); err != nil {
				return err
			}
		}
		return w.flush()
	})
}

type mirrorAdd struct {
	onRepo
	URL      string        `arg:"" help:"Address of the other repository, by HTTPS, HTTP or SSH." placeholder:"URL"`
	Push     bool          `help:"Copy from here to the address after each push, instead of from the address."`
	Username string        `help:"Name at the other server. The password or token is asked for, or read from standard input." placeholder:"NAME"`
	Interval time.Duration `help:"How often to look at the other repository." default:"1h" placeholder:"DURATION"`
}

// Run sets up the mirror. A running server begins to copy at once.
func (c *mirrorAdd) Run(p *process) error {
	return c.mirrors(p, func(s *mirror.Service, a *repo.Access) error {
		e := mirror.Edit{URL: c.URL, Username: c.Username, Every: c.Interval, FollowHead: true}
		if c.Username != "" {
			password, err := p.askPassword(os.Stdin)
			if err != nil {
				return err
			}
			e.Password = web.Some(password)
		}
		if c.Push {
			m, err := s.AddPush(p.ctx, a, e)
			if err == nil {
				fmt.Fprintf(p.stdout, "added push mirror %d of %s\n", m.ID, a.FullName())
				sayKey(p, m)
			}
			return err
		}
		m, _, err := s.Set(p.ctx, a, e)
		if err == nil {
			fmt.Fprintf(p.stdout, "%s is a mirror of %s\n", a.FullName(), m.URL)
			sayKey(p, m)
		}
		return err
	})
}

// sayKey prints the public key of a mirror by SSH.
func sayKey(p *process, m *mirror.Mirror) {
	if m.SSH != nil {
		fmt.Fprintf(p.stdout, "Add this key to the other repository, as a deploy key:\n%s\n", m.SSH.PublicKey)
	}
}

type mirrorAccept struct {
	onRepo
	Fingerprint string `arg:"" help:"Fingerprint of the new host key, as shown by list and by ssh-keygen -l." placeholder:"SHA256:..."`
	Push        int64  `help:"Of the push mirror with this id, as list shows it." placeholder:"ID"`
}

// Run accepts the key. A running server goes on at once.
func (c *mirrorAccept) Run(p *process) error {
	return c.mirrors(p, func(s *mirror.Service, a *repo.Access) error {
		_, err := s.AcceptHostKey(p.ctx, a, c.Push, c.Fingerprint)
		if errs.Is(err, errs.NotFound) {
			return noMirror(a, c.Push != 0)
		}
		if err == nil {
			fmt.Fprintf(p.stdout, "accepted the host key; a running server goes on\n")
		}
		return err
	})
}

type mirrorSync struct {
	onRepo
	Push bool `help:"Update the push mirrors."`
}

// Run asks for a run.
func (c *mirrorSync) Run(p *process) error {
	return c.mirrors(p, func(s *mirror.Service, a *repo.Access) error {
		err := s.Ask(p.ctx, a, c.Push)
		if errs.Is(err, errs.NotFound) {
			return noMirror(a, c.Push)
		}
		if err == nil {
			fmt.Fprintf(p.stdout, "a running server updates it soon\n")
		}
		return err
	})
}

// noMirror says that the repository has no mirror of a kind.
func noMirror(a *repo.Access, push bool) error {
	if push {
		return errs.Newf(errs.NotFound, "%s has no such push mirror", a.FullName())
	}
	return errs.Newf(errs.NotFound, "%s is not a mirror", a.FullName())
}

type mirrorRemove struct {
	onRepo
	Push int64 `help:"Remove the push mirror with this id, as list shows it." placeholder:"ID"`
}

// Run removes the mirror. What was copied stays on both sides.
func (c *mirrorRemove) Run(p *process) error {
	return c.mirrors(p, func(s *mirror.Service, a *repo.Access) (err error) {
		if c.Push != 0 {
			err = s.RemovePush(p.ctx, a, c.Push)
		} else {
			err = s.Remove(p.ctx, a)
		}
		if errs.Is(err, errs.NotFound) {
			return noMirror(a, c.Push != 0)
		}
		if err == nil {
			fmt.Fprintf(p.stdout, "removed the mirror of %s\n", a.FullName())
		}
		return err
	})
}
