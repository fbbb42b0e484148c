package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/hook/outgoing"
	"arbor/internal/plant"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/server"
	"arbor/internal/ssh"
	"arbor/internal/team"
	"arbor/internal/web"
)

type demoCommand struct {
	serverFlags
	sshFlags
	Database string `help:"Use this empty PostgreSQL database (default: SQLite in a temporary folder)." placeholder:"URL"`
	Seed     string `help:"Serve the contents of this YAML file instead, see docs/seed.md; SQLite only." placeholder:"FILE"`
	Quiet    bool   `help:"Do not log requests." default:"true" negatable:""`
}

// Run serves a temporary data folder with something in it until the process is
// told to stop, and then removes the folder.
func (c *demoCommand) Run(p *process) (err error) {
	c.umask = p.umask
	if !signal.Ignored(syscall.SIGHUP) { // its terminal closes: nothing of it stays
		ctx, stop := signal.NotifyContext(p.ctx, syscall.SIGHUP)
		defer stop()
		p.ctx = ctx
	}
	if err := c.check(); err != nil {
		return err
	}
	if err := c.checkSSH(); err != nil {
		return err
	}
	if c.Quiet && c.LogLevel == "info" {
		c.LogLevel = "warn"
	}
	log, closeLog := c.openLog(p.stderr)
	defer closeLog()
	if c.Seed != "" {
		return c.serveSeed(p, log)
	}
	dir, err := os.MkdirTemp("", "arbor-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	flags := storeFlags{Data: dir, Database: c.Database}
	s, err := flags.open(p.ctx, c.gitOptions(log))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	d := &demo{store: s, log: log, out: p.stdout, tokens: map[string]string{},
		callers:  map[string]*account.Caller{},
		checkout: ownCheckout(p.ctx)}
	if err := d.fill(p.ctx); err != nil {
		if p.ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("filling the demo: %w", err)
	}
	o := c.options(log)
	o.HookNetworks = append(o.HookNetworks, outgoing.Loopback()...)
	if c.ssh, o.SSH, err = c.openSSH(ssh.NewHostKeys, log); err != nil {
		return err
	}
	d.ssh = sshAddress(c.ssh, o.SSH)
	o.DB, o.Git, o.DataDir = s.db, s.git, s.dir
	return c.serve(p.ctx, server.New(o), d.explain)
}

// demo fills a fresh store and tells what is in it.
type demo struct {
	store     *store
	log       *slog.Logger
	out       io.Writer
	tokens    map[string]string // by login
	callers   map[string]*account.Caller
	checkout  string // the folder of the program's own source; empty: it is not shown
	ownSource bool   // the program's own repository is there
	ssh       string // what addresses of git over SSH begin with; empty: none
}

// The demo's people; the first administers the site.
var demoPeople = []account.NewUser{
	{Login: "root-gardener", Name: "Robin Root", Admin: true},
	{Login: "alice", Name: "Alice Ash", Email: "alice@example.org"},
	{Login: "bob", Name: "Bob Birch", Email: "bob@example.org"},
}

const demoOrg = "orchard"

// fill creates everything in order of dependency. Each
// feature adds its own part here.
func (d *demo) fill(ctx context.Context) error {
	f := d.store.forge(d.log)
	accounts := f.Accounts
	for _, n := range demoPeople {
		made, err := accounts.CreateUser(ctx, n)
		if err != nil {
			return err
		}
		d.callers[n.Login] = &account.Caller{ID: made.ID, Login: made.Login, SiteAdmin: made.SiteAdmin}
		token, _, err := f.Tokens.CreateToken(ctx,
			token.NewToken{Login: n.Login, Note: "demo", Scopes: scope.All})
		if err != nil {
			return err
		}
		d.tokens[n.Login] = token
		if err := f.Sessions.SetPassword(ctx, n.Login, demoPassword, nil); err != nil {
			return err
		}
	}
	if _, err := accounts.CreateOrg(ctx, demoOrg, "alice"); err != nil {
		return err
	}
	if err := d.fillRepositories(ctx); err != nil {
		return err
	}
	if err := d.fillTeam(ctx); err != nil {
		return err
	}
	if err := d.fillIssues(ctx); err != nil {
		return err
	}
	if err := d.fillPulls(ctx); err != nil {
		return err
	}
	if err := d.fillChecks(ctx); err != nil {
		return err
	}
	if err := d.fillTalk(ctx); err != nil {
		return err
	}
	if err := d.fillRelease(ctx); err != nil {
		return err
	}
	return d.fillPlants(ctx)
}

// fillTeam creates a team of the organization.
func (d *demo) fillTeam(ctx context.Context) error {
	teams, alice := d.store.forge(d.log).Teams, d.callers["alice"]
	n := team.NewTeam{Repos: []string{"seeds"}}
	n.Name, n.Description = web.Some("Weeders"), web.Some("Who keeps the beds tidy")
	n.Secret = web.Some(false)
	_, err := teams.Create(ctx, alice, demoOrg, n)
	return err
}

func (d *demo) fillRepositories(ctx context.Context) error {
	history, err := makeHistory(ctx, d.store.dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(history)
	f := d.store.forge(d.log)
	made := []struct {
		owner, name, description, source string
		private                          bool
	}{
		{"alice", "greenhouse", "Keeps the climate of a greenhouse", history, false},
		{"alice", "diary", "Private notes on the seasons", history, true},
		{demoOrg, "seeds", "An empty repository: push something", "", false},
		{demoOrg, "arbor", "The program that you are running", d.checkout, false},
	}
	for _, m := range made {
		if m.name == "arbor" && m.source == "" {
			continue
		}
		r, err := f.Repos.Create(ctx, nil, repo.NewRepo{Owner: m.owner, Name: m.name,
			Description: &m.description, Private: m.private})
		if err != nil {
			return err
		}
		if m.source != "" {
			if _, err := f.Transport.Import(ctx, r, m.source, func(string, int64, int64) {}); err != nil {
				return err
			}
		}
		d.ownSource = d.ownSource || m.name == "arbor"
		if m.name == "greenhouse" {
			if err := f.Repos.Grant(ctx, r.ID, "bob", account.Push); err != nil {
				return err
			}
		}
	}
	if err := d.commitWithoutClone(ctx, f.Repos); err != nil {
		return err
	}
	if err := d.forkGreenhouse(ctx, f); err != nil {
		return err
	}
	return d.fillStars(ctx, f.Repos)
}

// ownCheckout is the folder of the program's own source when the demo was
// started inside its checkout and that has history; empty otherwise.
func ownCheckout(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel", "HEAD").Output()
	if err != nil {
		return ""
	}
	top, _, _ := strings.Cut(string(out), "\n")
	module, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil || !strings.HasPrefix(string(module), "module arbor\n") {
		return ""
	}
	shallow, err := exec.CommandContext(ctx, "git", "rev-parse", "--is-shallow-repository").Output()
	if err != nil || strings.TrimSpace(string(shallow)) == "true" {
		return ""
	}
	return top
}

func (d *demo) fillPlants(ctx context.Context) error {
	plants := plant.New(d.store.db)
	tree := "tree"
	for i, name := range []string{"Rowan", "Silver birch", "Wild cherry"} {
		p := &plant.Plant{ID: int64(i + 1), Name: name, Tag: &tree}
		if err := plants.Create(ctx, d.callers["alice"], p); err != nil {
			return err
		}
	}
	return nil
}

// demoPassword is with which everybody in the demo signs in to the pages.
const demoPassword = "greenhouse"

// explain prints what to try; each line can be pasted.
func (d *demo) explain(address string) error {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("Arbor demo at %s  (everything is thrown away when you press Ctrl-C)\n", address)
	say("People and tokens; all have the password %q:", demoPassword)
	for _, p := range demoPeople {
		role := ""
		if p.Admin {
			role = "  (site administrator)"
		}
		say("  %-14s %s%s", p.Login, d.tokens[p.Login], role)
	}
	curl, host := "curl -s "+address, address
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		curl, host = "curl -s --unix-socket "+path+" http://localhost", ""
	}
	if host != "" {
		say("\nOpen in a browser, and sign in:\n  %s/\n  %s/alice/greenhouse\n  %s/docs", host, host, host)
	}
	say("\nTry the API:")
	say("  %s/", curl)
	say("  %s/users/alice/repos", curl)
	say("  %s'/repos/alice/greenhouse/git/trees/main?recursive=1'", curl)
	say("  %s/repos/alice/greenhouse/git/ref/heads/main", curl)
	say("  %s/repos/alice/greenhouse/forks", curl)
	say("  %s/repos/alice/greenhouse/git/blobs -H 'Authorization: Bearer %s' -d '{\"content\":\"hello\"}'",
		curl, d.tokens["bob"])
	say("  %s/repos/alice/diary -H 'Authorization: Bearer %s'", curl, d.tokens["alice"])
	say("  %s'/repos/alice/greenhouse/issues?state=all&labels=bug'", curl)
	say("  %s/repos/alice/greenhouse/issues/1 -H 'Accept: application/vnd.service.v3.html+json'", curl)
	say("  %s/repos/alice/greenhouse/issues/1/timeline", curl)
	say("  %s'/issues?filter=all&sort=updated' -H 'Authorization: Bearer %s'", curl, d.tokens["bob"])
	say("  %s/repos/alice/greenhouse/issues -H 'Authorization: Bearer %s' "+
		"-d '{\"title\":\"Snails!\",\"labels\":[\"bug\"]}'", curl, d.tokens["bob"])
	say("  %s'/repos/alice/greenhouse/pulls?state=all'", curl)
	say("  %s/repos/alice/greenhouse/pulls/8", curl)
	say("  %s/repos/alice/greenhouse/pulls/9", curl)
	say("  %s/repos/alice/greenhouse/commits/irrigation/status", curl)
	say("  %s'/repos/alice/greenhouse/commits/refs/pull/%d/head/check-runs'", curl, reviewed)
	say("  %s/repos/alice/greenhouse/pulls/8/merge -X PUT -H 'Authorization: Bearer %s'", curl,
		d.tokens["alice"])
	say("  %s/repos/alice/greenhouse/events", curl)
	say("  %s/users/alice/followers", curl)
	say("  %s/repos/alice/greenhouse/stargazers -H 'Accept: application/vnd.service.v3.star+json'", curl)
	say("  %s/user/repos -H 'Authorization: Bearer %s' -d '{\"name\":\"meadow\"}'", curl, d.tokens["bob"])
	say("\nTry the plant store:")
	say("  %s/plants -H 'Authorization: Bearer %s'", curl, d.tokens["alice"])
	say("  %s/plants -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' "+
		"-d '{\"id\":7,\"name\":\"Fig\",\"tag\":\"tree\"}'", curl, d.tokens["alice"])
	say("  %s/plants/7 -X DELETE -H 'Authorization: Bearer %s'", curl, d.tokens["alice"])
	if host != "" {
		d.explainGit(say, host)
	}
	_, err := io.WriteString(d.out, b.String())
	return err
}

func (d *demo) explainGit(say func(string, ...any), host string) {
	scheme, rest, _ := strings.Cut(host, "://")
	say("\nTry git:")
	say("  git clone %s/alice/greenhouse.git", host)
	if d.ownSource {
		say("  git clone %s/%s/arbor.git", host, demoOrg)
	}
	say("  git -C greenhouse fetch -q origin refs/pull/12/head && git -C greenhouse log --oneline -1 FETCH_HEAD")
	say("  cd greenhouse && git switch -c watering && echo 'water daily' >> README.md && "+
		"git commit -qam 'Water daily' && git push %s://bob:%s@%s/alice/greenhouse.git watering",
		scheme, d.tokens["bob"], rest)
	if d.ssh == "" {
		return
	}
	say("\nTry git over SSH, with a key of yours:")
	say("  curl -s %s/user/keys -H 'Authorization: Bearer %s' "+
		"-d \"{\\\"key\\\":\\\"$(cat ~/.ssh/id_ed25519.pub)\\\"}\"", host, d.tokens["bob"])
	say("  git clone %s/alice/greenhouse.git greenhouse-over-ssh", d.ssh)
}
