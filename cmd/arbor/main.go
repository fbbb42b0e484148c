// Command arbor is a self-hosted code-hosting server with a plant store.
//
//	arbor serve     the server
//	arbor demo      a throwaway server with something in it
//	arbor user, org, app, token, repo, issue     administration, also while the server runs
//	arbor backup, restore, database     copies of a store, their verification, and its move between engines
//	arbor nodes     which servers work on a store
//	arbor audit     lists who changed accounts and access
//	arbor doctor    makes a report without secrets, to attach to a bug
//	arbor check     looks through a store for what does not hold
//
// Each flag also comes from the environment: --data from ARBOR_DATA, and so on; those of serve
// also from files: see settingsplace.go.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"arbor/internal/audit"
	"arbor/internal/errs"
	"arbor/internal/journal"
	"arbor/internal/scope"
)

// commandLine is what can be said to arbor.
type commandLine struct {
	Serve    serveCommand    `cmd:"" help:"Run the server."`
	Demo     demoCommand     `cmd:"" help:"Run a throwaway server with people, repositories and plants; prints what to try."`
	User     userCommand     `cmd:"" help:"Manage users."`
	Org      orgCommand      `cmd:"" help:"Manage organizations."`
	App      appCommand      `cmd:"" help:"Manage GitHub Apps, and where they are installed."`
	Token    tokenCommand    `cmd:"" help:"Manage access tokens."`
	Repo     repoCommand     `cmd:"" help:"Manage repositories."`
	Issue    issueCommand    `cmd:"" help:"Manage issues in ways that the API does not offer."`
	Backup   backupCommand   `cmd:"" help:"Back up a store, also while the server runs."`
	Restore  restoreCommand  `cmd:"" help:"Make a store of a backup, after all of it was verified. Only an empty store takes one."`
	Database databaseCommand `cmd:"" help:"Manage the database."`
	Nodes    nodesCommand    `cmd:"" help:"List the servers that work on a store, with their versions and clocks."`
	Audit    auditCommand    `cmd:"" help:"List who changed accounts, access, membership, visibility, ownership or tokens."`
	Check    checkCommand    `cmd:"" help:"Check a store, also while the server runs: exit status 0 when everything holds, 3 when something does not."`

	Doctor doctorCommand `cmd:"" help:"Make a report without secrets, to attach to a bug: exit status 3 when something is wrong."`

	Config string `help:"Read settings from this YAML file alone: names of flags of serve with their values, see docs/settings.md (default: /etc/arbor/arbor.yaml, and arbor.yaml in the data folder)." placeholder:"FILE"`
	// or a variable for something else would end all commands
	Version kong.VersionFlag `help:"Print the version." env:"-"`
}

// version is set when a release is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

// process is what a command needs of the process that it runs in.
type process struct {
	ctx    context.Context
	stdout io.Writer
	stderr io.Writer
	began  time.Time
	umask  int // before closeUmask
}

// stdin returns standard input. A read from it ends when the command receives a signal to stop.
func (p *process) stdin() io.Reader {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, os.Stdin)
		in.CloseWithError(err)
	}()
	context.AfterFunc(p.ctx, func() { in.CloseWithError(p.ctx.Err()) })
	return out
}

// table writes columns to standard output, once it is flushed.
func (p *process) table() *tabwriter.Writer { return tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0) }

func main() { os.Exit(start(systemSettings)) }

// start runs the command that the process was started with, and gives its exit status. system is the system's
// file of settings.
func start(system string) int {
	began := time.Now()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once, as it would any other
	return run(ctx, began, system, os.Args[1:], os.Stdout, os.Stderr)
}

// run executes one command and gives the process's exit status: 0 done, 1
// failed, 2 called wrongly, 3 a check found something wrong.
func run(ctx context.Context, began time.Time, system string, args []string, stdout, stderr io.Writer) int {
	umask := closeUmask()
	exit := -1
	parser, said, err := newParser(&commandLine{}, system, stdout, stderr, func(code int) { exit = code })
	if err != nil {
		fmt.Fprintln(stderr, "arbor:", err)
		return 2
	}
	called, err := parser.Parse(args)
	if exit >= 0 {
		return exit
	}
	if said.err != nil {
		err = said.err
	}
	if err != nil {
		fmt.Fprintf(stderr, "arbor: %v (see arbor --help)\n", err)
		return 2
	}
	err = called.Run(&process{ctx, stdout, stderr, began, umask})
	var misuse *usageError
	var status *exitStatus
	switch {
	case errors.As(err, &status):
		return status.code
	case errors.As(err, &misuse):
		fmt.Fprintf(stderr, "arbor: %v (see arbor --help)\n", err)
		return 2
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "arbor: stopped before the end")
		return 1
	case err != nil:
		fmt.Fprintln(stderr, "arbor:", explain(err))
		return 1
	}
	return 0
}

// newParser makes the parser of the command line, with the settings that it reads of files. system is the
// system's file; empty: none.
func newParser(c *commandLine, system string, stdout, stderr io.Writer, exit func(int)) (
	*kong.Kong, *settingsFile, error,
) {
	parser, err := kong.New(c,
		kong.Name("arbor"), kong.Description("A self-hosted code-hosting server with a plant store."),
		kong.DefaultEnvars("ARBOR"), kong.UsageOnError(), kong.Writers(stdout, stderr),
		kong.Vars{"version": "arbor " + version, "auditDays": strconv.Itoa(audit.DefaultDays),
			"scopes":      strings.Join(scope.Names(), ", "),
			"usualScopes": strings.ReplaceAll(scope.Usual, " ", "")},
		kong.Exit(exit),
	)
	if err != nil {
		return nil, nil, err
	}
	ignoreEmpty(parser.Model.Node)
	said := newSettings(parser.Model, system)
	return parser, said, kong.Resolvers(said).Apply(parser)
}

// exitStatus ends a command that has said all there is to say.
type exitStatus struct{ code int }

func (e *exitStatus) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// usageError is a command line that cannot be meant, found out only when its
// command looked at it.
type usageError struct{ error }

func misuse(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// explain is an error for the operator, who may see causes, with the fields of
// a validation failure.
func explain(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n\t", " ") // of a database that cannot be reached
	var e *errs.Error
	if errors.As(err, &e) {
		for _, f := range e.Fields {
			text += fmt.Sprintf("; %s: %s", f.Field, cmp.Or(f.Message, f.Code))
		}
	}
	return text
}

// newLog makes the log: one line an event, on standard error. Somebody who lets
// requests log to it calls Flush at the end.
func newLog(w io.Writer, format string, level slog.Level) *journal.Handler {
	if format == "json" {
		return journal.JSON(w, level)
	}
	return journal.Text(w, level)
}
