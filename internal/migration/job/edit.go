package job

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Request is an import that somebody asks for.
type Request struct {
	URL    string            // of the repository's page at its server
	Token  string            // of that server; empty: what everybody sees
	People map[string]string // whose records become whose, logins there and here; only for site administrators
}

// Fields are the names that a request's values have where they were given.
type Fields struct{ URL, Token, People string }

// PageFields are those of the form.
var PageFields = Fields{URL: "remote_url", Token: "password", People: "people"}

// Check reports what is wrong with a request. Errors: 403, 410 where imports are switched off, 422.
func (s *Service) Check(by *account.Caller, q Request, f Fields) error {
	_, err := s.check(by, q, f)
	return err
}

// check is Check, and returns the request as it is stored.
func (s *Service) check(by *account.Caller, q Request, f Fields) (Request, error) {
	switch {
	case s.Off():
		return q, errs.New(errs.Gone, "Imports are switched off on this server.")
	case by == nil || by.ID == 0 || by.App != 0:
		return q, errs.New(errs.Forbidden, "An App cannot import repositories: an administrator of the repository can.")
	case len(q.People) > 0 && !by.SiteAdmin:
		return q, errs.New(errs.Forbidden, "Only site administrators may assign imported records to users.")
	}
	faults := web.Faults{Resource: Resource}
	faults.CheckFilled(f.URL, q.URL)
	faults.CheckText(f.URL, q.URL, maxURL)
	faults.CheckText(f.Token, q.Token, maxToken)
	if strings.ContainsFunc(q.Token, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		faults.Wrong(f.Token, errs.Custom, f.Token+" must be a token, which has no spaces")
	}
	if q.URL != "" {
		stored, err := s.forge.Mirrors.CheckURL(q.URL)
		if err != nil {
			faults.Wrong(f.URL, errs.Custom, strings.ReplaceAll(repo.ErrText(err), PageFields.URL, f.URL))
		} else if _, names, err := remote.Server(stored); err != nil || len(names) != 2 {
			faults.Wrong(f.URL, errs.Custom,
				f.URL+" must be the address of a repository, such as https://github.com/OWNER/NAME")
		}
		q.URL = stored
	}
	if len(q.People) > maxPeople {
		faults.Wrong(f.People, errs.Custom, f.People+" has more than "+strconv.Itoa(maxPeople)+" people")
	}
	return q, faults.Err()
}

// ReadMap reads a map of a form: a line for each person. Error: 422.
func ReadMap(text string) (map[string]string, error) {
	if len(text) > maxMap {
		return nil, errs.Newf(errs.Invalid, "The map has more than %d bytes.", maxMap)
	}
	people, err := migration.ReadMap(strings.NewReader(text))
	if err != nil {
		return nil, errs.New(errs.Invalid, err.Error())
	}
	return people, nil
}

// Start asks for an import into a repository that is empty, or that was imported from the same source. Errors: 403;
// 410 where imports are switched off; 422, also for a repository in which people have worked, and for too many imports.
func (s *Service) Start(ctx context.Context, a *repo.Access, q Request, f Fields) (j *Job, err error) {
	q, err = s.check(a.Caller, q, f)
	if err != nil {
		return nil, err
	}
	next := &Job{RepoID: a.ID, URL: q.URL, AskedBy: a.Caller.ID}
	if next.secret, err = s.forge.Mirrors.SealToken(a.ID, q.Token); err != nil {
		return nil, err
	}
	if len(q.People) > 0 {
		text, err := json.Marshal(q.People)
		if err != nil {
			return nil, err
		}
		next.people = string(text)
	}
	// From here on the repository is read-only, also for this transaction. start checks its state before.
	err = s.db.WriteAs(ctx, a.OnArchived(), func(tx *db.Tx) error {
		j, err = s.start(tx, a, next)
		return err
	})
	return j, err
}

func (s *Service) start(tx *db.Tx, a *repo.Access, next *Job) (*Job, error) {
	if err := issuekit.Lock(tx, a.ID); err != nil {
		return nil, err
	}
	now, err := repo.ByID(tx, a.Caller, a.ID)
	switch {
	case err != nil:
		return nil, err
	case now.Importing:
		return nil, repo.ErrImporting()
	case now.Archived:
		return nil, repo.ErrArchived()
	case now.MirrorURL != "":
		return nil, errs.New(errs.Invalid, "The repository is a mirror: remove the mirror before you import into it.")
	}
	if err := migration.MayFill(tx, a.ID); err != nil {
		return nil, err
	}
	if err := account.HoldID(tx, next.AskedBy); err != nil {
		return nil, err
	}
	n, err := countActive(tx, next.AskedBy)
	if err != nil {
		return nil, err
	}
	if n >= maxWaiting {
		return nil, errs.Newf(errs.Invalid, "%d of your imports have not ended yet, which is the limit: cancel one, or "+
			"wait until one has ended.", maxWaiting)
	}
	if err := put(tx, next); err != nil {
		return nil, err
	}
	tx.Ring(Topic)
	if err := audit.Record(tx, a.Audited(audit.RepoImport, map[string]any{"url": next.URL})); err != nil {
		return nil, err
	}
	return byRepo(tx, a.ID)
}

// Restart asks again for an import that has ended, from the same address. Errors: as of Start; 404 if there was none.
func (s *Service) Restart(ctx context.Context, a *repo.Access, token string, f Fields) (*Job, error) {
	was, err := s.Get(ctx, a)
	if err != nil {
		return nil, err
	}
	return s.Start(ctx, a, Request{URL: was.URL, Token: token}, f)
}

// Get returns the import into a repository. Error: 404 if nobody has asked for one.
func (s *Service) Get(ctx context.Context, a *repo.Access) (j *Job, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Job, error) { return byRepo(tx, a.ID) })
}

// Cancel ends an import, or forgets one that has ended with its report. What has come stays. Error: 404 if there is none.
func (s *Service) Cancel(ctx context.Context, a *repo.Access) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		j, err := byRepo(tx, a.ID)
		if err != nil {
			return err
		}
		problem := "The import was cancelled."
		if a.Caller != nil && a.Caller.Login != "" {
			problem = a.Caller.Login + " cancelled the import."
		}
		if j.Active {
			err = cancel(tx, a.ID, problem)
		} else {
			err = forget(tx, a.ID)
		}
		if err != nil {
			return err
		}
		return audit.Record(tx, a.Audited(audit.RepoImportCancel, map[string]any{"url": j.URL}))
	})
}
