package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"arbor/internal/backup"
	"arbor/internal/forge"
	"arbor/internal/migration"
	"arbor/internal/migration/foreign"
	"arbor/internal/migration/remote"
)

type exportCommand struct {
	storeFlags
	Repository string `arg:"" name:"owner/name" help:"The repository."`
	To         string `arg:"" name:"dir" help:"A new or empty folder, or - for a tar on standard output."`
	Address    string `help:"Address of this server, such as https://code.example.org: an import finds links to it in texts, and names people after it." placeholder:"URL"`
	Backup     string `help:"Export from the backup in this folder instead of the store. Its database is unpacked in the folder of temporary files for that." placeholder:"DIR"`
}

// Run writes the repository with its whole history. The server may run.
func (c *exportCommand) Run(p *process) (err error) {
	owner, name, err := splitRepo(c.Repository)
	if err != nil {
		return err
	}
	if c.Backup != "" {
		dir, err := os.MkdirTemp("", "arbor-backup-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := c.unpack(p, dir, owner, name); err != nil {
			return err
		}
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		f := s.forge(log)
		found, err := findRepo(p, f.Repos, owner, name)
		if err != nil {
			return err
		}
		var to migration.Sink
		said := p.stdout
		if c.To == "-" {
			to, said = migration.NewTar(p.stdout), p.stderr
		} else if to, err = migration.NewFolder(c.To); err != nil {
			return err
		}
		bar := newProgress(p.stderr)
		counts, err := migration.New(s.db, f, log).Export(p.ctx, found, to,
			migration.ExportOptions{Address: strings.TrimSuffix(c.Address, "/"), Progress: bar.show})
		bar.end()
		if err != nil {
			return err
		}
		fmt.Fprintf(said, "exported %s\n", found.FullName())
		for _, k := range migration.Kinds {
			if counts[k] > 0 {
				fmt.Fprintf(said, "  %-16s %d\n", k, counts[k])
			}
		}
		return nil
	})
}

// unpack makes a store of what the backup holds of a repository, and lets the command read it.
func (c *exportCommand) unpack(p *process, dir, owner, name string) error {
	if err := refuseFile(c.Backup, "arbor restore --data NEW - < "+c.Backup+", and export from there"); err != nil {
		return err
	}
	c.storeFlags = storeFlags{Data: dir}
	at, err := c.place()
	if err != nil {
		return err
	}
	bar := newProgress(p.stderr)
	to := backup.Destination{Database: at.Database, Folder: at.DataDir, Progress: bar.show}
	to.Verified = func(m *backup.Manifest) {
		bar.clear()
		fmt.Fprintf(p.stderr, "the backup holds the store as it was at %s\n", m.At.Format(time.RFC3339))
	}
	defer bar.end()
	return backup.OneRepository(p.ctx, c.Backup, to, owner, name)
}

type importCommand struct {
	storeFlags
	From      string   `arg:"" name:"from" help:"A folder that arbor export wrote, or the address of a repository at GitHub, GitHub Enterprise Server, Gitea, Forgejo or another Arbor, such as https://github.com/OWNER/NAME; https://github.com/ORG imports an organization with its members, teams and repositories."`
	To        string   `help:"Name of the repository here, or of the organization (default: as there)." placeholder:"OWNER/NAME"`
	As        string   `help:"File with lines THEIR-LOGIN OUR-LOGIN that assign imported records to users here. Other people are matched by a verified address, or shown by name." placeholder:"FILE"`
	TokenFile string   `help:"File with a token of an administrator of the repository on the other server. Without it, only public data is imported." placeholder:"FILE"`
	Only      []string `help:"Import only Git and these kinds of records: labels, milestones, issues, comments and so on (see docs/migration.md)." placeholder:"KIND"`
	DryRun    bool     `help:"Only read and check, and print the report."`
}

// Run imports the repository, resumes an import that was killed, or imports what is new.
func (c *importCommand) Run(p *process) error {
	o := migration.ImportOptions{To: c.To, DryRun: c.DryRun}
	elsewhere := strings.Contains(c.From, "://")
	if c.To != "" && !(elsewhere && remote.IsOrganization(c.From)) {
		if _, _, err := splitRepo(c.To); err != nil {
			return err
		}
	}
	for _, name := range c.Only {
		k := migration.Kind(name)
		if !slices.Contains(migration.Kinds[1:], k) {
			return misuse("--only: unknown kind of records %q: want labels, milestones, issues or another one of "+
				"docs/migration.md", name)
		}
		o.Only = append(o.Only, k)
	}
	if c.As != "" {
		in, err := os.Open(c.As)
		if err != nil {
			return err
		}
		o.People, err = migration.ReadMap(in)
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	token := ""
	switch {
	case c.TokenFile != "" && !elsewhere:
		return misuse("%q is a folder: use --token-file only with the address of a repository", c.From)
	case c.TokenFile != "":
		text, err := os.ReadFile(c.TokenFile)
		if err != nil {
			return err
		}
		token = strings.TrimSpace(string(text))
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		im := &importing{importCommand: c, p: p, forge: s.forge(log), o: o}
		im.service = migration.New(s.db, im.forge, log)
		to := c.To
		if elsewhere {
			bar := newProgress(p.stderr)
			var err error
			im.server, err = foreign.Find(p.ctx, c.From, remote.Options{Token: token, Git: s.git,
				Dir: im.forge.Repos.Dir(), Room: im.forge.Repos.Room.Check, Progress: bar.show})
			bar.end()
			if err != nil {
				return err
			}
			to = cmp.Or(to, im.server.Name())
			if im.server.IsOrganization() {
				return im.organization(to)
			}
			if _, _, err := splitRepo(to); err != nil {
				return err
			}
		}
		return im.repository(nil, "", to)
	})
}

