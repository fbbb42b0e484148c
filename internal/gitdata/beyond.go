package gitdata

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxBeyond is the maximum number of path segments in a name.
const maxBeyond = 16

// beyond replaces a not-found error by one about the address, if a prefix of the name exists and the rest
// of the address is unknown: if main is a commit, commits/main/pictures is not, and git allows no branch
// main/pictures. there reports whether a name exists. Clients escape slashes in names; they get err.
func beyond(
	r *http.Request, err error, address string, there func(ctx context.Context, name string) bool,
) error {
	parts := strings.Split(r.URL.EscapedPath(), "/")
	const before = 5 // in /repos/OWNER/NAME/commits/
	for n := before + 1; n < len(parts) && n <= before+maxBeyond; n++ {
		name, wrong := url.PathUnescape(strings.Join(parts[before:n], "/"))
		if wrong == nil && name != "" && there(r.Context(), name) {
			rest := errs.Clip(strings.Join(parts[n:], "/"))
			return errs.Newf(errs.NotFound, "Not Found: this server does not have %s %s/%s", r.Method, address, rest)
		}
	}
	return err
}

// beyondCommit is beyond for the address of a commit.
func (api *API) beyondCommit(r *http.Request, a *repo.Access, err error) error {
	there := func(ctx context.Context, name string) bool {
		_, err := api.s.CommitNamed(ctx, a, name)
		return err == nil
	}
	if !errs.Is(err, errs.Invalid) || there(r.Context(), web.Param(r, "ref")) {
		return err
	}
	return beyond(r, err, "/repos/{owner}/{repo}/commits/{ref}", there)
}

// beyondBranch is beyond for the address of a branch.
func (api *API) beyondBranch(r *http.Request, a *repo.Access, err error) error {
	if !errs.Is(err, errs.NotFound) {
		return err
	}
	return beyond(r, err, "/repos/{owner}/{repo}/branches/{branch}", func(ctx context.Context, name string) bool {
		_, err := api.s.repos.Ref(ctx, a, "refs/heads/"+name)
		return err == nil
	})
}
