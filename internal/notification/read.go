package notification

import (
	"context"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issue/subscription"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Service holds what the operations on threads share.
type Service struct {
	db            *db.DB
	repos         *repo.Service
	subscriptions *subscription.Service
}

// New returns the service.
func New(d *db.DB, repos *repo.Service, s *subscription.Service) *Service {
	return &Service{d, repos, s}
}

// Changed returns the time of the last change of the caller's threads in whole seconds, or zero if there
// were none. Each change has its own second, see noteChange: if there are many in one second, it may be
// later than now; then the result is now.
func (s *Service) Changed(
	ctx context.Context, caller *account.Caller,
) (at time.Time, changed func(since time.Time) bool, err error) {
	var told, now db.Time
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		told, now, err = changedAt(tx, caller.ID)
		return err
	})
	last := told.Time().Truncate(time.Second)
	at = min(told, now).Time().Truncate(time.Second)
	return at, func(since time.Time) bool { return last.After(since) }, err
}

// Page is some threads with the repositories of their subjects.
type Page struct {
	Threads []*Thread
	Repos   map[repo.ID]*repo.Access
}

// List reads a page of the caller's threads, and how many there are in all.
func (s *Service) List(
	ctx context.Context, caller *account.Caller, of Filter, p web.Page,
) (found *Page, total int64, err error) {
	f := filter{Filter: of, caller: caller}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		found = &Page{}
		if found.Threads, total, err = threads(tx, f, p); err != nil {
			return err
		}
		return found.load(tx, f.caller)
	})
	if err != nil {
		return nil, 0, err
	}
	return found, total, s.readTitles(ctx, found)
}

// HasUnread reports whether the caller has threads that are not read and that the caller may see.
func (s *Service) HasUnread(ctx context.Context, caller *account.Caller) (has bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		f := filter{caller: caller}
		from, args := f.build()
		return tx.QueryRow(`SELECT EXISTS (SELECT 1`+from+`)`, args...).Scan(&has)
	})
	return has, err
}

// Unread returns those of the issues and pull requests about which the caller has an unread thread. The caller of
// this function must have access to them.
func (s *Service) Unread(
	ctx context.Context, caller *account.Caller, issues []issue.ID,
) (unread map[issue.ID]bool, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[issue.ID]bool, error) {
		return unreadOf(tx, caller.ID, issues)
	})
}

// Thread reads one thread of the caller's. Error: 404.
func (s *Service) Thread(ctx context.Context, caller *account.Caller, id int64) (found *Page, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := threadByID(tx, caller, id)
		if err != nil {
			return err
		}
		found = &Page{Threads: []*Thread{t}}
		return found.load(tx, caller)
	})
	if err != nil {
		return nil, err
	}
	return found, s.readTitles(ctx, found)
}

func (p *Page) load(tx *db.Tx, caller *account.Caller) (err error) {
	ids := make([]repo.ID, len(p.Threads))
	for n, t := range p.Threads {
		ids[n] = t.RepoID
	}
	p.Repos, err = repo.ByIDs(tx, caller, ids)
	return err
}

// maxTitle is how much of a commit's message its title takes, in bytes.
const maxTitle = 256

// readTitles sets the titles of commits to the first lines of their messages; unreachable commits are named
// by their SHAs.
func (s *Service) readTitles(ctx context.Context, p *Page) error {
	of := map[repo.ID][]*Thread{}
	for _, t := range p.Threads {
		if t.Commit != "" {
			t.Title = string(t.Commit)
			of[t.RepoID] = append(of[t.RepoID], t)
		}
	}
	for id, list := range of {
		if p.Repos[id] == nil {
			continue
		}
		if err := s.readMessages(ctx, p.Repos[id], list); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) readMessages(ctx context.Context, a *repo.Access, list []*Thread) error {
	shas := make([]git.SHA, len(list))
	for n, t := range list {
		shas[n] = t.Commit
	}
	known, err := s.repos.Known(ctx, a, shas)
	if err != nil {
		return err
	}
	var there []git.SHA
	var named []*Thread
	for n, o := range known {
		if o.Type == git.TypeCommit {
			there, named = append(there, shas[n]), append(named, list[n])
		}
	}
	if len(there) == 0 {
		return nil
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	commits, err := objects.Commits(ctx, there)
	if err != nil {
		return err
	}
	for n, c := range commits {
		line, _, _ := strings.Cut(c.Message, "\n")
		if len(line) > maxTitle {
			line = strings.ToValidUTF8(line[:maxTitle], "")
		}
		named[n].Title = line
	}
	return nil
}
