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

// maxBeyond is how many segments of an address may be the name of something.
const maxBeyond = 16

// beyond makes the error for a name that is not there one about the address, if that goes on below something that
// is there: where main is a commit, commits/main/pictures names none, and git allows no branch main/pictures. there
// reports a name that is there. A client that means a slash in a name writes it escaped, and gets err.
func beyond(
	r *http.Request, err error, address string, there func(ctx context.Context, name string) bool,
) error {
	parts := strings.Split(r.URL.EscapedPath(), "/")
	const before = 5 // /repos/OWNER/NAME/commits/
	for n := before + 1; n < len(parts) && n <= before+maxBeyond; n++ {
		name, wrong := url.PathUnescape(strings.Join(parts[before:n], "/"))
		if wrong == nil && name != "" && there(r.Context(), name) {
			rest := errs.Clip(strings.Join(parts[n:], "/"))
			return errs.Newf(errs.NotFound, "Not Found: this server does not have %s %s/%s", r.Method, address, rest)
		}
	}
	return err
}

// beyondCommit is beyond for an address of a commit.
func (api *API) beyondCommit(r *http.Request, a *repo.Access, err error) error {
	there := func(ctx context.Context, name string) bool {
		_, err := api.CommitNamed(ctx, a, name)
		return err == nil
	}
	if !errs.Is(err, errs.Invalid) || there(r.Context(), web.Param(r, "ref")) {
		return err
	}
	return beyond(r, err, "/repos/{owner}/{repo}/commits/{ref}", there)
}

// beyondBranch is beyond for an address of a branch.
func (api *API) beyondBranch(r *http.Request, a *repo.Access, err error) error {
	if !errs.Is(err, errs.NotFound) {
		return err
	}
	return beyond(r, err, "/repos/{owner}/{repo}/branches/{branch}", func(ctx context.Context, name string) bool {
		_, err := api.repos.Ref(ctx, a, "refs/heads/"+name)
		return err == nil
	})
}
