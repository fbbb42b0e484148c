package mirror

import (
	"context"
	"maps"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/repo"
)

// plan is what a run changes.
type plan struct {
	updates []repo.RefUpdate
	kept    string // the default branch, if the source no longer has it; otherwise empty
}

// pull copies what differs from the source.
func (s *Service) pull(ctx context.Context, m *Mirror, a *repo.Access, remote git.Remote, by account.ID) error {
	source, err := s.git.ListRemote(ctx, remote, maxRefs)
	if err != nil {
		return err
	}
	all, err := s.repos.AllRefs(ctx, a.ID)
	if err != nil {
		return err
	}
	now := mirroredRefs(all)
	if !hasBranches(source.Refs) && hasBranches(now) {
		return &git.RemoteError{Reason: "it has no branches any more, so nothing was changed here"}
	}
	if len(now) == 0 {
		by = 0 // the first copy: send no notification for each ref
	}
	p := planPull(a, now, source.Refs, by)
	objects, err := s.update(ctx, m, a, remote, all, p.updates)
	if err != nil {
		return err
	}
	head, _ := strings.CutPrefix(source.Head, git.Heads)
	if !m.FollowHead || head == "" || head == a.DefaultBranch && p.kept == "" {
		return objects
	}
	if err := s.adoptHead(ctx, m, a, head); err != nil {
		return err
	}
	if p.kept == "" || head == p.kept {
		return objects
	}
	gone := repo.RefUpdate{Name: git.Heads + p.kept, Old: now[git.Heads+p.kept], New: git.ZeroSHA, By: by}
	if err := s.move(ctx, m, a, []repo.RefUpdate{gone}, 0); err != nil {
		return err
	}
	return objects
}

// update fetches the objects of updates from the source, copies the missing Git LFS objects, also those of earlier
// runs, and then moves the refs. left is the reason why some Git LFS objects are missing.
func (s *Service) update(
	ctx context.Context, m *Mirror, a *repo.Access, remote git.Remote, have map[string]git.SHA, updates []repo.RefUpdate,
) (left, err error) {
	var grown int64
	if len(updates) > 0 {
		if grown, err = s.fetch(ctx, m, a, remote, have, updates); err != nil {
			return nil, err
		}
	}
	if left, err = s.pullObjects(ctx, m, a, remote, have, updates); err != nil {
		return nil, err
	}
	if len(updates) > 0 {
		err = s.move(context.WithoutCancel(ctx), m, a, updates, grown)
		s.repos.Wrote(a.ID)
	}
	return left, err
}

// pullObjects copies the Git LFS objects that updates need. left is the reason why some of them are missing.
func (s *Service) pullObjects(
	ctx context.Context, m *Mirror, a *repo.Access, remote git.Remote, have map[string]git.SHA, updates []repo.RefUpdate,
) (left, err error) {
	if s.lfs.Off() {
		return nil, nil
	}
	tips, not := newTips(updates), slices.Collect(maps.Values(have))
	if !m.searched {
		tips, not = append(tips, slices.Collect(maps.Values(mirroredRefs(have)))...), nil
	}
	if len(tips) > 0 {
		left = s.lookFor(ctx, m, a, tips, not)
	}
	if err := s.copyObjects(ctx, m, a, remote); err != nil {
		left = err
	}
	return left, ctx.Err()
}

// lookFor is findObjects in the repository of a mirror. Error: *objectError.
func (s *Service) lookFor(ctx context.Context, m *Mirror, a *repo.Access, tips, not []git.SHA) error {
	objects, release, err := s.repos.Git(ctx, a)
	if err == nil {
		err = s.findObjects(ctx, m, objects, tips, not)
		release()
	}
	if err == nil {
		return nil
	}
	s.warn(ctx, "searching the commits of a mirror for Git LFS objects failed", m.ID, err)
	return &objectError{why: reasonOf(err)}
}

// newTips are the new values of updates.
func newTips(updates []repo.RefUpdate) (tips []git.SHA) {
	for _, u := range updates {
		if u.New != git.ZeroSHA {
			tips = append(tips, u.New)
		}
	}
	return tips
}

// mirroredRefs are the refs that mirrors copy: branches, tags and notes, but for those of merge queues.
func mirroredRefs(refs map[string]git.SHA) map[string]git.SHA {
	list := maps.Clone(refs)
	maps.DeleteFunc(list, func(name string, _ git.SHA) bool {
		return !git.IsCopied(name) || repo.IsQueueRef(name)
	})
	return list
}

func hasBranches(refs map[string]git.SHA) bool {
	for name := range refs {
		if strings.HasPrefix(name, git.Heads) {
			return true
		}
	}
	return false
}

// planPull compares the refs of a repository with those of its source. The default branch is not deleted.
func planPull(a *repo.Access, now, source map[string]git.SHA, by account.ID) (p plan) {
	for name, sha := range source {
		old := now[name]
		if old == sha || repo.IsQueueRef(name) {
			continue
		}
		if old == "" {
			old = git.ZeroSHA
		}
		p.updates = append(p.updates, repo.RefUpdate{Name: name, Old: old, New: sha, By: by})
	}
	for name, sha := range now {
		if _, has := source[name]; has {
			continue
		}
		if name == git.Heads+a.DefaultBranch {
			p.kept = a.DefaultBranch
			continue
		}
		p.updates = append(p.updates, repo.RefUpdate{Name: name, Old: sha, New: git.ZeroSHA, By: by})
	}
	slices.SortFunc(p.updates, func(a, b repo.RefUpdate) int { return strings.Compare(a.Name, b.Name) })
	return p
}

