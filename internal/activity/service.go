package activity

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/web"
)

// Service lists what happened.
type Service struct{ db *db.DB }

// New returns a Service on a database.
func New(d *db.DB) *Service { return &Service{d} }

// View is an activity with what a line of a feed shows of it.
type View struct {
	*Activity
	Actor  *account.Account
	Repo   *repo.Access
	Issue  *issue.Issue     // or pull request; nil: none
	Fork   *repo.Access     // Forked
	Member *account.Account // Joined
	Text                    // Reviewed, Released and CommitCommented
}

// Text is what a line shows of a review, a release or a comment on a commit.
type Text struct {
	State  review.State
	Tag    string
	Commit git.SHA
}

// Action is what was done to the activity's issue or pull request: opened, closed, merged or reopened.
func (v *View) Action() string { return v.action(v.Issue) }

// Push is a branch to which somebody pushed.
type Push struct {
	Branch string
	At     db.Time
}

// RecentPushes returns the branches of a repository to which the caller pushed within the last hour, the last one
// first. It looks at the caller's last hundred activities.
func (s *Service) RecentPushes(ctx context.Context, a *repo.Access) (list []Push, err error) {
	if a.Caller == nil {
		return nil, nil
	}
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]Push, error) { return recentPushes(tx, a) })
}

// OfUserInPublic reads a page of what a user did in public repositories, and how much there is. Error: 404.
func (s *Service) OfUserInPublic(
	ctx context.Context, caller *account.Caller, login string, p web.Page,
) ([]*View, int64, error) {
	return s.views(ctx, caller, p, ofNamed(login, func(_ *db.Tx, id account.ID) (selection, error) {
		return ofActor(id, false), nil
	}))
}

// Received reads a page of what happened in the repositories that a user watches, and of what those did
// whom the user follows: in public, and to that user also in private repositories that are watched. Error:
// 404.
func (s *Service) Received(
	ctx context.Context, caller *account.Caller, login string, p web.Page,
) ([]*View, int64, error) {
	return s.views(ctx, caller, p, ofNamed(login, func(tx *db.Tx, id account.ID) (selection, error) {
		return received(tx, id, caller)
	}))
}

// find chooses the scope of a feed, in the transaction that reads it.
type find func(tx *db.Tx) (selection, error)

// ofNamed is a find of the account with a login.
func ofNamed(login string, of func(tx *db.Tx, id account.ID) (selection, error)) find {
	return func(tx *db.Tx) (selection, error) {
		a, err := account.ByLogin(tx, login)
		if err != nil {
			return selection{}, err
		}
		return of(tx, a.ID)
	}
}

// page reads a page of a feed. A feed has at most Newest events, so their number is known.
func (s *Service) page(
	ctx context.Context, caller *account.Caller, p web.Page, choose find,
	load func(tx *db.Tx, list []*Activity) error,
) (total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		chosen, err := choose(tx)
		if err != nil {
			return err
		}
		all, err := list(tx, caller, chosen)
		if err != nil {
			return err
		}
		total = int64(len(all))
		from := min(p.Offset(), total)
		return load(tx, all[from:min(from+p.Size, total)])
	})
	return total, err
}

func (s *Service) views(
	ctx context.Context, caller *account.Caller, p web.Page, choose find,
) (views []*View, total int64, err error) {
	total, err = s.page(ctx, caller, p, choose, func(tx *db.Tx, list []*Activity) (err error) {
		views, err = newViews(tx, caller, list)
		return err
	})
	return views, total, err
}

func newViews(tx *db.Tx, caller *account.Caller, list []*Activity) ([]*View, error) {
	var of subjects
	if err := of.load(tx, list); err != nil {
		return nil, err
	}
	if _, err := of.loadRepos(tx, caller, reposOf(list)); err != nil {
		return nil, err
	}
	told, err := loadTexts(tx, list)
	if err != nil {
		return nil, err
	}
	views := make([]*View, len(list))
	for n, a := range list {
		v := &View{Activity: a, Actor: of.people[a.ActorID], Repo: of.repos[a.RepoID], Issue: of.issues[a.IssueID],
			Text: told[a.ID]}
		switch a.Kind {
		case Forked:
			v.Fork = of.repos[a.fork()]
		case Joined:
			v.Member = of.people[a.member()]
		}
		views[n] = v
	}
	return views, nil
}

// subjects are what activities name.
type subjects struct {
	people map[account.ID]*account.Account
	repos  map[repo.ID]*repo.Access
	issues map[issue.ID]*issue.Issue
}

// load reads the accounts and the issues that activities name.
func (s *subjects) load(tx *db.Tx, list []*Activity) (err error) {
	var people []account.ID
	var issues []issue.ID
	for _, a := range list {
		people = append(people, a.ActorID, a.OrgID)
		if a.Kind == Joined {
			people = append(people, a.member())
		}
		if a.IssueID != 0 {
			issues = append(issues, a.IssueID)
		}
	}
	if s.people, err = account.ByIDs(tx, people); err != nil {
		return err
	}
	found, err := issue.ByIDs(tx, db.Unique(issues))
	s.issues = make(map[issue.ID]*issue.Issue, len(found))
	for _, i := range found {
		s.issues[i.ID] = i
	}
	return err
}

// loadRepos reads those of the repositories that the caller can see.
func (s *subjects) loadRepos(tx *db.Tx, caller *account.Caller, ids []repo.ID) ([]*repo.Access, error) {
	accesses, err := repo.VisibleByID(tx, caller, db.Unique(ids))
	s.repos = make(map[repo.ID]*repo.Access, len(accesses))
	for _, a := range accesses {
		s.repos[a.ID] = a
	}
	return accesses, err
}

// reposOf are the repositories that activities name.
func reposOf(list []*Activity) (ids []repo.ID) {
	for _, a := range list {
		if ids = append(ids, a.RepoID); a.Kind == Forked {
			ids = append(ids, a.fork())
		}
	}
	return ids
}
