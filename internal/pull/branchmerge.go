package pull

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ErrUpToDate means that a branch already contains the head.
var ErrUpToDate = errors.New("pull: there is nothing to merge")

// BranchMerge is a merge into a branch without a pull request.
type BranchMerge struct {
	Base    string // a branch
	Head    string // a branch, a tag or a full SHA (decision 50)
	Message string // empty: the default
}

// check reports what is wrong with the values. Error: 422.
func (m *BranchMerge) check() error {
	f := web.Faults{Resource: mergeResource}
	for _, one := range [...]struct{ name, value string }{{"base", m.Base}, {"head", m.Head}} {
		f.CheckText(one.name, one.value, 0)
		if one.value == "" {
			f.Wrong(one.name, errs.MissingField, "")
		}
	}
	f.CheckText("commit_message", m.Message, maxMessage)
	return f.Err()
}

// mergeResource is the name of merges in validation errors.
const mergeResource = "Merge"

// MergeBranch merges a commit into a branch with a merge commit. The caller must have push access. It is
// repeated if the branch moves before the commit. Errors: ErrUpToDate; 404 if the base or head does not
// exist; 409 for a conflict; 422.
func (s *Service) MergeBranch(ctx context.Context, a *repo.Access, m BranchMerge) (git.SHA, error) {
	if err := m.check(); err != nil {
		return "", err
	}
	var sha git.SHA
	err := s.repos.InTurn(ctx, a.ID, m.Base, errMoved, func() (err error) {
		sha, err = s.mergeBranchOnce(ctx, a, m)
		return err
	})
	if errors.Is(err, errMoved) {
		err = errs.New(errs.Conflict, "Base branch was modified. Review and try the merge again.")
	}
	return sha, err
}

func (s *Service) mergeBranchOnce(ctx context.Context, a *repo.Access, m BranchMerge) (git.SHA, error) {
	base, err := s.repos.Ref(ctx, a, heads+m.Base)
	if errs.Is(err, errs.NotFound) {
		return "", errs.New(errs.NotFound, "Base does not exist")
	}
	if err != nil {
		return "", err
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return "", err
	}
	defer release()
	head, err := s.mergeCandidate(ctx, a, objects, m.Head)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return "", errs.Wrap(errs.NotFound, "Head does not exist", err)
	}
	if err != nil {
		return "", err
	}
	merged, err := objects.MergeTree(ctx, base, head)
	switch {
	case errs.Is(err, errs.TooLarge), err == nil && merged.Conflict:
		return "", errs.New(errs.Conflict, "Merge conflict")
	case err != nil:
		return "", err
	case merged.UpToDate:
		return "", ErrUpToDate
	}
	by, err := s.repos.Identity(ctx, a.Caller)
	if err != nil {
		return "", err
	}
	sha, err := objects.CommitMerge(ctx, merged, git.Commit{Parents: []git.SHA{base, head},
		Author: by, Committer: by, Message: m.message(), Sign: s.signatures.Sign})
	if err != nil {
		return "", err
	}
	refused, err := s.repos.MoveRefs(ctx, repo.Push{RepoID: a.ID, Purges: a.Purges, Atomic: true, As: a,
		Updates: []repo.RefUpdate{{Name: heads + m.Base, Old: base, New: sha, By: a.Caller.ID,
			Forward: true}}})
	if err == nil && refused[0] != nil {
		err = cmp.Or(repo.RuledOut(refused[0], errs.Conflict), errMoved)
	}
	return sha, err
}

// mergeCandidate resolves a commit that may become part of a branch: all objects reachable from it exist,
// which is not certain for unreferenced objects. Errors: 404, 422.
func (s *Service) mergeCandidate(
	ctx context.Context, a *repo.Access, objects *git.Repository, name string,
) (git.SHA, error) {
	sha, err := s.repos.Resolve(ctx, a, name)
	if err != nil {
		return "", err
	}
	if sha, err = objects.PeelToCommit(ctx, sha); err != nil {
		return "", err
	}
	refs, err := s.repos.Refs(ctx, a)
	if err != nil {
		return "", err
	}
	tips := make([]git.SHA, len(refs.List))
	for n, ref := range refs.List {
		tips[n] = ref.SHA
	}
	return sha, objects.CheckConnected(ctx, sha, tips)
}

func (m BranchMerge) message() string {
	text := strings.TrimSpace(strings.ReplaceAll(m.Message, "\r\n", "\n"))
	if text == "" {
		text = "Merge " + m.Head + " into " + m.Base
	}
	return text + "\n"
}

// POST /repos/{owner}/{repo}/merges
//
// MergeInto merges a branch, tag or commit into a branch: 201 with the merge commit, or 204 if there is
// nothing to merge. Errors: 404 if the base or head does not exist, 409 for a conflict, 422.
func (api *API) MergeInto(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, mergeResource)
	if err != nil {
		return err
	}
	body.Require("base", "head")
	m := BranchMerge{Base: body.String("base", 0).Value, Head: body.String("head", 0).Value,
		Message: body.String("commit_message", maxMessage).Value}
	if err := body.Err(); err != nil {
		return err
	}
	sha, err := api.s.MergeBranch(r.Context(), a, m)
	if errors.Is(err, ErrUpToDate) {
		return web.NoContent(w)
	}
	if err != nil {
		return err
	}
	return api.files.AnswerCommit(w, r, a, http.StatusCreated, sha)
}
