package git

import "sync"

// treeCache keeps the contents of trees lately read or written for building:
// whoever changes a directory mostly changes it again. It has two halves; when
// the young one is full it becomes the old one, and what nobody asked for since
// is forgotten. An entry belongs to one repository: that another has the same
// object proves nothing.
type treeCache struct {
	mu         sync.Mutex
	young, old map[treeKey][]byte
	size       int // of young, in bytes
}

type treeKey struct {
	repository *state
	sha        SHA
}

// Bounds of the tree cache in bytes: of one half, and of a tree worth keeping.
const (
	treeCacheHalf = 8 << 20
	maxCachedTree = 1 << 20
)

func (c *treeCache) get(k treeKey) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if contents, ok := c.young[k]; ok {
		return contents, true
	}
	contents, ok := c.old[k]
	if ok {
		c.putLocked(k, contents)
	}
	return contents, ok
}

func (c *treeCache) put(k treeKey, contents []byte) {
	if len(contents) > maxCachedTree {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.putLocked(k, contents)
}

func (c *treeCache) putLocked(k treeKey, contents []byte) {
	if _, ok := c.young[k]; ok {
		return
	}
	cost := len(contents) + 200
	if c.young == nil || c.size+cost > treeCacheHalf {
		c.old, c.young, c.size = c.young, map[treeKey][]byte{}, 0
	}
	c.young[k] = contents
	c.size += cost
}

// rememberTrees keeps trees that were written just now.
func (r *Repository) rememberTrees(shas []SHA, objects []NewObject) {
	s := r.git.state(r.dir)
	for i, o := range objects {
		if o.Type == TypeTree {
			r.git.trees.put(treeKey{s, shas[i]}, o.Data)
		}
	}
}
