package pull

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Method is a merge method.
type Method uint8

// Merge methods.
const (
	MergeCommit Method = iota // a commit with two parents
	Squash                    // one commit with all changes (decision 37)
	Rebase                    // the commits rebased onto the base branch
)

// MergeOptions are the options of a merge.
type MergeOptions struct {
	SHA     string  // expected head; empty: not checked
	Title   *string // of the commit; nil: the default
	Message *string // below the title; nil: the default
	Method  Method
	Email   *string // of the commit's author if the merging account is that; nil: the address of the account

	auto *autoRight // nil: somebody merges by hand
}

// methods are the names of the methods; that of m is at m.
var methods = [...]string{"merge", "squash", "rebase"}

// ParseMethod reads the name of a method. Error: 422.
func ParseMethod(name string) (Method, error) {
	f := web.Faults{Resource: Resource}
	f.CheckEnum("merge_method", name, methods[:]...)
	return Method(max(0, slices.Index(methods[:], name))), f.Err()
}

// maxMessage bounds the title and the message of a merge, in code points.
const maxMessage = 65_536

// check reports what is wrong with the texts. Error: 422.
func (o *MergeOptions) check() error {
	f := web.Faults{Resource: Resource}
	if o.Message != nil {
		f.CheckText("commit_message", *o.Message, maxMessage)
	}
	if o.Title != nil {
		f.CheckText("commit_title", *o.Title, maxMessage)
	}
	return f.Err()
}

// Why a pull request is not merged (decision 37).
var (
	errNotMergeable = errs.New(errs.MethodNotAllowed, "Pull Request is not mergeable")
	errBaseModified = errs.New(errs.MethodNotAllowed,
		"Base branch was modified. Review and try the merge again.")
	errDraft        = errs.New(errs.MethodNotAllowed, "Pull Request is still a draft")
	errHeadModified = errs.New(errs.Conflict, "Head branch was modified. Review and try the merge again.")
)

// errMoved means that a branch moved between the merge and its transaction.
var errMoved = errors.New("pull: a branch has moved")

// Merge merges a pull request into its base branch. It updates the branch, the pull request, its issue and
// the issues that it fixes in one transaction. The caller must have push access. Of concurrent merges of
// one pull request only one succeeds. If the base moves before the commit, the merge is repeated. Errors:
// 405 if it cannot be merged, 409 if the head is not o.SHA.
func (s *Service) Merge(ctx context.Context, a *repo.Access, number int64, o MergeOptions) (git.SHA, error) {
	p, _, err := s.Find(ctx, a, number)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return "", err
	}
	var sha git.SHA
	err = s.repos.InTurn(ctx, p.RepoID, p.BaseRef, errMoved, func() (err error) {
		sha, err = s.mergeOnce(ctx, a, number, o)
		return err
	})
	if errors.Is(err, errMoved) {
		err = errBaseModified
	}
	return sha, err
}

func (s *Service) mergeOnce(
	ctx context.Context, a *repo.Access, number int64, o MergeOptions,
) (git.SHA, error) {
	p, i, err := s.Find(ctx, a, number)
	switch {
	case err != nil:
		return "", err
	case !p.Open || p.HeadRepoID == 0 || p.Merged() || p.BaseTip == "":
		return "", errNotMergeable
	case i.Draft:
		return "", errDraft
	case o.SHA != "" && !strings.EqualFold(o.SHA, string(p.HeadSHA)):
		return "", errHeadModified
	}
	if err := o.Method.allowed(a.Merging); err != nil {
		return "", err
	}
	sha, err := s.commit(ctx, a, p, i, o)
	if err != nil {
		return "", err
	}
	push := repo.Push{RepoID: p.RepoID, Purges: a.Purges, Atomic: true, Ruled: a.Ruled, As: a,
		Updates: []repo.RefUpdate{{Name: heads + p.BaseRef, Old: p.BaseTip, New: sha, By: a.Caller.ID,
			Forward: true}},
		Merge: &repo.Merge{Pull: int64(p.IssueID), Number: p.Number, Head: p.HeadSHA,
			Method: methods[o.Method], Auto: o.auto != nil}}
	if o.auto != nil {
		push.As = o.auto
	}
	return sha, s.repos.WritePush(ctx, push, func(tx *db.Tx) error {
		return s.complete(tx, a, p, i, o, push)
	})
}

