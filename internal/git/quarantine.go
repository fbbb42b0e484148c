package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/catfile"
	"arbor/internal/git/object"
	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
	"arbor/internal/git/tree"
)

// The names of directories below objects/ that hold what is not kept yet.
const (
	incomingPrefix = "incoming-" // a push
	packingPrefix  = "packing-"  // maintenance
)

// Quarantine holds the objects of a push that is not accepted yet: nobody else
// sees them. Its owner calls Keep or not, and Discard always.
type Quarantine struct {
	repository *Repository
	dir        string // objects/incoming-XXXX; empty when nothing was sent
	pack       string // "pack-XXXX", the files' name without extension
	sent       int    // objects that the pack had when it came
	objects    map[SHA]received
}

// received is what a new tip is, and what it peels to.
type received struct{ object, peeled Object }

// newQuarantine creates the directory of a push, or of maintenance.
func (r *Repository) newQuarantine(prefix string) (*Quarantine, error) {
	dir, err := os.MkdirTemp(r.path("objects"), prefix)
	if err != nil {
		return nil, err
	}
	q := &Quarantine{repository: r, dir: dir}
	if err := os.Mkdir(filepath.Join(dir, "pack"), 0o700); err != nil {
		return nil, errors.Join(err, q.Discard())
	}
	return q, nil
}

// env sets git's object directories: it writes into the quarantine and reads the repository too.
func (q *Quarantine) env() []string { return q.envOver(q.repository) }

// envOver is env with another repository to read.
func (q *Quarantine) envOver(r *Repository) []string {
	if q.dir == "" {
		return nil
	}
	return []string{"GIT_OBJECT_DIRECTORY=" + q.dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + alternate(r),
		"GIT_QUARANTINE_PATH=" + q.dir}
}

// Peeled returns the object of a new tip of the push, and the one to which a tag leads in the end; the same
// object twice when it is not a tag. Error: NotFound for other objects.
func (q *Quarantine) Peeled(sha SHA) (object, peeled Object, err error) {
	r, ok := q.objects[sha]
	if !ok {
		return Object{}, Object{}, catfile.Missing(string(sha))
	}
	return r.object, r.peeled, nil
}

// size is that of the pack, in bytes.
func (q *Quarantine) size() (int64, error) {
	if q.dir == "" || q.pack == "" {
		return 0, nil
	}
	info, err := os.Stat(filepath.Join(q.dir, "pack", q.pack+".pack"))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Keep moves the objects into the repository, durably. After an error the
// repository may or may not hold them, which is harmless.
func (q *Quarantine) Keep(ctx context.Context) error {
	if q.dir == "" || q.pack == "" {
		return nil
	}
	if err := q.repository.MoveIn(ctx, packfile.FilesAt(filepath.Join(q.dir, "pack", q.pack), q.pack)); err != nil {
		return err
	}
	q.pack = ""
	return q.Discard()
}

// Discard drops what was not kept. It may be called at any time, repeatedly.
func (q *Quarantine) Discard() error {
	if q.dir == "" {
		return nil
	}
	return os.RemoveAll(q.dir)
}

// identify looks up the new tips, and counts the paths of all new trees and of the tips'
// trees. One process, which sees the quarantine, reads all of them. Error: Invalid for a
// tip that is not whole, or trees over the bounds.
func (q *Quarantine) identify(ctx context.Context, tips []SHA, trees []packfile.Tree) (err error) {
	g := q.repository.git
	in := g.walkCage(q.load())
	for _, t := range trees {
		in.Memory = max(in.Memory, g.part(walkPart, 4*t.Size))
	}
	c, err := catfile.Start(ctx, g.processes, in, process.Task{
		Dir: q.repository.dir, Env: q.env(), Limit: g.options.TransferTimeout})
	if err != nil {
		return err
	}
	defer func() {
		if _, ok := errors.AsType[catfile.DirtyError](err); !ok {
			c.End()
			return
		}
		if ended := c.Verdict(); ended != nil {
			err = ended
		}
	}()
	if err := q.readTips(c, tips); err != nil {
		return err
	}
	if len(trees) == 0 {
		return nil
	}
	p := tree.NewCounter(c.ReadTree, g.counts)
	for len(trees) > 0 {
		var ahead map[ID][]byte
		if ahead, trees, err = c.ReadAhead(trees); err != nil {
			return err
		}
		p.Read = func(id ID) ([]byte, error) {
			if contents, ok := ahead[id]; ok {
				return contents, nil
			}
			return c.ReadTree(id)
		}
		for id := range ahead {
			if err := p.Check(id); err != nil {
				return err
			}
		}
	}
	for _, sha := range tips {
		if err := checkTip(c, p, q.objects[sha].peeled); err != nil {
			return err
		}
	}
	return nil
}

// checkTip counts the tree of a new tip, which is a commit or a tree itself.
func checkTip(c *catfile.Process, p *tree.Counter, tip Object) error {
	tree := tip.SHA
	switch tip.Type {
	case TypeCommit:
		_, contents, err := c.Contents(tip.SHA, object.MaxCommitBytes)
		if err != nil {
			return err
		}
		line, _, _ := bytes.Cut(contents, []byte("\n"))
		if tree, err = ParseSHA(strings.TrimPrefix(string(line), "tree ")); err != nil {
			return fmt.Errorf("git: commit %s has no tree: %w", tip.SHA, err)
		}
	case TypeTree:
	default:
		return nil
	}
	return p.Check(tree.ID())
}

// readTips reads the new tips' objects.
func (q *Quarantine) readTips(c *catfile.Process, tips []SHA) error {
	q.objects = make(map[SHA]received, len(tips))
	err := c.Infos(2*len(tips), func(i int) SHA {
		if i%2 == 0 {
			return tips[i/2]
		}
		return tips[i/2] + "^{}"
	}, func(i int, o Object) {
		r := q.objects[tips[i/2]]
		if i%2 == 0 {
			r.object = o
		} else {
			r.peeled = o
		}
		q.objects[tips[i/2]] = r
	})
	if errs.Is(err, errs.NotFound) {
		return errDisconnected(err)
	}
	return err
}

// load is the load of a process of the push: the repository and the pack.
func (q *Quarantine) load() load {
	l := q.repository.load()
	l.objects += int64(q.sent)
	return l
}
