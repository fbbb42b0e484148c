// Package git does what is done with the folder of a repository. Refs are not here:
// they live in SQL, and this package gets them as values. The packages below it know no
// repository: object has the words of Git, wire its protocol, packfile its packs, tree
// the work on trees, process git's children, catfile those that read objects. Above it,
// package diff compares two trees of a repository, history reports authorship, and serve sends
// objects to clients.
//
//	names.go      names of those rooms that callers need
//	version.go    which git it is; open.go who uses a repository: Open, Remove
//	repository.go folders: Init, Exists; file.go writes synced files; sweep.go tidies
//	cages.go      which work gets which cage
//
// Reading:
//
//	cat.go        reads by a pooled process, and by another one where that fails
//	object.go     Info, Contents, Commit, Tag; blob.go blobs of any size
//	tree.go       one tree; walk.go walks them, walksmall.go without a process
//	log.go        walks of histories; commits.go many commits at once, short SHAs,
//	              paths; graph.go what makes walks quick
//	newcommits.go, reached.go  what some objects lead to and others do not
//	pullrange.go  the merge base and the commits of a pull request
//
// Writing:
//
//	writer.go     objects made here: WriteObjects; build.go new trees
//	specialfile.go  what .gitmodules and .gitattributes may hold
//	tip.go        what a ref may name
//	merge.go      merges of commits: mergebase.go finds where histories diverged,
//	              mergegit.go has git merge files; rebase.go replays commits
//
// Packs that come and go:
//
//	receive.go    a push's pack: sentpack.go reads it, quarantine.go keeps it apart
//	              until it is accepted and bounds its trees, foreign.go hides what
//	              the pusher may not see, fsck.go and progress.go git's messages about it
//	packedrefs.go the refs that git needs on disk for a fetch
//	copyobjects.go, fork.go, mirror.go  from other repositories; joint.go two read together
//	remote.go, remotefetch.go  mirrors of repositories on other servers, whose addresses users give
//	maintenance.go  packing that never deletes an object; replaced.go how packs go
//	              whose objects are all in another one
//	purge.go      what goes and what stays of a folder; inuse.go who works in one
//
// Rules: git 2.39.1 or newer. Only plumbing commands (and format-patch, which lacks a plumbing equivalent).
// Data is synced before it is acknowledged. A stored object is deleted only by the operator's purge.
//
// What comes in is bounded. A pack is read whole before git sees it, so no process waits for a
// client. What memory a small one takes to unpack is known then; a larger one goes to a file
// without a name, is tried in an eighth of git's memory, then in the largest cage. Sizes of all
// objects are read off the heads of the new pack's entries. Trees are counted with their sub-trees,
// each once, and counts are kept by SHA: so a push reads the trees that it brought and, after a
// start, those they name.
//
// When there are many packs, the smallest are combined, so that each pack is at least twice as large as all
// smaller ones together. The new pack is verified in place. Then the packs that it replaces are moved to a
// directory that git does not read, and deleted hours later. Of two packs only the later one in a fixed
// order may replace the other, so concurrent nodes never remove both.
//
// Forks hard-link packs instead of using alternates: with alternates a fork could read later objects of its
// parent, and deleting the parent would require copying first.
//
// MergeTree walks from both tips to where they diverged and merges the three trees in Go; it is sure
// of the result where no path was changed on both sides. All else (a file that both changed,
// renames that matter, several merge bases) is git merge-tree's, in a directory of its own whose
// new objects are then written as the API's are. Tests hold both against git's own on random
// histories, and on merges of public projects.
package git

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"arbor/internal/cache"
	"arbor/internal/git/catfile"
	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
	"arbor/internal/git/tree"
)

// Options are the limits of a [Git]. Zero values mean the defaults.
type Options struct {
	Log    *slog.Logger // where failures of git go; discarded when nil
	Binary string       // the git program; "git" when empty

	MaxPackBytes   int64 // bytes of one pushed pack; 4 GiB
	MaxPackObjects int   // objects of one pushed pack; 10,000,000

	Memory int64 // bytes that all processes of git may take together; 1 GiB
	// Admit, if there is one, is asked for the memory of each process before it
	// starts, in bytes, and release called when it has ended. A pooled process is
	// asked for while it reads. One that needs another (a copy between two
	// repositories) holds its own while it waits, so a wait must end. Its errors are
	// passed on.
	Admit func(ctx context.Context, bytes int64) (release func(), err error)

	Processes       int           // cat-file processes in all; 32
	ProcessesPerDir int           // cat-file processes of one repository; 4
	IdleTime        time.Duration // after which an idle one ends; 1 minute
	ProcessAge      time.Duration // after which a busy one ends; 10 minutes

	ReadTimeout        time.Duration // of one read, a tenth of a walk's; 1 minute. See cpu
	TransferTimeout    time.Duration // of one push or fetch; 1 hour
	MaintenanceTimeout time.Duration // of one Pack; 2 hours

	PackGrace time.Duration // for which a replaced pack stays in its place; 3 seconds
}

