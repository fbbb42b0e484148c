package gitdata

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// POST /repos/{owner}/{repo}/branches/{branch...}/rename
//
// RenameBranch renames a branch; the default branch needs admin access. Open pull requests follow, and
// the old name redirects. Errors: 403, 404, 422.
func (api *API) RenameBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, "Branch")
	if err != nil {
		return err
	}
	body.Require("new_name")
	to := body.String("new_name", maxBranchName).Value
	if err := body.Err(); err != nil {
		return err
	}
	to, sha, err := api.s.repos.RenameBranch(r.Context(), a, web.Param(r, "branch"), to)
	if err != nil {
		return err
	}
	return web.Answer(w, r, http.StatusCreated, func(out *web.Output) error {
		c, err := api.s.commitView(out.Context(), a, sha)
		if err != nil {
			return err
		}
		b, err := api.branchPayload(out.Context(), a, to, c)
		if err != nil {
			return err
		}
		return b.render(out.Context(), out)
	})
}

// maxBranchName is the maximum length of a branch's name in code points.
const maxBranchName = 255

// branchPayload renders a branch with its commit and its protection.
func (api *API) branchPayload(ctx context.Context, a *repo.Access, name string, c *CommitView) (large, error) {
	states, err := api.s.states(ctx, a, []git.Ref{{Name: "refs/heads/" + name}})
	if err != nil {
		return large{}, err
	}
	state, protected := states[name]
	p := newPlace(ctx, a)
	b := branchJSON{Name: name, Commit: p.commit(c), Protected: protected, Protection: newProtection(state.Protection),
		ProtectionURL: p.protection(name)}
	b.Links.Self = p.api + "/branches/" + branchPath(name)
	b.Links.HTML = p.page + "/tree/" + escapePath(name)
	return large{b, sizeOf(c.Commit)}, nil
}

// Renamed replaces a not-found error by repo.MovedError if the value of a placeholder begins with a former name of
// a branch. rest reports whether more segments may follow the name.
func (s *Service) Renamed(ctx context.Context, a *repo.Access, err error, param, value string, rest bool) error {
	if !errs.Is(err, errs.NotFound) || value == "" {
		return err
	}
	names := []string{value}
	if rest {
		names = nil
		parts := strings.Split(value, "/")
		for n := 1; n <= min(len(parts), maxRefParts); n++ {
			names = append(names, strings.Join(parts[:n], "/"))
		}
	}
	from, to, other := s.repos.RenamedBranch(ctx, a, names...)
	switch {
	case errs.Is(other, errs.NotFound):
		return err
	case other != nil:
		return other
	}
	return &repo.MovedError{To: a.Repo, Param: param, Value: to + strings.TrimPrefix(value, from)}
}
