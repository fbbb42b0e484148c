package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"arbor/internal/seed"
	"arbor/internal/ssh"
)

// serveSeed serves a seed in place of the demo's own content.
func (c *demoCommand) serveSeed(p *process, log *slog.Logger) error {
	if c.Database != "" {
		return misuse("--seed is shown from a temporary folder, in SQLite: leave --database out")
	}
	loaded, err := seed.Load(c.Seed)
	if err != nil {
		return err
	}
	o := c.options(log)
	if c.ssh, o.SSH, err = c.openSSH(ssh.NewHostKeys, log); err != nil {
		return err
	}
	return c.serveEphemeral(p.ctx, loaded, o, func(address string) error {
		return explainSeed(p.stdout, loaded, places{address, sshAddress(c.ssh, o.SSH), c.AdminListen})
	})
}

// places are where a server listens.
type places struct{ api, ssh, admin string }

// explainSeed prints who and what there is; each line of curl can be pasted.
func explainSeed(out io.Writer, s *seed.Seed, at places) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Arbor serves %s at %s  (everything is thrown away when you press Ctrl-C)\n",
		s.File, at.api)
	if len(s.Users) > 0 {
		b.WriteString("\nPeople and tokens:\n")
	}
	for _, u := range s.Users {
		role := ""
		if u.Admin {
			role = "  (site administrator)"
		}
		fmt.Fprintf(&b, "  %-14s %s%s\n", u.Login, strings.Join(s.Tokens(u.Login), " "), role)
	}
	if len(s.Repos) > 0 {
		b.WriteString("\nRepositories:\n")
	}
	curl, root := "curl -s ", at.api
	if path, ok := strings.CutPrefix(at.api, "unix:"); ok {
		curl, root = "curl -s --unix-socket "+path+" ", "http://localhost"
	}
	for _, r := range s.Repos {
		token := ""
		if list := s.Tokens(r.Admin()); r.Private && len(list) > 0 {
			token = " -H 'Authorization: Bearer " + list[0] + "'"
		}
		fmt.Fprintf(&b, "  %s%s/repos/%s%s\n", curl, root, r.Name, token)
	}
	if at.ssh != "" && len(s.Repos) > 0 {
		fmt.Fprintf(&b, "\nGit over SSH:\n  git clone %s/%s.git\n", at.ssh, s.Repos[0].Name)
	}
	if at.admin != "" && !strings.HasPrefix(at.admin, "unix:") {
		fmt.Fprintf(&b, "\nBack to the beginning:\n  curl -s -X POST http://%s/admin/reset\n", at.admin)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
