package gitdata

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/rule"
	"arbor/internal/web"
)

// shortBranchJSON is GitHub's short-branch.
type shortBranchJSON struct {
	Name      string     `json:"name"`
	Commit    objectJSON `json:"commit"`
	Protected bool       `json:"protected"`

	// not where the branches of a commit are listed
	Protection    *protectionJSON `json:"protection,omitempty"`
	ProtectionURL string          `json:"protection_url,omitempty"`
}

// branchJSON is GitHub's branch-with-protection.
type branchJSON struct {
	Name   string         `json:"name"`
	Commit *CommitPayload `json:"commit"`
	Links  struct {
		Self string `json:"self"`
		HTML string `json:"html"`
	} `json:"_links"`
	Protected     bool           `json:"protected"`
	Protection    protectionJSON `json:"protection"`
	ProtectionURL string         `json:"protection_url"`
}

type protectionJSON struct {
	Enabled bool `json:"enabled"`
	Checks  struct {
		Enforcement string           `json:"enforcement_level"`
		Contexts    []string         `json:"contexts"`
		Checks      []rule.CheckJSON `json:"checks"`
	} `json:"required_status_checks"`
}

// newProtection renders what a branch shows of its protection, which may be nil.
func newProtection(p *rule.Protection) (out protectionJSON) {
	c := &out.Checks
	c.Enforcement, c.Contexts, c.Checks = "off", []string{}, []rule.CheckJSON{}
	if out.Enabled = p != nil; !out.Enabled || p.Checks == nil {
		return out
	}
	if c.Enforcement = "non_admins"; p.Admins {
		c.Enforcement = "everyone"
	}
	c.Contexts, c.Checks = p.Checks.Contexts(), p.Checks.JSON()
	return out
}

// tagJSON is GitHub's tag.
type tagJSON struct {
	Name       string     `json:"name"`
	ZipballURL string     `json:"zipball_url"`
	TarballURL string     `json:"tarball_url"`
	Commit     objectJSON `json:"commit"`
	NodeID     string     `json:"node_id"`
}

func (p *addresses) commitObject(sha git.SHA) objectJSON {
	return objectJSON{SHA: string(sha), URL: p.api + "/commits/" + string(sha)}
}

// GET /repos/{owner}/{repo}/branches
//
// ListBranches lists the branches by name, with protected only those to which rules apply, or do not.
func (api *API) ListBranches(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	protected, err := web.QueryEnum(r, "Branch", "protected", "", "true", "false", "1", "0")
	if err != nil {
		return err
	}
	return api.cached(w, r, a, basis{refs: true}, func(ctx context.Context) (any, error) {
		page := web.ReadPage(r)
		refs, err := api.s.repos.Refs(ctx, a)
		if err != nil {
			return nil, err
		}
		all := below(refs.List, "refs/heads/")
		if protected != "" {
			if all, err = api.s.protected(ctx, a, all, protected == "true" || protected == "1"); err != nil {
				return nil, err
			}
		}
		list := web.CutAt(page, all)
		web.Link(w, r, page, list.Total)
		return api.branches(ctx, a, list.Rows, true)
	})
}

// GET /repos/{owner}/{repo}/commits/{sha}/branches-where-head
//
// ListBranchesAt answers the branches whose head is the commit.
func (api *API) ListBranchesAt(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := git.ParseSHA(web.Param(r, "sha"))
	if err != nil {
		return errs.Newf(errs.Invalid, "No commit found for SHA: %s", web.Param(r, "sha"))
	}
	return api.cached(w, r, a, basis{refs: true, named: []git.SHA{sha}},
		func(ctx context.Context) (any, error) {
			list, err := api.s.BranchesAt(ctx, a, sha)
			if err != nil {
				return nil, err
			}
			return api.branches(ctx, a, list, false)
		})
}

