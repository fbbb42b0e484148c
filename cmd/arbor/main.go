// Command arbor is a self-hosted code-hosting server with a plant store.
//
//	arbor serve     the server
//	arbor demo      a throwaway server with something in it
//	arbor user, org, app, token, repo, issue     administration, even while the server runs
//	arbor mirror    keeps repositories in step with repositories on other servers
//	arbor backup, restore, database     copies of a store, their verification, and its move between engines
//	arbor export, import     a repository with its whole history, out of a store and into one
//	arbor objects     moves files to a bucket and back, and verifies them
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
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"arbor/internal/audit"
	"arbor/internal/errs"
	"arbor/internal/packs"
	"arbor/internal/repo/deleted"
	"arbor/internal/scope"
)

// commandLine is what can be said to arbor.
type commandLine struct {
	Serve     serveCommand     `cmd:"" group:"Run a server" help:"Run the server."`
	Demo      demoCommand      `cmd:"" group:"Run a server" help:"Run a throwaway server with sample data, and print commands to try."`
	User      userCommand      `cmd:"" group:"Manage people and repositories" help:"Manage users."`
	Org       orgCommand       `cmd:"" group:"Manage people and repositories" help:"Manage organizations."`
	App       appCommand       `cmd:"" group:"Manage people and repositories" help:"Manage GitHub Apps and their installations."`
	Mail      mailCommand      `cmd:"" group:"Run a server" help:"Try the mail server, and take replies by mail."`
	OAuthApp  oauthAppCommand  `cmd:"" name:"oauth-app" group:"Manage people and repositories" help:"Manage OAuth Apps, which sign people in with this server."`
	Directory directoryCommand `cmd:"" group:"Manage people and repositories" help:"Try a directory (LDAP) with which people sign in, or compare accounts with it."`
	Factors   factorsCommand   `cmd:"" group:"Manage people and repositories" help:"Show or change who must have a second factor: everybody, or the people of an organization."`
	Signup    signupCommand    `cmd:"" group:"Manage people and repositories" help:"Show or change how accounts begin: by administrators, by invitation, or by themselves."`
	Token     tokenCommand     `cmd:"" group:"Manage people and repositories" help:"Manage access tokens."`
	Repo      repoCommand      `cmd:"" group:"Manage people and repositories" help:"Manage repositories."`
	Mirror    mirrorCommand    `cmd:"" group:"Manage people and repositories" help:"Keep repositories in step with repositories on other servers."`
	Issue     issueCommand     `cmd:"" group:"Manage people and repositories" help:"Manage issues in ways that REST does not offer."`
	Backup    backupCommand    `cmd:"" group:"Keep data" help:"Back up a store. The server may run."`
	Restore   restoreCommand   `cmd:"" group:"Keep data" help:"Verify a backup and restore it into an empty store."`
	Export    exportCommand    `cmd:"" group:"Keep data" help:"Write a repository with its whole history into a folder. The server may run."`
	Import    importCommand    `cmd:"" group:"Keep data" help:"Make a repository of an export or another server, or bring what is new since."`
	Database  databaseCommand  `cmd:"" group:"Keep data" help:"Manage the database."`
	Objects   objectsCommand   `cmd:"" group:"Keep data" help:"Move files and repositories between the data folder and a bucket, or verify them. The server may run."`
	Nodes     nodesCommand     `cmd:"" group:"Run a server" help:"List the servers of a store with their versions and clocks."`
	Audit     auditCommand     `cmd:"" group:"Manage people and repositories" help:"List changes to accounts, access, membership, visibility, ownership and tokens."`
	Check     checkCommand     `cmd:"" group:"Run a server" help:"Check the consistency of a store. The server may run. Exits with 3 if something is wrong."`

	Help       helpCommand               `cmd:"" group:"Help" help:"Show help for a command."`
	Versions   versionCommand            `cmd:"" name:"version" group:"Help" help:"Print the version, commit and date of this program."`
	Completion kongcompletion.Completion `cmd:"" group:"Help" help:"Show how to complete commands in bash, zsh or fish."`
	Man        manCommand                `cmd:"" group:"Help" help:"Print the manual page: arbor man > arbor.1"`

	Doctor doctorCommand `cmd:"" group:"Run a server" help:"Print a report without secrets, to attach to a bug. Exits with 3 if something is wrong."`

	Config string `help:"Read settings from this YAML file only, see docs/settings.md (default: /etc/arbor/arbor.yaml, and arbor.yaml in the data folder)." placeholder:"FILE"`
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
	args = helpArguments(args)
	parser, said, err := newParser(&commandLine{}, system, stdout, stderr, func(code int) { exit = code })
	if err != nil {
		fmt.Fprintln(stderr, "arbor:", err)
		return 2
	}
	for _, name := range unknownVariables(parser.Model.Node, os.Environ()) {
		fmt.Fprintf(stderr, "arbor: warning: unknown variable %s is ignored\n", name)
	}
	called, err := parser.Parse(args)
	if exit >= 0 {
		return exit
	}
	if said.err != nil {
		err = said.err
	}
	if err != nil {
		fmt.Fprintf(stderr, "arbor: %v (see %s --help)\n", err, commandOf(err))
		return 2
	}
	err = called.Run(&process{ctx, stdout, stderr, began, umask}, parser)
	var misuse *usageError
	var status *exitStatus
	switch {
	case errors.As(err, &status):
		return status.code
	case errors.As(err, &misuse):
		fmt.Fprintf(stderr, "arbor: %v (see %s --help)\n", err, fullName(called))
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

// newParser returns the parser of the command line and of the settings files. system is the
// system's file; empty: none.
func newParser(c *commandLine, system string, stdout, stderr io.Writer, exit func(int)) (
	*kong.Kong, *settingsFile, error,
) {
	parser, err := kong.New(c,
		kong.Name("arbor"),
		kong.Description("Arbor hosts Git repositories, issues and pull requests for clients of GitHub's API."),
		kong.DefaultEnvars("ARBOR"), kong.UsageOnError(), kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Vars{"version": versionLine(), "auditDays": strconv.Itoa(audit.DefaultDays),
			"keepDeleted":  deleted.Time.String(),
			"objectsGrace": packs.Grace.String(),
			"scopes":       strings.Join(scope.Names(), ", "),
			"usualScopes":  strings.ReplaceAll(scope.Usual, " ", "")},
		kong.Exit(exit),
	)
	if err != nil {
		return nil, nil, err
	}
	ignoreEmpty(parser.Model.Node)
	kongcompletion.Register(parser)
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

// explain formats an error for the operator: with its causes, and the fields of a failed validation in place of
// its message.
func explain(err error) string {
	// A database that cannot be reached has a line for each try.
	text := strings.Join(slices.Compact(strings.Split(err.Error(), "\n\t")), " ")
	if file, ok := errors.AsType[*fs.PathError](err); ok && file.Error() == text {
		text = fmt.Sprintf("cannot %s %s: %v", cmp.Or(map[string]string{"mkdir": "create", "stat": "find"}[file.Op],
			file.Op), file.Path, file.Err)
	}
	if e, ok := errors.AsType[*errs.Error](err); ok && len(e.Fields) > 0 {
		var wrong []string
		for _, f := range e.Fields {
			what := cmp.Or(f.Message, f.Code)
			if !strings.HasPrefix(what, f.Field) {
				what = f.Field + ": " + what
			}
			wrong = append(wrong, what)
		}
		text = strings.Replace(text, e.Message, strings.Join(wrong, "; "), 1)
	}
	return text
}
