package gitdata

import (
	"context"
	"io"
	"path"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Limits of contents, as at GitHub.
const (
	maxInline  = 1 << 20   // bytes of a file in JSON
	maxFile    = 100 << 20 // bytes of a file
	maxEntries = 1000      // entries of a directory
	maxLink    = 4096      // bytes of a symlink's target
)

// view is a tree seen through a revision.
type view struct {
	*addresses
	objects *git.Repository
	release func() // releases objects
	ref     string // as the client named it, or the default branch
	tree    git.SHA
}

// view finds the tree of the request's ref. Errors: 404, 409 for a repository without refs.
func (s *Service) view(ctx context.Context, a *repo.Access, ref string) (*view, error) {
	tree, err := s.find(ctx, a, ref, false)
	if err == nil {
		tree, err = s.peel(ctx, a, tree)
	}
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return nil, s.orEmpty(ctx, a, errs.Newf(errs.NotFound, "No commit found for the ref %s", ref))
	}
	if err != nil {
		return nil, err
	}
	v, err := s.viewOf(ctx, a, tree)
	if ref != "" {
		v.ref = ref
	}
	return v, err
}

// viewOf returns the view of a tree through the default branch.
func (s *Service) viewOf(ctx context.Context, a *repo.Access, tree git.SHA) (v *view, err error) {
	v = &view{addresses: newPlace(ctx, a), ref: a.DefaultBranch, tree: tree}
	v.objects, v.release, err = s.repos.Git(ctx, a)
	return v, err
}

// lookup finds the entry at a path; "" is the root. Error: 404.
func (v *view) lookup(ctx context.Context, path string) (git.TreeEntry, error) {
	if path == "" {
		return git.TreeEntry{Mode: git.ModeTree, Type: git.TypeTree, SHA: v.tree, Size: -1}, nil
	}
	entry, err := v.objects.Lookup(ctx, v.tree, path)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		err = errs.Wrap(errs.NotFound, "Not Found", err)
	}
	return entry, err
}

// File is what is at a path of a revision and no directory. A symlink that leads to a file of the
// repository is that file, under its own path.
type File struct {
	git.TreeEntry         // its path is from the root
	Link          *string // the target of a symlink that leads to no file
	Submodule     *string // the address of a submodule; nil: .gitmodules has none
	Data          []byte  // the contents of a file of at most 1 MiB
	Read          bool    // Data is all of it
}

// File reads what is at a path of a revision and no directory. Errors: 403 for a file of more than 100 MiB;
// 404; 409 for a repository without any ref.
func (s *Service) File(ctx context.Context, a *repo.Access, ref, path string) (*File, error) {
	v, entry, err := s.at(ctx, a, ref, path)
	if err != nil {
		return nil, err
	}
	defer v.release()
	if entry.Type == git.TypeTree {
		return nil, errs.Absent()
	}
	f, err := v.read(ctx, entry)
	if err != nil {
		return nil, err
	}
	return f, hold(ctx, len(f.Data))
}

