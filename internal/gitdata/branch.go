package gitdata

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/db"
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
		refs, err := api.repos.Refs(ctx, a)
		if err != nil {
			return nil, err
		}
		all := below(refs.List, "refs/heads/")
		if protected != "" {
			if all, err = api.protected(ctx, a, all, protected == "true" || protected == "1"); err != nil {
				return nil, err
			}
		}
		list := web.CutAt(page, all)
		web.Link(w, r, page, list.Total)
		return api.branches(ctx, a, list.Rows, true)
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
			return api.branches(ctx, a, list, false)
		})
}

// below returns the refs in a sorted list whose names start with prefix.
func below(list []git.Ref, prefix string) []git.Ref {
	byName := func(r git.Ref, name string) int { return strings.Compare(r.Name, name) }
	from, _ := slices.BinarySearchFunc(list, prefix, byName)
	to, _ := slices.BinarySearchFunc(list, prefix[:len(prefix)-1]+"0", byName) // "0" follows "/"
	return list[from:to]
}

// protected returns those of the branches to which rules apply, or do not.
func (api *API) protected(ctx context.Context, a *repo.Access, list []git.Ref, is bool) ([]git.Ref, error) {
	states, err := api.states(ctx, a, list)
	return slices.DeleteFunc(slices.Clone(list), func(ref git.Ref) bool {
		_, found := states[strings.TrimPrefix(ref.Name, "refs/heads/")]
		return found != is
	}), err
}

// states reads the rules that apply to branches.
func (api *API) states(
	ctx context.Context, a *repo.Access, list []git.Ref,
) (found map[string]rule.BranchState, err error) {
	if !a.Ruled {
		return nil, nil
	}
	names := make([]string, len(list))
	for i, ref := range list {
		names[i] = strings.TrimPrefix(ref.Name, "refs/heads/")
	}
	err = api.db.Read(ctx, func(tx *db.Tx) error {
		found, err = rule.ProtectedBranches(tx, a, names)
		return err
	})
	return found, err
}

// branches renders branches, if asked with their protections.
func (api *API) branches(
	ctx context.Context, a *repo.Access, list []git.Ref, protections bool,
) ([]shortBranchJSON, error) {
	states, err := api.states(ctx, a, list)
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
// GetBranch returns a branch with its commit.
func (api *API) GetBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.beyondBranch(r, a, api.getBranch(w, r, a))
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
		c, err := api.commitView(ctx, a, sha)
		if err != nil {
			return nil, err
		}
		p := newPlace(ctx, a)
		b := branchJSON{Name: name, Commit: p.commit(c)}
		b.Links.Self = p.api + "/branches/" + branchPath(name)
		b.Links.HTML = p.page + "/tree/" + escapePath(name)
		states, err := api.states(ctx, a, []git.Ref{{Name: "refs/heads/" + name}})
		if err != nil {
			return nil, err
		}
		state, protected := states[name]
		b.Protected, b.Protection, b.ProtectionURL = protected, newProtection(state.Protection), p.protection(name)
		return large{b, sizeOf(c.Commit)}, nil
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
