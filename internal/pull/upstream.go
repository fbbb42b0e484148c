package pull

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/web"
)

// upstreamJSON is GitHub's merged-upstream.
type upstreamJSON struct {
	Message    string `json:"message"`
	MergeType  string `json:"merge_type"` // none, fast-forward or merge
	BaseBranch string `json:"base_branch"`
}

// MergeUpstream updates a branch of a fork from the branch with the same name in its parent, by
// fast-forward or with a merge commit. Objects are copied as MayCross allows and count for the caller's
// quota. Errors: 409 for a conflict; 422 if no parent is visible to the caller or one of the branches does
// not exist.
func (s *Service) MergeUpstream(ctx context.Context, a *repo.Access, branch string) (*upstreamJSON, error) {
	var done *upstreamJSON
	err := s.repos.InTurn(ctx, a.ID, branch, errMoved, func() (err error) {
		done, err = s.mergeUpstreamOnce(ctx, a, branch)
		return err
	})
	if errors.Is(err, errMoved) {
		err = errs.New(errs.Conflict, "The branch was modified. Try again.")
	}
	return done, err
}

func (s *Service) mergeUpstreamOnce(
	ctx context.Context, a *repo.Access, branch string,
) (*upstreamJSON, error) {
	parent, err := s.upstream(ctx, a)
	if err != nil {
		return nil, err
	}
	own, err := s.branchTip(ctx, a, branch)
	if err != nil {
		return nil, err
	}
	theirs, err := s.branchTip(ctx, parent, branch)
	if err != nil {
		return nil, err
	}
	from := parent.Owner.Login + ":" + branch
	crossing := network.Crossing{From: parent.ID, To: a.ID, UserID: a.Caller.ID}
	err = s.network.Bring(ctx, a, crossing, theirs, own)
	if errors.Is(err, network.ErrNoCrossing) {
		return nil, s.barred(ctx, a, errNoUpstream())
	}
	if err != nil {
		return nil, err
	}
	sha, kind, err := s.joinUpstream(ctx, a, own, theirs, "Merge branch '"+from+"' into "+branch+"\n")
	if err != nil {
		return nil, err
	}
	if kind == "none" {
		return &upstreamJSON{"This branch is not behind the upstream " + from + ".", kind, from}, nil
	}
	stillMay := func(tx *db.Tx, updates []repo.RefUpdate) ([]error, error) {
		may, err := network.MayCross(tx, crossing)
		if err == nil && !may[0] {
			err = errNoUpstream()
		}
		return make([]error, len(updates)), err
	}
	refused, err := s.repos.MoveRefs(ctx,
		repo.Push{RepoID: a.ID, Purges: a.Purges, Atomic: true, If: stillMay, As: a, Upstream: true,
			Updates: []repo.RefUpdate{{Name: heads + branch, Old: own, New: sha, By: a.Caller.ID,
				Forward: true}}})
	if err == nil && refused[0] != nil {
		err = cmp.Or(repo.RuledOut(refused[0], errs.Invalid), errMoved)
	}
	message := "Successfully fetched and fast-forwarded from upstream " + from + "."
	if kind == "merge" {
		message = "Successfully merged upstream " + from + "."
	}
	return &upstreamJSON{message, kind, from}, err
}

// joinUpstream returns a commit that contains both tips, and how it was made.
func (s *Service) joinUpstream(ctx context.Context, a *repo.Access, own, theirs git.SHA, message string) (
	sha git.SHA, kind string, err error,
) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return "", "", err
	}
	defer release()
	if behind, err := objects.IsAncestor(ctx, theirs, own); err != nil || behind {
		return own, "none", err
	}
	if ahead, err := objects.IsAncestor(ctx, own, theirs); err != nil || ahead {
		return theirs, "fast-forward", err
	}
	merged, err := objects.MergeTree(ctx, own, theirs)
	switch {
	case errs.Is(err, errs.TooLarge), err == nil && merged.Conflict:
		return "", "", errs.New(errs.Conflict, "There are merge conflicts")
	case err != nil:
		return "", "", err
	}
	by, err := s.repos.Identity(ctx, a.Caller)
	if err != nil {
		return "", "", err
	}
	sha, err = objects.CommitMerge(ctx, merged, git.Commit{Parents: []git.SHA{own, theirs},
		Author: by, Committer: by, Message: message, Sign: s.signatures.Sign})
	return sha, "merge", err
}

