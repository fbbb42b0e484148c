package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
)

// scratch is a directory of objects in which git merges. Nothing in it is
// synced or kept: the result of a merge is copied out, the rest is deleted.
type scratch struct {
	q     *Quarantine
	room  int64 // bytes that may still be gathered in memory
	taken map[SHA]bool
}

// gatherBytes bounds what of a merge is held in memory. Larger files go to the
// repository as they are, one by one.
const gatherBytes = 32 << 20

func (r *Repository) newScratch() (*scratch, error) {
	dir, err := os.MkdirTemp(r.path("objects"), incomingPrefix)
	return &scratch{q: &Quarantine{repository: r, dir: dir}, room: gatherBytes, taken: map[SHA]bool{}}, err
}

// drop removes the scratch, for which nobody waits: it takes as long as a merge
// when others sync.
func (s *scratch) drop() {
	s.q.repository.git.dropping.Go(func() { _ = s.q.Discard() })
}

// outcome is what git says of a merge.
type outcome struct {
	tree     SHA
	conflict bool
	paths    []string // in conflict
}

// merge merges two commits with git, from the merge base that git finds. Errors:
// Unavailable when it takes too long, TooLarge when it cannot merge, which is
// mostly that files changed on both sides are too large.
func (s *scratch) merge(ctx context.Context, ours, theirs SHA) (outcome, error) {
	r := s.q.repository
	var o outcome
	t := process.Task{
		Command: process.Command{Sub: "merge-tree",
			Flags: []string{"--write-tree", "-z", "--name-only", "--no-messages"},
			Revs:  []SHA{ours, theirs}},
		Dir: r.dir, Env: s.q.env(), Config: process.Unsynced(),
		Limit: r.git.options.ReadTimeout,
	}
	err := r.git.streamTask(ctx, r.blobCage(), t, func(in *bufio.Reader) (err error) {
		o, err = readMerge(in)
		return err
	})
	switch {
	case err == nil && o.tree == "":
		return outcome{}, errors.New("git merge-tree: no tree")
	case err == nil && len(o.paths) == 0:
		return o, nil
	case err == nil || process.ExitCode(err) == 1 && o.tree != "":
		return outcome{conflict: true, paths: o.paths}, nil
	case process.IsExit(err) || errs.Is(err, errs.Invalid): // ended, or ended by its cage
		return outcome{}, errs.Wrap(errs.TooLarge,
			"git cannot merge this: the files changed on both sides may be too large", err)
	}
	return outcome{}, err
}

// maxConflicts is the maximum number of conflicting paths that are reported.
const maxConflicts = 300

// readMerge reads what merge-tree prints: a tree and, if there are conflicts,
// the paths that have them, each ended by NUL. It ends with ErrStop where there
// are more than maxConflicts.
func readMerge(in *bufio.Reader) (o outcome, err error) {
	for {
		field, err := in.ReadSlice(0)
		switch {
		case errors.Is(err, io.EOF) && len(field) == 0 && o.tree != "":
			return o, nil
		case errors.Is(err, bufio.ErrBufferFull) && o.tree != "":
			o.paths = append(o.paths, errs.Clip(string(field)))
			return o, ErrStop
		case err != nil:
			// The exit status tells more.
			_, _ = io.Copy(io.Discard, in)
			return o, nil
		case o.tree == "":
			sha, err := ParseSHA(string(field[:len(field)-1]))
			if err != nil {
				return o, fmt.Errorf("git merge-tree: unexpected output %q", errs.Clip(string(field)))
			}
			o.tree = sha
		default:
			o.paths = append(o.paths, string(field[:len(field)-1]))
			if len(o.paths) == maxConflicts {
				return o, ErrStop
			}
		}
	}
}

// loosePath is where a loose object stands below objects/, or in the scratch.
func loosePath(dir string, sha SHA) string {
	return filepath.Join(dir, string(sha[:2]), string(sha[2:]))
}

