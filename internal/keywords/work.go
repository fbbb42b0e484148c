package keywords

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/markdown"
	"arbor/internal/repo"
)

// issueReference is one "#7" or "fixes #7" found in a commit message.
type issueReference struct {
	number int64
	sha    git.SHA
	closes bool
}

// commitOfIssue is a commit that closed an issue.
type commitOfIssue struct {
	issue issue.ID
	sha   string
}

// follow reads the commits of one account's pushes to one repository, and writes
// and closes the issues that they name.
func (s *Service) follow(ctx context.Context, list []pushed) error {
	w := &work{s: s, list: list}
	err := s.db.Read(ctx, w.load)
	if errs.Is(err, errs.NotFound) { // the repository, or the way to it, is gone
		return s.db.Write(ctx, func(tx *db.Tx) error { return remove(tx, list) })
	}
	if err != nil {
		return err
	}
	references, err := w.read(ctx)
	if err != nil {
		return err
	}
	for {
		part := references[:min(len(references), maxReferences)]
		references = references[len(part):]
		err := s.db.Write(ctx, func(tx *db.Tx) error {
			if err := w.write(tx, part); err != nil || len(references) > 0 {
				return err
			}
			return remove(tx, list)
		})
		if err != nil || len(references) == 0 {
			return err
		}
	}
}

// work is a piece of work: branches that one account has pushed to one
// repository.
type work struct {
	s      *Service
	list   []pushed // in the order of the pushes
	access *repo.Access
	tips   map[string]git.SHA // what is known of other branches, as of before what is not read yet
}

// load reads what the work needs from the store. Error: 404 when the account
// may no longer see the repository.
func (w *work) load(tx *db.Tx) error {
	who, err := account.ByID(tx, w.list[0].actorID)
	if err != nil {
		return err
	}
	actor := &account.Caller{ID: who.ID, Login: who.Login, SiteAdmin: who.SiteAdmin}
	found, err := repo.VisibleByID(tx, actor, []repo.ID{w.list[0].repoID})
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
func (w *work) read(ctx context.Context) ([]issueReference, error) {
	objects, release, err := w.s.repos.Git(ctx, w.access)
	if err != nil {
		return nil, err
	}
	defer release()
	var list []issueReference
	for _, landing := range []bool{false, true} {
		from, not := w.ends(landing)
		if len(from) == 0 {
			continue
		}
		commits, err := objects.NewCommits(ctx, from, not, maxCommits)
		if err != nil {
			return nil, err
		}
		slices.Reverse(commits)
		err = objects.EachCommits(ctx, commits, func(part []*git.Commit) error {
			for _, c := range part {
				list = append(list, w.references(c, landing)...)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ends returns the start and end points of new histories: of the default branch if landing is true, else of
// the others. A new branch starts where it diverged from others.
func (w *work) ends(landing bool) (from, not []git.SHA) {
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

// references finds the issues of its own repository that a commit names.
func (w *work) references(c *git.Commit, landing bool) []issueReference {
	refs := markdown.Plain(c.Message)
	own := account.Fold(w.access.FullName())
	var list []issueReference
	for _, i := range refs.Issues {
		if i.Owner == "" || account.Fold(i.Owner+"/"+i.Repo) == own {
			list = append(list, issueReference{i.Number, c.SHA, landing && slices.Contains(refs.Closes, i)})
		}
	}
	return list
}

// write notes with the issues that commits refer to them, and closes those that
// commits on the default branch fix. A commit closes an issue once: who opened
// it again knows better.
func (w *work) write(tx *db.Tx, list []issueReference) error {
	if len(list) == 0 {
		return nil
	}
	if err := issuekit.Lock(tx, w.access.ID); err != nil {
		if errs.Is(err, errs.NotFound) {
			return nil // the rows are gone with the repository
		}
		return err
	}
	numbers := make([]int64, len(list))
	for n := range list {
		numbers[n] = list[n].number
	}
	issues, err := issue.Numbered(tx, repo.AllOf(w.access, numbers))
	if err != nil {
		return err
	}
	var events []issue.Event
	var ids []issue.ID
	for _, ref := range list {
		i := issues[repo.Of[int64]{In: w.access, Key: ref.number}]
		if !w.has(i) {
			continue
		}
		events = append(events, issue.Event{RepoID: w.access.ID, IssueID: i.ID, ActorID: w.access.Caller.ID,
			Kind: issue.EventReferenced, Commit: string(ref.sha)})
		if ref.closes {
			ids = append(ids, i.ID)
		}
	}
	if err := issue.InsertEvents(tx, events); err != nil {
		return err
	}
	closed, err := closedBy(tx, db.Unique(ids))
	if err != nil {
		return err
	}
	for _, ref := range list {
		if i := issues[repo.Of[int64]{In: w.access, Key: ref.number}]; ref.closes && w.has(i) {
			if err := w.close(tx, i, ref.sha, closed); err != nil {
				return err
			}
		}
	}
	return nil
}

// has reports whether the repository has the issue: a pull request also where
// issues are switched off (decision 16).
func (w *work) has(i *issue.Issue) bool { return i != nil && (i.Pull || w.access.HasIssues) }

func (w *work) close(tx *db.Tx, i *issue.Issue, sha git.SHA, closed map[commitOfIssue]bool) error {
	key := commitOfIssue{i.ID, string(sha)}
	if i.State == issue.Closed || closed[key] {
		return nil
	}
	closed[key], i.State = true, issue.Closed
	_, err := w.s.issues.ChangeIn(tx, w.access.Repo, w.access.Caller, i.Number, func(c *issue.Change) error {
		c.CloseBy(string(sha))
		return nil
	})
	return err
}
