package transport

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/repo"
)

// Import fills an empty repository with the branches, tags, notes and history
// of the one at source, a path or an address that the operator can read, and
// returns the number of refs. What comes in passes the same checks as a push. progress is called when a part
// begins, and within it with the amount done.
// Errors: 422 for a source that cannot be read or that the checks refuse.
func (s *Service) Import(
	ctx context.Context, r *repo.Repo, source string, progress func(part string, done, all int64),
) (int, error) {
	if err := os.MkdirAll(s.repos.Dir(), 0o700); err != nil {
		return 0, err
	}
	mirror, err := s.git.Mirror(ctx, git.Source{Address: source}, s.repos.Dir(), progress)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err := mirror.Remove(); err != nil {
			s.log.WarnContext(ctx, "the copy made for an import stays", "error", err)
		}
	}()
	refs := mirror.Refs()
	if len(refs.List) == 0 {
		return 0, nil
	}
	objects, release, err := s.repos.GitOf(ctx, r.ID)
	if err != nil {
		return 0, err
	}
	defer release()
	quarantine, size, err := receiveMirror(ctx, objects, mirror, progress)
	if err != nil {
		return 0, err
	}
	if err := s.repos.MayGrowBy(ctx, r.ID, size/1024); err != nil {
		quarantine.Discard()
		return 0, err
	}
	updates, err := importUpdates(refs.List, quarantine)
	if err == nil {
		err = quarantine.Keep(ctx)
	}
	if err != nil {
		quarantine.Discard()
		return 0, err
	}
	progress("refs", 0, 0)
	refused, err := s.repos.MoveRefs(context.WithoutCancel(ctx),
		repo.Push{RepoID: r.ID, Purges: r.Purges, Updates: updates, Atomic: true, GrownKB: size / 1024})
	for _, reason := range refused {
		if err == nil && reason != nil {
			err = reason
		}
	}
	if err != nil {
		return 0, err
	}
	return len(updates), s.adoptHead(ctx, r, refs.Head)
}

// Fetched is what Fetch brought.
type Fetched struct {
	Refs      int               // how many moved
	PullHeads map[int64]git.SHA // of pull requests of the source, whose objects are there
	Refused   []string          // refs that did not move, and why
}

// FetchOptions are those of Fetch.
type FetchOptions struct {
	Progress func(part string, done, all int64)
	If       func(tx *db.Tx, updates []repo.RefUpdate) ([]error, error) // as of repo.Push; nil: nothing is asked
}

