package repo

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strings"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// RefUpdate is the update of a ref. A zero Old creates it, a zero New deletes it.
type RefUpdate struct {
	Name   string // full, e.g. refs/heads/main
	Old    git.SHA
	New    git.SHA
	Peeled git.SHA // of an annotated tag: its target; else empty
	// the account that pushes; 0 if the ref is created with its repository
	By account.ID
	// Forward means that Old is known to be in the history of New, so that nothing becomes unreachable.
	Forward bool
	// DeployKey means that By pushes with a deploy key, which may bypass no rule as the account may.
	DeployKey bool
	// Findings are what Forge.PreparePush found about rules; nil: nothing yet.
	Findings *Findings
	// Locked is what Forge.PreparePush found about locks of Git LFS; nil: nothing yet.
	Locked *LockedPaths
}

// LockedPaths are the paths which an update of a branch changes and which others had locked, before its transaction.
type LockedPaths struct {
	Newest  int64 // the highest id of the locks that were looked at
	Paths   []string
	TooMany bool // changes that nobody looked at
}

// Leaves reports whether Old may be unreachable after the update.
func (u *RefUpdate) Leaves() bool { return u.Old != git.ZeroSHA && u.Old != u.New && !u.Forward }

// PullRefs is the prefix of the refs of pull requests.
const PullRefs = "refs/pull/"

// Push is a set of ref updates in one repository: by git push, by a merge, or by the API.
type Push struct {
	RepoID  ID
	Purges  int64 // Repo.Purges from before the new objects were looked up or written
	Updates []RefUpdate
	Atomic  bool      // no ref moves unless all can
	Ruled   bool      // there seem to be rules, so what they say is found before the first try
	GrownKB int64     // what it adds to the repository's size
	If      Condition // nil: no condition
	As      db.Right  // by which refs move; nil: not for a request

	Merge    *Merge // the pull request that is merged into the only ref; nil: it is another push
	Mirrored bool   // refs of a mirror follow its source
	Imported bool   // refs come with an import, while the repository is read-only
	First    bool   // the first refs of a repository that is being made, for which no rules hold
	Queue    bool   // a merge queue moves the branches of its groups
	Upstream bool   // the ref is updated from the repository's parent
	Again    bool   // a transaction ended with ErrUnprepared, so all preparations are needed

	// grow checks in the transaction that the repository may grow; nil: not checked
	grow func(tx *db.Tx) error
}

// Condition returns the reason for each update that may not happen. It is called in the transaction of the
// push, with the repository's row locked.
type Condition func(tx *db.Tx, updates []RefUpdate) ([]error, error)

// MoveRefs updates refs in one transaction with all effects ([Forge.Push]). It is the only way to change a
// ref, except for the first refs of a fork. Each update is a compare-and-swap: the result has the reason
// for each update that was rejected, else nil.
//
// It returns an error and moves nothing: 404 for a deleted repository; 503 if objects were purged; the
// condition's error.
func (s *Service) MoveRefs(ctx context.Context, p Push) (refused []error, err error) {
	return s.moveRefsWith(ctx, p, nil)
}

// moveRefsWith is MoveRefs, and calls with in the same transaction if no update is rejected.
func (s *Service) moveRefsWith(
	ctx context.Context, p Push, with func(*db.Tx) error,
) (refused []error, err error) {
	err = s.WritePush(ctx, p, func(tx *db.Tx) (err error) {
		refused, err = s.MoveRefsIn(tx, p)
		if err == nil && with != nil && !slices.ContainsFunc(refused, func(why error) bool {
			return why != nil
		}) {
			err = with(tx)
		}
		return err
	})
	if err == nil && slices.ContainsFunc(refused, func(why error) bool { return why != nil }) {
		err = s.MarkUnreached(ctx, p.RepoID) // objects written for them stay
	}
	return refused, err
}

// maxPrepared is how often WritePush starts over.
const maxPrepared = 5

// WritePush prepares a push and then calls fn, which moves its refs with MoveRefsIn, in a transaction. It
// starts over if the preparation was not sufficient.
func (s *Service) WritePush(ctx context.Context, p Push, fn func(tx *db.Tx) error) error {
	for try := 1; ; try++ {
		p.Again = p.Ruled || try > 1
		err := s.forge.PreparePush(ctx, p)
		if err == nil {
			err = s.db.WriteAs(ctx, p.As, fn)
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrUnprepared) || try == maxPrepared {
			// Objects written for the push stay.
			return errors.Join(err, s.MarkUnreached(ctx, p.RepoID))
		}
	}
}

// MoveRefsIn is MoveRefs within the transaction of WritePush.
func (s *Service) MoveRefsIn(tx *db.Tx, p Push) (refused []error, err error) {
	p.grow = func(tx *db.Tx) error { return s.checkGrowth(tx, p.RepoID, p.GrownKB, true) }
	return s.forge.Push(tx, p)
}

// SetDefaultBranch sets the default branch to an existing branch.
func (s *Service) SetDefaultBranch(tx *db.Tx, id ID, branch string) error {
	return s.forge.SetDefaultBranch(tx, id, branch)
}

// Moved is the bell that rings whenever this process has moved refs, for workers that process pushes.
const Moved = "moved refs"