// upstream returns the parent of a fork if it is visible to the caller.
func (s *Service) upstream(ctx context.Context, a *repo.Access) (parent *repo.Access, err error) {
	if a.ParentID == 0 {
		return nil, errNoUpstream()
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		seen, err := repo.ByIDs(tx, a.Caller, []repo.ID{a.ParentID})
		parent = seen[a.ParentID]
		return err
	})
	if err == nil && parent == nil {
		err = errNoUpstream()
	}
	return parent, err
}

// barred returns why objects cannot be copied to a repository: the error of the caller's access if that was
// lost, else the given error.
func (s *Service) barred(ctx context.Context, a *repo.Access, otherwise error) error {
	if err := s.db.Read(ctx, a.Holds); err != nil {
		return err
	}
	return otherwise
}

func errNoUpstream() error {
	return errs.New(errs.Invalid, "The repository is not a fork, or you cannot see its parent.")
}

// branchTip returns the tip of a branch. Error: 422 if it does not exist.
func (s *Service) branchTip(ctx context.Context, a *repo.Access, branch string) (git.SHA, error) {
	sha, err := s.repos.Ref(ctx, a, heads+branch)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		err = errs.Newf(errs.Invalid, "%s has no branch %q", a.FullName(), branch)
	}
	return sha, err
}

// POST /repos/{owner}/{repo}/merge-upstream
//
// MergeFromUpstream updates a branch of a fork from its parent. Errors: 409 for a conflict, 422 if there is
// nothing to merge from.
func (api *API) MergeFromUpstream(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, "Merge")
	if err != nil {
		return err
	}
	body.Require("branch")
	branch := body.String("branch", 255)
	if err := body.Err(); err != nil {
		return err
	}
	done, err := api.s.MergeUpstream(r.Context(), a, branch.Value)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, done)
}

// NewBranch is a branch to be created by BranchFrom.
type NewBranch struct {
	Name string
	From repo.ID // another repository of the network
	Base string  // a branch of From
	SHA  git.SHA // the tip of Base
}

// BranchFrom creates a branch at the tip of a branch of another repository in the network. Objects are
// copied as by MergeUpstream. Errors: 409 if the other branch has moved; 422 if it is not visible to the
// caller, and for a name that exists.
func (s *Service) BranchFrom(ctx context.Context, a *repo.Access, n NewBranch) error {
	var from *repo.Access
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		seen, err := repo.ByIDs(tx, a.Caller, []repo.ID{n.From})
		from = seen[n.From]
		return err
	})
	if err == nil && from == nil {
		err = network.ErrNoCrossing
	}
	if err != nil {
		return err
	}
	tip, err := s.branchTip(ctx, from, n.Base)
	if err == nil && tip != n.SHA {
		err = errs.New(errs.Conflict, "The branch was modified. Try again.")
	}
	if err != nil {
		return err
	}
	var have []git.SHA
	if own, err := s.repos.Ref(ctx, a, heads+a.DefaultBranch); err == nil {
		have = append(have, own)
	}
	crossing := network.Crossing{From: from.ID, To: a.ID, UserID: a.Caller.ID}
	if err := s.network.Bring(ctx, a, crossing, tip, have...); err != nil {
		return err
	}
	_, err = s.repos.CreateRefWith(ctx, a, heads+n.Name, tip, func(tx *db.Tx) error {
		may, err := network.MayCross(tx, crossing)
		if err == nil && !may[0] {
			err = network.ErrNoCrossing
		}
		return err
	})
	return err
}