// fetch fetches the objects of updates, and returns by how many KiB the repository grew.
func (s *Service) fetch(
	ctx context.Context, m *Mirror, a *repo.Access, remote git.Remote, have map[string]git.SHA, updates []repo.RefUpdate,
) (grown int64, err error) {
	if err := s.repos.Room.Check(); err != nil {
		return 0, err
	}
	if err := s.repos.MayGrowBy(ctx, a.ID, 1); err != nil {
		return 0, err
	}
	o := git.FetchOptions{Dir: s.repos.Dir(), Absent: s.repos.AbsentTo(a)}
	for _, u := range updates {
		if u.New != git.ZeroSHA {
			o.Want = append(o.Want, wire.Command{Name: u.Name, Old: u.Old, New: u.New})
		}
	}
	if len(o.Want) == 0 {
		return 0, nil
	}
	for name, sha := range have {
		o.Have = append(o.Have, git.Ref{Name: name, SHA: sha})
	}
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return 0, err
	}
	defer release()
	quarantine, size, err := objects.FetchRemote(ctx, remote, o)
	if err != nil {
		return 0, err
	}
	defer func() { s.warn(ctx, "a quarantine stays until the next sweep", m.ID, quarantine.Discard()) }()
	if err := s.repos.MayGrowBy(ctx, a.ID, size/1024); err != nil {
		return 0, err
	}
	if err := peel(quarantine, updates); err != nil {
		return 0, err
	}
	if err := quarantine.Keep(context.WithoutCancel(ctx)); err != nil {
		return 0, err
	}
	findForward(ctx, objects, updates)
	return size / 1024, nil
}

// peel notes what tags lead to. Error: Invalid for a branch that is no commit.
func peel(q *git.Quarantine, updates []repo.RefUpdate) error {
	for n := range updates {
		u := &updates[n]
		if u.New == git.ZeroSHA {
			continue
		}
		object, peeled, err := q.Peeled(u.New)
		if err != nil {
			return err
		}
		if strings.HasPrefix(u.Name, git.Heads) && object.Type != git.TypeCommit {
			return errs.Newf(errs.Invalid, "the branch %q is not a commit", u.Name)
		}
		if peeled.SHA != object.SHA {
			u.Peeled = peeled.SHA
		}
	}
	return nil
}

// maxForward is how many branches findForward looks at.
const maxForward = 64

// findForward finds out which updates of branches are fast-forwards. Branches beyond maxForward
// count as not fast-forwarded.
func findForward(ctx context.Context, objects *git.Repository, updates []repo.RefUpdate) {
	looked := 0
	for n := range updates {
		u := &updates[n]
		if !u.Leaves() || u.New == git.ZeroSHA || !strings.HasPrefix(u.Name, git.Heads) || looked == maxForward {
			continue
		}
		looked++
		forward, err := objects.IsAncestor(ctx, u.Old, u.New)
		u.Forward = err == nil && forward
	}
}

// move moves the refs of a mirror, if it is still the same. Error: that of the first ref that was refused.
func (s *Service) move(ctx context.Context, m *Mirror, a *repo.Access, updates []repo.RefUpdate, grown int64) error {
	same := func(tx *db.Tx, updates []repo.RefUpdate) ([]error, error) {
		refused := make([]error, len(updates))
		if err := m.mayMove(tx); err != nil {
			for n := range refused {
				refused[n] = err
			}
			if errs.KindOf(err) == errs.Internal {
				return nil, err
			}
		}
		return refused, nil
	}
	refused, err := s.repos.MoveRefs(ctx, repo.Push{RepoID: a.ID, Purges: a.Purges, Updates: updates, GrownKB: grown,
		Mirrored: true, If: same, As: db.Server})
	for n, why := range refused {
		if err == nil && why != nil {
			err = errs.Newf(errs.Conflict, "%s was refused: %s", updates[n].Name, repo.ErrText(why))
		}
	}
	return err
}

// mayMove checks in the transaction that moves refs that the mirror is still the same, and may still run.
func (m *Mirror) mayMove(tx *db.Tx) error {
	same, err := holds(tx, m)
	if err != nil {
		return err
	}
	if !same {
		return errs.New(errs.Conflict, "the mirror was changed meanwhile")
	}
	a, err := repo.ByID(tx, &account.Caller{SiteAdmin: true}, m.RepoID)
	if err == nil {
		_, err = m.pusher(tx, a)
	}
	if stop, ok := err.(stopError); ok { //nolint:errorlint // it is returned as it is
		return errs.New(errs.Forbidden, stop.Error())
	}
	return err
}

// adoptHead sets the default branch to that of the source, if it is here.
func (s *Service) adoptHead(ctx context.Context, m *Mirror, a *repo.Access, branch string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		now, err := repo.ByID(tx, &account.Caller{SiteAdmin: true}, a.ID)
		if err != nil || now.DefaultBranch == branch {
			return err
		}
		if err := m.mayMove(tx); err != nil {
			return err
		}
		tip, err := repo.HoldBranch(tx, a.ID, branch)
		if err != nil || tip == "" {
			return err
		}
		return s.repos.SetDefaultBranch(tx, a.ID, branch)
	})
}