// allowed returns 405 if the repository does not allow the method, with GitHub's message.
func (m Method) allowed(by repo.Merging) error {
	bit, name := repo.NoMergeCommits, "Merge commits"
	switch m {
	case Squash:
		bit, name = repo.NoSquashes, "Squash merges"
	case Rebase:
		bit, name = repo.NoRebases, "Rebase merges"
	}
	if by.Has(bit) {
		return errs.New(errs.MethodNotAllowed, name+" are not allowed on this repository.")
	}
	return nil
}

// commit writes the commits of a merge, which are not yet referenced, and returns the new tip of the base
// branch.
func (s *Service) commit(
	ctx context.Context, a *repo.Access, p *Pull, i *issue.Issue, o MergeOptions,
) (git.SHA, error) {
	by, err := s.repos.Identity(ctx, a.Caller)
	if err != nil {
		return "", err
	}
	if o.Email != nil {
		by.Email = *o.Email
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return "", err
	}
	defer release()
	defer s.repos.Wrote(p.RepoID)
	if o.Method == Rebase {
		result, err := objects.Rebase(ctx, p.BaseTip, p.HeadSHA, by)
		switch {
		case errs.Is(err, errs.TooLarge):
			return "", errNotMergeable
		case err != nil:
			return "", err
		case result.Conflict || result.Tip == "" || result.Tip == p.BaseTip:
			return "", errNotMergeable
		}
		return result.Tip, nil
	}
	m, err := merged(ctx, objects, p)
	if err != nil {
		return "", err
	}
	c := git.Commit{Parents: []git.SHA{p.BaseTip}, Author: by, Committer: by, Sign: s.signatures.Sign}
	if o.Method == Squash {
		if c.Author, c.Message, err = s.squashMessage(ctx, objects, p, i, a.Merging, o); err != nil {
			return "", err
		}
	} else {
		c.Parents = append(c.Parents, p.HeadSHA)
		if c.Message, err = s.mergeMessage(ctx, p, i, a.Merging, o); err != nil {
			return "", err
		}
	}
	return objects.CommitMerge(ctx, m, c)
}

// merged returns the merged tree, from the test merge or from a new merge.
func merged(ctx context.Context, objects *git.Repository, p *Pull) (*git.MergeResult, error) {
	if p.Tested() {
		if p.TestSHA == "" {
			return nil, errNotMergeable
		}
		c, err := objects.Commit(ctx, p.TestSHA)
		if err == nil {
			return &git.MergeResult{Tree: c.Tree}, nil
		}
		if !errs.Is(err, errs.NotFound) {
			return nil, err
		}
	}
	m, err := objects.MergeTree(ctx, p.BaseTip, p.HeadSHA)
	switch {
	case errs.Is(err, errs.TooLarge):
		return nil, errNotMergeable
	case err != nil:
		return nil, err
	case m.Conflict || m.UpToDate:
		return nil, errNotMergeable
	}
	return m, nil
}

