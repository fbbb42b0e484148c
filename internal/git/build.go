package git

import (
	"context"
	"encoding/hex"
	"slices"

	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/git/tree"
)

// BuildTree returns the tree that results from applying the edits to base, as decision 44 says;
// base "" begins with nothing. It writes nothing. Of two edits of one path the
// last counts; what an edit says of a path below another's tree changes that
// tree; a directory that loses its last entry goes. Only trees on the way to an
// edit are read and made.
//
// Errors: *TreeProblem; NotFound for a tree that is missing; Invalid when one
// is damaged. A result with more than tree.MaxPaths is a *TreeProblem. The caller checks
// that the objects of the edits exist.
func (r *Repository) BuildTree(ctx context.Context, base SHA, edits []TreeEdit) (*BuiltTree, error) {
	return tree.Build(r.treeReader(ctx), r.git.counts, base, edits)
}

// treeReader returns a function that reads trees, recent ones from memory. The tree ""
// has no entries.
func (r *Repository) treeReader(ctx context.Context) func(SHA) ([]byte, error) {
	s := r.git.state(r.dir)
	return func(sha SHA) ([]byte, error) {
		if sha == "" || sha == EmptyTree {
			return nil, nil
		}
		key := treeKey{s, sha}
		if contents, ok := r.git.trees.Get(key); ok {
			return contents, nil
		}
		contents, err := r.TreeContents(ctx, sha, MaxTreeBytes)
		if err == nil {
			r.git.keepTree(key, contents)
		}
		return contents, err
	}
}

// WalkBuilt calls fn for each entry of the tree itself, in git's order, as WalkTree
// would once it is written. sizes are those of blobs that the caller made and
// need not be asked for. Error: Invalid when a blob of the base is missing.
func (r *Repository) WalkBuilt(
	ctx context.Context, t *BuiltTree, sizes map[SHA]int64, fn func(*WalkEntry) error,
) error {
	entries, err := object.ParseTree(t.Contents)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(entries, flatBatch) {
		found, err := r.sizesBeside(ctx, batch, sizes)
		if err != nil {
			return err
		}
		if err := eachEntry(batch, found, fn); err != nil {
			return err
		}
	}
	return nil
}

// sizesBeside finds the sizes of the blobs among entries; -1 for the others.
func (r *Repository) sizesBeside(
	ctx context.Context, entries []object.Entry, known map[SHA]int64,
) ([]int64, error) {
	sizes := make([]int64, len(entries))
	var ask []SHA
	var places []int
	for i, e := range entries {
		sizes[i] = -1
		if e.Mode.Type() != TypeBlob {
			continue
		}
		sha := SHA(hex.EncodeToString(e.ID))
		if size, ok := known[sha]; ok {
			sizes[i] = size
			continue
		}
		ask, places = append(ask, sha), append(places, i)
	}
	if len(ask) == 0 {
		return sizes, nil
	}
	objects, err := r.Known(ctx, ask)
	if err != nil {
		return nil, err
	}
	for k, o := range objects {
		if o.Type != TypeBlob {
			return nil, errs.Newf(errs.Invalid, "the blob %s of the base is missing", ask[k])
		}
		sizes[places[k]] = o.Size
	}
	return sizes, nil
}

// treeKey names an object of one repository: that another has the same one proves
// nothing.
type treeKey struct {
	repository *state
	sha        SHA
}

// Bounds of the trees that are kept, in bytes: of one half of the cache, and of a tree
// worth keeping. A directory that was changed is mostly changed again.
const (
	treeCacheHalf = 8 << 20
	maxCachedTree = 1 << 20
)

// rememberTrees keeps trees that were written just now.
func (r *Repository) rememberTrees(shas []SHA, objects []NewObject) {
	s := r.git.state(r.dir)
	for i, o := range objects {
		if o.Type == TypeTree {
			r.git.keepTree(treeKey{s, shas[i]}, o.Data)
		}
	}
}

func (g *Git) keepTree(k treeKey, contents []byte) {
	if len(contents) <= maxCachedTree {
		g.trees.Put(k, contents)
	}
}

// costOfTree is what keeping a tree takes, in bytes.
func costOfTree(contents []byte) int { return len(contents) + 200 }
