package pull

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/pull/automerge"
	"arbor/internal/repo"
)

// Auto is the auto-merge of a pull request: it is merged as soon as the rules of its base allow it.
type Auto struct {
	*automerge.Request
	By *account.Account // who enabled it, and merges
}

// Name returns the name of the merge method: merge, squash or rebase.
func (m *Auto) Name() string { return methods[m.Request.Method] }

// Errors of auto-merge, with GitHub's messages.
var (
	errNoAutoMerge = errs.New(errs.Invalid, "Auto merge is not allowed for this repository")
	errNotEnabled  = errs.New(errs.Invalid,
		"Can't disable auto-merge for this pull request: it is not enabled.")
)

// Why auto-merge ended, as events say.
const (
	endedByHand   = "Manually disabled by user"
	endedByClose  = "Pull request was closed"
	endedByDraft  = "Pull request was converted to draft"
	endedByBase   = "Base branch was changed"
	endedByPush   = "Head branch was pushed to by a user without write access"
	endedByLoss   = "The user who enabled auto-merge lost write access"
	endedBySwitch = "Auto-merge was disabled for the repository"
)

// autoEvents are the events of enabling auto-merge; that of m is at m.
var autoEvents = [...]issue.EventKind{issue.EventAutoMerge, issue.EventAutoSquash, issue.EventAutoRebase}

// EnableAutoMerge has the server merge a pull request, as the caller, as soon as the rules of its base allow it. The
// caller must have push access, and o.SHA may be the expected head. A pull request that can be merged at once, and
// one that is a draft or conflicts, is refused, as at GitHub; but one that can be merged joins the merge queue of its
// base if there is one. Errors: 404, 405, 409, 422.
func (s *Service) EnableAutoMerge(ctx context.Context, a *repo.Access, number int64, o MergeOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	page, err := s.testedPage(ctx, a, number, whole)
	if err != nil {
		return err
	}
	i := page.Issues()[0]
	p := page.pulls[i.ID]
	state, outlook := page.mergeState(i, p), page.outlooks[int64(i.ID)]
	if p.Open && outlook != nil && outlook.Queue != nil && (state == "clean" || state == "unstable") {
		return s.enqueueNow(ctx, a, p, QueueOptions{SHA: o.SHA})
	}
	if !a.Merging.Has(repo.AllowsAutoMerge) {
		return errNoAutoMerge
	}
	if !p.Open {
		return notWaiting("closed")
	} else if slices.Contains([]string{"clean", "unstable", "draft", "dirty"}, state) {
		return notWaiting(state)
	}
	_, err = s.issues.Change(ctx, a, number, func(c *issue.Change) error { return enable(c, a, p, o) })
	return err
}

// notWaiting is GitHub's error for a pull request that does not wait for anything, or cannot be merged.
func notWaiting(state string) error {
	return errs.New(errs.Invalid, fmt.Sprintf("Pull request Pull request is in %s status", state))
}

// enable is the transaction of EnableAutoMerge. What was checked before may have changed.
func enable(c *issue.Change, a *repo.Access, p *Pull, o MergeOptions) error {
	now, err := byID(c.Tx, p.IssueID)
	if err != nil {
		return err
	}
	merging, err := repo.MergingNow(c.Tx, p.RepoID)
	switch {
	case err != nil:
		return err
	case !merging.Has(repo.AllowsAutoMerge):
		return errNoAutoMerge
	case !now.Open:
		return notWaiting("closed")
	case c.Issue.Draft:
		return notWaiting("draft")
	case o.SHA != "" && !strings.EqualFold(o.SHA, string(now.HeadSHA)), now.HeadSHA != p.HeadSHA:
		return errHeadModified
	}
	if err := o.Method.allowed(merging); err != nil {
		return err
	}
	if err := checkEmail(c.Tx, a.Caller.ID, o.Email); err != nil {
		return err
	}
	c.Event(autoEvents[o.Method], issue.Event{})
	c.Touch()
	return automerge.Put(c.Tx, &automerge.Request{IssueID: p.IssueID, RepoID: p.RepoID, By: a.Caller.ID,
		Installation: a.Caller.InstallationOf(), At: c.Tx.Now, Method: int64(o.Method), Title: o.Title,
		Message: o.Message, Email: o.Email})
}

// checkEmail returns a 422 for an address that does not make a commit the account's.
func checkEmail(tx *db.Tx, id account.ID, email *string) error {
	if email == nil {
		return nil
	}
	who, err := account.ByID(tx, id)
	if err != nil {
		return err
	}
	known, err := account.CommitEmails(tx, who)
	is := func(e string) bool { return strings.EqualFold(e, *email) }
	if err == nil && !slices.ContainsFunc(known, is) {
		err = errs.New(errs.Invalid, "The author's e-mail address must be a verified address of yours.")
	}
	return err
}

