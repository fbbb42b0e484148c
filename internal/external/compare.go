package external

import (
	"context"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// least is the number of accounts that a comparison may always suspend at once, even if they exceed the percentage.
const least = 3

// Comparison is what accounts are compared with, and how.
type Comparison struct {
	Source *Source
	People map[string]*Identity // all people that the source has, by subject
	Most   int                  // the greatest share of its accounts that may be suspended at once, in percent
	DryRun bool                 // nothing is changed
}

// Report is what a comparison found and did, or in a dry run would do.
type Report struct {
	People    int // that the source has
	Linked    int // accounts with an identity of it
	Missing   int // of these the source has no longer
	Suspended int
	Lifted    int    // suspensions that ended
	Followed  int    // accounts whose groups had changed
	Problem   string // why nobody was suspended; empty: nothing
}

// account of a source, and what it has here.
type known struct {
	identity    int64
	id          account.ID
	login       string
	subject     string
	admin       bool
	suspendedAt db.Time
	suspendedBy db.Time           // when a comparison suspended it; it may have been lifted since
	orgs        map[string]string // role by folded login
	teams       map[string]bool   // by folded login of the organization, and slug
}

// suspended reports whether the suspension of the account is that of a comparison.
func (k *known) suspendedHere() bool {
	return !k.suspendedBy.IsZero() && k.suspendedBy == k.suspendedAt
}

// Compare compares the accounts of a source with the people that it has: it suspends accounts whose person is gone,
// ends the suspensions that it made of those who are back, and has groups followed. Accounts that the file allows a
// password are never suspended. It suspends nobody if the source has nobody, or if too many are gone at once: then
// its answer is more likely wrong. What did not change costs no statement.
func (s *Service) Compare(ctx context.Context, c Comparison) (r Report, err error) {
	accounts, err := s.known(ctx, c.Source, nil)
	if err != nil {
		return r, err
	}
	r.People, r.Linked = len(c.People), len(accounts)
	var leave, back, follow []*known
	active, missing := 0, lost{}
	for _, k := range accounts {
		i := c.People[k.subject]
		if k.suspendedAt.IsZero() {
			active++
		}
		switch {
		case i == nil:
			if r.Missing++; k.suspendedAt.IsZero() && !s.Named(k.login) {
				leave = append(leave, k)
			}
		case k.suspendedHere():
			back = append(back, k)
			follow = append(follow, k)
		case k.suspendedAt.IsZero():
			follow = append(follow, k)
		}
	}
	switch most := max(least, active*c.Most/100); {
	case len(leave) > 0 && len(c.People) == 0:
		r.Problem = "the directory has nobody, so nobody was suspended"
	case len(leave) > most:
		r.Problem = fmt.Sprintf("%d of %d accounts are missing in the directory, and at most %d may be suspended at once: "+
			"nobody was suspended", len(leave), active, most)
	default:
		for _, k := range leave {
			done, err := s.setSuspended(ctx, c, k, true)
			if err != nil {
				return r, err
			}
			r.Suspended += done
		}
	}
	for _, k := range back {
		done, err := s.setSuspended(ctx, c, k, false)
		if err != nil {
			return r, err
		}
		r.Lifted += done
	}
	for _, k := range follow {
		i := c.People[k.subject]
		if !i.differs(k, missing) {
			continue
		}
		r.Followed++
		if c.DryRun {
			continue
		}
		a := &account.Account{ID: k.id, Login: k.login}
		if err := s.follow(ctx, i, a, session.Origin{}, missing); err != nil && !errs.Is(err, errs.NotFound) {
			return r, err
		}
	}
	return r, nil
}

// differs reports whether an account has something else than the groups of its identity give. What is missing on the
// site does not count.
func (i *Identity) differs(k *known, missing lost) bool {
	if is := i.administrates(); i.Source.appoints() && is != k.admin && !(i.loses && is) {
		return true
	}
	for key, at := range i.wanted(k.orgs) {
		if missing[key] {
			continue
		}
		if at.role != k.orgs[key] {
			return true
		}
		if at.role == "" {
			continue
		}
		for slug, in := range at.teams {
			if name := key + "/" + account.Fold(slug); !missing[name] && in != k.teams[name] {
				return true
			}
		}
	}
	return false
}

// setSuspended suspends an account, or ends the suspension that a comparison made. It returns how many it changed:
// 0 if somebody else did so in the meantime, or the account cannot be suspended, which is logged.
func (s *Service) setSuspended(ctx context.Context, c Comparison, k *known, is bool) (done int, err error) {
	if c.DryRun {
		return 1, nil
	}
	ctx = audit.With(ctx, audit.Actor{Login: c.Source.Name, Right: audit.Process})
	err = s.o.DB.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		done = 0
		if err := account.HoldID(tx, k.id); err != nil {
			return err
		}
		a, err := account.ByID(tx, k.id)
		if err != nil {
			return err
		}
		if linked, err := isLinked(tx, k); err != nil || !linked || a.SuspendedAt != k.suspendedAt {
			return err
		}
		done = 1
		if err := s.o.Accounts.FollowSource(tx, a, c.Source.Name, is); err != nil {
			return err
		}
		return noteSuspended(tx, k.identity, a.SuspendedAt)
	})
	if errs.Is(err, errs.NotFound) { // deleted in the meantime
		return 0, nil
	}
	if errs.Is(err, errs.Invalid) {
		s.o.Log.WarnContext(ctx, "an account that a directory has no longer was not suspended", "login", k.login,
			"source", c.Source.Name, "error", err)
		return 0, nil
	}
	return done, err
}
