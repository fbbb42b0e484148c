package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"arbor/internal/errs"
	"arbor/internal/git/catfile"
	"arbor/internal/git/object"
	"arbor/internal/git/process"
)

// ErrStop is returned by the function given to WalkTree to end the walk
// without an error.
var ErrStop = errors.New("git: stop the walk")

// WalkEntry is an entry during a walk. Its slices are valid only until the
// function returns; Entry makes a copy that stays.
type WalkEntry struct {
	Mode Mode
	Type Type
	SHA  []byte // 40 hexadecimal digits
	Path []byte // from the root of the walk; not always UTF-8
	Size int64  // bytes of a blob; -1 for trees and submodules
}

// Entry copies the entry.
func (e *WalkEntry) Entry() TreeEntry {
	return TreeEntry{Mode: e.Mode, Path: string(e.Path), SHA: SHA(e.SHA), Type: e.Type, Size: e.Size}
}

// WalkTree calls fn for each entry of a tree in git's order, with the sizes of
// blobs; recursive goes into sub-trees, each named before what it holds. The
// tree must be a tree's SHA (see PeelToTree). It streams: memory does not grow
// with the tree. An error of fn ends the walk and is returned, ErrStop as nil. NotFound when
// the tree is missing, Invalid when it is not a tree or a path exceeds MaxPath.
func (r *Repository) WalkTree(
	ctx context.Context, tree SHA, recursive bool, fn func(*WalkEntry) error,
) error {
	if err := tree.Check(); err != nil {
		return err
	}
	var done bool
	var err error
	if !recursive {
		err = r.walkFlat(ctx, tree, fn)
	} else if done, err = r.walkSmall(ctx, tree, fn); !done {
		err = r.walkListing(ctx, tree, fn, "-r", "-t")
	}
	if errors.Is(err, ErrStop) {
		return nil
	}
	return err
}

// walkFlat walks one tree with the pool alone, unless the tree is so large that
// many readers of it would need much memory.
func (r *Repository) walkFlat(ctx context.Context, tree SHA, fn func(*WalkEntry) error) error {
	contents, err := r.TreeContents(ctx, tree, catfile.Skippable)
	if errs.Is(err, errs.TooLarge) {
		return r.walkListing(ctx, tree, fn)
	}
	if err != nil {
		return err
	}
	var batch []object.Entry
	for len(contents) > 0 {
		batch = batch[:0]
		for len(contents) > 0 && len(batch) < flatBatch {
			var raw object.Entry
			if raw, contents, err = object.NextEntry(contents); err != nil {
				return fmt.Errorf("git: tree %s: %w", tree, err)
			}
			if len(raw.Name) > MaxPath {
				return errLongPath()
			}
			batch = append(batch, raw)
		}
		sizes, err := r.sizes(ctx, batch)
		if err != nil {
			return err
		}
		if err := eachEntry(batch, sizes, fn); err != nil {
			return err
		}
	}
	return nil
}

// flatBatch is how many entries' sizes are asked for at once.
const flatBatch = 4096

// sizes asks for the sizes of the blobs among entries; -1 for the others.
func (r *Repository) sizes(ctx context.Context, entries []object.Entry) ([]int64, error) {
	sizes := make([]int64, len(entries))
	blobs := make([]int, 0, len(entries))
	for i, e := range entries {
		sizes[i] = -1
		if e.Mode.Type() == TypeBlob {
			blobs = append(blobs, i)
		}
	}
	if len(blobs) == 0 {
		return sizes, nil
	}
	err := r.cat(ctx, func(c *catfile.Process) error {
		return c.Infos(len(blobs),
			func(i int) SHA { return SHA(hex.EncodeToString(entries[blobs[i]].ID)) },
			func(i int, o Object) { sizes[blobs[i]] = o.Size })
	})
	if errs.Is(err, errs.NotFound) {
		return nil, fmt.Errorf("git: a blob of a tree is missing: %s", err)
	}
	return sizes, err
}

