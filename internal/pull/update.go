package pull

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/web"
)

// Update merges the base branch into the head branch, with the same effects as a push. It requires the
// rights of mayUpdate. expected is the expected head and may be empty. Errors: 403, 404; 422 if the head is
// another one, if there is nothing new, or for a conflict.
func (s *Service) Update(ctx context.Context, a *repo.Access, number int64, expected string) error {
	err := s.repos.Again(ctx, errMoved, func() error { return s.updateOnce(ctx, a, number, expected) })
	if errors.Is(err, errMoved) {
		return errs.New(errs.Unavailable, "the branches keep moving; try again")
	}
	return err
}

func (s *Service) updateOnce(ctx context.Context, a *repo.Access, number int64, expected string) error {
	p, _, err := s.Find(ctx, a, number)
	if err == nil {
		err = s.mayUpdate(ctx, a, p)
	}
	if err != nil {
		return err
	}
	switch {
	case !p.Open || p.BaseTip == "" || p.HeadRepoID == 0:
		return errs.New(errs.Invalid, "The pull request is closed.")
	case expected != "" && !strings.EqualFold(expected, string(p.HeadSHA)):
		return errs.New(errs.Invalid, "expected head sha didn't match current head ref.")
	}
	purges, err := s.repos.Purges(ctx, p.HeadRepoID) // read before objects are copied
	if err != nil {
		return err
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	m, err := objects.MergeTree(ctx, p.HeadSHA, p.BaseTip)
	switch {
	case errs.Is(err, errs.TooLarge), err == nil && m.Conflict:
		return errs.New(errs.Invalid, "merge conflict between base and head")
	case err != nil:
		return err
	case m.UpToDate:
		return errs.New(errs.Invalid, "There are no new commits on the base branch.")
	}
	by, err := s.repos.Identity(ctx, a.Caller)
	if err != nil {
		return err
	}
	sha, err := objects.CommitMerge(ctx, m, git.Commit{Parents: []git.SHA{p.HeadSHA, p.BaseTip}, Author: by,
		Committer: by, Sign: s.signatures.Sign,
		Message: "Merge branch '" + p.BaseRef + "' into " + p.HeadRef + "\n"})
	if err != nil {
		return err
	}
	// Check again: the merge may have taken long, and copying makes objects visible.
	if err := s.mayUpdate(ctx, a, p); err != nil {
		return err
	}
	if err := s.network.Bring(ctx, a, back(p, a.Caller.ID), sha, p.HeadSHA); err != nil {
		return err
	}
	stillMay := func(tx *db.Tx, updates []repo.RefUpdate) ([]error, error) {
		now, err := byID(tx, p.IssueID)
		if err == nil {
			err = mayUpdateIn(tx, a, now)
		}
		return make([]error, len(updates)), err
	}
	refused, err := s.repos.MoveRefs(ctx,
		repo.Push{RepoID: p.HeadRepoID, Purges: purges, Atomic: true, If: stillMay, As: a,
			Updates: []repo.RefUpdate{{Name: heads + p.HeadRef, Old: p.HeadSHA, New: sha, By: a.Caller.ID,
				Forward: true}}})
	if err == nil && refused[0] != nil {
		err = cmp.Or(repo.RuledOut(refused[0], errs.Invalid), errMoved)
	}
	return err
}

// back returns the crossing from the base to the head repository.
func back(p *Pull, userID account.ID) network.Crossing {
	return network.Crossing{From: p.RepoID, To: p.HeadRepoID, UserID: userID}
}

// mayUpdate returns 403 unless the caller may move the head: that requires push access to its repository,
// or to a public base if the author has push access to the head and allows maintainers to push. It returns
// 422 if the base's commits may not be copied to the head's repository: the author or the caller cannot see
// both, or they are in different networks (decision 61).
func (s *Service) mayUpdate(ctx context.Context, a *repo.Access, p *Pull) error {
	return s.db.Read(ctx, func(tx *db.Tx) error { return mayUpdateIn(tx, a, p) })
}

// mayUpdateIn is mayUpdate within a transaction, also the one that moves the head.
func mayUpdateIn(tx *db.Tx, a *repo.Access, p *Pull) error {
	if p.HeadRepoID == p.RepoID {
		return a.Require(account.Push)
	}
	seen, err := repo.ByIDs(tx, a.Caller, []repo.ID{p.RepoID, p.HeadRepoID})
	if err != nil {
		return err
	}
	base, head := seen[p.RepoID], seen[p.HeadRepoID]
	may := head != nil && head.Role >= account.Push
	let := p.Modifiable && base != nil && base.Role >= account.Push && !base.Private
	switch {
	case p.HeadRepoID == 0:
		may = let || p.AuthorID == a.Caller.ID
	case !may && let && head != nil && !head.Private && head.OwnerID == p.AuthorID:
		may = true // it is the author's own head
	case !may && let:
		if may, err = authorPushes(tx, p); err != nil {
			return err
		}
	}
	if !may || head != nil && !head.MayChange() {
		return errs.New(errs.Forbidden, "Must have push access to the head branch.")
	}
	both, err := network.MayCross(tx, back(p, p.AuthorID), back(p, a.Caller.ID))
	if err == nil && !(both[0] && both[1]) {
		err = network.ErrNoCrossing
	}
	return err
}

// updateJSON is the response of an update.
type updateJSON struct {
	Message string `json:"message"`
	URL     string `json:"url"`
}

// PUT /repos/{owner}/{repo}/pulls/{number}/update-branch
//
// UpdateBranch merges the base into the head, see Update. It is complete when the response is sent,
// although that is GitHub's 202. Errors: 403, 404, 422.
func (api *API) UpdateBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, _, err := api.find(r, a)
	if err != nil {
		return err
	}
	if err := api.s.mayUpdate(r.Context(), a, p); err != nil {
		return err
	}
	body, err := web.ReadOptional(r, Resource)
	if err != nil {
		return err
	}
	expected := body.String("expected_head_sha", 0)
	if err := body.Err(); err != nil {
		return err
	}
	if err := api.s.Update(r.Context(), a, p.Number, expected.Value); err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusAccepted, updateJSON{"Updating pull request branch.",
		web.From(r.Context()).API(web.Path("repos", a.Owner.Login, a.Name) + "/pulls/" +
			strconv.FormatInt(p.Number, 10))})
}
