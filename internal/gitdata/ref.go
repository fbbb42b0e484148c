package gitdata

import (
	"context"
	"sort"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// exactRef renders the ref with a name. Errors: 404, 409 for a repository without refs.
func (s *Service) exactRef(ctx context.Context, a *repo.Access, name string) (any, error) {
	refs, err := s.matching(ctx, a, name)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 || refs[0].Name != name {
		return nil, errs.Absent()
	}
	return s.renderOne(ctx, a, refs[0])
}

func (s *Service) renderOne(ctx context.Context, a *repo.Access, ref git.Ref) (any, error) {
	list, err := s.renderRefs(ctx, a, []git.Ref{ref})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// matching returns the refs whose names start with prefix, in order, so an exact match is first. Error: 409
// for a repository without refs.
func (s *Service) matching(ctx context.Context, a *repo.Access, prefix string) ([]git.Ref, error) {
	refs, err := s.repos.Refs(ctx, a)
	if err != nil {
		return nil, err
	}
	if len(refs.List) == 0 {
		return nil, errs.New(errs.Conflict, "Git Repository is empty.")
	}
	list := refs.List
	from := sort.Search(len(list), func(i int) bool { return list[i].Name >= prefix })
	n := sort.Search(len(list)-from, func(i int) bool {
		return !strings.HasPrefix(list[from+i].Name, prefix)
	})
	return list[from : from+n], nil
}

// renderRefs determines the types of the refs' objects: a branch is a commit, a peeled ref is a tag. Other
// types are read in one request to git.
func (s *Service) renderRefs(ctx context.Context, a *repo.Access, refs []git.Ref) ([]refJSON, error) {
	types := make([]git.Type, len(refs))
	var ask []git.SHA
	var places []int
	for i, ref := range refs {
		switch {
		case strings.HasPrefix(ref.Name, "refs/heads/"):
			types[i] = git.TypeCommit
		case ref.Peeled != "":
			types[i] = git.TypeTag
		default:
			ask, places = append(ask, ref.SHA), append(places, i)
		}
	}
	if len(ask) > 0 {
		objects, release, err := s.repos.Git(ctx, a)
		if err != nil {
			return nil, err
		}
		defer release()
		infos, err := objects.Infos(ctx, ask)
		if err != nil {
			return nil, err
		}
		for k, o := range infos {
			types[places[k]] = o.Type
		}
	}
	p := newPlace(ctx, a)
	list := make([]refJSON, len(refs))
	for i, ref := range refs {
		list[i] = p.ref(repo.RefTarget{Name: ref.Name, SHA: ref.SHA, Type: types[i]})
	}
	return list, nil
}

// MakeRef creates a ref by its full name for an object of the repository. Errors: 409 for a repository without
// refs; 422.
func (s *Service) MakeRef(ctx context.Context, a *repo.Access, name string, sha git.SHA) (repo.RefTarget, error) {
	if err := s.refuseEmpty(ctx, a); err != nil {
		return repo.RefTarget{}, err
	}
	if err := s.repos.CheckTarget(ctx, a, sha); err != nil {
		return repo.RefTarget{}, err
	}
	return s.repos.CreateRef(ctx, a, name, sha)
}

// MoveRef updates the ref of a full name: by fast-forward, or to any object with force. Errors: 409 for a
// repository without refs; 422.
func (s *Service) MoveRef(
	ctx context.Context, a *repo.Access, name string, sha git.SHA, force bool,
) (repo.RefTarget, error) {
	if err := s.refuseEmpty(ctx, a); err != nil {
		return repo.RefTarget{}, err
	}
	if err := s.repos.CheckTarget(ctx, a, sha); err != nil {
		return repo.RefTarget{}, err
	}
	return s.repos.UpdateRef(ctx, a, name, sha, force)
}

// RemoveRef removes the ref of a full name, but for the default branch. Errors: 409 for a repository
// without any ref; 422.
func (s *Service) RemoveRef(ctx context.Context, a *repo.Access, name string) error {
	if err := s.refuseEmpty(ctx, a); err != nil {
		return err
	}
	return s.repos.DeleteRef(ctx, a, name)
}
