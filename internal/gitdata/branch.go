package gitdata

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// shortBranchJSON is GitHub's short-branch. Branch protection is not implemented.
type shortBranchJSON struct {
	Name      string     `json:"name"`
	Commit    objectJSON `json:"commit"`
	Protected bool       `json:"protected"`
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
		Enforcement string   `json:"enforcement_level"`
		Contexts    []string `json:"contexts"`
		Checks      []string `json:"checks"`
	} `json:"required_status_checks"`
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
// ListBranches lists the branches by name. protected=true lists none, because protection is not
// implemented.
func (api *API) ListBranches(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	protected, err := web.QueryEnum(r, "Branch", "protected", "", "true", "false", "1", "0")
	if err != nil {
		return err
	}
	return api.cached(w, r, a, basis{refs: true}, func(ctx context.Context) (any, error) {
		page := web.ReadPage(r)
		list, err := api.Branches(ctx, a, page)
		if err != nil {
			return nil, err
		}
		if protected == "true" || protected == "1" {
			list = &web.List[git.Ref]{}
		}
		web.Link(w, r, page, list.Total)
		return newPlace(ctx, a).branches(list.Rows), nil
	})
}

// Branches returns a page of the branches by name, as refs.
func (api *API) Branches(ctx context.Context, a *repo.Access, at web.Page) (*web.List[git.Ref], error) {
	refs, err := api.repos.Refs(ctx, a)
	return web.CutAt(at, below(refs.List, "refs/heads/")), err
}

// TagsByVersion returns a page of the tags, the highest version first, as refs.
func (api *API) TagsByVersion(ctx context.Context, a *repo.Access, at web.Page) (*web.List[git.Ref], error) {
	refs, err := api.repos.Refs(ctx, a)
	list := slices.Clone(below(refs.List, "refs/tags/"))
	slices.SortFunc(list, func(a, b git.Ref) int { return compareVersions(b.Name, a.Name) })
	return web.CutAt(at, list), err
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
			if _, err := api.CommitNamed(ctx, a, string(sha)); err != nil {
				return nil, err
			}
			refs, err := api.repos.Refs(ctx, a)
			if err != nil {
				return nil, err
			}
			var list []git.Ref
			for _, ref := range below(refs.List, "refs/heads/") {
				if ref.SHA == sha {
					list = append(list, ref)
				}
			}
			return newPlace(ctx, a).branches(list), nil
		})
}

// below returns the refs in a sorted list whose names start with prefix.
func below(list []git.Ref, prefix string) []git.Ref {
	byName := func(r git.Ref, name string) int { return strings.Compare(r.Name, name) }
	from, _ := slices.BinarySearchFunc(list, prefix, byName)
	to, _ := slices.BinarySearchFunc(list, prefix[:len(prefix)-1]+"0", byName) // "0" follows "/"
	return list[from:to]
}

func (p *addresses) branches(list []git.Ref) []shortBranchJSON {
	out := make([]shortBranchJSON, len(list))
	for i, ref := range list {
		out[i] = shortBranchJSON{Name: strings.TrimPrefix(ref.Name, "refs/heads/"),
			Commit: p.commitObject(ref.SHA)}
	}
	return out
}

// GET /repos/{owner}/{repo}/branches/{branch...}
//
// GetBranch returns a branch with its commit. A former name of a branch redirects.
func (api *API) GetBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	err := api.beyondBranch(r, a, api.getBranch(w, r, a))
	return api.Renamed(r.Context(), a, err, "branch", web.Param(r, "branch"), false)
}

func (api *API) getBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	name := web.Param(r, "branch")
	return api.cached(w, r, a, basis{refs: true, people: true}, func(ctx context.Context) (any, error) {
		sha, err := api.repos.Ref(ctx, a, "refs/heads/"+name)
		if errs.Is(err, errs.NotFound) {
			err = errs.New(errs.NotFound, "Branch not found")
		}
		if err != nil {
			return nil, err
		}
		return api.branchPayload(ctx, a, name, sha)
	})
}

// GET /repos/{owner}/{repo}/tags
//
// ListTags lists the tags, highest version first.
func (api *API) ListTags(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.cached(w, r, a, basis{refs: true}, func(ctx context.Context) (any, error) {
		page := web.ReadPage(r)
		list, err := api.TagsByVersion(ctx, a, page)
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

// compareVersions compares version numbers by value: v1.9 comes before v1.10. Names that differ only in
// leading zeros are compared by bytes.
func compareVersions(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m > 0 && n > 0 {
			u, v := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
			if len(u) != len(v) {
				return len(u) - len(v)
			}
			if c := strings.Compare(u, v); c != 0 {
				return c
			}
			x, y = x[m:], y[n:]
			continue
		}
		if x[0] != y[0] {
			return int(x[0]) - int(y[0])
		}
		x, y = x[1:], y[1:]
	}
	if c := len(x) - len(y); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// digits returns the number of leading digits of s.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// branchPath returns a branch as a path with unescaped slashes. It escapes them in a name that ends like an
// address of GitHub's API, such as x/protection.
func branchPath(name string) string {
	if strings.Contains(name, "/protection") || strings.HasSuffix(name, "/rename") {
		return web.Path(name)[1:]
	}
	return escapePath(name)
}