// put puts an object where git's next merge finds it, not to be gathered.
func (s *scratch) put(o NewObject) error {
	sha := o.SHA()
	s.taken[sha] = true
	path := loosePath(s.q.dir, sha)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := z.Write(append(append(append([]byte(o.Type), ' '), strconv.Itoa(len(o.Data))...), 0))
	if err == nil {
		_, err = z.Write(o.Data)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o400)
}

// holds lists what git left in the scratch.
func (s *scratch) holds() (map[SHA]bool, error) {
	fans, err := os.ReadDir(s.q.dir)
	if err != nil {
		return nil, err
	}
	there := map[SHA]bool{}
	for _, fan := range fans {
		files, err := os.ReadDir(filepath.Join(s.q.dir, fan.Name()))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if sha := SHA(fan.Name() + f.Name()); sha.Valid() {
				there[sha] = true
			}
		}
	}
	return there, nil
}

// gather returns the objects of a tree that are in the scratch and were not
// gathered before. Those beyond the bound are written to the repository
// instead, durably.
func (s *scratch) gather(ctx context.Context, tree SHA) ([]NewObject, error) {
	there, err := s.holds()
	if err != nil {
		return nil, err
	}
	var objects []NewObject
	var large []SHA
	for todo := []SHA{tree}; len(todo) > 0; {
		sha := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !there[sha] || s.taken[sha] {
			continue
		}
		s.taken[sha] = true
		made, whole, err := readLoose(loosePath(s.q.dir, sha), s.room)
		if err != nil {
			return nil, err
		}
		if made.Type == TypeTree {
			entries, err := object.ParseTree(made.Data)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.Mode != ModeSubmodule {
					todo = append(todo, SHA(hex.EncodeToString(e.ID)))
				}
			}
		}
		if !whole || int64(len(made.Data)) > s.room {
			large = append(large, sha)
			continue
		}
		s.room -= int64(len(made.Data))
		objects = append(objects, made)
	}
	return objects, s.keep(ctx, large)
}

// readLoose reads a loose object; of a blob with more than limit bytes the type
// alone, which whole reports.
func readLoose(path string, limit int64) (o NewObject, whole bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return o, false, err
	}
	defer f.Close()
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return o, false, err
	}
	in := bufio.NewReader(z)
	header, err := in.ReadString(0)
	if err != nil {
		return o, false, err
	}
	kind, length, _ := strings.Cut(strings.TrimSuffix(header, "\x00"), " ")
	if o.Type, err = object.ParseType(kind); err != nil {
		return o, false, err
	}
	size, err := strconv.ParseInt(length, 10, 64)
	if err != nil || size < 0 {
		return o, false, fmt.Errorf("git: a loose object of size %q", errs.Clip(length))
	}
	if o.Type == TypeTree {
		limit = MaxTreeBytes
	}
	if size > limit {
		if o.Type == TypeTree {
			err = errs.Newf(errs.TooLarge, "a tree of the merge has %d bytes (maximum is %d)", size, limit)
		}
		return o, false, err
	}
	o.Data = make([]byte, size)
	_, err = io.ReadFull(in, o.Data)
	return o, true, err
}

// keep writes objects of the scratch to the repository, as one durable pack.
func (s *scratch) keep(ctx context.Context, list []SHA) error {
	if len(list) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(s.q.dir, "pack"), 0o700); err != nil {
		return err
	}
	var in bytes.Buffer
	for _, sha := range list {
		in.WriteString(string(sha) + "\n")
	}
	r := s.q.repository
	name, err := r.packInto(ctx, r.dir, s.q, s.q.env(), r.blobCage(), process.Task{Stdin: &in,
		Limit: r.git.options.ReadTimeout, Command: process.Command{Flags: []string{"--window=0"}}})
	if err != nil {
		return fmt.Errorf("git: keeping large files of a merge: %w", err)
	}
	return r.MoveIn(ctx, packfile.FilesAt(filepath.Join(s.q.dir, "pack", name), name))
}
