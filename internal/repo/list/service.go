package list

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Service lists repositories.
type Service struct{ db *db.DB }

// New returns a Service on a database.
func New(d *db.DB) *Service { return &Service{d} }

// Order is a list's order.
type Order struct {
	By   string // created, updated, pushed, full_name or stars
	Desc bool
}

// OfUser reads a page of the repositories of a user or an organization that the caller, perhaps nil, may see, and how
// many there are: of kind owner, member (where the user collaborates) or all. Error: 404.
func (s *Service) OfUser(
	ctx context.Context, caller *account.Caller, login, kind string, o Order, at web.Page,
) ([]*repo.Access, int64, error) {
	return s.list(ctx, o, at, func(tx *db.Tx) (filter, error) {
		who, err := account.ByLogin(tx, login)
		if err != nil {
			return filter{}, err
		}
		f := filter{visibleTo: caller}
		switch kind {
		case "owner":
			f.owner = who.ID
		case "member":
			f.collaborator = who.ID
		default:
			f.owner, f.collaborator = who.ID, who.ID
		}
		return f, nil
	})
}

// OfOrg is OfUser for an organization: of kind all, public, private, forks, sources or member (the caller was
// granted a role). Error: 404.
func (s *Service) OfOrg(
	ctx context.Context, caller *account.Caller, login, kind string, o Order, at web.Page,
) ([]*repo.Access, int64, error) {
	return s.list(ctx, o, at, func(tx *db.Tx) (filter, error) {
		org, err := account.ByLogin(tx, login)
		if err == nil && org.Kind != account.Organization {
			err = errs.Absent()
		}
		if err != nil {
			return filter{}, err
		}
		f := filter{owner: org.ID, visibleTo: caller}
		switch kind {
		case "public", "private":
			f.visibility = kind
		case "forks", "sources":
			f.kind = kind
		case "member":
			f.granted = true
		}
		return f, nil
	})
}

// Part chooses among the repositories in which somebody has a part. The zero value is all of them.
type Part struct {
	Kind          string  // all, owner, public, private or member
	Visibility    string  // public or private; else both
	Affiliation   string  // some of owner, collaborator and organization_member, with commas; empty: all three
	Since, Before db.Time // when they were updated; 0: whenever

	Uncounted bool // the number of all is needed only to know whether more follow the page
}

// Own reads a page of the repositories in which the caller has a part, and how many there are. Error: 422 for an
// affiliation.
func (s *Service) Own(
	ctx context.Context, me *account.Caller, p Part, o Order, at web.Page,
) ([]*repo.Access, int64, error) {
	f := filter{visibleTo: me, visibility: p.Visibility, since: p.Since, before: p.Before, uncounted: p.Uncounted}
	switch p.Kind {
	case "public", "private":
		f.visibility = p.Kind
	case "owner":
		f.owner = me.ID
	case "member":
		f.collaborator, f.member = me.ID, me.ID
	}
	if f.owner+f.collaborator == 0 {
		if err := f.affiliate(p.Affiliation, me.ID); err != nil {
			return nil, 0, err
		}
	}
	return s.list(ctx, o, at, func(*db.Tx) (filter, error) { return f, nil })
}

// Choice chooses among the repositories of an account by more than REST's lists choose by at one time.
type Choice struct {
	Visibility  string // public or private; else both
	Kind        string // forks or sources; else both
	Affiliation string // as in Part, of the caller's own repositories

	Archived, HasIssues web.Opt[bool] // not set: either
}

// maxTogether is how many repositories an account may own whose list is read together with those of others.
const maxTogether = 1000

// OfAccounts reads a page of the repositories of each of several accounts that the caller may see, and how many there
// are: what the account owns, and of the caller also what its affiliations choose. The number of statements does not
// depend on the accounts, but for those that own many repositories: their lists are read one by one, as their counters
// tell how many there are. Unknown accounts are missing. Error: 422 for an affiliation.
func (s *Service) OfAccounts(
	ctx context.Context, caller *account.Caller, ids []account.ID, c Choice, o Order, at web.Page,
) (found map[account.ID]*web.List[*repo.Access], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found = map[account.ID]*web.List[*repo.Access]{}
		accounts, err := account.ByIDs(tx, ids)
		if err != nil {
			return err
		}
		together := map[account.ID]*filter{}
		for id, who := range accounts {
			f, err := c.filter(caller, who)
			if err != nil {
				return err
			}
			if len(accounts) > 1 && who.PublicRepos+who.PrivateRepos <= maxTogether {
				together[id] = &f
				continue
			}
			rows, total, err := listRepos(tx, f, o, at)
			if err != nil {
				return err
			}
			found[id] = &web.List[*repo.Access]{Rows: rows, Total: total, More: at.Offset()+at.Size < total}
		}
		return listTogether(tx, caller, together, o, at, found)
	})
	return found, err
}

// filter returns the filter for the repositories of an account. Error: 422 for an affiliation.
func (c Choice) filter(caller *account.Caller, who *account.Account) (filter, error) {
	f := filter{visibleTo: caller, visibility: c.Visibility, kind: c.Kind, archived: c.Archived, hasIssues: c.HasIssues}
	if who.Kind == account.Organization || account.IDOf(caller) != who.ID {
		f.owner = who.ID // the affiliations of others are private
		return f, nil
	}
	return f, f.affiliate(c.Affiliation, who.ID)
}

// affiliate reads the comma-separated affiliations; none means all three.
func (f *filter) affiliate(list string, id account.ID) error {
	if list == "" {
		f.owner, f.collaborator, f.member = id, id, id
		return nil
	}
	for a := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(a) {
		case "owner":
			f.owner = id
		case "collaborator":
			f.collaborator = id
		case "organization_member":
			f.member = id
		default:
			return errs.Validation(errs.Field{Resource: repo.Resource, Field: "affiliation",
				Code: errs.InvalidField, Value: list})
		}
	}
	return nil
}

// list reads a page of the repositories that the filter chooses, and their number.
func (s *Service) list(
	ctx context.Context, o Order, at web.Page, makeFilter func(*db.Tx) (filter, error),
) (found []*repo.Access, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		f, err := makeFilter(tx)
		if err != nil {
			return err
		}
		found, total, err = listRepos(tx, f, o, at)
		return err
	})
	return found, total, err
}
