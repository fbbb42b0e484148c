package pull

import (
	"context"
	"errors"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/pull/automerge"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
)

const heads = "refs/heads/"

// PreparePush copies the new heads of a fork's pull requests to their base repositories, before the
// transaction that updates the pull requests. It closes a pull request whose author has no quota for that;
// the push itself succeeds.
func (s *Service) PreparePush(ctx context.Context, push repo.Push) error {
	tips, born, _ := branchesOf(push.Updates)
	if len(born) == 0 {
		return nil
	}
	list, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]*Pull, error) {
		return openByHead(tx, push.RepoID, born)
	})
	if err != nil {
		return err
	}
	for _, p := range list {
		u := tips[p.HeadRef]
		err := s.network.Bring(ctx, push.As, p.crossing(), u.New, p.HeadSHA, p.BaseSHA)
		if errs.Is(err, errs.Forbidden) {
			err = s.db.WriteAs(ctx, push.As, func(tx *db.Tx) error { return s.close(tx, p, u.By) })
		}
		if err != nil && !errors.Is(err, network.ErrNoCrossing) { // FollowPush checks again
			return err
		}
	}
	return nil
}

// branchesOf returns the branches among the updated refs: those that exist afterwards, and the deleted
// ones.
func branchesOf(moved []repo.RefUpdate) (updates map[string]repo.RefUpdate, there, gone []string) {
	updates = make(map[string]repo.RefUpdate, len(moved))
	for _, u := range moved {
		branch, ok := strings.CutPrefix(u.Name, heads)
		switch {
		case !ok:
			continue
		case u.New == git.ZeroSHA:
			gone = append(gone, branch)
		default:
			there = append(there, branch)
		}
		updates[branch] = u
	}
	return updates, there, gone
}

// Followers are the open pull requests whose heads a push may move, for one call of FollowPush.
type Followers struct{ list []*Pull }

// SendFollowers reads them as [db.Tx.SendEach] does, after [repo.Push.Lock].
func (s *Service) SendFollowers(tx *db.Tx, push repo.Push) (*Followers, error) {
	_, there, gone := branchesOf(push.Updates)
	var f Followers
	return &f, sendOpenBy(tx, &f.list, headIn, push.RepoID, append(there, gone...))
}

// FollowPush updates pull requests in the transaction that moves their branches. A new head becomes the
// head of its pull requests and schedules test merges; a deleted head or base closes them (decision 36). A
// moved base only wakes the worker for those with auto-merge.
func (s *Service) FollowPush(tx *db.Tx, repoID repo.ID, moved []repo.RefUpdate, followers *Followers) error {
	updates, there, gone := branchesOf(moved)
	if len(updates) == 0 {
		return nil
	}
	list := slices.DeleteFunc(followers.list, func(p *Pull) bool {
		_, moved := updates[p.HeadRef]
		return !moved
	})
	hold, err := holds(tx, list...)
	if err != nil {
		return err
	}
	for _, p := range list {
		if hold[p.IssueID] {
			err = s.followHead(tx, p, updates[p.HeadRef])
		} else {
			err = s.detach(tx, p, updates[p.HeadRef].By)
		}
		if err != nil {
			return err
		}
	}
	if err := automerge.WakeBases(tx, repoID, there); err != nil {
		return err
	}
	for _, branch := range there {
		if u := updates[branch]; u.Old != git.ZeroSHA && u.By != 0 {
			tx.OnCommit(func() { s.landings.add(landing{repoID, branch, u.Old, u.New, u.By}) })
		}
	}
	if len(gone) == 0 {
		return nil
	}
	if list, err = openByBase(tx, repoID, gone); err != nil {
		return err
	}
	for _, p := range list {
		if err := s.close(tx, p, updates[p.BaseRef].By); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) followHead(tx *db.Tx, p *Pull, u repo.RefUpdate) error {
	if u.New == git.ZeroSHA {
		return s.close(tx, p, u.By)
	}
	purges, err := repo.PurgesOf(tx, p.RepoID)
	if err != nil {
		return err
	}
	if p.RepoID != p.HeadRepoID && !s.repos.IsWhole(p.RepoID, purges, u.New) {
		return repo.ErrUnprepared // the pull request was created after PreparePush
	}
	// The base's repository is locked from here on. Before, the pull request may have been merged, closed
	// or given another base.
	var now *Pull
	err = s.change(tx, p, u.By, func(c *issue.Change) (err error) {
		if now, err = byID(tx, p.IssueID); err == nil && now.follows(p) {
			c.Touch() // decision 57
			c.AddHookEvent(hook.Event{Name: "pull_request", Action: "synchronize",
				About: hook.About{Before: string(now.HeadSHA), After: string(u.New)}})
			if err = s.OnNewHead(c, now); err == nil {
				err = endOnPush(c, now, u)
			}
			if err == nil {
				_, err = dequeue(c, leftByHand)
			}
		}
		return err
	})
	if err != nil || !now.follows(p) {
		return err
	}
	return s.moveHead(tx, now, purges, u.New, u.By)
}

// follows reports whether the pull request still has the same head branch.
func (p *Pull) follows(was *Pull) bool { return p.Open && p.HeadRepoID == was.HeadRepoID }

// unknownPusher stands for the accounts that moved the head of a pull request while it was closed.
const unknownPusher account.ID = -1

// moveHead sets the head to sha, which by pushed. purges is the base repository's repo.Repo.Purges when the
// objects were copied there.
func (s *Service) moveHead(tx *db.Tx, p *Pull, purges int64, sha git.SHA, by account.ID) error {
	if err := setHead(tx, p, sha, by); err != nil {
		return err
	}
	return repo.SetPullRef(tx, p.RepoID, purges, p.Number, repo.PullHead, sha)
}

func (s *Service) close(tx *db.Tx, p *Pull, by account.ID) error {
	return s.change(tx, p, by, func(c *issue.Change) error {
		c.SetState(issue.Closed, issue.NoReason)
		return nil
	})
}

// change changes the issue of a pull request as the account that moved a ref.
func (s *Service) change(tx *db.Tx, p *Pull, by account.ID, fn func(*issue.Change) error) error {
	list, err := repo.Accesses(tx, nil, []repo.ID{p.RepoID})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errs.Absent()
	}
	if by == 0 {
		by = p.HeadOwnerID
	}
	_, err = s.issues.ChangeIn(tx, list[0].Repo, &account.Caller{ID: by}, p.Number, fn)
	return err
}