// branchState is the state of the default branch that a push needs.
type branchState struct {
	name     string
	purges   int64
	numbered bool // the repository has, or had, any issue
	paused   bool
	archived bool // the repository is archived: only refs of pull requests may move
	imports  bool // it is being imported: only the import moves refs
	mirror   bool // the repository is a mirror: only its source and refs of pull requests may move
	ruled    bool // the repository or its owner has rulesets
	locked   bool // the repository has locks of Git LFS
}

// refusals returns the reason for each update that cannot happen. queue is that of Push.
func (near *nearRefs) refusals(branch branchState, queue bool, updates []RefUpdate) []error {
	refused := make([]error, len(updates))
	for i, u := range updates {
		have, exists := near.shas[u.Name]
		switch {
		case branch.archived && !strings.HasPrefix(u.Name, "refs/pull/"):
			refused[i] = ErrArchived()
		case branch.imports:
			refused[i] = ErrImporting()
		case branch.mirror && !strings.HasPrefix(u.Name, "refs/pull/"):
			refused[i] = ErrMirror()
		case !queue && u.reserved():
			refused[i] = errQueueRef
		case u.New == git.ZeroSHA && u.Name == git.Heads+branch.name:
			refused[i] = errs.New(errs.Conflict, "refusing to delete the default branch")
		case u.New == git.ZeroSHA && !exists && u.Old == git.ZeroSHA:
			refused[i] = errs.New(errs.Conflict, "no such ref")
		case u.Old == git.ZeroSHA && exists:
			refused[i] = errs.New(errs.Conflict, "reference already exists")
		case u.Old != git.ZeroSHA && !exists:
			refused[i] = errs.New(errs.Conflict, "reference was deleted; fetch first")
		case u.Old != git.ZeroSHA && have != u.Old:
			refused[i] = errs.New(errs.Conflict, "reference has changed; fetch first")
		}
	}
	near.refuseClashes(updates, refused)
	return refused
}

// Refusals returns the reason for each update of a push that cannot happen, by the refs and by the quota of the
// repository's owner. It is called before the objects are stored; Push.Check checks again.
func (s *Service) Refusals(tx *db.Tx, a *Access, p Push) ([]error, error) {
	current, err := sendRefsNear(tx, a.ID, p.Updates)
	if err == nil {
		err = tx.Flush()
	}
	if err != nil {
		return nil, err
	}
	refused := current.refusals(branchState{name: a.DefaultBranch, archived: a.Archived,
		imports: a.Importing && !p.Imported, mirror: a.MirrorURL != "" && !p.Mirrored}, p.Queue, p.Updates)
	full := s.checkGrowth(tx, a.ID, p.GrownKB, false)
	if full != nil && !errs.Is(full, errs.Forbidden) {
		return nil, full
	}
	for i := range refused {
		if refused[i] == nil {
			refused[i] = full
		}
	}
	return refused, nil
}

func names(updates []RefUpdate) []string {
	list := make([]string, len(updates))
	for i, u := range updates {
		list[i] = u.Name
	}
	return list
}

// newDefault chooses the default branch for a repository whose own does not exist when branches are pushed, as GitHub
// does: main or master first, else the first by name. "" keeps the current one.
func newDefault(branch branchState, moved []RefUpdate) string {
	var born []string
	for _, u := range moved {
		if name, ok := strings.CutPrefix(u.Name, git.Heads); ok && u.New != git.ZeroSHA {
			if name == branch.name {
				return ""
			}
			born = append(born, name)
		}
	}
	sort.Slice(born, func(i, j int) bool {
		a, b := defaultRank(born[i]), defaultRank(born[j])
		return a < b || a == b && born[i] < born[j]
	})
	if len(born) == 0 {
		return ""
	}
	return born[0]
}

func defaultRank(branch string) int {
	switch branch {
	case "main":
		return 0
	case "master":
		return 1
	default:
		return 2
	}
}

// Refs returns the repository's refs: the current ones or, if nothing has changed since the access was
// read, cached ones. The list is shared: callers must not modify it. Error: 404 if the repository was
// deleted.
func (s *Service) Refs(ctx context.Context, a *Access) (git.Refs, error) {
	// One request at a time reads them: many concurrent requests for a repository with many refs would
	// occupy all readers of the database and hold a list each.
	condition := asStranger(a)
	key := refsKey{a.ID, condition != ""}
	return s.refs.ReadAlone(ctx, cache.Generations(a.RefsGeneration), key, func() (refs git.Refs, err error) {
		return db.Get(ctx, s.db, func(tx *db.Tx) (git.Refs, error) { return ReadRefs(tx, a.ID, condition) })
	})
}

// refsKey is the cache key of a repository's refs. Cached refs may be newer than their generation, so refs
// read for a caller with a role are not shared with other callers: the repository may have become private
// in between.
type refsKey struct {
	repo     ID
	stranger bool // read under the condition stillPublic
}

// maxCachedRefs is the number of cached refs of recently used repositories, at most about 40 MB. A long
// name counts as several.
const maxCachedRefs = 200_000

// refCost counts a repository as one ref in addition to its refs.
func refCost(_ refsKey, refs git.Refs) int64 {
	cost := 1
	for _, r := range refs.List {
		cost += 1 + len(r.Name)/100
	}
	return int64(cost)
}
