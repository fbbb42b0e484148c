package migration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/repo/settings"
	"arbor/internal/repo/transport"
	"arbor/internal/web"
)

// ImportOptions say what an import brings, where to, and whose it is here.
type ImportOptions struct {
	To       string            // OWNER/NAME here; empty: as at the source
	People   map[string]string // whose records become whose, see ReadMap
	Only     []Kind            // of records; nil: all. Git is always brought
	DryRun   bool              // only read and check
	Progress func(part string, done, all int64)

	// For imports that users ask for (package job):
	Into       *repo.Access // the repository to fill; nil: To names it
	ByMap      bool         // only the map names accounts here: all others are mannequins of the source's host
	MostPeople int          // without accounts here; 0: any number
	// Check is called in each transaction that writes, with the bytes of text that it adds. An error ends the import.
	Check func(tx *db.Tx, bytes int64) error
}

// importer is one import.
type importer struct {
	s      *Service
	src    Source
	o      ImportOptions
	about  *Repository
	a      *repo.Access // as nobody; nil in a dry run without a repository
	report *Report
	people *people
	texts  *texts
	check  *checker

	first     bool // no earlier import ended
	heads     map[int64]git.SHA
	assets    map[string]int // files that each release has so far, by its id there
	done, all int64
}

// batchSize and batchBytes bound the records of one transaction.
const (
	batchSize  = 200
	batchBytes = 1 << 20
	rowBytes   = 256 // that a record takes besides its texts
)

// Import creates a repository from a source, resumes an import that was killed, or imports what is new since an
// earlier import. The report lists what was not imported; it is not nil after an error either. Errors: Conflict if
// the repository exists and was not imported from this source, or if people have worked in it; those of the source.
func (s *Service) Import(ctx context.Context, src Source, o ImportOptions) (*Report, error) {
	report := newReport()
	about, err := src.Repository(ctx)
	if err != nil {
		return report, err
	}
	im := &importer{s: s, src: src, o: o, about: about, report: report, assets: map[string]int{}}
	im.check = &checker{now: s.DB.Now().Time().UTC(), report: report.problem}
	im.people = &people{im: im, host: hostOf(about.Source), byMap: o.People, records: map[string]*Person{},
		accounts: map[string]account.ID{}, logins: map[string]string{}}
	for _, n := range about.Records {
		im.all += n
	}
	report.Repository, report.DryRun = o.To, o.DryRun
	switch {
	case o.Into != nil:
		report.Repository = o.Into.FullName()
	case o.To == "":
		report.Repository = about.Name
	}
	for _, line := range src.Left() {
		report.problem("%s", line)
	}
	im.texts = newTexts(about.Source, about.Name, report.Repository, im.people.nameIn)
	return report, im.run(ctx)
}

func (im *importer) run(ctx context.Context) error {
	if err := im.people.load(ctx); err != nil {
		return err
	}
	if err := im.begin(ctx); err != nil {
		return err
	}
	// After an earlier import there are pull requests here. Moving refs would change them, so refs move last.
	if im.first {
		if err := im.git(ctx); err != nil {
			return err
		}
	}
	for _, k := range Kinds[1:] {
		if k == Issues && !im.o.DryRun { // texts name attachments, which are here by now
			if err := im.loadAttachments(ctx); err != nil {
				return err
			}
		}
		if im.o.Only != nil && !slices.Contains(im.o.Only, k) {
			continue
		}
		if err := im.records(ctx, k); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	if !im.first {
		if err := im.git(ctx); err != nil {
			return err
		}
	}
	return im.finish(ctx)
}

// loadAttachments reads what the attachments are called here.
func (im *importer) loadAttachments(ctx context.Context) error {
	return im.s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		im.texts.attachments, err = attachmentKeys(tx, im.a.ID)
		return err
	})
}

// allowed asks whether the import may go on and add so many bytes of text, in a transaction.
func (im *importer) allowed(tx *db.Tx, bytes int64) error {
	if im.o.Check == nil {
		return nil
	}
	return im.o.Check(tx, bytes)
}

// begin finds or makes the repository.
func (im *importer) begin(ctx context.Context) error {
	if im.o.Into != nil {
		im.a = im.o.Into.OnArchived()
		return im.resume(ctx)
	}
	owner, name, ok := strings.Cut(im.report.Repository, "/")
	if !ok || strings.Contains(name, "/") {
		return errs.Newf(errs.Invalid, "%q is not OWNER/NAME", im.report.Repository)
	}
	operator := &account.Caller{SiteAdmin: true}
	found, err := im.s.Repos.Find(ctx, operator, owner, name)
	switch {
	case errs.Is(err, errs.NotFound):
		if im.first = true; im.o.DryRun {
			return nil
		}
		if err := im.create(ctx, owner, name); err != nil {
			return err
		}
		found, err = im.s.Repos.Find(ctx, operator, owner, name)
		if err != nil {
			return err
		}
		im.a = found.Access.OnArchived()
		return nil
	case err != nil:
		return err
	}
	im.a = found.Access.OnArchived()
	return im.resume(ctx)
}