// walkReads is how many times longer than a read a walk may take, since a slow
// client may be at its other end.
const walkReads = 10

// walkListing parses the output of one ls-tree process while it runs.
func (r *Repository) walkListing(
	ctx context.Context, tree SHA, fn func(*WalkEntry) error, flags ...string,
) error {
	if !r.Exists() {
		return catfile.Missing(string(tree))
	}
	p, out, err := r.git.read(ctx, r.walkCage(), process.Task{
		Command: process.Command{Sub: "ls-tree", Flags: append(flags, "-l", "-z", "--full-tree"),
			Revs: []SHA{tree}},
		Dir: r.dir, Limit: walkReads * r.git.options.ReadTimeout})
	if err != nil {
		return err
	}
	if err := parseListing(bufio.NewReaderSize(out, 128<<10), fn); err != nil {
		if grown := p.Stop(); ctx.Err() != nil {
			return ctx.Err()
		} else if grown != nil && !errors.Is(err, ErrStop) {
			return grown
		}
		return err
	}
	if err := p.Wait(); err != nil {
		return r.walkError(ctx, tree, err)
	}
	return nil
}

// walkError finds out why ls-tree failed, when it is the caller's doing.
func (r *Repository) walkError(ctx context.Context, tree SHA, err error) error {
	if process.ExitCode(err) < 0 {
		return err
	}
	info, infoErr := r.Info(ctx, tree)
	switch {
	case errs.Is(infoErr, errs.NotFound):
		return infoErr
	case infoErr == nil && info.Type != TypeTree:
		return errs.Newf(errs.Invalid, "%s is a %s, not a tree", tree, info.Type)
	}
	return err
}

// MaxPath is the longest path that a walk gives, in bytes. Trees nested ten
// thousand deep are small to push, but their listing grows with the square.
const MaxPath = 16 << 10

func errLongPath() error {
	return errs.Newf(errs.Invalid, "a path of the tree is too long (maximum is %d bytes)", MaxPath)
}

// parseListing reads "MODE TYPE SHA SIZE\tPATH\0" until the end. The buffer of
// in is larger than the longest entry allowed.
func parseListing(in *bufio.Reader, fn func(*WalkEntry) error) error {
	var entry WalkEntry
	for {
		line, err := in.ReadSlice(0)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return errLongPath()
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case err != nil:
			return fmt.Errorf("git ls-tree: %w", err)
		}
		if err := entry.parse(line[:len(line)-1]); err != nil {
			return err
		}
		if len(entry.Path) > MaxPath {
			return errLongPath()
		}
		if err := fn(&entry); err != nil {
			return err
		}
	}
}

// parse sets e from one entry of a listing, keeping slices of line.
func (e *WalkEntry) parse(line []byte) error {
	if len(line) < 7 || line[6] != ' ' {
		return errListing(line)
	}
	e.Mode = 0
	for _, c := range line[:6] {
		e.Mode = e.Mode<<3 | Mode(c-'0')&7
	}
	e.Type = e.Mode.Type()
	at := 7 + len(e.Type) + 1 // the SHA
	if len(line) < at+41 || line[at+40] != ' ' {
		return errListing(line)
	}
	e.SHA = line[at : at+40]
	rest := line[at+41:]
	tab := bytes.IndexByte(rest, '\t')
	if tab < 1 || tab+1 >= len(rest) {
		return errListing(line)
	}
	e.Path = rest[tab+1:]
	e.Size = -1
	if rest[tab-1] == '-' {
		return nil
	}
	e.Size = 0
	for _, c := range bytes.TrimLeft(rest[:tab], " ") {
		if c < '0' || c > '9' {
			return errListing(line)
		}
		e.Size = e.Size*10 + int64(c-'0')
	}
	return nil
}

func errListing(line []byte) error {
	return fmt.Errorf("git ls-tree: unexpected entry %q", errs.Clip(string(line)))
}
