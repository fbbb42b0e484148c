// Package star is starring and watching: what people mark among repositories.
//
//	star.go       Kind: stars and watches, which are stored alike; marking and taking off
//	watch.go      watching, and its opposite, ignoring
//	list.go       the users who marked a repository, and the repositories that a user marked
//	store.go      one mark with what counts it
//	storelist.go  the lists
//	api.go        the requests about stars
//	apiwatch.go   the requests about watching
//
// A mark changes its own row and two counters, and nothing else of a repository
// (decision 42): no updated_at, no event, no generation. Rows carry whether
// their repository is private, so that a list walks one index; FollowVisibility keeps rows and
// counters true when repositories are hidden or shown. All else triggers count.
//
// A user who loses access to a repository keeps the mark, which reappears with the access; until then it is
// in none of the user's lists and counts.
package star

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/repo"
)

// Kind is the kind of a mark.
type Kind uint8

// The kinds, as they are stored.
const (
	Star Kind = iota
	Watch
)

// table is where marks of the kind are.
func (k Kind) table() string { return [...]string{Star: "stars", Watch: "watches"}[k] }

// column is the counter of marks of the kind in a repository's row.
func (k Kind) column() string { return [...]string{Star: "stars", Watch: "watchers"}[k] }

// Service holds what the operations on marks share.
type Service struct {
	db    *db.DB
	repos *repo.Service
}

// New returns the service.
func New(d *db.DB, repos *repo.Service) *Service { return &Service{d, repos} }

// Put marks the repository for the access's caller. Repeating it has no effect, not even on the time
// (decision 41). Error: 404 if the repository was deleted.
func (s *Service) Put(ctx context.Context, a *repo.Access, k Kind) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		added, err := put(tx, k, a.ID, a.Caller.ID)
		if err != nil || !added || k != Star {
			return err
		}
		return hook.TellStar(tx, a.ID, a.Caller.ID,
			hook.Event{Name: "star", Action: "created", About: hook.About{At: tx.Now}},
			hook.Event{Name: "watch", Action: "started"})
	})
}

// Drop removes the caller's mark from the repository, if any (decision 41).
func (s *Service) Drop(ctx context.Context, a *repo.Access, k Kind) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		gone, err := drop(tx, k, a.ID, a.Caller.ID)
		if err != nil || !gone || k != Star {
			return err
		}
		return hook.TellStar(tx, a.ID, a.Caller.ID, hook.Event{Name: "star", Action: "deleted"})
	})
}

// starNamed is Put for the current name of a public repository without a webhook for stars. It reports
// whether it added a star: otherwise the caller had starred it before, or the repository is private, does
// not exist or has another name.
func (s *Service) starNamed(ctx context.Context, caller *account.Caller, owner, name string) (bool, error) {
	return starNamed(ctx, s.db, caller, owner, name)
}

// unstarNamed is Drop in the same way.
func (s *Service) unstarNamed(ctx context.Context, caller *account.Caller, owner, name string) (bool, error) {
	return unstarNamed(ctx, s.db, caller, owner, name)
}

// Has reports since when the caller has marked the repository; zero: it has not.
func (s *Service) Has(ctx context.Context, a *repo.Access, k Kind) (since db.Time, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (db.Time, error) { return markedAt(tx, k, a.ID, a.Caller.ID) })
}

// starredBy returns 404 unless a user starred the repository.
func (s *Service) starredBy(ctx context.Context, a *repo.Access, login string) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		user, err := account.ByLogin(tx, login)
		if err != nil {
			return err
		}
		since, err := markedAt(tx, Star, a.ID, user.ID)
		if err == nil && since.IsZero() {
			err = errs.Absent()
		}
		return err
	})
}

// FollowVisibility moves the stars and watches of a repository, which was just hidden
// or shown, to where lists and counters look for them. The cost grows with the
// number of the repository's marks.
func FollowVisibility(tx *db.Tx, r *repo.Repo) error {
	for _, k := range [...]Kind{Star, Watch} {
		if err := turn(tx, k, r.ID, r.Private); err != nil {
			return err
		}
		if err := recount(tx, k, r.ID, shift(r.Private)); err != nil {
			return err
		}
	}
	return nil
}

// numbers holds the numbers of public and private repositories that a user marked.
type numbers struct{ public, private int64 }

// shift is one more of the one sort, and one less of the other.
func shift(private bool) numbers {
	if private {
		return numbers{-1, 1}
	}
	return numbers{1, -1}
}