// create creates the repository, and then its row of imports in another transaction. If the import is killed
// between the two, the next one takes the empty repository.
func (im *importer) create(ctx context.Context, owner, name string) error {
	r := im.about
	n := repo.NewRepo{Owner: owner, Name: name, Private: r.Private, NoIssues: r.NoIssues, IsTemplate: r.Template,
		Merging: r.Merging.Merging()}
	if r.Description != "" {
		n.Description = &r.Description
	}
	if r.Homepage != "" {
		n.Homepage = &r.Homepage
	}
	made, err := im.s.Repos.Create(ctx, nil, n)
	if err != nil {
		return err
	}
	return im.s.DB.Write(ctx, func(tx *db.Tx) error { return insertImport(tx, made.ID, im.about.Source) })
}

// resume checks that the repository is one that an import of this source made, and that nobody has worked in it.
func (im *importer) resume(ctx context.Context) error {
	was, err := db.Get(ctx, im.s.DB, func(tx *db.Tx) (*earlier, error) { return earlierImport(tx, im.a.ID) })
	if err != nil {
		return err
	}
	name := im.a.FullName()
	switch {
	case was.source == "" && was.empty:
		if im.first = true; im.o.DryRun {
			return nil
		}
		return im.s.DB.Write(ctx, func(tx *db.Tx) error {
			if err := insertImport(tx, im.a.ID, im.about.Source); err != nil {
				return err
			}
			return im.allowed(tx, 0)
		})
	case was.source == "":
		return errs.Newf(errs.Conflict, "%s exists and was not imported: choose another name", name)
	case was.source != im.about.Source:
		return errs.Newf(errs.Conflict, "%s was imported from %s: choose another name", name, was.source)
	case was.others:
		return errs.Newf(errs.Conflict, "people have worked in %s since it was imported, so it accepts no further "+
			"import: choose another name", name)
	}
	im.first = !was.ended
	return nil
}

// git brings refs and objects.
func (im *importer) git(ctx context.Context) error {
	im.heads = map[int64]git.SHA{}
	source, err := im.src.Git(ctx)
	if err != nil || source == "" || im.o.DryRun {
		return err
	}
	got, err := im.s.Transport.Fetch(ctx, im.a.Repo, source, transport.FetchOptions{Progress: im.o.Progress,
		If: func(tx *db.Tx, updates []repo.RefUpdate) ([]error, error) {
			return make([]error, len(updates)), im.allowed(tx, 0)
		}})
	if err != nil {
		return err
	}
	im.report.Refs, im.heads = int64(got.Refs), got.PullHeads
	for _, refused := range got.Refused {
		im.report.problem("%s", refused)
	}
	return im.s.DB.Write(ctx, func(tx *db.Tx) error {
		if err := im.allowed(tx, 0); err != nil {
			return err
		}
		tip, err := repo.BranchTip(tx, im.a.ID, im.about.DefaultBranch)
		if err != nil || tip == "" {
			return err
		}
		return im.s.Repos.SetDefaultBranch(tx, im.a.ID, im.about.DefaultBranch)
	})
}

// finish sets what must come after all batches: topics, the archived state, and the repository's times and numbers.
func (im *importer) finish(ctx context.Context) error {
	if im.o.DryRun {
		return nil
	}
	if err := im.s.DB.Write(ctx, func(tx *db.Tx) error { return im.allowed(tx, 0) }); err != nil {
		return err
	}
	e := settings.Edit{Topics: web.Opt[[]string]{Set: true, Value: im.about.Topics}}
	if im.about.Topics == nil {
		e.Topics.Value = []string{}
	}
	if _, err := im.s.Settings.Edit(ctx, im.a, e); err != nil {
		im.report.problem("topics: %v", err)
	}
	if im.about.Archived && !im.a.Archived {
		archive := settings.Edit{Archived: web.Opt[bool]{Set: true, Value: true}}
		if _, err := im.s.Settings.Edit(ctx, im.a, archive); err != nil {
			im.report.problem("archive: %v", err)
		}
	}
	return im.s.DB.Write(ctx, func(tx *db.Tx) error {
		if err := endImport(tx, im.a.ID, im.about); err != nil {
			return err
		}
		return im.allowed(tx, 0)
	})
}
