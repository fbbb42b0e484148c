package gitdata

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxDated is the maximum number of refs ordered by date.
const maxDated = 10_000

// RefPayload is a ref with its object, and where it leads.
type RefPayload struct {
	refJSON
	LeadsTo git.SHA `json:"leads_to"` // the object, or the target of its annotated tag
}

// RefOptions selects refs and their order.
type RefOptions struct {
	Prefix string // of their names: refs/heads/
	Part   string // what the rest of their names contains, ignoring case
	ByDate bool   // order by the dates of their commits; else by name
	Desc   bool
}

// ListRefs lists a page of the refs of each repository. Errors: [repo.Errors] with 422 for more than 10,000
// refs by date.
func (s *Service) ListRefs(
	ctx context.Context, list []*repo.Access, o RefOptions, page web.Page,
) (map[repo.ID]*web.List[*RefPayload], error) {
	if err := s.repos.LoadRefs(ctx, list); err != nil {
		return nil, err
	}
	out, failed := map[repo.ID]*web.List[*RefPayload]{}, repo.Errors{}
	for _, a := range list {
		found, err := s.listRefs(ctx, a, o, page)
		switch {
		case errs.Is(err, errs.Invalid):
			failed[a.ID] = err
		case err != nil:
			return nil, err
		default:
			out[a.ID] = found
		}
	}
	return out, failed.OrNil()
}

func (s *Service) listRefs(
	ctx context.Context, a *repo.Access, o RefOptions, page web.Page,
) (*web.List[*RefPayload], error) {
	found, err := s.matching(ctx, a, o.Prefix)
	if errs.Is(err, errs.Conflict) { // an empty repository
		return &web.List[*RefPayload]{}, nil
	}
	if err != nil {
		return nil, err
	}
	part, refs := strings.ToLower(o.Part), make([]git.Ref, 0, len(found))
	for _, ref := range found {
		if strings.Contains(strings.ToLower(strings.TrimPrefix(ref.Name, o.Prefix)), part) {
			refs = append(refs, ref)
		}
	}
	if o.ByDate {
		if refs, err = s.byDate(ctx, a, refs); err != nil {
			return nil, err
		}
	}
	if o.Desc {
		slices.Reverse(refs)
	}
	total := int64(len(refs))
	from, to := min(page.Offset(), total), min(page.Offset()+page.Size, total)
	shown, err := s.showRefs(ctx, a, refs[from:to])
	return &web.List[*RefPayload]{Rows: shown, Total: total, More: to < total}, err
}

// showRefs renders refs of a repository.
func (s *Service) showRefs(ctx context.Context, a *repo.Access, refs []git.Ref) ([]*RefPayload, error) {
	list, err := s.renderRefs(ctx, a, refs)
	shown := make([]*RefPayload, len(list))
	for n := range list {
		shown[n] = &RefPayload{list[n], cmp.Or(refs[n].Peeled, refs[n].SHA)}
	}
	return shown, err
}

// Refs loads refs by their full names. Those that do not exist are missing.
func (s *Service) Refs(ctx context.Context, names []repo.Of[string]) (map[repo.Of[string]]*RefPayload, error) {
	in := slices.Collect(maps.Values(repo.In(names)))
	if err := s.repos.LoadRefs(ctx, in); err != nil {
		return nil, err
	}
	out := map[repo.Of[string]]*RefPayload{}
	for a, full := range repo.ByAccess(names) {
		var refs []git.Ref
		for _, name := range full {
			found, err := s.matching(ctx, a, name)
			if err != nil && !errs.Is(err, errs.Conflict) { // of an empty repository
				return nil, err
			}
			if len(found) > 0 && found[0].Name == name {
				refs = append(refs, found[0])
			}
		}
		shown, err := s.showRefs(ctx, a, refs)
		if err != nil {
			return nil, err
		}
		for n, ref := range refs {
			out[repo.Of[string]{In: a, Key: ref.Name}] = shown[n]
		}
	}
	return out, nil
}

// byDate orders refs by the dates of their commits. Refs to other objects come first.
func (s *Service) byDate(ctx context.Context, a *repo.Access, refs []git.Ref) ([]git.Ref, error) {
	if len(refs) > maxDated {
		return nil, errs.Newf(errs.Invalid, "Only %d refs can be ordered by date.", maxDated)
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	tip := func(ref git.Ref) git.SHA { return cmp.Or(ref.Peeled, ref.SHA) }
	tips := make([]git.SHA, len(refs))
	for n, ref := range refs {
		tips[n] = tip(ref)
	}
	known, err := objects.Known(ctx, tips)
	if err != nil {
		return nil, err
	}
	var commits []git.SHA
	for n, o := range known {
		if o.Type == git.TypeCommit {
			commits = append(commits, tips[n])
		}
	}
	dates := make(map[git.SHA]int64, len(commits))
	err = objects.EachCommits(ctx, commits, func(part []*git.Commit) error {
		for _, c := range part {
			dates[c.SHA] = c.Committer.When.Unix()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(refs, func(x, y git.Ref) int { return cmp.Compare(dates[tip(x)], dates[tip(y)]) })
	return refs, nil
}
