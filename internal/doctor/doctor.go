// Package doctor looks at a server's surroundings and makes a report to attach to a bug: what
// runs where, how large the store is, what is set, and what looks wrong with what to do.
//
//	doctor.go    the report
//	store.go     facts about the database
//	folder.go    the data folder; fstype_linux.go: the kind of its file system
//
// Nothing in a report names or quotes what is the operator's own: no names of people,
// repositories or hosts, no paths, no texts, no settings that are free text, and no text of an
// error, which may hold any of these. Causes go to Options.Cause alone, for the terminal.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/external"
	"arbor/internal/git"
	"arbor/internal/ldap"
)

// Status is how a check ended.
type Status string

// The statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitempty"` // what to do; empty: nothing
}

// Report is what was found.
type Report struct {
	Checks   []Check           `json:"checks"`
	Settings map[string]string `json:"settings"`
}

// Sound reports that no check failed.
func (r *Report) Sound() bool {
	for _, c := range r.Checks {
		if c.Status == Fail {
			return false
		}
	}
	return true
}

// Options say what to look at.
type Options struct {
	Version  string
	Folder   string // the data folder
	Memory   int64  // of the machine or container, in bytes; 0: unknown
	Settings map[string]string
	// Open opens the store; close closes what it opened.
	Open func(context.Context) (d *db.DB, g *git.Git, close func() error, err error)
	// Providers asks the identity providers whether people can sign in with them, by their names; nil: there are
	// none.
	Providers func(context.Context) (map[string]error, error)
	// Directories asks the directories (LDAP) the same; nil: there are none.
	Directories func(context.Context) (map[string]error, error)
	// Provisioners reads the sources that provision people by SCIM; nil: there are none.
	Provisioners func() ([]*external.Source, error)
	// Mail asks the mail server whether it would take mail; nil: no mail is sent.
	Mail  func(context.Context) error
	Cause func(check string, err error) // called with the reason why a check failed
}

// doctor collects one report.
type doctor struct {
	Options
	report Report
}

// Run looks at everything. What cannot be looked at is a check that failed.
func Run(ctx context.Context, o Options) *Report {
	d := &doctor{Options: o, report: Report{Settings: o.Settings}}
	d.add("program", OK, fmt.Sprintf("arbor %s, %s", o.Version, runtime.Version()), "")
	machine := fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if o.Memory > 0 {
		machine += fmt.Sprintf(", %d MiB of memory", o.Memory>>20)
	}
	d.add("machine", OK, machine, "")
	there := d.folder() // before the store is opened, which closes the folder to others
	d.git(ctx)
	d.providers(ctx)
	d.directories(ctx)
	d.mail(ctx)
	if there {
		d.store(ctx)
	}
	return &d.report
}

func (d *doctor) add(name string, status Status, found, advice string) {
	d.report.Checks = append(d.report.Checks, Check{name, status, found, advice})
}

// failed adds a check that could not be made.
func (d *doctor) failed(name, found, advice string, err error) {
	d.add(name, Fail, found, advice)
	d.Cause(name, err)
}

// providers asks identity providers. Their addresses are not in the report.
func (d *doctor) providers(ctx context.Context) {
	if d.Providers == nil {
		return
	}
	found, err := d.Providers(ctx)
	if err != nil {
		d.failed("identity providers", "the file cannot be read", "mend the file of --sign-in-file, see docs/sign-in.md", err)
		return
	}
	for n, name := range slices.Sorted(maps.Keys(found)) {
		check := fmt.Sprintf("identity provider %d", n+1) // its name is the operator's own
		if err := found[name]; err != nil {
			d.failed(check, "people cannot sign in with it",
				"check issuer, network and certificates from this machine", err)
			continue
		}
		d.add(check, OK, "it answers, with keys and PKCE", "")
	}
}

// directories asks directories. Their addresses are not in the report.
func (d *doctor) directories(ctx context.Context) {
	if d.Directories == nil {
		return
	}
	found, err := d.Directories(ctx)
	if err != nil {
		return // providers told of the file
	}
	for n, name := range slices.Sorted(maps.Keys(found)) {
		check := fmt.Sprintf("directory %d", n+1)
		err := found[name]
		if err == nil {
			d.add(check, OK, "all its servers answer, with people and the groups that the file names", "")
			continue
		}
		what := "people cannot sign in with it"
		if failure, is := errors.AsType[*ldap.Failure](err); is {
			what = failure.What
		}
		d.failed(check, what, "try arbor directory test, and mend the file of --sign-in-file, see docs/sign-in.md", err)
	}
}

// mailTime bounds what the mail server is asked.
const mailTime = 40 * time.Second

// mail asks the mail server. Its name is not in the report.
func (d *doctor) mail(ctx context.Context) {
	if d.Mail == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	if err := d.Mail(ctx); err != nil {
		d.failed("mail server", "it does not take mail",
			"check --mail-server, --mail-tls, user and password, see docs/mail.md; until then mails wait", err)
		return
	}
	d.add("mail server", OK, "it answers, and lets the server in", "")
}

// told are the lines of git's build options that describe its features.
var told = []string{"git version ", "cpu: ", "sizeof-long: ", "sizeof-size_t: ",
	"default-hash: ", "feature: "}

// git reports the version of git.
func (d *doctor) git(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "version", "--build-options").Output()
	if err != nil {
		d.failed("git", "git cannot be run", "install git 2.39.1 or newer where the server's PATH has it",
			err)
		return
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		for _, prefix := range told {
			if strings.HasPrefix(line, prefix) {
				found = append(found, strings.TrimSpace(line))
			}
		}
	}
	d.add("git", OK, strings.Join(found, ", "), "")
}

// order is how many digits a number has, said as a range: a report need not tell more.
func order(n int64) string {
	if n <= 0 {
		return "0"
	}
	low := int64(1)
	for n/low >= 10 {
		low *= 10
	}
	return fmt.Sprintf("%d-%d", low, 10*low-1)
}
