package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"

	"arbor/internal/errs"
	"arbor/internal/server"
)

type userPasswd struct{ userNamed }

// Run sets the password of a user.
func (c *userPasswd) Run(p *process) error {
	password, err := p.askPassword(os.Stdin)
	if err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		if err := s.forge(log).Sessions.SetPassword(p.ctx, c.Login, password, nil); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.stdout, "%s has a new password\n", c.Login)
		return err
	})
}

// askPassword asks a person at a terminal twice, without showing what is typed; of anything else it reads a
// line. The first signal to stop ends it.
func (p *process) askPassword(in *os.File) (string, error) {
	if !term.IsTerminal(int(in.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(p.stdin(), 4096)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var typed [2]string
	for n, question := range []string{"Password: ", "Again: "} {
		fmt.Fprint(p.stderr, question)
		text, err := p.readHidden(int(in.Fd()))
		fmt.Fprintln(p.stderr)
		if err != nil {
			return "", err
		}
		typed[n] = text
	}
	if typed[0] != typed[1] {
		return "", misuse("the passwords do not match")
	}
	return typed[0], nil
}

// readHidden reads a line of a terminal without echo. If the command is interrupted, it leaves the
// terminal as it was: term.ReadPassword goes on waiting until the process ends.
func (p *process) readHidden(terminal int) (string, error) {
	before, err := term.GetState(terminal)
	if err != nil {
		return "", err
	}
	if err := p.ctx.Err(); err != nil {
		return "", err
	}
	type answer struct {
		text []byte
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(terminal)
		read <- answer{text, err}
	}()
	select {
	case a := <-read:
		return string(a.text), a.err
	case <-p.ctx.Done():
		return "", errors.Join(p.ctx.Err(), term.Restore(terminal, before))
	}
}

// invite says how the first account is made, on a server that has none. If the database goes away at this moment, the
// server waits for it as it does later, and says nothing.
func (c *serveCommand) invite(p *process, srv *server.Server, address string) error {
	some, err := srv.Forge().Sessions.HasUsers(p.ctx)
	if p.ctx.Err() != nil || errs.Is(err, errs.Unavailable) { // or it was told to stop already
		return nil
	}
	if err != nil || some {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "nobody is registered yet: open %s/setup with the code %s\n",
		address, srv.SetupCode())
	return err
}
