package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
)

// helpCommand is "arbor help COMMAND", which helpArguments turns into "arbor COMMAND --help".
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command."`
}

// Run is never called, see helpArguments.
func (c *helpCommand) Run() error { return nil }

// helpArguments returns the arguments that print what "arbor help" and arbor alone ask for.
func helpArguments(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	}
	return args
}

// versionCommand prints what --version does.
type versionCommand struct{}

func (c *versionCommand) Run(p *process) error {
	_, err := fmt.Fprintln(p.stdout, versionLine())
	return err
}

// versionLine is the version with the commit, its date and Go's version, as far as the build recorded them.
func versionLine() string {
	line := "arbor " + version
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return line
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if commit := settings["vcs.revision"]; commit != "" {
		line += fmt.Sprintf(" (commit %.12s of %.10s", commit, cmp.Or(settings["vcs.time"], "unknown date"))
		if settings["vcs.modified"] == "true" {
			line += ", modified"
		}
		line += ")"
	}
	return line + " " + info.GoVersion
}

// manCommand prints the manual page.
type manCommand struct{}

func (c *manCommand) Run(p *process, parser *kong.Kong) error {
	return mangokong.ManFlag(true).BeforeApply(parser)
}

// commandOf is the command that a command line that cannot be parsed meant, as far as it was understood.
func commandOf(err error) string {
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok && wrong.Context != nil {
		return fullName(wrong.Context)
	}
	return "arbor"
}

// fullName is "arbor" with the words of the command.
func fullName(c *kong.Context) string {
	if node := c.Selected(); node != nil {
		return node.FullPath()
	}
	for _, path := range c.Path {
		if path.Command != nil {
			return path.Command.FullPath()
		}
	}
	return "arbor"
}
