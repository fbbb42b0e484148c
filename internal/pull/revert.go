package pull

import (
	"context"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// errTaken means that the branch exists.
var errTaken = errs.New(errs.Conflict, "there are too many branches that revert this pull request")

const (
	maxReverts  = 20  // revert branches of one pull request
	maxReverted = 150 // bytes of the original branch's name in the name of its revert branch
)

// Reverted is a revert branch with the title and body of a pull request for it.
type Reverted struct {
	Branch, Base, Title, Body string
}

// Revert creates a branch on top of a merged pull request's base, with one commit that reverts the merge:
// all commits of a rebase, the one of a squash, or the merge with its first parent as mainline. It requires
// push access. Errors: 404; 405 if it is not merged or its base was deleted; 409 for a conflict with later
// commits; 422 if there is nothing left to revert.
func (s *Service) Revert(ctx context.Context, a *repo.Access, number int64) (*Reverted, error) {
	p, i, err := s.Find(ctx, a, number)
	switch {
	case err != nil:
		return nil, err
	case !p.Merged():
		return nil, errs.New(errs.MethodNotAllowed, "Pull Request is not merged")
	case p.BaseTip == "":
		return nil, errs.New(errs.MethodNotAllowed, "The base branch is gone")
	}
	by, err := s.repos.Identity(ctx, a.Caller)
	if err != nil {
		return nil, err
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	defer s.repos.Wrote(p.RepoID)
	before, err := objects.Landed(ctx, p.MergeSHA, p.BaseSHA, p.HeadSHA)
	if err != nil {
		return nil, err
	}
	made := &Reverted{Base: p.BaseRef, Title: `Revert "` + i.Title + `"`,
		Body: "Reverts " + a.FullName() + "#" + strconv.FormatInt(number, 10)}
	commit := git.Commit{Author: by, Committer: by, Message: join(made.Title, made.Body), Sign: s.signatures.Sign}
	sha, err := objects.Undo(ctx, p.BaseTip, before, p.MergeSHA, commit)
	if err != nil {
		return nil, err
	}
	name := "revert-" + strconv.FormatInt(number, 10)
	if len(p.HeadRef) <= maxReverted {
		name += "-" + p.HeadRef
	}
	made.Branch, err = s.addBranch(ctx, a, name, sha)
	return made, err
}

// addBranch creates a branch with this name, or with the first free number appended.
func (s *Service) addBranch(ctx context.Context, a *repo.Access, name string, sha git.SHA) (string, error) {
	for n := range maxReverts {
		branch := name
		if n > 0 {
			branch += "-" + strconv.Itoa(n+1)
		}
		push := repo.Push{RepoID: a.ID, Purges: a.Purges, Atomic: true, As: a,
			Updates: []repo.RefUpdate{{Name: heads + branch, Old: git.ZeroSHA, New: sha, By: a.Caller.ID}}}
		err := s.repos.WritePush(ctx, push, func(tx *db.Tx) error {
			refused, err := s.repos.MoveRefsIn(tx, push)
			if err == nil {
				err = refused[0]
			}
			return err
		})
		if err == nil || !errs.Is(err, errs.Conflict) {
			return branch, err
		}
	}
	return "", errTaken
}
