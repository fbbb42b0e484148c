package mirror

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"arbor/internal/git"
	"arbor/internal/repo"
)

// maxNamed is how many refused refs an error message names at most.
const maxNamed = 3

// push copies what differs to the target.
func (s *Service) push(ctx context.Context, m *Mirror, a *repo.Access, remote git.Remote) error {
	target, err := s.git.ListRemote(ctx, remote, maxRefs)
	if err != nil {
		return err
	}
	all, err := s.repos.AllRefs(ctx, a.ID)
	if err != nil {
		return err
	}
	mine := mirroredRefs(all)
	updates := planPush(mine, target.Refs)
	if len(updates) == 0 && !m.lacks && (m.searched || s.lfs.Off()) {
		return nil
	}
	// The target may have answered slowly. Check that the mirror may still run, before these refs are sent.
	if err := s.db.Read(ctx, m.mayMove); err != nil {
		return err
	}
	if !hasBranches(all) {
		return &git.RemoteError{Reason: "this repository has no branches, so nothing was changed there"}
	}
	left := s.pushObjects(ctx, m, a, remote, mine, target.Refs)
	if len(updates) == 0 || ctx.Err() != nil {
		return cmp.Or(ctx.Err(), left)
	}
	if err := s.db.Read(ctx, m.mayMove); err != nil {
		return err
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	refused, err := objects.PushRemote(ctx, remote, updates)
	if err == nil && len(refused) > 0 {
		var list []string
		for _, name := range slices.Sorted(maps.Keys(refused))[:min(len(refused), maxNamed)] {
			list = append(list, name+" "+refused[name])
		}
		err = &git.RemoteError{Reason: "it refused " + strings.Join(list, "; ")}
	}
	return cmp.Or(err, left)
}

// pushObjects sends the objects of Git LFS that the refs of the repository need and those of the target do not. Error:
// *objectError.
func (s *Service) pushObjects(
	ctx context.Context, m *Mirror, a *repo.Access, remote git.Remote, mine, target map[string]git.SHA,
) error {
	if s.lfs.Off() {
		return nil
	}
	tips, not := slices.Collect(maps.Values(mine)), slices.Collect(maps.Values(target))
	if !m.searched {
		not = nil
	}
	err := s.lookFor(ctx, m, a, tips, not)
	return cmp.Or(s.copyObjects(ctx, m, a, remote), err)
}

// planPush compares the refs of a repository with those of a target. Refs without a SHA are deleted there.
func planPush(mine, target map[string]git.SHA) (updates []git.Ref) {
	for name, sha := range mine {
		if target[name] != sha {
			updates = append(updates, git.Ref{Name: name, SHA: sha})
		}
	}
	for name := range target {
		if _, has := mine[name]; !has {
			updates = append(updates, git.Ref{Name: name})
		}
	}
	slices.SortFunc(updates, func(a, b git.Ref) int { return strings.Compare(a.Name, b.Name) })
	return updates
}