// importing is an import on its way.
type importing struct {
	*importCommand
	p       *process
	forge   *forge.Forge
	o       migration.ImportOptions
	server  *foreign.Server // nil: a folder is imported
	wikis   []string        // names of the repositories that are wikis
	service *migration.Service
}

// source is what an import reads.
type source interface {
	migration.Source
	io.Closer
}

// progress is how an import tells what it does.
type progressFunc = func(part string, done, all int64)

// open opens an export, or reads a repository of another server: with a name, one of an organization there.
func (im *importing) open(of *migration.Organization, name, to string, progress progressFunc) (source, error) {
	if im.server != nil {
		known, err := im.service.Numbers(im.p.ctx, to)
		if err != nil {
			return nil, err
		}
		return im.server.Open(im.p.ctx, of, name, known, progress)
	}
	from, err := migration.OpenFolder(im.From)
	if err != nil {
		return nil, err
	}
	return from, nil
}

// repository imports one repository, and its wiki as a repository of its own.
func (im *importing) repository(of *migration.Organization, name, to string) error {
	open := func(progress progressFunc) (source, error) { return im.open(of, name, to, progress) }
	return im.bring(to, open, func(from source) error {
		if im.server == nil || im.o.Only != nil || im.DryRun {
			return nil
		}
		bar := newProgress(im.p.stderr)
		wiki, err := im.server.Wiki(im.p.ctx, from, bar.show)
		bar.end()
		if err != nil || wiki == nil {
			return err
		}
		return im.bring(to+".wiki", func(progressFunc) (source, error) { return wiki, nil }, func(source) error {
			im.wikis = append(im.wikis, strings.SplitAfterN(to, "/", 2)[1]+".wiki")
			return nil
		})
	})
}

// bring imports what open gives, prints the report, and calls then before it closes the source.
func (im *importing) bring(to string, open func(progressFunc) (source, error), then func(source) error) error {
	bar := newProgress(im.p.stderr)
	o := im.o
	o.To, o.Progress = to, bar.show
	from, err := open(bar.show)
	if err != nil {
		bar.end()
		return err
	}
	defer from.Close()
	report, err := im.service.Import(im.p.ctx, from, o)
	bar.end()
	if err != nil {
		printProblems(im.p.stderr, report)
		return err
	}
	if err := report.Write(im.p.stdout); err != nil {
		return err
	}
	return then(from)
}

// organization imports an organization: members, each repository, then teams. One repository that fails does not keep
// the others from coming.
func (im *importing) organization(to string) error {
	bar := newProgress(im.p.stderr)
	from, err := im.server.Organization(im.p.ctx, bar.show)
	bar.end()
	if err != nil {
		return err
	}
	org := im.service.NewOrganizationImport(from, to, im.o.People)
	if !im.DryRun {
		if err := org.Found(im.p.ctx); err != nil {
			return err
		}
	}
	failed := 0
	for _, name := range from.Repositories {
		if err := im.repository(from, name, to+"/"+name); err != nil {
			if im.p.ctx.Err() != nil {
				return err
			}
			failed++
			fmt.Fprintf(im.p.stderr, "%s: %v\n", name, err)
		}
	}
	for _, t := range from.Teams { // a team has the same role in a project and its wiki
		for _, wiki := range im.wikis {
			if role, ok := t.Roles[strings.TrimSuffix(wiki, ".wiki")]; ok {
				t.Roles[wiki] = role
			}
		}
	}
	if !im.DryRun {
		org.Teams(im.p.ctx)
	}
	fmt.Fprintf(im.p.stdout, "%s: %d repositories, %d teams\n", to, len(from.Repositories)-failed, len(from.Teams))
	for _, line := range org.Left {
		fmt.Fprintln(im.p.stdout, "  not brought:", line)
	}
	if failed > 0 {
		return fmt.Errorf("%d repositories were not imported: run it again", failed)
	}
	return nil
}

// printProblems prints what an import that failed has found out.
func printProblems(w io.Writer, r *migration.Report) {
	for _, problem := range r.Problems {
		fmt.Fprintln(w, problem)
	}
}

type userClaim struct {
	storeFlags
	Mannequin string `arg:"" help:"Login of the mannequin, such as 'alice[github.com]'."`
	Login     string `arg:"" help:"Login of the user to whom its texts are given."`
}

// Run makes a user the author of everything that a mannequin wrote.
func (c *userClaim) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		from, to, err := s.forge(log).ClaimMannequin(p.ctx, s.db, c.Mannequin, c.Login)
		if err == nil {
			fmt.Fprintf(p.stdout, "%s is now the author of everything by %s\n", to.Login, from.Login)
		}
		return err
	})
}
