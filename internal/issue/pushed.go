package issue

import (
	"context"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/tracker"
)

// The messages of pushed commits name issues, and close them when they land on
// the default branch. A push leaves a row for each branch in its own
// transaction (NotePush). readPushes takes the rows under a lease that ends by itself,
// reads the commits, and removes the rows in the transaction that writes what
// the commits say. So nothing is lost with a process; and that two of them now
// and then read the same commits does no harm, since each commit refers to an
// issue, and closes it, but once.

const (
	pushedLease  = 5 * time.Second // after that, work counts as abandoned
	pushedPoll   = 2 * time.Second // between looks for work of other processes
	pushedTries  = 5               // before work that fails is dropped
	pushedLimit  = time.Minute     // for one piece of work
	maxPushed    = 1000            // commits of a push that are read, the newest
	pushedAtOnce = 16              // commits in memory at one time
	maxSayings   = 100             // in one transaction
)

const branches = "refs/heads/"

// pushed is a row of the table pushed_commits.
type pushed struct {
	id, repoID, actorID int64
	name                string
	old, new            git.SHA
	tries               int64
}

// NotePush is a repo.Observer: it notes which branches got commits that are to
// be read. Nothing is noted where no issue could be named, nor for refs that
// come into being with their repository.
func NotePush(tx *db.Tx, repoID int64, moved []repo.RefUpdate) error {
	var list []repo.RefUpdate
	for _, u := range moved {
		if u.By != 0 && u.New != git.ZeroSHA && u.New != u.Old && strings.HasPrefix(u.Name, branches) {
			list = append(list, u)
		}
	}
	if len(list) == 0 {
		return nil
	}
	if yes, err := numbered(tx, repoID); err != nil || !yes {
		return err
	}
	return insertPushed(tx, repoID, list)
}

// readPushes reads what was pushed, to this process and to others that died,
// until ctx is done. What fails is logged.
func (s *Service) readPushes(ctx context.Context) {
	moves := s.repos.Moves()
	poll := time.NewTicker(pushedPoll)
	defer poll.Stop()
	for {
		for ctx.Err() == nil && s.readPushed(ctx) {
		}
		select {
		case <-moves:
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}

// readPushed does one piece of work, and reports whether there may be more.
func (s *Service) readPushed(ctx context.Context) (more bool) {
	list, err := s.takePushed(ctx)
	if err != nil || len(list) == 0 {
		if err != nil && ctx.Err() == nil {
			s.log.Warn("looking for pushed commits failed", "error", err)
		}
		return false
	}
	limited, cancel := context.WithTimeout(ctx, pushedLimit)
	defer cancel()
	if err = s.sayPushed(limited, list); err == nil {
		return true
	}
	if ctx.Err() == nil {
		s.log.Warn("reading pushed commits failed", "repository", list[0].repoID, "branch", list[0].name, "try", list[0].tries, "error", err)
	}
	after := context.WithoutCancel(ctx)
	err = s.db.Write(after, func(tx *db.Tx) error {
		switch {
		case ctx.Err() != nil: // a stop: whoever comes next goes on
			return postponePushed(tx, list, tx.Now)
		case list[0].tries >= pushedTries:
			return deletePushed(tx, list)
		}
		wait := time.Duration(1<<list[0].tries) * time.Second
		return postponePushed(tx, list, later(tx, wait))
	})
	if err != nil {
		s.log.Warn("pushed commits stay for a later time", "error", err)
	}
	return true
}

// takePushed leases a piece of work, if there is any.
func (s *Service) takePushed(ctx context.Context) (list []pushed, err error) {
	var due bool
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		due, err = pushedDue(tx)
		return err
	})
	if err != nil || !due {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		list, err = leasePushed(tx, later(tx, pushedLease))
		return err
	})
	return list, err
}

func later(tx *db.Tx, by time.Duration) db.Time { return tx.Now + db.Time(by.Microseconds()) }

// saying is that a commit names an issue of its repository.
type saying struct {
	number int64
	sha    git.SHA
	closes bool
}

type commitOfIssue struct {
	issue int64
	sha   string
}

// sayPushed reads the commits of one account's pushes to one repository, and
// writes what they say.
func (s *Service) sayPushed(ctx context.Context, list []pushed) error {
	w := &pushedWork{s: s, list: list}
	err := s.db.Read(ctx, w.load)
	if errs.Is(err, errs.NotFound) { // the repository, or the way to it, is gone
		return s.db.Write(ctx, func(tx *db.Tx) error { return deletePushed(tx, list) })
	}
	if err != nil {
		return err
	}
	sayings, err := w.read(ctx)
	if err != nil {
		return err
	}
	for {
		part := sayings[:min(len(sayings), maxSayings)]
		sayings = sayings[len(part):]
		err := s.db.Write(ctx, func(tx *db.Tx) error {
			if err := w.write(tx, part); err != nil || len(sayings) > 0 {
				return err
			}
			return deletePushed(tx, list)
		})
		if err != nil || len(sayings) == 0 {
			return err
		}
	}
}

