package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// confirmFlags are the flags of commands that delete something.
type confirmFlags struct {
	Yes bool `env:"-" help:"Do not ask for confirmation."`
}

// confirm is ask for what cannot be restored. what says more than the name if more than that is deleted.
func (f *confirmFlags) confirm(p *process, what, name string) error {
	return f.ask(p, "deletes "+what+" and cannot be undone", name)
}

// ask asks a person at a terminal to type the name of what will be deleted. Without a terminal it needs --yes.
// does says what the command does.
func (f *confirmFlags) ask(p *process, does, name string) error {
	if f.Yes {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return misuse("this %s: confirm it with --yes", does)
	}
	fmt.Fprintf(p.stderr, "This %s. Type %s to confirm: ", does, name)
	line, err := bufio.NewReader(io.LimitReader(p.stdin(), 4096)).ReadString('\n')
	if err != nil {
		fmt.Fprintln(p.stderr)
		return err
	}
	if strings.TrimSpace(line) != name {
		return fmt.Errorf("not confirmed: nothing was deleted")
	}
	return nil
}
