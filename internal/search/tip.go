package search

import (
	"context"
	"errors"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Bounds of a search that reads repositories.
const (
	MaxTips  = 100             // repositories
	ScanTime = 5 * time.Second // then it returns what it has found
)

// Tip is a repository that is searched, and the head of its default branch.
type Tip struct {
	*repo.Access
	SHA git.SHA
}

// Tips finds the repositories that repo:, user:, org:, is: and fork: choose among those that the
// caller may see, the last pushed to first, up to MaxTips; more reports whether there are others. Forks
// are among them if fork: or repo: says so. Error: 422.
func (c *Conditions) Tips(terms []*Term) (tips []Tip, more bool, err error) {
	if _, err = c.Scope(terms); err != nil {
		return nil, false, err
	}
	forks := ""
	for _, t := range terms {
		switch value := strings.ToLower(t.Value); t.Name {
		case "repo":
			if forks == "" && !t.Not {
				forks = "true"
			}
		case "fork":
			if t.Not || value != "true" && value != "false" && value != "only" {
				return nil, false, t.Wrong()
			}
			forks = value
		case "is":
			if value != "public" && value != "private" {
				return nil, false, t.Wrong()
			}
			c.All(t, map[string]string{"public": "NOT r.private", "private": "r.private"}[value])
		}
	}
	switch forks {
	case "", "false":
		c.Where = append(c.Where, "r.parent_id IS NULL")
	case "only":
		c.Where = append(c.Where, "r.parent_id IS NOT NULL")
	}
	return c.tips()
}

// tips reads the repositories of the conditions that have a default branch.
func (c *Conditions) tips() (tips []Tip, more bool, err error) {
	const head = `SELECT x.sha FROM refs x WHERE x.repo_id = r.id AND x.name = 'refs/heads/' || r.default_branch`
	limit := c.Arg(MaxTips + 1)
	var ids []repo.ID
	heads := map[repo.ID]git.SHA{}
	err = db.QueryEach(c.Tx, func(row db.Scanner) error {
		var id repo.ID
		var sha string
		if err := row.Scan(&id, &sha); err != nil {
			return err
		}
		ids, heads[id] = append(ids, id), git.SHA(sha)
		return nil
	}, `SELECT r.id, (`+head+`)`+repo.FromVisibleIn("", c.Caller)+` AND `+c.SQL()+
		` AND EXISTS (`+head+`) ORDER BY r.pushed_at DESC, r.id DESC LIMIT `+limit, c.Args...)
	if err != nil {
		return nil, false, err
	}
	if more = len(ids) > MaxTips; more {
		ids = ids[:MaxTips]
	}
	list, err := repo.VisibleByID(c.Tx, c.Caller, ids)
	byID := map[repo.ID]*repo.Access{}
	for _, a := range list {
		byID[a.ID] = a
	}
	for _, id := range ids {
		if a := byID[id]; a != nil {
			tips = append(tips, Tip{a, heads[id]})
		}
	}
	return tips, more, err
}

// Scan calls fn with the objects of one repository after another, for ScanTime at most, or until others
// want its place (admission.YieldScan). part reports that something was left out: by fn, for want of time, or
// because git refused to read it.
func (q *Asked) Scan(ctx context.Context, repos *repo.Service, tips []Tip,
	fn func(ctx context.Context, tip Tip, objects *git.Repository) (whole bool, err error)) (part bool,
	err error) {
	limited, cancel := context.WithTimeout(ctx, ScanTime)
	defer cancel()
	defer admission.YieldScan(ctx, func() {
		q.yielded.Store(true)
		cancel()
	})()
	for _, tip := range tips {
		if limited.Err() != nil {
			return true, ctx.Err()
		}
		whole, err := scanOne(limited, repos, tip, fn)
		switch {
		case ctx.Err() != nil:
			return true, ctx.Err()
		case err == nil:
		case limited.Err() != nil || passing(err):
			whole = false
		default:
			return true, err
		}
		part = part || !whole
	}
	return part, nil
}

func scanOne(ctx context.Context, repos *repo.Service, tip Tip,
	fn func(ctx context.Context, tip Tip, objects *git.Repository) (bool, error)) (bool, error) {
	objects, release, err := repos.Git(ctx, tip.Access)
	if err != nil {
		return false, err
	}
	defer release()
	return fn(ctx, tip, objects)
}

// passing reports an error that leaves out only one repository: it was deleted, its folder is broken, its
// objects need more memory than git has, or the server is full.
func passing(err error) bool {
	var known *errs.Error
	return repo.Broken(err) || errors.As(err, &known) && (known.Kind == errs.NotFound ||
		known.Kind == errs.Invalid || known.Kind == errs.TooLarge ||
		known.Kind == errs.Unavailable || known.Kind == errs.Conflict)
}

// Emails returns the addresses of the people in the terms of a name, by login, to match commits. Error: 422
// for an unknown account.
func (c *Conditions) Emails(terms []*Term, names ...string) (map[string][]string, error) {
	found := map[string][]string{}
	var logins []string
	for _, t := range terms {
		for _, name := range names {
			if t.Name == name {
				logins = append(logins, c.login(t.Value))
			}
		}
	}
	people, err := account.ByLogins(c.Tx, logins)
	if err != nil {
		return nil, err
	}
	for _, login := range logins {
		a := people[account.Fold(login)]
		if a == nil {
			return nil, errNobody()
		}
		if found[account.Fold(login)], err = account.CommitEmails(c.Tx, a); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Login returns the folded login in a value, which may be @me.
func (c *Conditions) Login(value string) string { return account.Fold(c.login(value)) }

func errNobody() error {
	return invalid("The listed users cannot be searched either because the users do not exist or " +
		"you do not have permission to view the users.")
}

// Tips finds the repositories that a search reads, and calls more in the same transaction.
func (k *Kinds) Tips(
	ctx context.Context, q *Asked, more func(c *Conditions) error,
) (tips []Tip, part bool, err error) {
	err = k.Read(ctx, func(tx *db.Tx) (err error) {
		c := NewConditions(tx, q.Caller)
		if tips, part, err = c.Tips(q.Terms); err == nil && more != nil {
			err = more(c)
		}
		return err
	})
	return tips, part, err
}
