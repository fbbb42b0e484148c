package diff

import (
	"bufio"
	"context"
	"hash/maphash"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/process"
)

// Bounds of the text that git compares for one answer. A tiny push may name one large blob by
// thousands of paths, and git reads it for each of them.
const (
	maxCompared = 32 << 20  // bytes of both versions of all files
	maxPathArgs = 128 << 10 // bytes of the paths that git is given
	maxRead     = 64 << 20  // bytes of one file: of larger ones git says that they differ

	// bytes of both versions of all files of a diff or of patches as text: some seconds of git
	maxDownload = 512 << 20
)

var folderSeed = maphash.MakeSeed()

// noteFolder remembers a folder that only one of the trees has.
func (d *treeDiff) noteFolder(path []byte) {
	if d.folders == nil {
		d.folders = map[uint64]bool{}
	}
	d.folders[maphash.Bytes(folderSeed, path)] = true
}

// mayBeFolder reports a path that is perhaps a folder in one of the trees: as an argument of git it would
// stand for all files in it.
func (d *treeDiff) mayBeFolder(path string) bool { return d.folders[maphash.String(folderSeed, path)] }

// size is how many bytes git would read to compare all files, about: what is larger than maxRead it does not
// compare.
func (d *treeDiff) size(ctx context.Context, r *git.Repository) (sum int64, err error) {
	sizes, err := r.Infos(ctx, d.blobs)
	for _, o := range sizes {
		sum += min(o.Size, maxRead)
	}
	return sum, err
}

// large reports that there is more text than git may compare.
func (d *treeDiff) large(ctx context.Context, r *git.Repository) (bool, error) {
	sum, err := d.size(ctx, r)
	return sum > maxCompared, err
}

// part returns the wanted files of a large comparison: git lists them, which reads no text, and then compares
// those that the bound has room for.
func (d *treeDiff) part(
	ctx context.Context, r *git.Repository, from, to git.SHA, flags []string, o Options,
) (*Changes, error) {
	list := &outputReader{o: o, bare: true}
	c := process.Command{Sub: "diff-tree", Flags: append(flags, "--raw"), Revs: []git.SHA{from, to}}
	if err := list.from(ctx, r, c); errs.Is(err, errs.Invalid) {
		return d.page(o), nil
	} else if err != nil {
		return nil, err
	}
	all := &list.changes
	all.Cut = true
	chosen, err := d.choose(ctx, r, all.Files)
	if err != nil || len(chosen) == 0 {
		return all, err
	}
	some := &outputReader{o: Options{Max: len(chosen), Lines: o.Lines, Bytes: o.Bytes, Sum: o.Sum}}
	c.Flags, c.Paths = append(c.Flags, "-p", "--numstat"), pathsOf(chosen)
	if err := some.from(ctx, r, c); errs.Is(err, errs.Invalid) {
		return all, nil
	} else if err != nil {
		return nil, err
	}
	all.Additions, all.Deletions = some.changes.Additions, some.changes.Deletions
	compared := map[[2]string]*File{}
	for n := range some.changes.Files {
		f := &some.changes.Files[n]
		compared[[2]string{f.OldPath, f.Path}] = f
	}
	for _, f := range chosen {
		if found := compared[[2]string{f.OldPath, f.Path}]; found != nil {
			*f = *found
		}
	}
	return all, nil
}

// from reads what a command prints.
func (d *outputReader) from(ctx context.Context, r *git.Repository, c process.Command) error {
	return r.Stream(ctx, c, func(in *bufio.Reader) error {
		d.in = in
		return d.read()
	})
}

// choose returns the files that git compares; the others whose text changed are noted as unread.
func (d *treeDiff) choose(ctx context.Context, r *git.Repository, files []File) (chosen []*File, err error) {
	var blobs []git.SHA
	for n := range files {
		blobs = append(blobs, files[n].blobs()...)
	}
	sizes, err := r.Infos(ctx, blobs)
	if err != nil {
		return nil, err
	}
	text, paths := int64(maxCompared), maxPathArgs
	for n := range files {
		f, size := &files[n], int64(0)
		own := len(f.blobs())
		for _, o := range sizes[:own] {
			size += o.Size
		}
		sizes = sizes[own:]
		names := len(f.Path) + len(f.OldPath)
		switch {
		case f.OldSHA == f.SHA: // another name or mode alone
		case size > text || names > paths || d.mayBeFolder(f.Path) || d.mayBeFolder(f.OldPath):
			f.Unread = true
		default:
			text, paths = text-size, paths-names
			chosen = append(chosen, f)
		}
	}
	return chosen, nil
}

// blobs are the versions of the file that git would compare.
func (f *File) blobs() (list []git.SHA) {
	if f.OldSHA == f.SHA {
		return nil
	}
	if f.OldMode != 0 && f.OldMode.Type() == git.TypeBlob {
		list = append(list, f.OldSHA)
	}
	if f.Mode != 0 && f.Mode.Type() == git.TypeBlob {
		list = append(list, f.SHA)
	}
	return list
}

func pathsOf(files []*File) (paths []string) {
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.OldPath != "" {
			paths = append(paths, f.OldPath)
		}
	}
	return paths
}
