package migration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/repo/settings"
	"arbor/internal/web"
)

// ImportOptions say what an import brings, where to, and whose it is here.
type ImportOptions struct {
	To       string            // OWNER/NAME here; empty: as at the source
	People   map[string]string // whose records become whose, see ReadMap
	Only     []Kind            // of records; nil: all. Git is always brought
	DryRun   bool              // only read and check
	Progress func(part string, done, all int64)
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
	done, all int64
}

// batchSize and batchBytes bound the records of one transaction.
const (
	batchSize  = 200
	batchBytes = 1 << 20
)

// Import makes a repository of what a source gives, goes on with an import that was killed, or brings what is new
// since an earlier one. The report tells what did not come; it is there after an error as well. Errors: Conflict for
// a repository that exists and was not imported from this source, or in which people have worked; those of the source.
func (s *Service) Import(ctx context.Context, src Source, o ImportOptions) (*Report, error) {
	report := newReport()
	about, err := src.Repository(ctx)
	if err != nil {
		return report, err
	}
	im := &importer{s: s, src: src, o: o, about: about, report: report}
	im.check = &checker{now: s.DB.Now().Time().UTC(), report: report.problem}
	im.people = &people{im: im, host: hostOf(about.Source), given: o.People, records: map[string]*Person{},
		known: map[string]account.ID{}, logins: map[string]string{}}
	for _, n := range about.Records {
		im.all += n
	}
	report.Repository, report.DryRun = o.To, o.DryRun
	if o.To == "" {
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
	// An earlier import has pull requests here. Refs that move would change them, so they move last.
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

// begin finds or makes the repository.
func (im *importer) begin(ctx context.Context) error {
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

// create makes the repository and its row of imports in one transaction each: an empty repository without one is
// taken, too.
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
	var was *earlier
	err := im.s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		was, err = earlierImport(tx, im.a.ID)
		return err
	})
	if err != nil {
		return err
	}
	name := im.a.FullName()
	switch {
	case was.source == "" && was.empty:
		if im.first = true; im.o.DryRun {
			return nil
		}
		return im.s.DB.Write(ctx, func(tx *db.Tx) error { return insertImport(tx, im.a.ID, im.about.Source) })
	case was.source == "":
		return errs.Newf(errs.Conflict, "%s exists, and was not imported: name another one", name)
	case was.source != im.about.Source:
		return errs.Newf(errs.Conflict, "%s was imported from %s: name another one", name, was.source)
	case was.others:
		return errs.Newf(errs.Conflict, "people have worked in %s since it was imported, so nothing more can be: "+
			"name another one", name)
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
	got, err := im.s.Transport.Fetch(ctx, im.a.Repo, source, im.o.Progress)
	if err != nil {
		return err
	}
	im.report.Refs, im.heads = int64(got.Refs), got.PullHeads
	for _, refused := range got.Refused {
		im.report.problem("%s", refused)
	}
	return im.s.DB.Write(ctx, func(tx *db.Tx) error {
		tip, err := repo.BranchTip(tx, im.a.ID, im.about.DefaultBranch)
		if err != nil || tip == "" {
			return err
		}
		return im.s.Repos.SetDefaultBranch(tx, im.a.ID, im.about.DefaultBranch)
	})
}

// row is a record on its way into the database.
type row struct {
	Record
	key, digest string
	id          int64 // of the row that was made of it; 0: there is none
	why         error // it cannot be brought
	same        bool  // it is here as it is
	before      int64 // id in an earlier import; 0: it is new
}

// records brings the records of a kind, in batches.
func (im *importer) records(ctx context.Context, k Kind) error {
	seen, seed := map[uint64]bool{}, maphash.MakeSeed()
	var batch []*row
	var bytes int
	count := im.report.of(k)
	var read int64
	flush := func() error {
		list := batch
		batch, bytes = nil, 0
		if len(list) == 0 {
			return nil
		}
		err := im.bring(ctx, k, list)
		for _, r := range list {
			switch {
			case err != nil:
			case r.why != nil:
				count.Failed++
				im.report.problem("%s: %v", describe(r.Record), r.why)
			case r.same:
				count.Same++
			case r.before != 0:
				count.Changed++
			default:
				count.New++
			}
		}
		im.done += int64(len(list))
		im.o.Progress(string(k), im.done, im.all)
		return err
	}
	err := im.src.Records(ctx, k, func(r Record, err error) error {
		read++
		if err != nil {
			count.Failed++
			im.report.problem("%v", err)
			return nil
		}
		made, err := im.newRow(r)
		if err != nil {
			return err
		}
		if hash := maphash.String(seed, made.key); made.why == nil && seen[hash] {
			made.why = errors.New("it comes twice")
		} else {
			seen[hash] = true
		}
		if made.why != nil {
			count.Failed++
			im.report.problem("%s: %v", describe(r), made.why)
			return nil
		}
		batch, bytes = append(batch, made), bytes+sizeOf(r)
		if len(batch) == batchSize || bytes > batchBytes {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if want, known := im.about.Records[k]; err == nil && known && read != want {
		im.report.problem("%s: the source announced %d records and gave %d", k, want, read)
	}
	return err
}

// newRow checks a record. Its digest is that of what the source said.
func (im *importer) newRow(r Record) (*row, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	made := &row{Record: r, key: r.Key(), digest: hex.EncodeToString(sum[:10])}
	if k, ok := r.(*Label); ok {
		made.key = account.Fold(k.Name)
	}
	made.why = im.check.check(r)
	return made, nil
}

// sizeOf estimates the memory of a record's texts.
func sizeOf(r Record) int {
	switch r := r.(type) {
	case *Issue:
		if r.Body != nil {
			return len(*r.Body)
		}
	case *Comment:
		return len(r.Body)
	case *ReviewComment:
		return len(r.Body) + len(r.DiffHunk)
	case *Release:
		if r.Body != nil {
			return len(*r.Body)
		}
	}
	return 0
}

// bring writes a batch in one transaction, with the notes of what it brought.
func (im *importer) bring(ctx context.Context, k Kind, list []*row) error {
	if err := im.people.know(ctx, named(list)); err != nil || im.o.DryRun {
		return err
	}
	if err := im.mark(ctx, k, list); err != nil {
		return err
	}
	fresh := slices.DeleteFunc(slices.Clone(list), func(r *row) bool { return r.same })
	if len(fresh) == 0 {
		return nil
	}
	b := &batch{im: im, kind: k}
	defer b.discard(ctx)
	if err := b.prepare(ctx, fresh); err != nil {
		return err
	}
	err := im.s.DB.Write(ctx, func(tx *db.Tx) error {
		b.tx, b.notes = tx, nil
		if err := issuekit.Lock(tx, im.a.ID); err != nil {
			return err
		}
		for _, r := range fresh {
			r.id, r.why = r.before, b.refused[r]
		}
		if err := b.write(slices.DeleteFunc(slices.Clone(fresh), func(r *row) bool { return r.why != nil })); err != nil {
			return err
		}
		return noteImported(tx, im.a.ID, k, fresh)
	})
	if err != nil {
		return err
	}
	b.files = nil // they have rows
	for _, note := range b.notes {
		im.report.problem("%s", note)
	}
	return nil
}

// mark finds out which records an earlier import brought, and which of them have not changed.
func (im *importer) mark(ctx context.Context, k Kind, list []*row) error {
	return im.s.DB.Read(ctx, func(tx *db.Tx) error {
		was, err := importedOf(tx, im.a.ID, k, keysOf(list))
		for _, r := range list {
			if before, ok := was[r.key]; ok {
				r.before, r.id, r.same = before.id, before.id, before.digest == r.digest
			}
		}
		return err
	})
}

func keysOf(list []*row) []string {
	keys := make([]string, len(list))
	for n, r := range list {
		keys[n] = r.key
	}
	return keys
}

// finish sets what later batches would have changed: times, numbers, the archive.
func (im *importer) finish(ctx context.Context) error {
	if im.o.DryRun {
		return nil
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
	return im.s.DB.Write(ctx, func(tx *db.Tx) error { return endImport(tx, im.a.ID, im.about) })
}