// DisableAutoMerge undoes EnableAutoMerge, for people with push access and for the author. Errors: 403, 404; 422
// if it is not enabled.
func (s *Service) DisableAutoMerge(ctx context.Context, a *repo.Access, number int64) error {
	_, i, err := s.Find(ctx, a, number)
	if err == nil {
		err = mayEdit(a, i, account.Push)
	}
	if err != nil {
		return err
	}
	_, err = s.issues.Change(ctx, a, number, func(c *issue.Change) error {
		ended, err := endAuto(c, endedByHand)
		if err == nil && !ended {
			err = errNotEnabled
		}
		return err
	})
	return err
}

// endAuto disables auto-merge of a pull request and says why. It reports whether it was enabled.
func endAuto(c *issue.Change, why string) (bool, error) {
	ended, err := automerge.Drop(c.Tx, c.Issue.ID)
	if ended {
		c.Event(issue.EventAutoMergeDisabled, issue.Event{Detail: issue.Detail{Reason: why}})
		c.Touch()
	}
	return ended, err
}

// endWaiting disables auto-merge of a pull request that somebody changed, and takes it out of its merge queue.
func endWaiting(c *issue.Change, why string) error {
	if _, err := endAuto(c, why); err != nil {
		return err
	}
	_, err := dequeue(c, leftByHand)
	return err
}

// FollowAutoMerge is called before a change of a pull request is written. A merge fulfils auto-merge, a draft and a
// closed pull request lose it and leave their merge queue, and any other change may have been the last thing that was
// missing.
func FollowAutoMerge(c *issue.Change) error {
	was, now := c.Before, c.Issue
	var err error
	switch {
	case was == nil || !was.Pull:
	case now.MergedAt != was.MergedAt:
		if _, err = automerge.Drop(c.Tx, now.ID); err == nil {
			_, err = dequeue(c, leftElsewhere)
		}
	case now.State != was.State:
		err = endWaiting(c, endedByClose)
	case now.Draft && !was.Draft:
		err = endWaiting(c, endedByDraft)
	default:
		err = automerge.WakePull(c.Tx, now.ID)
	}
	return err
}

// endOnPush disables auto-merge after a push to the head by an account that may not push to the base's repository.
func endOnPush(c *issue.Change, p *Pull, u repo.RefUpdate) error {
	if p.RepoID == p.HeadRepoID {
		return nil
	}
	if _, err := automerge.Of(c.Tx, p.IssueID); err != nil {
		return ignoreAbsent(err)
	}
	people, err := repo.PeopleByID(c.Tx, c.Repo, []account.ID{u.By})
	if err == nil && (u.DeployKey || people[u.By].Role < account.Push) {
		_, err = endAuto(c, endedByPush)
	}
	return err
}

func ignoreAbsent(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}

// loadAuto reads which pull requests of the page have auto-merge, and returns who enabled it. A repository that does
// not allow it shows none.
func (p *page) loadAuto(tx *db.Tx) (people []account.ID, err error) {
	var ids []issue.ID
	for id, pull := range p.pulls {
		if pull.Open && p.bases[pull.RepoID].Merging.Has(repo.AllowsAutoMerge) {
			ids = append(ids, id)
		}
	}
	p.autos, err = automerge.OfMany(tx, ids)
	for _, m := range p.autos {
		people = append(people, m.By)
	}
	return people, err
}

// auto returns the auto-merge of a pull request of the page, or nil.
func (p *page) auto(id issue.ID) *Auto {
	if m := p.autos[id]; m != nil {
		return &Auto{m, p.Account(m.By)}
	}
	return nil
}

// autoJSON is GitHub's auto-merge.
type autoJSON struct {
	EnabledBy *account.Simple `json:"enabled_by"`
	Method    string          `json:"merge_method"`
	Title     string          `json:"commit_title"`
	Message   string          `json:"commit_message"`
}

// autoPayload returns the member auto_merge of a pull request of the page.
func (p *page) autoPayload(id issue.ID) *autoJSON {
	m := p.auto(id)
	if m == nil {
		return nil
	}
	return &autoJSON{p.User(m.Request.By), m.Name(), textOf(m.Title), textOf(m.Message)}
}

// MayEnableAuto reports whether the caller may enable auto-merge: the pull request waits for something.
func (v *View) MayEnableAuto() bool {
	a := v.Base.Repo
	return v.Auto == nil && v.Open && a.Merging.Has(repo.AllowsAutoMerge) && a.Role >= account.Push &&
		!a.Archived && slices.Contains([]string{"blocked", "behind"}, v.MergeState)
}

// MayDisableAuto reports whether the caller may disable auto-merge.
func (v *View) MayDisableAuto() bool {
	return v.Auto != nil && !v.Base.Repo.Archived && mayEdit(v.Base.Repo, v.Issue.Issue, account.Push) == nil
}