// Directory lists the entries of a directory of a revision, at most 1,000, by their paths from the root.
// Errors: 404; 409 for a repository without any ref.
func (s *Service) Directory(ctx context.Context, a *repo.Access, ref, path string) ([]git.TreeEntry, error) {
	lists, err := s.Directories(ctx, a, ref, []string{path})
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

// Directories lists the entries of several directories of a revision, as Directory does those of one. Errors: those of
// Directory.
func (s *Service) Directories(ctx context.Context, a *repo.Access, ref string, paths []string) ([][]git.TreeEntry, error) {
	v, err := s.view(ctx, a, ref)
	if err != nil {
		return nil, err
	}
	defer v.release()
	lists := make([][]git.TreeEntry, len(paths))
	for n, path := range paths {
		entry, err := v.lookup(ctx, path)
		if err != nil {
			return nil, err
		}
		if entry.Type != git.TypeTree {
			return nil, errs.Absent()
		}
		if lists[n], err = v.directory(ctx, entry.SHA, path); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// at finds what is at a path of a revision. The caller releases the view. Errors: those of view and of its
// lookup.
func (s *Service) at(ctx context.Context, a *repo.Access, ref, path string) (*view, git.TreeEntry, error) {
	v, err := s.view(ctx, a, ref)
	if err != nil {
		return nil, git.TreeEntry{}, err
	}
	entry, err := v.lookup(ctx, path)
	if err != nil {
		v.release()
		return nil, entry, err
	}
	return v, entry, nil
}

// directory lists the first entries of a directory.
func (v *view) directory(ctx context.Context, tree git.SHA, dir string) (list []git.TreeEntry, err error) {
	err = v.objects.WalkTree(ctx, tree, false, func(w *git.WalkEntry) error {
		if len(list) == maxEntries {
			return git.ErrStop
		}
		e := w.Entry()
		e.Path = path.Join(dir, e.Path)
		list = append(list, e)
		return nil
	})
	return list, err
}

// read reads a file, a symbolic link or a submodule. Error: 403 for a file of more than 100 MiB.
func (v *view) read(ctx context.Context, e git.TreeEntry) (f *File, err error) {
	if f = (&File{TreeEntry: e}); e.Type == git.TypeCommit {
		f.Size = 0
		f.Submodule, err = v.submodule(ctx, e.Path)
		return f, err
	}
	target, link, err := v.follow(ctx, e)
	if err != nil {
		return nil, err
	}
	if link != nil {
		f.Size, f.Link = int64(len(*link)), link
		return f, nil
	}
	target.Path = e.Path
	object, err := v.objects.Info(ctx, target.SHA)
	if err != nil {
		return nil, err
	}
	target.Size = object.Size
	f.TreeEntry = target
	switch {
	case object.Size > maxFile:
		return nil, tooLargeFile()
	case object.Size <= maxInline:
		_, f.Data, err = v.objects.Contents(ctx, target.SHA, maxInline)
		f.Read = err == nil
	}
	return f, err
}

func tooLargeFile() error {
	e := errs.New(errs.Forbidden,
		"This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API; clone the repository instead.")
	e.Fields = []errs.Field{{Resource: "Blob", Field: "data", Code: "too_large"}}
	return e
}

// maxFollowed is the maximum length of a chain of symlinks.
const maxFollowed = 8

// follow resolves a symlink within the repository. If it does not lead to a file, link is its target. Other
// entries are returned unchanged.
func (v *view) follow(ctx context.Context, e git.TreeEntry) (target git.TreeEntry, link *string, err error) {
	at := e
	for range maxFollowed {
		if at.Mode != git.ModeSymlink {
			if at.Type != git.TypeBlob {
				break
			}
			return at, nil, nil
		}
		_, text, err := v.objects.Contents(ctx, at.SHA, maxLink)
		if errs.Is(err, errs.TooLarge) {
			text, err = text[:0], nil
		}
		if err != nil {
			return e, nil, err
		}
		if at.SHA == e.SHA && link == nil {
			s := string(text)
			link = &s
		}
		to := string(text)
		if to == "" || path.IsAbs(to) || git.CheckPath(path.Join(path.Dir(at.Path), to)) != nil {
			break
		}
		if at, err = v.lookup(ctx, path.Join(path.Dir(at.Path), to)); errs.Is(err, errs.NotFound) {
			break
		} else if err != nil {
			return e, nil, err
		}
	}
	return e, link, nil
}

// Contents reads a file of a revision, of a symlink the file of the repository to which it leads. Errors: 404;
// 413 for more than an operation returns.
func (s *Service) Contents(ctx context.Context, a *repo.Access, ref, path string) (data []byte, err error) {
	v, entry, err := s.at(ctx, a, ref, path)
	if err != nil {
		return nil, err
	}
	defer v.release()
	if entry.Type != git.TypeBlob {
		return nil, errs.Absent()
	}
	target, link, err := v.follow(ctx, entry)
	if err != nil {
		return nil, err
	}
	if link != nil {
		return []byte(*link), nil
	}
	err = v.objects.ReadBlob(ctx, target.SHA, maxHeld, func(size int64, contents io.Reader) error {
		if err := hold(ctx, int(size)); err != nil {
			return err
		}
		data, err = io.ReadAll(contents)
		return err
	})
	return data, err
}
