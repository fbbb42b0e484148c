package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"arbor/internal/durable"
	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/git/process"
)

// LinkObjects adds all objects that another repository has now to this
// one, durably, at a cost that does not depend on their size: files of packs
// never change, so both directories get links to the same ones. From then on the
// two are independent: neither sees what the other gets, loses or repacks.
// If the file system allows no more links, files are copied. Maintenance and
// writes of either continue during the call.
//
// This repository then holds every object that the other had, reachable or not:
// so both must be public, and the caller hides what is not. See CopyHistories.
func (r *Repository) LinkObjects(from *Repository) error {
	if err := r.Init(); err != nil || !from.Exists() {
		return err
	}
	// What names objects comes before the objects, and loose ones before the
	// packs into which maintenance puts them: so nothing slips through.
	err := linkFile(from.path("objects", "info", "commit-graph"), r.path("objects", "info", "commit-graph"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := r.linkLoose(from); err != nil {
		return err
	}
	if err := r.linkPacks(from); err != nil {
		return err
	}
	return errors.Join(durable.Sync(r.path("objects", "info")), durable.Sync(r.path("objects", "pack")))
}

// linkLoose links the objects that are files of their own.
func (r *Repository) linkLoose(from *Repository) error {
	entries, err := os.ReadDir(from.path("objects"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(e.Name()) != 2 {
			continue
		}
		shas, err := from.looseIn(e.Name())
		if err != nil {
			return err
		}
		if len(shas) == 0 {
			continue
		}
		if err := durable.MakeDir(r.path("objects", e.Name())); err != nil {
			return err
		}
		for _, sha := range shas {
			file := filepath.Join("objects", e.Name(), string(sha[2:]))
			if err := linkFile(from.path(file), r.path(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err // one that is gone is now in a pack
			}
		}
		if err := durable.Sync(r.path("objects", e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// linkPasses is how often the packs are listed at most. Two listings do unless
// packs are added or removed during the call.
const linkPasses = 20

// linkPacks links packs until a listing shows none that is new: a pack that was
// removed before it was linked is in one that was there before the removal.
func (r *Repository) linkPacks(from *Repository) error {
	linked := map[string]bool{}
	gone := false
	for range linkPasses {
		entries, err := os.ReadDir(from.path("objects", "pack"))
		if err != nil {
			return err
		}
		settled := true
		gone = false
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".idx")
			if !ok || linked[name] {
				continue
			}
			settled = false
			err := r.linkPack(from, name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			linked[name] = err == nil
			gone = gone || err != nil
		}
		if settled {
			return nil
		}
	}
	if gone {
		return fmt.Errorf("git: a pack of %s is not whole", from.dir)
	}
	return nil
}

// linkPack links the files of one pack, the index last: git finds a pack by it.
func (r *Repository) linkPack(from *Repository, name string) error {
	for _, ext := range []string{".pack", ".rev", ".idx"} {
		file := filepath.Join("objects", "pack", name+ext)
		if err := linkFile(from.path(file), r.path(file)); err != nil &&
			(ext != ".rev" || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// linkFile links a file under a second name, which may exist already. Error:
// fs.ErrNotExist if the file does not exist.
func linkFile(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil || errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return err
	}
	return copyFile(from, to)
}

// copyFile replaces linkFile on file systems without links, or without any left.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return durable.Replace(to, func(out *os.File) error {
		_, err := io.Copy(out, in)
		return err
	})
}

// CopyHistories adds everything reachable from the tips in another repository to
// this one, durably, and nothing else: for forks of private repositories, with
// whose files they must not share what no ref names. The work is that of
// copying every byte.
func (r *Repository) CopyHistories(ctx context.Context, from *Repository, tips []SHA) error {
	if err := r.Init(); err != nil || len(tips) == 0 {
		return err
	}
	in, err := revisionList(tips, nil)
	if err != nil {
		return err
	}
	_, err = r.packFrom(ctx, from, from.sendCage(1), process.Task{Stdin: in,
		Limit: r.git.options.TransferTimeout, Command: process.Command{Flags: []string{"--revs"}}})
	return err
}

// packFrom packs objects of another repository into this one, durably, and
// returns the pack's name. The task has pack-objects' input, its own flags, and the time limit.
func (r *Repository) packFrom(
	ctx context.Context, from *Repository, in process.Cage, t process.Task,
) (name string, err error) {
	q, err := r.newQuarantine(incomingPrefix)
	if err != nil {
		return "", err
	}
	defer func() { _ = q.Discard() }()
	if q.pack, err = r.packInto(ctx, from.dir, q, q.envOver(from), in, t); err != nil {
		return "", fmt.Errorf("git: copying histories: %w", err)
	}
	name = q.pack
	return name, q.Keep(ctx)
}

// packInto runs pack-objects in dir, which writes a pack into the quarantine, and returns the pack's name. The task
// has the input, flags of its own, and the time limit.
func (r *Repository) packInto(
	ctx context.Context, dir string, q *Quarantine, env []string, in process.Cage, t process.Task,
) (string, error) {
	var out bytes.Buffer
	t.Sub, t.Path = "pack-objects", filepath.Join(q.dir, "pack", "pack")
	t.Flags = append([]string{"-q", "--delta-base-offset", "--threads=1"}, t.Flags...)
	t.Dir, t.Env, t.Stdout = dir, env, &out
	if err := r.git.run(ctx, in, t); err != nil {
		return "", err
	}
	id := strings.TrimSpace(out.String())
	if !object.IsSHA(id) {
		return "", fmt.Errorf("git pack-objects: unexpected output %q", errs.Clip(id))
	}
	return "pack-" + id, nil
}