// complete is the transaction of a merge: it moves the base branch with all effects of a push (package
// forge), marks the pull request as merged, and closes its issue and the issues that it fixes. Error:
// errMoved if the head, base or state has changed.
func (s *Service) complete(
	tx *db.Tx, a *repo.Access, p *Pull, i *issue.Issue, o MergeOptions, push repo.Push,
) error {
	refused, err := s.repos.MoveRefsIn(tx, push)
	if err != nil {
		return err
	}
	if err := repo.RuledOut(refused[0], errs.MethodNotAllowed); err != nil {
		return err
	}
	if refused[0] != nil {
		return errMoved
	}
	if o.auto != nil { // the merge ends this right
		if err := tx.Check(); err != nil {
			return err
		}
	}
	now, err := byID(tx, p.IssueID)
	switch {
	case err != nil:
		return err
	case now.Merged() || !now.Open || now.HeadRepoID == 0:
		return errNotMergeable
	case now.HeadSHA != p.HeadSHA || now.BaseRef != p.BaseRef:
		return errMoved
	}
	if of, err := issue.ByNumber(tx, p.RepoID, p.Number); err != nil || of.Draft { // may have changed
		return cmp.Or(err, error(errDraft))
	}
	merging, err := repo.MergingNow(tx, p.RepoID) // may have changed since the access was read
	if err == nil {
		err = o.Method.allowed(merging)
	}
	if err == nil {
		err = s.conclude(tx, a, p, i, push.Updates[0].New)
	}
	if err != nil || !merging.Has(repo.DeletesHead) {
		return err
	}
	return s.deleteHead(tx, a, p)
}

// deleteHead deletes the head branch of a merged pull request if it is in the same repository and not
// otherwise used: it is neither the default branch nor a branch of another open pull request, which would
// be closed.
func (s *Service) deleteHead(tx *db.Tx, a *repo.Access, p *Pull) error {
	if p.HeadRepoID != p.RepoID || p.HeadRef == a.DefaultBranch {
		return nil
	}
	for _, find := range []func(*db.Tx, repo.ID, []string) ([]*Pull, error){openByHead, openByBase} {
		if others, err := find(tx, p.RepoID, []string{p.HeadRef}); err != nil || len(others) > 0 {
			return err
		}
	}
	// A branch that has moved, or that rules protect, is kept.
	_, err := s.repos.MoveRefsIn(tx, repo.Push{RepoID: p.RepoID, Purges: a.Purges,
		Updates: []repo.RefUpdate{{Name: heads + p.HeadRef, Old: p.HeadSHA, New: git.ZeroSHA,
			By: a.Caller.ID}}})
	return err
}

// conclude marks a pull request as merged after sha was added to its base.
func (s *Service) conclude(tx *db.Tx, a *repo.Access, p *Pull, i *issue.Issue, sha git.SHA) error {
	if err := setMerged(tx, p.IssueID, a.Caller.ID, sha); err != nil {
		return err
	}
	_, err := s.issues.ChangeIn(tx, a.Repo, a.Caller, p.Number, func(c *issue.Change) error {
		c.Issue.MergedAt = tx.Now
		c.Event(issue.EventMerged, issue.Event{Commit: string(sha)})
		c.SetState(issue.Closed, issue.NoReason)
		return nil
	})
	if err != nil || p.BaseRef != a.DefaultBranch {
		return err
	}
	return s.closeFixed(tx, a, i, sha)
}

// closeFixed closes the issues of the repository that the pull request says it fixes. As at GitHub, only
// merges into the default branch do this.
func (s *Service) closeFixed(tx *db.Tx, a *repo.Access, i *issue.Issue, sha git.SHA) error {
	if i.Body == nil {
		return nil
	}
	for _, ref := range markdown.Parse(*i.Body).References().Closes {
		if ref.Owner != "" && !sameRepo(a, ref) || ref.Number == i.Number {
			continue
		}
		_, err := s.issues.ChangeIn(tx, a.Repo, a.Caller, ref.Number, func(c *issue.Change) error {
			if !c.Issue.Pull && c.Issue.State == issue.Open {
				c.CloseBy(string(sha))
			}
			return nil
		})
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}

func sameRepo(a *repo.Access, ref markdown.IssueRef) bool {
	return strings.EqualFold(ref.Owner, a.Owner.Login) && strings.EqualFold(ref.Repo, a.Name)
}