// branches renders branches, if asked with their protections.
func (api *API) branches(
	ctx context.Context, a *repo.Access, list []git.Ref, protections bool,
) ([]shortBranchJSON, error) {
	states, err := api.s.states(ctx, a, list)
	p := newPlace(ctx, a)
	out := make([]shortBranchJSON, len(list))
	for i, ref := range list {
		name := strings.TrimPrefix(ref.Name, "refs/heads/")
		state, protected := states[name]
		out[i] = shortBranchJSON{Name: name, Commit: p.commitObject(ref.SHA), Protected: protected}
		if protections {
			out[i].Protection, out[i].ProtectionURL = new(newProtection(state.Protection)), p.protection(name)
		}
	}
	return out, err
}

// protection returns the address of a branch's protection.
func (p *addresses) protection(branch string) string {
	return p.api + "/branches/" + branchPath(branch) + "/protection"
}

// GET /repos/{owner}/{repo}/branches/{branch...}
//
// GetBranch returns a branch with its commit. A former name of a branch redirects.
func (api *API) GetBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	err := api.beyondBranch(r, a, api.getBranch(w, r, a))
	return api.s.Renamed(r.Context(), a, err, "branch", web.Param(r, "branch"), false)
}

func (api *API) getBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	name := web.Param(r, "branch")
	return api.cached(w, r, a, basis{refs: true, people: true}, func(ctx context.Context) (any, error) {
		c, err := api.s.Branch(ctx, a, name)
		if err != nil {
			return nil, err
		}
		return api.branchPayload(ctx, a, name, c)
	})
}

// GET /repos/{owner}/{repo}/tags
//
// ListTags lists the tags, highest version first.
func (api *API) ListTags(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.cached(w, r, a, basis{refs: true}, func(ctx context.Context) (any, error) {
		page := web.ReadPage(r)
		list, err := api.s.TagsByVersion(ctx, a, page)
		if err != nil {
			return nil, err
		}
		web.Link(w, r, page, list.Total)
		p := newPlace(ctx, a)
		out := []tagJSON{}
		for _, ref := range list.Rows {
			sha, name := cmp.Or(ref.Peeled, ref.SHA), strings.TrimPrefix(ref.Name, "refs/tags/")
			out = append(out, tagJSON{Name: name, ZipballURL: p.api + "/zipball/" + escapePath(ref.Name),
				TarballURL: p.api + "/tarball/" + escapePath(ref.Name), Commit: p.commitObject(sha),
				NodeID: p.nodeID("Ref", ref.Name)})
		}
		return out, nil
	})
}

// branchPath returns a branch as a path with unescaped slashes. It escapes them in a name that ends like an
// address of GitHub's API, such as x/protection.
func branchPath(name string) string {
	if strings.Contains(name, "/protection") || strings.HasSuffix(name, "/rename") {
		return web.Path(name)[1:]
	}
	return escapePath(name)
}

// contributorJSON is GitHub's contributor.
type contributorJSON struct {
	*account.Simple
	Contributions int64 `json:"contributions"`
}

// anonymousJSON is a contributor without an account.
type anonymousJSON struct {
	Email         string `json:"email"`
	Name          string `json:"name"`
	Type          string `json:"type"` // Anonymous
	Contributions int64  `json:"contributions"`
}

func (c *contributor) json(i *web.Info) any {
	if c.account != nil {
		return contributorJSON{account.NewSimple(c.account, i), c.Commits}
	}
	return anonymousJSON{c.Email, c.Name, "Anonymous", c.Commits}
}

// GET /repos/{owner}/{repo}/contributors
//
// ListContributors lists the authors of the default branch's commits, most commits first, at most 500; with
// anon also authors without an account. A repository without commits returns 204, as at GitHub.
func (api *API) ListContributors(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	anon := web.QueryOf(r).Get("anon")
	tip, err := api.s.revision(r.Context(), a, "", false)
	if errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound) {
		return web.NoContent(w)
	}
	if err != nil {
		return err
	}
	return api.cached(w, r, a, basis{refs: true, people: true, pair: string(tip)},
		func(ctx context.Context) (any, error) {
			list, err := api.s.contributors(ctx, a, tip, anon == "1" || anon == "true")
			if err != nil {
				return nil, err
			}
			out := []any{}
			for _, c := range web.Cut(w, r, list) {
				out = append(out, c.json(web.From(ctx)))
			}
			return out, nil
		})
}