// pushedWork is a piece of work: branches that one account has pushed to one
// repository.
type pushedWork struct {
	s      *Service
	list   []pushed // in the order of the pushes
	access *repo.Access
	tips   map[string]git.SHA // what is known of other branches, as of before what is not read yet
}

// load reads what the work needs from the store. Error: 404 when the account
// may no longer see the repository.
func (w *pushedWork) load(tx *db.Tx) error {
	who, err := account.ByID(tx, w.list[0].actorID)
	if err != nil {
		return err
	}
	actor := &account.Caller{ID: who.ID, Login: who.Login, SiteAdmin: who.SiteAdmin}
	found, err := repo.VisibleByID(tx, actor, []int64{w.list[0].repoID})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errs.Absent()
	}
	w.access = found[0]
	if !slices.ContainsFunc(w.list, func(p pushed) bool { return p.old == git.ZeroSHA }) {
		return nil
	}
	if w.tips, err = repo.Branches(tx, w.access.ID); err != nil {
		return err
	}
	unread, err := unreadBranches(tx, w.access.ID)
	for name, old := range unread {
		if old == git.ZeroSHA {
			delete(w.tips, name)
		} else if w.tips[name] != "" {
			w.tips[name] = old
		}
	}
	return err
}

// read lists the new commits, the oldest first, and reads their messages. Those
// of the default branch may close issues; they count also where another branch
// had them before.
func (w *pushedWork) read(ctx context.Context) ([]saying, error) {
	objects := w.s.repos.Git(w.access.ID)
	var list []saying
	for _, landing := range []bool{false, true} {
		from, not := w.ends(landing)
		if len(from) == 0 {
			continue
		}
		commits, err := objects.NewCommits(ctx, from, not, maxPushed)
		if err != nil {
			return nil, err
		}
		slices.Reverse(commits)
		for part := range slices.Chunk(commits, pushedAtOnce) {
			read, err := objects.Commits(ctx, part)
			if err != nil {
				return nil, err
			}
			for _, c := range read {
				list = append(list, w.sayings(c, landing)...)
			}
		}
	}
	return list, nil
}

// ends gives whose histories are new, and since which: of the default branch
// (landing) or of the others. A branch that is new begins where it left others.
func (w *pushedWork) ends(landing bool) (from, not []git.SHA) {
	first := map[string]bool{}
	created := false
	for _, p := range w.list {
		if (p.name == branches+w.access.DefaultBranch) != landing {
			continue
		}
		from = append(from, p.new)
		if !first[p.name] && p.old != git.ZeroSHA {
			not = append(not, p.old)
		}
		first[p.name] = true
		created = created || p.old == git.ZeroSHA
	}
	if created && !landing {
		for _, tip := range w.tips {
			not = append(not, tip)
		}
	}
	return from, not
}

// sayings is what one commit says of issues of its own repository.
func (w *pushedWork) sayings(c *git.Commit, landing bool) []saying {
	refs := markdown.Plain(c.Message)
	own := nameOf(w.access, "", "")
	var list []saying
	for _, i := range refs.Issues {
		if nameOf(w.access, i.Owner, i.Repo) == own {
			list = append(list, saying{i.Number, c.SHA, landing && slices.Contains(refs.Closes, i)})
		}
	}
	return list
}

// write notes with the issues that commits refer to them, and closes those that
// commits on the default branch fix. A commit closes an issue once: who opened
// it again knows better.
func (w *pushedWork) write(tx *db.Tx, list []saying) error {
	if len(list) == 0 {
		return nil
	}
	if err := tracker.Lock(tx, w.access.ID); err != nil {
		if errs.Is(err, errs.NotFound) {
			return nil // the rows are gone with the repository
		}
		return err
	}
	numbers := make([]int64, len(list))
	for n := range list {
		numbers[n] = list[n].number
	}
	issues, err := issuesNumbered(tx, w.access.ID, db.Unique(numbers))
	if err != nil {
		return err
	}
	var events []Event
	var ids []int64
	for _, say := range list {
		i := issues[say.number]
		if i == nil || enabled(w.access.Repo, i) != nil {
			continue
		}
		events = append(events, Event{RepoID: w.access.ID, IssueID: i.ID, ActorID: w.access.Caller.ID,
			Kind: EventReferenced, Commit: string(say.sha)})
		if say.closes {
			ids = append(ids, i.ID)
		}
	}
	if err := insertEvents(tx, events); err != nil {
		return err
	}
	closed, err := closedBy(tx, db.Unique(ids))
	if err != nil {
		return err
	}
	for _, say := range list {
		if i := issues[say.number]; say.closes && i != nil && enabled(w.access.Repo, i) == nil {
			if err := w.close(tx, i, say.sha, closed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *pushedWork) close(tx *db.Tx, i *Issue, sha git.SHA, closed map[commitOfIssue]bool) error {
	key := commitOfIssue{i.ID, string(sha)}
	if i.State == Closed || closed[key] {
		return nil
	}
	closed[key], i.State = true, Closed
	_, err := w.s.ChangeIn(tx, w.access.Repo, w.access.Caller, i.Number, func(c *Change) error {
		c.CloseBy(string(sha))
		return nil
	})
	return err
}
