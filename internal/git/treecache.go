package git

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
