package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"arbor/internal/errs"
	"arbor/internal/external"
	"arbor/internal/ldap"
	"arbor/internal/signinfile"
)

type directoryCommand struct {
	Test        directoryTest        `cmd:"" help:"Find somebody in a directory as a sign-in does, and show what it would give. With --password also try the password."`
	Provisioned directoryProvisioned `cmd:"" help:"List the users whom identity providers provisioned by SCIM, with their accounts, or the groups."`
	Compare     directoryCompare     `cmd:"" help:"Compare accounts with a directory now: suspend who is gone, end such suspensions of who is back, follow groups."`
}

// directoryFlags name a directory.
type directoryFlags struct {
	SignInFile string `help:"File that describes the directory, see docs/sign-in.md." placeholder:"FILE"`
	Directory  string `arg:"" help:"Name of the directory in the file."`
}

// read reads the file, and finds the directory.
func (f *directoryFlags) read() (*signinfile.Config, *ldap.Directory, error) {
	if f.SignInFile == "" {
		return nil, nil, misuse("--sign-in-file is missing")
	}
	config, err := signinfile.ReadFile(f.SignInFile)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range config.Directories {
		if d.Name == f.Directory {
			return config, d, nil
		}
	}
	return nil, nil, errs.Newf(errs.NotFound, "directory %q not found in the file", f.Directory)
}

type directoryTest struct {
	directoryFlags
	Name     string `arg:"" help:"Name with which somebody signs in."`
	Password bool   `help:"Ask for the password, or read a line of it from standard input, and try it."`
}

// Run shows what a directory says of a name. It exits with 3 if the name or the password is wrong.
func (c *directoryTest) Run(p *process) error {
	_, d, err := c.read()
	if err != nil {
		return err
	}
	password := ""
	if c.Password {
		if password, err = p.readPassword(os.Stdin); err != nil {
			return err
		}
	}
	found, err := d.Look(p.ctx, c.Name, password)
	if err != nil {
		return err
	}
	if found == nil {
		fmt.Fprintf(p.stdout, "%s: nobody, or more than one person, has this name\n", c.Name)
		return &exitStatus{statusUnsound}
	}
	w := p.table()
	for _, line := range [][2]string{{"entry", found.DN}, {"id", found.Subject}, {"login", found.Login},
		{"name", found.Name}, {"address", found.Email}, {"groups", strings.Join(found.Groups, ", ")}} {
		fmt.Fprintf(w, "%s\t%s\n", line[0], line[1])
	}
	if c.Password {
		fmt.Fprintf(w, "password\t%s\n", map[bool]string{true: "right", false: "wrong"}[found.Right])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if c.Password && !found.Right {
		return &exitStatus{statusUnsound}
	}
	return nil
}

// readPassword asks once for a password that exists, without showing it; of anything but a terminal it reads a line.
func (p *process) readPassword(in *os.File) (string, error) {
	if term.IsTerminal(int(in.Fd())) {
		fmt.Fprint(p.stderr, "Password: ")
		text, err := p.readHidden(int(in.Fd()))
		fmt.Fprintln(p.stderr)
		return text, err
	}
	line, err := bufio.NewReader(io.LimitReader(p.stdin(), 4096)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}

type directoryCompare struct {
	storeFlags
	directoryFlags
	DryRun bool `help:"Only say what would be done."`
	Most   int  `help:"Greatest share of the accounts that may be suspended, in percent (default: suspend_at_most of the file)." placeholder:"PERCENT"`
}

// Run compares the accounts with the directory, even while a server runs. It exits with 3 if somebody should have
// been suspended and was not.
func (c *directoryCompare) Run(p *process) error {
	if c.Most < 0 || c.Most > 100 {
		return misuse("--most must be from 1 to 100")
	}
	var r external.Report
	err := withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		config, _, err := c.read()
		if err != nil {
			return err
		}
		f := s.forge(log)
		accounts := external.New(external.Options{Sources: config.Sources(), Passwords: config.Passwords, DB: s.db,
			Accounts: f.Accounts, Teams: f.Teams, Sessions: f.Sessions, Log: log, Now: time.Now})
		directories := ldap.New(ldap.Options{Directories: config.Directories, Accounts: accounts, DB: s.db,
			Sessions: f.Sessions, Log: log})
		r, err = directories.Compare(p.ctx, c.Directory, c.Most, c.DryRun)
		return err
	})
	if err != nil {
		return err
	}
	would := ""
	if c.DryRun {
		would = "would be "
	}
	fmt.Fprintf(p.stdout, "%d people in the directory, %d accounts, %d of them not in the directory: "+
		"%d %ssuspended, %d %srestored, groups of %d %supdated\n",
		r.People, r.Linked, r.Missing, r.Suspended, would, r.Lifted, would, r.Followed, would)
	if r.Problem != "" {
		fmt.Fprintf(p.stdout, "%s\n", r.Problem)
		return &exitStatus{statusUnsound}
	}
	return nil
}

type directoryProvisioned struct {
	storeFlags
	Groups bool `help:"List the groups."`
}

// Run lists the users or groups that were provisioned.
func (c *directoryProvisioned) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		w := p.table()
		if c.Groups {
			fmt.Fprintln(w, "GROUP\tMEMBERS\tPROVIDER\tCHANGED")
		} else {
			fmt.Fprintln(w, "USER\tACCOUNT\tSTATE\tPROVIDER\tCHANGED")
		}
		err := external.EachProvisioned(p.ctx, s.db, c.Groups, func(l external.Listed) error {
			if c.Groups {
				_, err := fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", l.Name, l.Members, l.Issuer, when(l.Changed))
				return err
			}
			state := "inactive"
			if l.Active {
				state = "active"
			}
			login := l.Login
			if login == "" {
				login = "-"
			}
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.Name, login, state, l.Issuer, when(l.Changed))
			return err
		})
		if err != nil {
			return err
		}
		return w.Flush()
	})
}
