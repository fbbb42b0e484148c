package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// confirmFlags are the flags of commands that delete what cannot be restored.
type confirmFlags struct {
	Yes bool `env:"-" help:"Do not ask for confirmation."`
}

// confirm asks a person at a terminal to type the name of what will be deleted. Without a terminal it needs --yes.
// what says more than the name if more than that is deleted.
func (f *confirmFlags) confirm(p *process, what, name string) error {
	if f.Yes {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return misuse("this deletes %s and cannot be undone: confirm it with --yes", what)
	}
	fmt.Fprintf(p.stderr, "This deletes %s and cannot be undone. Type %s to confirm: ", what, name)
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