// Fetch is Import for a repository that may have refs: branches go forward to those of the source; refs that are
// other ones, or that the source does not have, stay. The objects of heads of pull requests come as well,
// without refs. Nobody is told.
// Errors: as for Import.
func (s *Service) Fetch(ctx context.Context, r *repo.Repo, source string, o FetchOptions) (*Fetched, error) {
	progress := o.Progress
	if err := os.MkdirAll(s.repos.Dir(), 0o700); err != nil {
		return nil, err
	}
	mirror, err := s.git.Mirror(ctx, git.Source{Address: source}, s.repos.Dir(), progress)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := mirror.Remove(); err != nil {
			s.log.WarnContext(ctx, "the copy made for an import stays", "error", err)
		}
	}()
	now, err := s.repos.AllRefs(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	objects, release, err := s.repos.GitOf(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	out := &Fetched{PullHeads: mirror.PullHeads()}
	var list []git.Ref
	for _, ref := range mirror.Refs().List {
		if now[ref.Name] != ref.SHA {
			list = append(list, ref)
		}
	}
	lacks, err := lacksAny(ctx, objects, out.PullHeads)
	if err != nil || len(list) == 0 && !lacks {
		return out, err
	}
	quarantine, size, err := receiveMirror(ctx, objects, mirror, progress)
	if err != nil {
		return nil, err
	}
	if err := s.repos.MayGrowBy(ctx, r.ID, size/1024); err != nil {
		quarantine.Discard()
		return nil, err
	}
	updates, err := importUpdates(list, quarantine)
	if err == nil {
		err = quarantine.Keep(ctx)
	}
	if err != nil {
		quarantine.Discard()
		return nil, err
	}
	if updates, err = withoutLoss(ctx, objects, updates, now, out); err != nil {
		return nil, err
	}
	progress("refs", 0, 0)
	refused, err := s.repos.MoveRefs(context.WithoutCancel(ctx),
		repo.Push{RepoID: r.ID, Purges: r.Purges, Updates: updates, GrownKB: size / 1024, Imported: true, If: o.If})
	if err != nil {
		return nil, err
	}
	for n, reason := range refused {
		if reason == nil {
			out.Refs++
		} else {
			out.Refused = append(out.Refused, updates[n].Name+": "+repo.ErrText(reason))
		}
	}
	if len(out.PullHeads) > 0 { // no ref leads to them yet
		err = s.db.Write(ctx, func(tx *db.Tx) error { return repo.MarkUnreachedIn(tx, r.ID) })
	}
	if err != nil {
		return nil, err
	}
	return out, s.adoptHead(ctx, r, mirror.Refs().Head)
}

// withoutLoss returns the updates that take nothing from the repository: those of new refs, and of branches that go
// forward. The others are refused, since somebody may have pushed here.
func withoutLoss(
	ctx context.Context, objects *git.Repository, updates []repo.RefUpdate, now map[string]git.SHA, out *Fetched,
) (safe []repo.RefUpdate, err error) {
	for _, u := range updates {
		old := now[u.Name]
		if old == "" {
			safe = append(safe, u)
			continue
		}
		forward := false
		if strings.HasPrefix(u.Name, git.Heads) {
			if forward, err = objects.IsAncestor(ctx, old, u.New); err != nil {
				return nil, err
			}
		}
		if !forward {
			out.Refused = append(out.Refused, u.Name+": it is another one here, which the source does not have")
			continue
		}
		u.Old = old
		safe = append(safe, u)
	}
	return safe, nil
}

// lacksAny reports whether the repository lacks one of the objects.
func lacksAny(ctx context.Context, objects *git.Repository, heads map[int64]git.SHA) (bool, error) {
	if len(heads) == 0 {
		return false, nil
	}
	if !objects.Exists() {
		return true, nil
	}
	known, err := objects.Known(ctx, slices.Collect(maps.Values(heads)))
	return err == nil && slices.ContainsFunc(known, func(o git.Object) bool { return o.Type == "" }), err
}

// receiveMirror moves the mirror's objects into a quarantine.
func receiveMirror(
	ctx context.Context, objects *git.Repository, mirror *git.Mirror, progress func(part string, done, all int64),
) (*git.Quarantine, int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, out := io.Pipe()
	go func() { out.CloseWithError(mirror.WritePack(ctx, out)) }()
	all := mirror.PackedBytes()
	pack := &countingReader{r: in, progress: func(done int64) { progress("check", done, all) }}
	o := git.ReceiveOptions{Pack: pack}
	for number, sha := range mirror.PullHeads() {
		o.Commands = append(o.Commands, wire.Command{Name: fmt.Sprintf("refs/pull/%d/head", number), Old: git.ZeroSHA, New: sha})
	}
	for _, ref := range mirror.Refs().List {
		o.Commands = append(o.Commands, wire.Command{Name: ref.Name, Old: git.ZeroSHA, New: ref.SHA})
	}
	quarantine, err := objects.Receive(ctx, o)
	in.Close()
	return quarantine, pack.n, err
}

func importUpdates(refs []git.Ref, q *git.Quarantine) ([]repo.RefUpdate, error) {
	updates := make([]repo.RefUpdate, len(refs))
	for i, ref := range refs {
		object, peeled, err := q.Peeled(ref.SHA)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(ref.Name, git.Heads) && object.Type != git.TypeCommit {
			return nil, errs.Newf(errs.Invalid, "the branch %q is not a commit", ref.Name)
		}
		updates[i] = repo.RefUpdate{Name: ref.Name, Old: git.ZeroSHA, New: ref.SHA}
		if peeled.SHA != object.SHA {
			updates[i].Peeled = peeled.SHA
		}
	}
	return updates, nil
}

// adoptHead sets the default branch to the one that the source's HEAD names, if it
// was imported.
func (s *Service) adoptHead(ctx context.Context, r *repo.Repo, head string) error {
	branch, ok := strings.CutPrefix(head, git.Heads)
	if !ok {
		return nil
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		tip, err := repo.BranchTip(tx, r.ID, branch)
		if err != nil || tip == "" {
			return err
		}
		return s.repos.SetDefaultBranch(tx, r.ID, branch)
	})
}
