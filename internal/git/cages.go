package git

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
)

// Parts of Options.Memory. They follow from what runs at one time: many short
// reads, some walks, few diffs and merges, and two transfers of any size.
const (
	poolPart = 32
	walkPart = 16
	blobPart = 8
	mostPart = 2
)

// Memory in bytes that a walk takes for each object of the repository, and that
// pack-objects takes for each byte of the packs. git keeps some 250 bytes of each
// object that it has seen; it reads those that it packs and compares them.
const (
	perObject   = 400
	perPackByte = 4
)

// load is the size of a repository, or of a pack: its packed objects and their bytes.
type load struct{ objects, bytes int64 }

// load sums up the repository's packs. Loose objects are few, and do not count.
func (r *Repository) load() (l load) {
	for _, part := range r.joins {
		of := part.load()
		l.objects, l.bytes = l.objects+of.objects, l.bytes+of.bytes
	}
	entries, _ := os.ReadDir(r.path("objects", "pack"))
	for _, e := range entries {
		isIndex := strings.HasSuffix(e.Name(), ".idx")
		if !isIndex && !strings.HasSuffix(e.Name(), ".pack") {
			continue
		}
		info, err := e.Info()
		switch {
		case err != nil: // it has ended
		case isIndex:
			l.objects += packfile.ObjectsIn(info.Size())
		default:
			l.bytes += info.Size()
		}
	}
	return l
}

// cpu is the processor time for a request that works on the whole load: several
// times as much as git takes.
func (g *Git) cpu(l load) time.Duration {
	return g.options.ReadTimeout + time.Duration(l.bytes>>20+l.objects/5000)*time.Second
}

// part is the memory of a cage: one part in so many of git's memory, and more on top,
// but not more than the largest cage has.
func (g *Git) part(of, more int64) int64 {
	most := g.options.Memory / mostPart
	return max(min(g.options.Memory/of+more, most), process.MinCage)
}

// poolCage is for pooled cat-file processes, which read objects of some megabytes.
// Larger objects are read again in a largeCage.
func (g *Git) poolCage() process.Cage { return process.Cage{Memory: g.part(poolPart, 0)} }

// largeCage is for reading one object of any size.
func (r *Repository) largeCage() process.Cage {
	return process.Cage{Memory: r.git.part(mostPart, 0), CPU: r.git.cpu(r.load())}
}

// walkCage is for walks of histories and trees.
func (r *Repository) walkCage() process.Cage { return r.git.walkCage(r.load()) }

func (g *Git) walkCage(l load) process.Cage {
	return process.Cage{Memory: g.part(walkPart, perObject*l.objects), CPU: g.cpu(l)}
}

// blobCage is for commands that compare, merge or copy files.
func (r *Repository) blobCage() process.Cage {
	l := r.load()
	return process.Cage{Memory: r.git.part(blobPart, perObject*l.objects), CPU: r.git.cpu(l)}
}

// cageOf is the cage of a command that reads and writes nothing.
func (r *Repository) cageOf(sub string) process.Cage {
	switch sub {
	case "diff-tree", "format-patch", "blame", "archive":
		return r.blobCage()
	case "upload-pack": // it starts pack-objects
		return r.sendCage(2)
	}
	return r.walkCage()
}

// sendCage is for packing the objects of a fetch or a fork. With several
// processes (upload-pack and the pack-objects that it starts) each has its share.
func (r *Repository) sendCage(processes int64) process.Cage {
	l := r.load()
	memory := r.git.part(walkPart, 2*perObject*l.objects+2*perPackByte*l.bytes) / processes
	return process.Cage{Memory: max(memory, process.MinCage), CPU: r.git.cpu(l), Processes: processes}
}

// upkeepCage is for maintenance, which nobody waits for.
func (g *Git) upkeepCage() process.Cage { return process.Cage{Memory: g.part(mostPart, 0)} }

// run runs a task to its end.
func (g *Git) run(ctx context.Context, in process.Cage, t process.Task) error {
	if err := g.refresh(ctx, t.Dir); err != nil {
		return err
	}
	defer g.markUsed(&t)()
	return g.processes.Run(ctx, in, t)
}

// read begins a task whose output is read while it runs.
func (g *Git) read(
	ctx context.Context, in process.Cage, t process.Task,
) (*process.Process, io.Reader, error) {
	if err := g.refresh(ctx, t.Dir); err != nil {
		return nil, nil, err
	}
	defer g.markUsed(&t)()
	return g.processes.Read(ctx, in, t)
}

// refresh brings a kept repository up to date before a process reads it: what the process is told may be newer than
// what the folder had when it was opened.
func (g *Git) refresh(ctx context.Context, dir string) error {
	k := g.keeper(dir)
	if k == nil {
		return nil
	}
	return k.Refresh(ctx)
}

// Admit waits until the memory of a Transfer of a sub-command is admitted, whose task is then Held. The caller calls
// release when the process has ended.
func (r *Repository) Admit(ctx context.Context, sub string) (release func(), err error) {
	return r.git.processes.Admit(ctx, r.cageOf(sub))
}

// Transfer starts a task for a client that waits for all of its output, which is read while the task runs. It is
// bounded by Options.TransferTimeout.
func (r *Repository) Transfer(ctx context.Context, t process.Task) (*process.Process, io.Reader, error) {
	t.Dir, t.Limit = r.dir, r.git.options.TransferTimeout
	return r.git.read(ctx, r.cageOf(t.Sub), t)
}

// Talk starts a command that a client also writes to while it runs. Bounds as of Transfer.
func (r *Repository) Talk(
	ctx context.Context, c process.Command,
) (*process.Process, io.WriteCloser, io.Reader, error) {
	return r.git.processes.Talk(ctx, r.cageOf(c.Sub),
		process.Task{Command: c, Dir: r.dir, Limit: r.git.options.TransferTimeout})
}
