package pull

import (
	"context"
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
)

const heads = "refs/heads/"

// PreparePush copies the new heads of a fork's pull requests to the repositories
// that they ask to merge into, before the transaction that names them there. A pull
// request whose author's quota has no room for that is closed: the push is none of it.
func (s *Service) PreparePush(ctx context.Context, push repo.Push) error {
	tips, born, _ := branchesOf(push.Updates)
	if len(born) == 0 {
		return nil
	}
	var list []*Pull
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		list, err = openByHead(tx, push.RepoID, born)
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range list {
		u := tips[p.HeadRef]
		err := s.network.Bring(ctx, p.crossing(), u.New, p.HeadSHA, p.BaseSHA)
		if errs.Is(err, errs.Forbidden) {
			err = s.db.Write(ctx, func(tx *db.Tx) error { return s.close(tx, p, u.By) })
		}
		if err != nil && !errors.Is(err, network.ErrNoCrossing) { // FollowPush asks again
			return err
		}
	}
	return nil
}

// branchesOf gives the branches among refs that move: those that are somewhere
// afterwards, and those that are gone.
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

// FollowPush lets pull requests follow their branches, in the transaction that
// moves them: a new head is the head of its pull requests and wants test merges,
// a deleted head or base closes them (decision 36). A base that moves writes
// nothing here.
func (s *Service) FollowPush(tx *db.Tx, repoID repo.ID, moved []repo.RefUpdate) error {
	updates, there, gone := branchesOf(moved)
	if len(updates) == 0 {
		return nil
	}
	list, err := openByHead(tx, repoID, append(there, gone...))
	if err != nil {
		return err
	}
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
		return repo.ErrUnprepared // the pull request is younger than what PreparePush saw
	}
	// The base's repository is locked from here on. Until now somebody may have merged or
	// closed the pull request, or taken it another base.
	var now *Pull
	err = s.change(tx, p, u.By, func(c *issue.Change) (err error) {
		if now, err = byID(tx, p.IssueID); err == nil && now.follows(p) {
			c.Touch() // decision 57
			c.AddHookEvent(hook.Event{Name: "pull_request", Action: "synchronize",
				About: hook.About{Before: string(now.HeadSHA), After: string(u.New)}})
		}
		return err
	})
	if err != nil || !now.follows(p) {
		return err
	}
	return s.moveHead(tx, now, purges, u.New)
}

// follows reports that the pull request still follows the branch that was its head.
func (p *Pull) follows(was *Pull) bool { return p.Open && p.HeadRepoID == was.HeadRepoID }

// moveHead makes sha the head. Its objects were in the base repository when that had this
// repo.Repo.Purges.
func (s *Service) moveHead(tx *db.Tx, p *Pull, purges int64, sha git.SHA) error {
	if err := setHead(tx, p, sha); err != nil {
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

// change changes the issue of a pull request on behalf of who moved a ref.
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

// FollowIssue opens or closes a pull request in its own row, as its issue is.
func FollowIssue(c *issue.Change) error {
	if c.Before == nil || !c.Before.Pull || c.Before.State == c.Issue.State {
		return nil
	}
	return setOpen(c.Tx, c.Issue.ID, c.Issue.State == issue.Open)
}

// Reopen checks that a closed pull request may be opened again (decision 33): it
// is not merged, its branches are there, the head has some history in common
// with what it was, and no other open pull request has the same two. Error: 422.
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

// bringHead copies the head of a pull request that is to be opened again, which
// has moved since. Error: 422.
func (s *Service) bringHead(ctx context.Context, a *repo.Access, p *Pull, tip git.SHA) error {
	err := s.network.Bring(ctx, p.crossing(), tip, p.HeadSHA, p.BaseTip)
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

// headGone is the 422 for a pull request whose head is gone, or no longer for its
// author to see.
func headGone(p *Pull) error {
	return custom("state",
		"state cannot be changed. The "+p.HeadRef+" branch or its repository has been deleted.")
}

// reopen is what Reopen leaves to the transaction.
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
	return s.moveHead(c.Tx, p, purges, tip)
}