// FollowIssue updates the pull request's row after its issue was opened or closed.
func FollowIssue(c *issue.Change) error {
	if c.Before == nil || !c.Before.Pull || c.Before.State == c.Issue.State {
		return nil
	}
	return setOpen(c.Tx, c.Issue.ID, c.Issue.State == issue.Open)
}

// Reopen checks that a closed pull request can be reopened (decision 33): it is not merged, its branches
// exist, the head shares history with its former head, and no other open pull request has the same
// branches. Error: 422.
func (s *Service) Reopen(
	ctx context.Context, a *repo.Access, i *issue.Issue,
) (func(*issue.Change) error, error) {
	var p *Pull
	var tip git.SHA
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if p, err = byID(tx, i.ID); err == nil && p.HeadRepoID != 0 {
			tip, err = repo.BranchTip(tx, p.HeadRepoID, p.HeadRef)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case p.Merged():
		return nil, custom("state", "state cannot be changed. The pull request has been merged.")
	case tip == "":
		return nil, headGone(p)
	case p.BaseTip == "":
		return nil, custom("state", "state cannot be changed. The "+p.BaseRef+" branch has been deleted.")
	}
	if tip != p.HeadSHA {
		if err := s.bringHead(ctx, a, p, tip); err != nil {
			return nil, err
		}
	}
	return func(c *issue.Change) error { return s.reopen(c, p, a.Purges, tip) }, nil
}

// bringHead copies the head of a pull request to be reopened, if it has moved. Error: 422.
func (s *Service) bringHead(ctx context.Context, a *repo.Access, p *Pull, tip git.SHA) error {
	err := s.network.Bring(ctx, a, p.crossing(), tip, p.HeadSHA, p.BaseTip)
	if errors.Is(err, network.ErrNoCrossing) {
		return headGone(p)
	}
	if err != nil {
		return err
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	_, err = objects.MergeBase(ctx, p.HeadSHA, tip)
	if errs.Is(err, errs.NotFound) {
		return custom("state", "state cannot be changed. The "+p.HeadRef+
			" branch was force-pushed or recreated.")
	}
	return err
}

// headGone returns the 422 for a pull request whose head was deleted or is no longer visible to its author.
func headGone(p *Pull) error {
	return custom("state",
		"state cannot be changed. The "+p.HeadRef+" branch or its repository has been deleted.")
}

// reopen reopens the pull request in the transaction.
func (s *Service) reopen(c *issue.Change, p *Pull, purges int64, tip git.SHA) error {
	now, err := repo.HoldBranch(c.Tx, p.HeadRepoID, p.HeadRef)
	if err != nil {
		return err
	}
	base, err := repo.HoldBranch(c.Tx, p.RepoID, p.BaseRef)
	if err != nil {
		return err
	}
	if now != tip || base == "" {
		return errs.New(errs.Conflict, "The branches have changed. Try again.")
	}
	hold, err := holds(c.Tx, p)
	if err != nil {
		return err
	}
	if !hold[p.IssueID] {
		return headGone(p)
	}
	other, err := openPair(c.Tx, p)
	if err != nil {
		return err
	}
	if other != 0 {
		return alreadyExists(c.Tx, p)
	}
	if tip == p.HeadSHA {
		return nil
	}
	return s.moveHead(c.Tx, p, purges, tip, unknownPusher)
}
