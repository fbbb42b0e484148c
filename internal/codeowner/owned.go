package codeowner

import (
	"context"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
)

// Bounds of one change. What is beyond cannot be checked.
const (
	maxSteps = 100_000_000 // of comparing paths with patterns: about half a second
	maxTrees = 20_000      // read to find the changed files
	maxNamed = 4_000       // different owners
)

// TooMuch is what is wrong with a change that is too large to find its owners.
const TooMuch = "This changes too many files to find their code owners. Propose it in parts."

// Owner returns the owners of a path, and the number of the line that names them; 0: no line matches it. All calls
// together take no more steps than one change may: paths beyond have no owners.
func (f *File) Owner(path string) (owners []string, line int) {
	if f.taken >= maxSteps {
		return nil, 0
	}
	steps := maxSteps - f.taken
	n := f.find(path, &steps)
	f.taken = maxSteps - steps
	if n < 0 || steps <= 0 {
		return nil, 0
	}
	return f.ownersOf(n), f.lines[n].number
}

// Owned returns the paths that have owners, by their owners, in the order of the paths. whole is false if there is
// too much to find out.
func (f *File) Owned(paths []string) (list []repo.Owned, whole bool) {
	if len(f.lines) == 0 {
		return nil, true
	}
	steps := maxSteps
	at, named := map[string]int{}, map[string]bool{}
	for _, path := range paths {
		n := f.find(path, &steps)
		if steps <= 0 {
			return nil, false
		}
		if n < 0 || f.lines[n].owners == "" {
			continue
		}
		key := f.lines[n].owners
		if _, known := at[key]; !known {
			at[key] = len(list)
			list = append(list, repo.Owned{Owners: f.ownersOf(n), Path: path})
			for _, o := range list[len(list)-1].Owners {
				named[o] = true
			}
			if len(named) > maxNamed {
				return nil, false
			}
		}
		list[at[key]].Files++
	}
	return list, true
}

// Changed returns what differs between two trees or commits and has owners: of a file that is renamed or copied also
// the path that it had. whole is false if there is too much to find out.
func (f *File) Changed(
	ctx context.Context, objects *git.Repository, from, to git.SHA,
) (list []repo.Owned, whole bool, err error) {
	if len(f.lines) == 0 {
		return nil, true, nil
	}
	trees := maxTrees
	files, whole, err := diff.Differing(ctx, objects, from, to, &trees)
	if err != nil || !whole {
		return nil, false, err
	}
	paths := make([]string, len(files))
	for n := range files {
		paths[n] = files[n].Path
	}
	list, whole = f.Owned(paths)
	return list, whole, nil
}

// Merged returns what a merge changes, by the owners that the file of the base names. It compares the base with the
// result of the merge: what git adds to the proposed change, such as following renames of directories, counts too.
// whole is false if there is too much to find out.
func Merged(
	ctx context.Context, objects *git.Repository, base, result git.SHA,
) (list []repo.Owned, whole bool, err error) {
	f, err := Read(ctx, objects, base)
	if err != nil {
		return nil, false, err
	}
	return f.Changed(ctx, objects, base, result)
}

// Proposed returns the owners of what a pull request proposes, by the file of its base: of what differs between from,
// where the head left the base, and the head. Where there is too much to find out, it returns nobody.
func Proposed(ctx context.Context, objects *git.Repository, base, from, head git.SHA) (owners []string, err error) {
	f, err := Read(ctx, objects, base)
	if err != nil {
		return nil, err
	}
	list, _, err := f.Changed(ctx, objects, from, head)
	seen := map[string]bool{}
	for _, o := range list {
		for _, name := range o.Owners {
			if !seen[name] {
				seen[name] = true
				owners = append(owners, name)
			}
		}
	}
	return owners, err
}
