package gitdata

import (
	"context"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// revision resolves a full SHA, a branch, a tag, HEAD or "" (the default branch), or if short is true an
// abbreviated SHA, to a commit (decision 50). It follows annotated tags. Errors: 409 for a repository
// without refs, 404, 422 for an ambiguous abbreviation.
func (api *API) revision(ctx context.Context, a *repo.Access, name string, short bool) (git.SHA, error) {
	sha, err := api.find(ctx, a, name, short)
	if err == nil {
		sha, err = api.peelToCommit(ctx, a, sha)
	}
	if errs.Is(err, errs.NotFound) {
		return "", api.orEmpty(ctx, a, err)
	}
	return sha, err
}

// peelToCommit follows annotated tags to a commit. Error: 404.
func (api *API) peelToCommit(ctx context.Context, a *repo.Access, sha git.SHA) (git.SHA, error) {
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return "", err
	}
	defer release()
	sha, err = objects.PeelToCommit(ctx, sha)
	if errs.Is(err, errs.Invalid) {
		err = errs.Wrap(errs.NotFound, "Not Found", err)
	}
	return sha, err
}

// find resolves a name to an object, which need not be a commit.
func (api *API) find(ctx context.Context, a *repo.Access, name string, short bool) (git.SHA, error) {
	if !utf8.ValidString(name) || strings.IndexByte(name, 0) >= 0 {
		return "", errs.Absent()
	}
	if name == "" || name == "HEAD" {
		return api.repos.Ref(ctx, a, "refs/heads/"+a.DefaultBranch)
	}
	sha, err := api.repos.Resolve(ctx, a, name)
	if errs.Is(err, errs.NotFound) && (strings.HasPrefix(name, "heads/") ||
		strings.HasPrefix(name, "tags/")) {
		sha, err = api.repos.Ref(ctx, a, "refs/"+name)
	}
	if errs.Is(err, errs.NotFound) && short && git.IsPrefix(name) {
		sha, err = api.repos.FindCommit(ctx, a, name)
	}
	return sha, err
}

// orEmpty replaces a 404 by the 409 of a repository without refs (decision 16).
func (api *API) orEmpty(ctx context.Context, a *repo.Access, err error) error {
	refs, refsErr := api.repos.Refs(ctx, a)
	switch {
	case refsErr != nil:
		return refsErr
	case len(refs.List) == 0:
		return errs.New(errs.Conflict, "Git Repository is empty.")
	default:
		return err
	}
}