// withDefaults fills in what was left zero.
func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Binary == "" {
		o.Binary = "git"
	}
	setDefault(&o.MaxPackBytes, 4<<30)
	setDefault(&o.MaxPackObjects, 10_000_000)
	setDefault(&o.Memory, 1<<30)
	setDefault(&o.Processes, 32)
	setDefault(&o.ProcessesPerDir, 4)
	setDefault(&o.IdleTime, time.Minute)
	setDefault(&o.ProcessAge, 10*time.Minute)
	setDefault(&o.ReadTimeout, time.Minute)
	setDefault(&o.TransferTimeout, time.Hour)
	setDefault(&o.MaintenanceTimeout, 2*time.Hour)
	setDefault(&o.PackGrace, 3*time.Second)
	return o
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Git runs git. It is safe for concurrent use.
type Git struct {
	options   Options
	log       *slog.Logger
	version   string // "2.39.5"
	processes *process.Runner
	pool      *catfile.Pool

	packer  packfile.Packer
	trees   *cache.Recent[treeKey, []byte]
	links   *cache.Recent[treeKey, links]
	counts  *cache.Recent[ID, tree.Count]
	whole   *cache.Recent[treeKey, struct{}] // objects with all that they lead to
	written *cache.Recent[treeKey, struct{}] // objects that WriteObjects wrote

	dropping sync.WaitGroup // removals of what merges left

	mu     sync.Mutex
	states map[string]*state // by directory
}

// state is what one process remembers of one repository directory.
type state struct {
	pins     int         // how many have the repository open; guarded by Git.mu, as is remove
	remove   func()      // takes the folder away once nobody has it open; nil: the repository stays
	keep     Keeper      // nil: the folder itself keeps the packs; guarded by Git.mu
	readable atomic.Bool // the folder was there and could be read

	initMu      sync.Mutex
	initialized bool // Init ran here, so the directories are synced

	packMu   sync.Mutex // one Maintain or Pack at a time; guards the fields below
	graphAt  time.Time  // when writeCommitGraph last ran here
	graphOld bool       // objects were packed since
	setAside int        // packs, since readers were restarted

	replaced replacedPacks

	removals atomic.Int64 // of packs, begun and ended; see cat

	writes writeQueue

	refsMu         sync.Mutex
	refsWritten    bool
	refsGeneration int64 // of the packed-refs file that this process wrote
}

// New finds git and checks that it is 2.39.1 or newer. No process stays running.
func New(ctx context.Context, o Options) (*Git, error) {
	o = o.withDefaults()
	path, err := exec.LookPath(o.Binary)
	if err != nil {
		return nil, fmt.Errorf("git is not installed (looked for %q): %w", o.Binary, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	g := &Git{
		options: o, log: o.Log, states: make(map[string]*state),
		trees:   cache.NewRecent[treeKey](treeCacheHalf, costOfTree),
		links:   cache.NewRecent[treeKey, links](maxLinks, nil),
		counts:  tree.NewCounts(),
		whole:   cache.NewRecent[treeKey, struct{}](maxWhole, nil),
		written: cache.NewRecent[treeKey, struct{}](maxWhole, nil),
	}
	g.processes = process.NewRunner(path, o.Admit)
	if o.Log != nil {
		g.processes.LogTo(o.Log)
	}
	if g.version, err = versionOf(ctx, path); err != nil {
		return nil, err
	}
	g.pool = catfile.NewPool(catfile.PoolOptions{Start: g.startPooled, Processes: o.Processes,
		PerDir: o.ProcessesPerDir, IdleTime: o.IdleTime, Age: o.ProcessAge})
	return g, nil
}

// Started counts the processes of git that were started, pooled ones included.
func (g *Git) Started() int64 { return g.processes.Started() }

// Version is git's own version, such as "2.39.5".
func (g *Git) Version() string { return g.version }

// Close ends the pooled processes and waits for them, and for what merges leave
// to be removed. Reads fail afterwards.
func (g *Git) Close() error {
	g.pool.Close()
	g.dropping.Wait()
	return nil
}

// state returns what is remembered of dir.
func (g *Git) state(dir string) *state {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stateLocked(dir)
}

func (g *Git) stateLocked(dir string) *state {
	s := g.states[dir]
	if s == nil {
		s = new(state)
		g.states[dir] = s
	}
	return s
}

// Caches returns the numbers of the caches.
func (g *Git) Caches() []cache.Stats {
	return []cache.Stats{g.trees.Stats("trees"), g.links.Stats("links"), g.counts.Stats("tree_counts"),
		g.whole.Stats("whole_trees"), g.written.Stats("written_trees")}
}

// Processes counts processes of git by sub-command, pooled ones included.
func (g *Git) Processes() map[string]process.Counts { return g.processes.Counts() }

// Pool is how many pooled processes work and wait for work, and how many readers wait for one.
func (g *Git) Pool() (busy, idle, waiting int) { return g.pool.Usage() }
