// Package ldap signs people in with names and passwords of a directory, by LDAP; package external links the people with
// accounts.
//
//	config.go  what the operator's file says of a directory
//	conn.go    connections: TLS, time limits, bounds, and what failed
//	person.go  entries of people, and the check of a password
//	group.go   the groups of a person, nested ones included
//	people.go  all people of a directory, for the nightly comparison
//	check.go   what `arbor doctor` asks
//
// A name is searched for with the service's account, then the directory is asked to bind as the entry that was found:
// passwords are neither read nor kept. Names are escaped in filters, must equal the entry's own, and an empty password
// is never sent, which directories take for a bind of nobody. Referrals are not followed.
//
// A person is the value of id_attribute, which stays when a name, an address or a place in the tree changes.
package ldap

import (
	"context"
	"log/slog"
	"time"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/external"
)

// maxName bounds a name that is searched for, in bytes.
const maxName = 255

// Service signs in with directories. Safe for concurrent use.
type Service struct{ o Options }

// Options are what the service works with.
type Options struct {
	Directories []*Directory
	Accounts    *external.Service
	Sessions    *session.Service
	DB          *db.DB
	Log         *slog.Logger
}

// New returns the service, and has sessions ask it.
func New(o Options) *Service {
	s := &Service{o}
	if len(o.Directories) > 0 {
		o.Sessions.Directory = s
	}
	return s
}

// Directories are those that people may sign in with.
func (s *Service) Directories() []*Directory { return s.o.Directories }

// directory finds one by its name; nil: there is none.
func (s *Service) directory(name string) *Directory {
	for _, d := range s.o.Directories {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// Recognize returns whose name and password it is in a directory, with the account, which is made first where the
// directory's entry in the file says so; nil: no directory has them. Accounts that the file allows a password are not
// asked for. Errors: those of external.Service.Enter; 503 for a directory that cannot be asked.
func (s *Service) Recognize(
	ctx context.Context, name, password string, from session.Origin,
) (*session.Visitor, error) {
	if s.o.Accounts.Named(name) {
		return nil, nil
	}
	var failed error
	for _, d := range s.o.Directories {
		i, err := s.authenticate(ctx, d, name, password)
		if err != nil {
			failed = err
			continue
		}
		if i == nil {
			continue
		}
		a, again, err := s.o.Accounts.Enter(ctx, i, from)
		if err != nil {
			return nil, err
		}
		return &session.Visitor{Login: a.Login, Way: d.Way, Source: d.Name, Account: again}, nil
	}
	return nil, failed
}

// authenticate returns whose name and password it is in a directory; nil: nobody's. Error: 503.
func (s *Service) authenticate(ctx context.Context, d *Directory, name, password string) (*external.Identity, error) {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || account.HasControl(name) || password == "" {
		return nil, nil
	}
	var i *external.Identity
	err := d.with(ctx, patience, func(c *conn) error {
		p, err := c.find(name)
		if err != nil || p == nil {
			return err
		}
		ok, err := c.isPassword(p, password)
		if err != nil || !ok {
			return err
		}
		i, err = c.identity(p)
		return err
	})
	s.count(d, i != nil, err)
	if err != nil {
		s.o.Log.WarnContext(ctx, "a directory could not be asked", "directory", d.Name, "error", err)
		return nil, d.unavailable(err)
	}
	return i, nil
}

// count counts a question for the metrics.
func (s *Service) count(d *Directory, ok bool, err error) {
	switch {
	case err != nil:
		d.failed.Add(1)
	case ok:
		d.right.Add(1)
	default:
		d.wrong.Add(1)
	}
}

// Outcomes counts what became of names and passwords that a directory was asked for.
func (d *Directory) Outcomes() map[string]int64 {
	return map[string]int64{"right": d.right.Load(), "wrong": d.wrong.Load(), "failed": d.failed.Load()}
}

// Knows reports whether an account has an identity of a directory, whose password confirms who it is.
func (s *Service) Knows(tx *db.Tx, of account.ID) (bool, error) {
	for _, d := range s.o.Directories {
		subject, err := external.SubjectOf(tx, of, &d.Source)
		if err != nil || subject != "" {
			return err == nil, err
		}
	}
	return false, nil
}

// Confirm reports whether a password is that of an account at a directory. Error: 503.
func (s *Service) Confirm(ctx context.Context, of account.ID, password string) (is bool, err error) {
	if password == "" {
		return false, nil
	}
	for _, d := range s.o.Directories {
		subject, err := db.Get(ctx, s.o.DB, func(tx *db.Tx) (string, error) {
			return external.SubjectOf(tx, of, &d.Source)
		})
		if err != nil {
			return false, err
		}
		if subject == "" {
			continue
		}
		err = d.with(ctx, patience, func(c *conn) error {
			p, err := c.findSubject(subject)
			if err == nil && p != nil {
				is, err = c.isPassword(p, password)
			}
			return err
		})
		s.count(d, is, err)
		if err != nil {
			s.o.Log.WarnContext(ctx, "a directory could not be asked", "directory", d.Name, "error", err)
			return false, d.unavailable(err)
		}
		if is {
			return true, nil
		}
	}
	return false, nil
}

// Link links the person with a name and a password in a directory with the caller's account. Errors: 404; 422 for a wrong
// name or password, and if the person is another account's, or the account has one of the directory; 429; 503.
func (s *Service) Link(ctx context.Context, by *account.Caller, in, name, password string, from session.Origin) error {
	d := s.directory(in)
	if d == nil {
		return errs.Absent()
	}
	var i *external.Identity
	err := s.o.Sessions.Attempt(ctx, name, from, func() (ok bool, err error) {
		i, err = s.authenticate(ctx, d, name, password)
		return i != nil, err
	})
	if err != nil {
		return err
	}
	return s.o.Accounts.Link(ctx, by, i)
}

// Run compares accounts with the directories each night, until ctx is done.
func (s *Service) Run(ctx context.Context) error {
	done := make(chan struct{})
	n := 0
	for _, d := range s.o.Directories {
		if d.Compare == never {
			continue
		}
		n++
		go func() {
			defer func() { done <- struct{}{} }()
			s.o.Accounts.RunNightly(ctx, &d.Source, d.Comparison)
		}()
	}
	for range n {
		<-done
	}
	return nil
}

// Compare compares the accounts of a directory with its people at once, for the operator. most is the greatest share of
// them that may be suspended, in percent; 0: that of the file. Error: 404.
func (s *Service) Compare(ctx context.Context, name string, most int, dryRun bool) (r external.Report, err error) {
	d := s.directory(name)
	if d == nil {
		return r, errs.Newf(errs.NotFound, "directory %q not found in the file", name)
	}
	c, err := d.Comparison(ctx)
	if err != nil {
		return r, err
	}
	if c.DryRun = dryRun; most > 0 {
		c.Most = most
	}
	return s.o.Accounts.CompareNow(ctx, c)
}

// State is a directory with what its last comparison found, for pages.
type State struct {
	*Directory
	Last external.Compared
}

// States lists the directories with their last comparisons.
func (s *Service) States(ctx context.Context) (list []State, err error) {
	for _, d := range s.o.Directories {
		last, err := s.o.Accounts.LastComparison(ctx, &d.Source)
		if err != nil {
			return nil, err
		}
		list = append(list, State{d, last})
	}
	return list, nil
}

// patience is how long a sign-in waits for a directory, and slowPatience a comparison.
const (
	patience     = 10 * time.Second
	slowPatience = 10 * time.Minute
)
