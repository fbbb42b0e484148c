package gitdata

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/rule"
	"arbor/internal/web"
)

// Branches returns a page of the branches by name, as refs.
func (s *Service) Branches(ctx context.Context, a *repo.Access, at web.Page) (*web.List[git.Ref], error) {
	refs, err := s.repos.Refs(ctx, a)
	return web.CutAt(at, below(refs.List, "refs/heads/")), err
}

// TagsByVersion returns a page of the tags, the highest version first, as refs.
func (s *Service) TagsByVersion(ctx context.Context, a *repo.Access, at web.Page) (*web.List[git.Ref], error) {
	refs, err := s.repos.Refs(ctx, a)
	list := slices.Clone(below(refs.List, "refs/tags/"))
	slices.SortFunc(list, func(a, b git.Ref) int { return compareVersions(b.Name, a.Name) })
	return web.CutAt(at, list), err
}

// BranchesAt returns the branches whose head is a commit, as refs. Errors: those of CommitNamed.
func (s *Service) BranchesAt(ctx context.Context, a *repo.Access, sha git.SHA) ([]git.Ref, error) {
	if _, err := s.CommitNamed(ctx, a, string(sha)); err != nil {
		return nil, err
	}
	refs, err := s.repos.Refs(ctx, a)
	heads := slices.Clone(below(refs.List, "refs/heads/"))
	return slices.DeleteFunc(heads, func(ref git.Ref) bool { return ref.SHA != sha }), err
}

// below returns the refs in a sorted list whose names start with prefix.
func below(list []git.Ref, prefix string) []git.Ref {
	byName := func(r git.Ref, name string) int { return strings.Compare(r.Name, name) }
	from, _ := slices.BinarySearchFunc(list, prefix, byName)
	to, _ := slices.BinarySearchFunc(list, prefix[:len(prefix)-1]+"0", byName) // "0" follows "/"
	return list[from:to]
}

// Branch reads the commit of a branch. Error: 404.
func (s *Service) Branch(ctx context.Context, a *repo.Access, name string) (*CommitView, error) {
	sha, err := s.repos.Ref(ctx, a, "refs/heads/"+name)
	if errs.Is(err, errs.NotFound) {
		err = errs.New(errs.NotFound, "Branch not found")
	}
	if err != nil {
		return nil, err
	}
	return s.commitView(ctx, a, sha)
}

// compareVersions compares version numbers by value: v1.9 comes before v1.10. Names that differ only in
// leading zeros are compared by bytes.
func compareVersions(a, b string) int {
	return cmp.Or(git.CompareNumbered(a, b), strings.Compare(a, b))
}

// protected returns those of the branches to which rules apply, or do not.
func (s *Service) protected(ctx context.Context, a *repo.Access, list []git.Ref, is bool) ([]git.Ref, error) {
	states, err := s.states(ctx, a, list)
	return slices.DeleteFunc(slices.Clone(list), func(ref git.Ref) bool {
		_, found := states[strings.TrimPrefix(ref.Name, "refs/heads/")]
		return found != is
	}), err
}

// states reads the rules that apply to branches.
func (s *Service) states(
	ctx context.Context, a *repo.Access, list []git.Ref,
) (found map[string]rule.BranchState, err error) {
	if !a.Ruled {
		return nil, nil
	}
	names := make([]string, len(list))
	for i, ref := range list {
		names[i] = strings.TrimPrefix(ref.Name, "refs/heads/")
	}
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[string]rule.BranchState, error) {
		return rule.ProtectedBranches(tx, a, names)
	})
}
