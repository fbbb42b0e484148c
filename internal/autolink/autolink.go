// Package autolink implements autolinks: words such as TICKET-7 that texts of a repository link to another system.
//
//	autolink.go   autolinks and their rules
//	api.go        the handlers, with their JSON
//
// Table: autolinks. Package issue/text links them in issues, comments, reviews and releases, and the page of a commit
// in its message. Every change raises the generation of the repository's issues, whose payloads show the links.
package autolink

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Resource is the name of autolinks in validation errors.
const Resource = "KeyLink"

// Limits.
const (
	maxOfRepo   = 500
	maxPrefix   = 50
	maxTemplate = 2048
)

// Num stands for the reference in a URL template.
const Num = "<num>"

// Autolink is a row of the table autolinks.
type Autolink struct {
	ID           int64
	Prefix       string
	URL          string // contains Num
	Alphanumeric bool
}

// Service implements the operations on autolinks.
type Service struct{ db *db.DB }

// New returns a Service.
func New(d *db.DB) *Service { return &Service{d} }

// check reports what is wrong with the values. Error: 422.
func (l *Autolink) check() error {
	f := web.Faults{Resource: Resource}
	f.CheckFilled("key_prefix", l.Prefix)
	f.CheckText("key_prefix", l.Prefix, maxPrefix)
	if strings.ContainsFunc(l.Prefix, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(".-_+=:/#", c))
	}) {
		f.Wrong("key_prefix", errs.Custom, "key_prefix must only contain letters, numbers, or .-_+=:/#")
	}
	f.CheckFilled("url_template", l.URL)
	f.CheckText("url_template", l.URL, maxTemplate)
	switch u, err := url.Parse(strings.ReplaceAll(l.URL, Num, "1")); {
	case l.URL == "":
	case !strings.Contains(l.URL, Num):
		f.Wrong("url_template", errs.Custom, "url_template is missing a <num> token")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		f.Wrong("url_template", errs.Custom, "url_template must be an absolute URL")
	}
	return f.Err()
}

// List lists the autolinks of a repository, the first that was added first.
func (s *Service) List(ctx context.Context, a *repo.Access) (list []*Autolink, err error) {
	return db.GetOne(ctx, s.db, func(tx *db.Tx) ([]*Autolink, error) { return of(tx, a.ID) })
}

// Links returns the autolinks of a repository for its texts.
func (s *Service) Links(ctx context.Context, a *repo.Access) (markdown.Autolinks, error) {
	list, err := s.List(ctx, a)
	links := make([]markdown.Autolink, len(list))
	for n, l := range list {
		links[n] = markdown.Autolink{Prefix: l.Prefix, URL: l.URL, Alphanumeric: l.Alphanumeric}
	}
	return markdown.NewAutolinks(links), err
}

// Get reads an autolink. Error: 404.
func (s *Service) Get(ctx context.Context, a *repo.Access, id int64) (l *Autolink, err error) {
	return db.GetOne(ctx, s.db, func(tx *db.Tx) (*Autolink, error) {
		return scan(tx.QueryRow(columns+`WHERE repo_id = $1 AND id = $2`, a.ID, id))
	})
}

// Create adds an autolink. Error: 422, also for a prefix that overlaps with another one, and for too many.
func (s *Service) Create(ctx context.Context, a *repo.Access, n Autolink) (*Autolink, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		list, err := of(tx, a.ID)
		if err != nil {
			return err
		}
		if len(list) >= maxOfRepo {
			return errs.Newf(errs.Invalid, "A repository has %d autolinks at most.", maxOfRepo)
		}
		folded := strings.ToLower(n.Prefix)
		for _, other := range list {
			if was := strings.ToLower(other.Prefix); strings.HasPrefix(was, folded) || strings.HasPrefix(folded, was) {
				return errs.Validation(errs.Field{Resource: Resource, Field: "key_prefix", Code: errs.AlreadyExists,
					Message: "key_prefix overlaps with " + other.Prefix})
			}
		}
		err = tx.QueryRow(`INSERT INTO autolinks (repo_id, key_prefix, url_template, alphanumeric, created_at)
			VALUES ($1, $2, $3, $4, $5) RETURNING id`, a.ID, n.Prefix, n.URL, n.Alphanumeric, tx.Now).Scan(&n.ID)
		if err != nil {
			return err
		}
		return record(tx, a)
	})
	return &n, err
}

// Delete removes an autolink. Error: 404.
func (s *Service) Delete(ctx context.Context, a *repo.Access, id int64) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		n, err := tx.Exec(`DELETE FROM autolinks WHERE repo_id = $1 AND id = $2`, a.ID, id)
		if err == nil && n == 0 {
			err = errs.Absent()
		}
		if err != nil {
			return err
		}
		return record(tx, a)
	})
}

func record(tx *db.Tx, a *repo.Access) error {
	return audit.Record(tx, a.Audited(audit.RepoUpdate, map[string]any{"fields": []string{"autolinks"}}))
}

const columns = `SELECT id, key_prefix, url_template, alphanumeric FROM autolinks `

func scan(row db.Scanner) (*Autolink, error) {
	var l Autolink
	err := row.Scan(&l.ID, &l.Prefix, &l.URL, &l.Alphanumeric)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &l, err
}

func of(tx *db.Tx, id repo.ID) ([]*Autolink, error) {
	return db.QueryList(tx, scan, columns+`WHERE repo_id = $1 ORDER BY id`, id)
}

// OfMany reads the autolinks of several repositories in one query.
func OfMany(tx *db.Tx, ids []repo.ID) (map[repo.ID]markdown.Autolinks, error) {
	found := map[repo.ID]markdown.Autolinks{}
	err := db.InParts(ids, func(part []repo.ID) error {
		return db.QueryEach(tx, func(row db.Scanner) error {
			var id repo.ID
			var l markdown.Autolink
			err := row.Scan(&id, &l.Prefix, &l.URL, &l.Alphanumeric)
			found[id] = append(found[id], l)
			return err
		}, `SELECT repo_id, key_prefix, url_template, alphanumeric FROM autolinks WHERE repo_id IN `+
			db.Values(1, len(part)), db.Args(part)...)
	})
	for id, list := range found {
		found[id] = markdown.NewAutolinks(list)
	}
	return found, err
}
